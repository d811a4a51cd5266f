import test from 'ava';
import { DateTime } from 'luxon';
import { createSystemMail } from '../../../lib/mail/index.ts';
import { silentLogger } from '../../../lib/log.ts';
import { newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { json } from '../../../db/connection.ts';
import { announceSend } from '../../../test/harness/acquisition.ts';
import { createCampaign, createMailbox, createMember, type Tenant } from '../../../test/harness/factories.ts';
import { startMailWorld, type MailWorld } from '../../../test/harness/mail.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { react } from '../../../test/harness/reactions.ts';
import { createSentLead } from '../../../test/harness/standing-leads.ts';
import { call, createWorld, type World } from '../../../test/harness/world.ts';
import { recordComplaint, recordSendBounce, recordSendUnsubscribe } from '../../sending/outcomes/effects.ts';
import { recordReply } from '../../sending/outcomes/reply.ts';
import { lockSubject } from '../../sending/outcomes/subject.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { registerSubscribers } from '../../platform/events/register.ts';
import { updateFacts } from '../aggregates/update-facts.ts';
import { readWeeklyFigures } from './figures.ts';
import { mailWeeklyReport } from './mail-report.ts';
import { planWeeklyReports, weekBefore, weekDue } from './plan.ts';
import { externalText } from '../../platform/external-text.ts';

const ZONE = 'America/New_York';
/** Wednesday of the reported week. */
const WEDNESDAY = new Date('2026-03-04T15:00:00Z');
/** Monday 08:00 in New York, the day after its change to summer time. */
const MONDAY = new Date('2026-03-09T12:00:00Z');
const SENDER = { email: 'heron@ours.test', password: 'secret' };
const clock = new ManualClock(WEDNESDAY);
let world: World;
let mail: MailWorld;

test.before(async () => {
  [world, mail] = await Promise.all([createWorld({ clock }), startMailWorld()]);
  await mail.addMailbox(SENDER);
  const { host, port } = mail.smtp;
  const server = { SMTP_HOST: host, SMTP_PORT: port, SMTP_USERNAME: SENDER.email, SMTP_PASSWORD: SENDER.password };
  world.deps.systemMail = createSystemMail(
    { ...world.deps.config, ...server, MAIL_TRANSPORT: 'smtp', SMTP_SECURITY: 'none', MAIL_FROM: SENDER.email },
    silentLogger,
  );
  await registerSubscribers(world.deps, [updateFacts]);
});
test.after.always(async () => {
  world?.deps.systemMail.close();
  await world?.close();
  await mail?.stop();
});

const emailOf = async (userId: string) => (await world.deps.db('users').where({ id: userId }).first()).email as string;
const mailsTo = (email: string) => mail.messages.filter(({ envelope }) => envelope.to.includes(email));
const reportsOf = (tenant: Tenant) =>
  world.deps.db('weekly_reports').where({ organization_id: tenant.organizationId }).orderBy('week');
const statesOf = async (reportId: string) =>
  Object.fromEntries(
    (await world.deps.db('weekly_report_mails').where({ report_id: reportId })).map((row) => [row.user_id, row.state]),
  );

/** Creates a workspace with weekly reports and emails in two weeks. */
async function scene(name = 'Acme & Sons') {
  const tenant = await world.tenant(name);
  const org = tenant.organizationId;
  const { deps } = world;
  clock.set(WEDNESDAY);
  const changed = await call(world, 'PATCH', '/v1/organizations/current', {
    token: tenant.sessionToken,
    body: { weekly_report: true, timezone: ZONE },
  });
  if (changed.status !== 200) throw new Error(changed.text);
  const email = `ada-${newId()}@ours.test`;
  const mailbox = { id: await createMailbox(deps, org, email), email };
  await deps.db('mailboxes').where({ id: mailbox.id }).update({ status: 'inactive' });
  const campaign = await createCampaign(deps, org, [{ subject: 'Hello' }], {
    name: 'Spring <b>\r\nBcc: x@evil.example',
  });
  const send = async (at: string) => {
    clock.set(new Date(at));
    const lead = await createSentLead(deps, org, {
      campaignId: campaign.campaignId,
      stepId: campaign.stepIds[0]!,
      mailbox,
    });
    await announceSend(world, org, {
      id: lead.sendId,
      campaignId: campaign.campaignId,
      stepId: campaign.stepIds[0]!,
      contactId: lead.contactId,
      email: lead.email,
      mailboxId: mailbox.id,
      at: clock.now(),
    });
    return lead;
  };
  const tell = (work: Parameters<typeof transact<unknown>>[1]) => transact(world.system(org), work);
  // Emails of the week before. The second is in the reported week by UTC, but on Sunday in New York.
  await send('2026-02-25T15:00:00Z');
  await send('2026-03-02T03:00:00Z');
  const leads: { sendId: string; email: string }[] = [];
  for (let n = 0; n < 6; n += 1) leads.push(await send(`2026-03-04T1${n}:00:00Z`));
  // This time is a Monday by UTC, but still Sunday in New York.
  leads.push(await send('2026-03-09T02:00:00Z'));
  for (const [index, intent] of (['positive', 'negative'] as const).entries())
    await tell(async (tx) =>
      recordReply(tx, (await lockSubject(tx, leads[index]!.sendId))!, {
        intent,
        confidence: 1,
        unsubscribeRequest: false,
        source: 'inbox',
        message: null,
      }),
    );
  for (const intent of ['positive', 'negative'])
    await deps.db('inbound_messages').insert({
      id: newId(),
      organization_id: org,
      mailbox_id: mailbox.id,
      kind: 'reply',
      intent,
      created_at: clock.now(),
      ...(await inboundColumns()),
    });
  await tell((tx) =>
    recordSendBounce(tx, { id: leads[2]!.sendId }, { hard: true, reason: externalText('no'), source: 'dsn' }),
  );
  await tell(async (tx) =>
    recordComplaint(tx, (await lockSubject(tx, leads[3]!.sendId))!, { reason: externalText('spam'), source: 'arf' }),
  );
  await tell((tx) => recordSendUnsubscribe(tx, { sendId: leads[4]!.sendId, email: leads[4]!.email }, 'link'));
  await react(deps, [updateFacts]);
  clock.set(MONDAY);
  return { tenant, mailbox };
}

/** Returns the required columns of an inbound message. */
async function inboundColumns(): Promise<Record<string, unknown>> {
  const { rows } = await world.deps.db.raw(
    `select column_name as name, data_type as type from information_schema.columns
     where table_name = 'inbound_messages' and is_nullable = 'NO' and column_default is null
       and column_name not in ('id', 'organization_id', 'mailbox_id', 'kind', 'intent', 'created_at') and is_generated = 'NEVER'`,
  );
  return Object.fromEntries(
    (rows as { name: string; type: string }[]).map(({ name, type }) => [
      name,
      type.startsWith('timestamp')
        ? clock.now()
        : type === 'jsonb'
          ? json({})
          : type === 'boolean'
            ? false
            : type === 'text'
              ? newId()
              : type === 'uuid'
                ? newId()
                : 1,
    ]),
  );
}

test('a week is due on Monday at eight by the clock of the workspace, and for two days after', (t) => {
  const at = (text: string, zone: string) => DateTime.fromISO(text, { zone }).toJSDate();
  for (const zone of ['UTC', 'Asia/Kolkata', 'Pacific/Auckland', 'America/Sao_Paulo']) {
    t.is(weekDue(at('2026-03-09T07:59:59', zone), zone), undefined);
    t.is(weekDue(at('2026-03-09T08:00', zone), zone)?.week, '2026-03-02');
    t.is(weekDue(at('2026-03-11T07:59', zone), zone)?.week, '2026-03-02');
    t.is(weekDue(at('2026-03-11T08:00', zone), zone), undefined);
  }
  const week = weekDue(MONDAY, ZONE)!;
  t.deepEqual(
    [week.from.toISOString(), week.to.toISOString()],
    ['2026-03-02T05:00:00.000Z', '2026-03-09T04:00:00.000Z'],
    'a week with a change of the clocks is an hour shorter',
  );
});

test('the week before is what was reported a week ago, also where the clocks change', (t) => {
  for (const zone of ['UTC', 'Europe/Berlin', 'Pacific/Auckland', 'America/New_York']) {
    const first = DateTime.fromISO('2026-01-05T08:00', { zone });
    const weeks = Array.from({ length: 60 }, (_, index) => weekDue(first.plus({ weeks: index }).toJSDate(), zone)!);
    for (const [index, { from }] of weeks.slice(1).entries())
      t.like(weeks[index], weekBefore(from, zone), `${zone} ${from.toISOString()}`);
  }
});

test.serial('the figures are those of the analytics routes for the same week', async (t) => {
  const { tenant, mailbox } = await scene();
  const { from, to } = weekDue(MONDAY, ZONE)!;
  const ctx = world.system(tenant.organizationId);
  const figures = await readWeeklyFigures(ctx, { from, to }, { from: new Date('2026-02-23T05:00:00Z'), to: from });
  t.deepEqual(figures.now, {
    sent: 7,
    delivered: 6,
    replies: 2,
    positive: 1,
    bounces: 1,
    complaints: 1,
    opt_outs: 1,
  });
  t.is(figures.before.sent, 2);
  const get = (path: string) => call(world, 'GET', `/v1/analytics/${path}`, { token: tenant.apiKey });
  const shown = (await get(`deliverability?from=${from.toISOString()}&to=${to.toISOString()}`)).body;
  t.deepEqual(
    [shown.emails_sent, shown.bounce_count, shown.complaint_count, shown.unsubscribe_count],
    [figures.now.sent, figures.now.bounces, figures.now.complaints, figures.now.opt_outs],
  );
  for (const { intent, count } of figures.intents) t.is(shown[`intent_${intent}`], count, intent);
  t.is(figures.intents.find(({ intent }) => intent === 'positive')!.count, 1);
  const health = (await get(`accounts/${mailbox.id}`)).body.health;
  t.deepEqual(health.issues, ['It is switched off']);
  t.deepEqual(figures.troubled, [{ email: mailbox.email, issues: [message('mailbox_issue.off')] }]);
  t.like(figures.best, { sent: 7, replies: 2, positive: 1 });
  const { db } = world.deps;
  const late = await db('sends').where({ organization_id: tenant.organizationId }).whereNull('bounced_at').first();
  clock.set(new Date('2026-03-09T03:30:00Z'));
  await transact(ctx, (tx) =>
    recordSendBounce(tx, { id: late.id }, { hard: true, reason: externalText('no'), source: 'dsn' }),
  );
  await react(world.deps, [updateFacts]);
  const hour = { from: new Date('2026-03-09T03:00:00Z'), to: new Date('2026-03-09T04:00:00Z') };
  t.like((await readWeeklyFigures(ctx, hour, hour)).now, { sent: 0, bounces: 1, delivered: 0 });
});

test.serial('a workspace whose report cannot be planned keeps no other from its report', async (t) => {
  const broken = () => world.deps.db('organizations').where({ id: first.organizationId });
  const first = await world.tenant();
  const { tenant } = await scene();
  await broken().update({ weekly_report: true, timezone: 'Gone/Nowhere' });
  await t.throwsAsync(planWeeklyReports(world.deps), { instanceOf: AggregateError, message: /^1 of / });
  t.is((await reportsOf(tenant)).length, 1);
  await broken().update({ weekly_report: false });
});

test.serial('each member who may see figures is mailed once for a week, with bars and both parts', async (t) => {
  const { tenant } = await scene();
  const before = mail.messages.length;
  const both = await Promise.all([planWeeklyReports(world.deps), planWeeklyReports(world.deps)]);
  t.true(both[0] + both[1] >= 1);
  t.is(await planWeeklyReports(world.deps), 0);
  const [report, ...more] = await reportsOf(tenant);
  t.deepEqual(more, []);
  t.like(report, { week: '2026-03-02', state: 'due' });
  const intents = await world.deps.db('outbox').where({ workflow_id: `weekly-report/${report.id}` });
  t.is(intents.length, 1, 'its run starts with it');

  const member = await createMember(world.deps, tenant, 'Member');
  const ctx = world.system(tenant.organizationId);
  await mailWeeklyReport(ctx, report.id);
  await mailWeeklyReport(ctx, report.id);
  t.is((await reportsOf(tenant))[0].state, 'done');
  const mails = mailsTo(tenant.email);
  t.is(mails.length, 1);
  t.is(mail.messages.length - before, 1 + mailsTo(await emailOf(member.userId)).length);
  const { subject, text, html, headers, cc, bcc } = await mails[0]!.parsed();
  t.is(subject, 'Acme & Sons: 7 sent, 2 replies in the week of Mar 2, 2026');
  t.true(cc === undefined && bcc === undefined);
  t.is(headers.get('auto-submitted'), 'auto-generated');
  for (const part of [
    'Positive replies',
    '+5 (+250 %), 2 in the week before',
    '#####',
    'Spring <b> Bcc',
    'It is switched off',
  ])
    t.true(text!.includes(part), part);
  t.true(String(html).includes('Acme &amp; Sons') && String(html).includes('Spring &lt;b&gt; Bcc'));
  t.regex(String(html), /bgcolor="#1f5fbf"/);
  t.notRegex(String(html), /<img|<script/);

  clock.set(new Date('2026-03-16T12:00:00Z'));
  await planWeeklyReports(world.deps);
  t.is((await reportsOf(tenant)).length, 2, 'the next week');
  await world.deps.db('organizations').where({ id: tenant.organizationId }).update({ weekly_report: false });
  t.is((await mailWeeklyReport(ctx, (await reportsOf(tenant))[1].id)).why, 'switched off');
  t.is(mailsTo(tenant.email).length, 1);
});

test.serial('the link in the mail ends it for that member, in one click and without a sign-in', async (t) => {
  const { tenant } = await scene();
  await planWeeklyReports(world.deps);
  const ctx = world.system(tenant.organizationId);
  await mailWeeklyReport(ctx, (await reportsOf(tenant))[0].id);
  const { headers } = await mailsTo(tenant.email)[0]!.parsed();
  const list = headers.get('list') as { unsubscribe?: { url?: string }; 'unsubscribe-post'?: { name?: string } };
  const link = list.unsubscribe!.url!;
  t.true(link.startsWith(`${world.deps.config.APP_URL}/weekly-report/`));
  t.regex(String(mailsTo(tenant.email)[0]!.raw ?? ''), /List-Unsubscribe-Post: List-Unsubscribe=One-Click/i);
  const here = link.replace(world.deps.config.APP_URL, world.url);
  const optOuts = () => world.deps.db('weekly_report_opt_outs').where({ organization_id: tenant.organizationId });

  const page = await fetch(here);
  t.is(page.status, 200);
  t.regex(await page.text(), /Acme &amp; Sons/);
  t.deepEqual(await optOuts(), [], 'opening it changes nothing');
  for (const broken of [`${here.slice(0, -1)}x`, here.slice(0, -3), `${world.url}/weekly-report/nonsense`]) {
    t.is((await fetch(broken)).status, 404);
    t.is((await fetch(broken, { method: 'POST', body: new URLSearchParams({ a: 'b' }) })).status, 404);
  }
  const click = () => fetch(here, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) });
  t.is((await click()).status, 200);
  t.is((await click()).status, 200);
  t.deepEqual(
    (await optOuts()).map((row) => row.user_id),
    [tenant.userId],
  );
  clock.set(new Date('2026-03-16T12:00:00Z'));
  await planWeeklyReports(world.deps);
  await mailWeeklyReport(ctx, (await reportsOf(tenant))[1].id);
  t.is(mailsTo(tenant.email).length, 1);
  await fetch(here, { method: 'POST', body: new URLSearchParams({ action: 'resume' }) });
  t.deepEqual(await optOuts(), []);
  await world.deps.db('memberships').where({ user_id: tenant.userId }).delete();
  t.is((await fetch(here)).status, 404, 'who has left gets none anyway');
});

test.serial('a server that is away is asked again; a refusal and a lost answer are final', async (t) => {
  const { tenant } = await scene();
  const [refused, lost, deferred] = await Promise.all(
    ['Admin', 'Admin', 'Admin'].map((role) => createMember(world.deps, tenant, role)),
  );
  mail.script(await emailOf(refused!.userId), { kind: 'reject' });
  mail.script(await emailOf(lost!.userId), { kind: 'drop' });
  mail.script(await emailOf(deferred!.userId), { kind: 'defer', times: 1 });
  await planWeeklyReports(world.deps);
  const { id } = (await reportsOf(tenant))[0];
  const ctx = world.system(tenant.organizationId);
  mail.server.setAway(true);
  await t.throwsAsync(mailWeeklyReport(ctx, id), { message: /mail transport/ });
  mail.server.setAway(false);
  t.deepEqual(await statesOf(id), {});
  await t.throwsAsync(mailWeeklyReport(ctx, id), { message: /mail transport/ });
  t.deepEqual(await statesOf(id), {
    [tenant.userId]: 'sent',
    [refused!.userId]: 'refused',
    [lost!.userId]: 'uncertain',
  });
  await mailWeeklyReport(ctx, id);
  t.is((await statesOf(id))[deferred!.userId], 'sent');
  for (const person of [tenant, lost!, deferred!]) t.is(mailsTo(await emailOf(person.userId)).length, 1);

  const late = await scene('Late');
  await planWeeklyReports(world.deps);
  const report = (await reportsOf(late.tenant))[0];
  clock.advance(7 * 24 * 3600_000);
  t.is((await mailWeeklyReport(world.system(late.tenant.organizationId), report.id)).why, 'out of time');
  t.is(mailsTo(late.tenant.email).length, 0);
});
