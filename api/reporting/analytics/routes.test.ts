import test from 'ava';
import { announceSend } from '../../../test/harness/acquisition.ts';
import { walkAnalytics } from '../../../test/harness/analytics-walk.ts';
import { rawDb } from '../../../test/harness/database.ts';
import { createCampaign, createMailbox, type Tenant } from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { react } from '../../../test/harness/reactions.ts';
import { createSentLead } from '../../../test/harness/standing-leads.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { newId } from '../../../lib/ids.ts';
import { recordReply } from '../../../domain/sending/outcomes/reply.ts';
import { lockSubject } from '../../../domain/sending/outcomes/subject.ts';
import { recordSendBounce } from '../../../domain/sending/outcomes/effects.ts';
import { transact } from '../../../domain/platform/kernel/transact.ts';
import { registerSubscribers } from '../../../domain/platform/events/register.ts';
import { updateFacts } from '../../../domain/reporting/aggregates/update-facts.ts';
import { recordOpens } from '../../../domain/campaigns/tracking/opens.ts';
import { externalText } from '../../../domain/platform/external-text.ts';

const START = new Date('2026-11-18T23:30:00Z');
const clock = new ManualClock(START);
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
  await registerSubscribers(world.deps, [updateFacts]);
});
test.after.always(() => world?.close());

const HUMAN = {
  method: 'GET',
  userAgent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Mobile',
  purpose: '',
};
const MACHINE = { ...HUMAN, purpose: 'prefetch' };
const SERVERS = { smtp: { host: '127.0.0.1', port: 25 }, imap: { host: '127.0.0.1', port: 143 } };
const get = (tenant: Tenant, path: string) => call(world, 'GET', `/v1/analytics${path}`, { token: tenant.apiKey });

/**
 * Creates emails of a campaign: two before midnight, two after it. One is opened by a person, one by a machine, one is
 * answered and one bounces.
 */
async function scene(at = START) {
  clock.set(at);
  const tenant = await world.tenant();
  const org = tenant.organizationId;
  const { deps } = world;
  const email = `ada-${newId()}@ours.test`;
  const mailbox = { id: await createMailbox(deps, org, email, SERVERS), email };
  const { campaignId, stepIds } = await createCampaign(deps, org, [
    { name: 'Intro', subject: 'Hello' },
    { subject: 'Again' },
  ]);
  const ids: string[] = [];
  const send = async () => {
    const lead = await createSentLead(deps, org, { campaignId, stepId: stepIds[0]!, mailbox });
    ids.push(lead.sendId);
    await announceSend(world, org, {
      id: lead.sendId,
      campaignId,
      stepId: stepIds[0]!,
      contactId: lead.contactId,
      email: lead.email,
      mailboxId: mailbox.id,
      at: clock.now(),
    });
  };
  await send();
  await send();
  clock.advance(3600_000);
  await send();
  await send();
  clock.advance(600_000);
  await recordOpens(deps, [{ subject: ids[0]!, hit: MACHINE }], 'test');
  await recordOpens(deps, [{ subject: ids[0]!, hit: HUMAN }], 'test');
  await recordOpens(deps, [{ subject: ids[1]!, hit: MACHINE }], 'test');
  await transact(world.system(org), async (tx) =>
    recordReply(tx, (await lockSubject(tx, ids[2]!))!, {
      intent: 'positive',
      confidence: 1,
      unsubscribeRequest: false,
      source: 'inbox',
      message: null,
    }),
  );
  await transact(world.system(org), (tx) =>
    recordSendBounce(tx, { id: ids[3]! }, { hard: true, reason: externalText('550 5.1.1'), source: 'dsn' }),
  );
  await react(deps, [updateFacts]);
  return { tenant, org, mailbox, campaignId, stepIds, ids };
}

test.serial('a campaign: totals, steps, and where people opened', async (t) => {
  const { tenant, campaignId, stepIds } = await scene();
  const { status, body } = await get(tenant, `/campaigns/${campaignId}`);
  t.is(status, 200);
  t.like(body, {
    campaign_id: campaignId,
    status: 'active',
    date_range: { from: '2026-11-18T23:00:00.000Z', to: '2026-11-19T00:00:00.000Z' },
  });
  t.deepEqual(body.summary, {
    total_contacts: 4,
    emails_sent: 4,
    emails_pending: 0,
    unique_opens: 2,
    machine_opens: 1,
    unique_clicks: 0,
    machine_clicks: 0,
    replies: 1,
    positive_replies: 1,
    negative_replies: 0,
    question_replies: 0,
    neutral_replies: 0,
    bounces: 1,
    soft_bounces: 0,
    unsubscribes: 0,
    open_rate: 25,
    click_rate: 0,
    reply_rate: 25,
    bounce_rate: 25,
  });
  t.is(body.steps.length, 2);
  t.like(body.steps[0], { step_id: stepIds[0], name: 'Intro', position: 1, emails_sent: 4, opens: 2, open_rate: 25 });
  t.like(body.steps[1], { emails_sent: 0, open_rate: 0, bounce_rate: 0 });
  t.deepEqual(body.engagement.devices, [{ key: 'mobile', count: 1 }]);
  t.deepEqual(body.engagement.countries, [{ key: '', count: 1 }]);
});

test.serial('trends: every day and every hour, each thing at its own moment', async (t) => {
  const { tenant, campaignId } = await scene();
  const days = await get(tenant, `/campaigns/${campaignId}/daily?from=2026-11-17&to=2026-11-19`);
  t.deepEqual(days.body.data, [
    { date: '2026-11-17', sent: 0, opens: 0, clicks: 0, replies: 0 },
    { date: '2026-11-18', sent: 2, opens: 0, clicks: 0, replies: 0 },
    { date: '2026-11-19', sent: 2, opens: 1, clicks: 0, replies: 1 },
  ]);
  const hours = await get(tenant, `/campaigns/${campaignId}/hourly`);
  t.is(hours.body.date, '2026-11-19');
  t.is(hours.body.data.length, 24);
  t.deepEqual(hours.body.data[0], { hour: 0, sent: 2, opens: 1, clicks: 0, replies: 1 });
  t.like((await get(tenant, `/campaigns/${campaignId}/hourly?date=2026-11-18`)).body.data[23], { sent: 2 });
});

test.serial('a bad range names every fault', async (t) => {
  const { tenant, campaignId } = await scene();
  const faults = async (path: string) => {
    const { status, body } = await get(tenant, path);
    t.is(status, 400, path);
    return body.problems.map(({ path: at }: { path: string }) => at);
  };
  t.deepEqual(await faults(`/campaigns/${campaignId}/daily`), ['query.from', 'query.to']);
  t.deepEqual(await faults(`/campaigns/${campaignId}/daily?from=2026-02-30&to=yesterday`), ['query.from', 'query.to']);
  t.deepEqual(await faults(`/campaigns/${campaignId}/daily?from=2026-02-03&to=2026-02-02`), ['query.to']);
  t.deepEqual(await faults(`/campaigns/${campaignId}/daily?from=2024-02-03&to=2026-02-02`), ['query.to']);
  t.deepEqual(await faults(`/campaigns/compare?ids=a,b&from=2026-02-03&to=2026-02-04`), ['query.ids']);
  t.deepEqual(await faults(`/campaigns/compare?ids=a,b&from=2026-02-03&to=2026-02-01`), ['query.ids', 'query.to']);
  t.deepEqual(await faults(`/campaigns/compare?from=2026-02-03&to=2026-02-01`), ['query.ids', 'query.to']);
  t.deepEqual(await faults('/deliverability?from=2026-02-03T00:00:00Z&to=2026-02-02T00:00:00Z'), ['query.to']);
  t.deepEqual(await faults('/deliverability?from=2036-02-03T00:00:00Z'), ['query.from']);
});

test.serial('campaigns side by side: invalid ids are dropped, those of others are not found', async (t) => {
  const { tenant, campaignId } = await scene();
  const other = await scene();
  const range = 'from=2026-11-18&to=2026-11-19';
  const { body } = await get(
    tenant,
    `/campaigns/compare?ids=nonsense,${campaignId},${campaignId.toUpperCase()}&${range}`,
  );
  t.deepEqual(body, {
    campaigns: [
      {
        campaign_id: campaignId,
        name: 'Spring',
        status: 'active',
        emails_sent: 4,
        open_rate: 25,
        click_rate: 0,
        reply_rate: 25,
        bounce_rate: 25,
      },
    ],
    period: { from: '2026-11-18T00:00:00.000Z', to: '2026-11-20T00:00:00.000Z' },
  });
  assertStatus(t, await get(tenant, `/campaigns/compare?ids=${campaignId},${other.campaignId}&${range}`), 404);
});

test.serial('the dashboard adds up; a deleted campaign stays in the totals', async (t) => {
  const { tenant, campaignId, mailbox } = await scene();
  const { body } = await get(tenant, '/dashboard?period=nonsense');
  t.is(body.period, '7d');
  t.like(body.overall_stats, {
    total_emails_sent: 4,
    total_opens: 2,
    machine_opens: 1,
    total_replies: 1,
    positive_replies: 1,
    total_bounces: 1,
    total_delivered: 3,
    active_campaigns: 1,
    active_accounts: 1,
  });
  t.is(body.daily_trend.length, 7);
  t.is(
    body.daily_trend.reduce((sum: number, { sent }: { sent: number }) => sum + sent, 0),
    4,
  );
  t.deepEqual(body.recent_activity.map(({ type }: { type: string }) => type).sort(), ['bounced', 'opened', 'replied']);
  t.like(body.top_campaigns[0], { campaign_id: campaignId, emails_sent: 4 });
  t.deepEqual(body.account_health, { total_accounts: 1, healthy_accounts: 1, warning_accounts: 0, error_accounts: 0 });
  await world.deps
    .db('mailboxes')
    .where({ id: mailbox.id })
    .update({ hold_code: 'auth', hold_reason: externalText('refused') });
  await world.deps.db('campaigns').where({ id: campaignId }).update({ status: 'draft' });
  assertStatus(t, await call(world, 'DELETE', `/v1/campaigns/${campaignId}`, { token: tenant.apiKey }), 204);
  const after = (await get(tenant, '/dashboard?period=30d')).body;
  t.is(after.daily_trend.length, 30);
  t.is(after.overall_stats.total_emails_sent, 4);
  t.deepEqual(after.top_campaigns, []);
  t.is(after.account_health.error_accounts, 1);
});

test.serial('deliverability: whole hours, scores and bands', async (t) => {
  const { tenant, campaignId, mailbox, org } = await scene();
  const report = (from: string, to: string) => get(tenant, `/deliverability?from=${from}&to=${to}`);
  const { body } = await report('2026-11-18T23:10:00Z', '2026-11-19T00:10:00Z');
  t.like(body, { from: '2026-11-18T23:00:00.000Z', to: '2026-11-19T01:00:00.000Z' });
  t.like(body, { emails_sent: 4, bounce_count: 1, bounce_rate: 25, reply_count: 0, placement_samples: 0, score: 60 });
  t.is(body.band, 'watch');
  t.false('spam_placement_rate' in body);
  t.like(body.by_mailbox[0], { email_account_id: mailbox.id, sent: 4, bounces: 1, band: 'watch' });
  t.like(body.by_campaign[0], { campaign_id: campaignId, sent: 4 });
  t.like(body.by_provider[0], { provider: 'smtp_imap', sent: 4 });
  const firstHour = (await report('2026-11-18T23:10:00Z', '2026-11-18T23:50:00Z')).body;
  t.like(firstHour, { emails_sent: 2, bounce_count: 0, score: 100, band: 'healthy' });
  const long = (await report('2026-11-10T05:10:00Z', '2026-11-19T05:10:00Z')).body;
  t.like(long, { emails_sent: 4, bounce_count: 1 });
  t.is(long.timeseries.length, 2);
  await call(world, 'POST', '/v1/deliverability/events', {
    token: tenant.apiKey,
    body: { event_type: 'complaint', recipient_email: 'stranger@lead.test' },
  });
  await react(world.deps, [updateFacts]);
  const later = (await get(tenant, '/deliverability')).body;
  t.like(later, { complaint_count: 1, complaint_rate: 25, suppressed_recipients: 2, score: 30, band: 'quarantined' });
  t.is((await world.deps.db('send_facts').where({ organization_id: org })).length, 4);
});

test.serial('mailboxes: health, problems, and what they sent today', async (t) => {
  const { tenant, mailbox } = await scene();
  const { body } = await get(tenant, '/accounts');
  t.is(body.data.length, 1);
  t.like(body.data[0], {
    id: mailbox.id,
    health: { status: 'healthy', score: 100, issues: [] },
    daily_usage: { date: '2026-11-19', campaign_sent: 2, warmup_sent: 0, warmup_limit: 0 },
    in_campaign: true,
  });
  await world.deps.db('mailbox_errors').insert({
    id: newId(),
    organization_id: tenant.organizationId,
    mailbox_id: mailbox.id,
    error_code: 'content_refused',
    severity: 'warning',
    message: externalText('554'),
    created_at: clock.now(),
  });
  const one = (await get(tenant, `/accounts/${mailbox.id}`)).body;
  t.like(one, { health: { status: 'warning', score: 90, issues: ['1 open problem'] } });
  t.is(one.errors.length, 1);
  t.false('warmup_status' in one);
  await call(world, 'POST', `/v1/emails/${mailbox.id}/warmup/start`, { token: tenant.apiKey });
  const warmed = (await get(tenant, `/accounts/${mailbox.id}`)).body;
  t.like(warmed.warmup_status, { enabled: true, paused: false, current_volume: 0 });
  t.true(warmed.warmup_status.target_volume > 0);
  const standing = { health_state: 'watch', score: 55, evaluated_at: clock.now() };
  await rawDb(world.deps.db)('warmup_standings').where({ mailbox_id: mailbox.id }).update(standing);
  const watched = (await get(tenant, `/accounts/${mailbox.id}`)).body;
  t.like(watched.health, { score: 55, issues: ['1 open problem', 'Its warmup is at "watch"'] });
  t.like(watched.warmup_health, { state: 'watch', score: 55 });
  await call(world, 'POST', `/v1/emails/${mailbox.id}/warmup/stop`, { token: tenant.apiKey });
  const stopped = (await get(tenant, `/accounts/${mailbox.id}`)).body;
  t.like(stopped.health, { score: 90, issues: ['1 open problem'] });
  t.like(stopped.warmup_status, { enabled: false });
  t.false('warmup_health' in stopped, 'it is in no pool');
  assertStatus(t, await get(tenant, `/accounts/${newId()}`), 404);
});

test.serial('warmup: every day, targets from the ramp, one mailbox or all', async (t) => {
  const { tenant, mailbox, org } = await scene();
  const partner = await createMailbox(world.deps, org, `bo-${newId()}@ours.test`, SERVERS);
  await call(world, 'POST', `/v1/emails/${mailbox.id}/warmup/start`, { token: tenant.apiKey });
  const mail = async (from: string, to: string, answers: string | null) => {
    const id = newId();
    await rawDb(world.deps.db)('warmup_mails').insert({
      id,
      organization_id: org,
      mailbox_id: from,
      partner_id: to,
      answers,
      state: 'sent',
      slot_at: clock.now(),
      slot_day: '2026-11-19',
      sent_at: clock.now(),
      created_at: clock.now(),
    });
    return id;
  };
  const first = await mail(mailbox.id, partner, null);
  await mail(mailbox.id, partner, null);
  await mail(partner, mailbox.id, first);
  const { body } = await get(tenant, `/warmup?from=2026-11-18&to=2026-11-19&email_id=${mailbox.id}`);
  t.is(body.email_account_id, mailbox.id);
  t.like(body.summary, { total_sent: 2, total_replied: 1, average_daily: 2, reply_rate: 50, days_active: 1 });
  t.like(body.daily_stats[0], { date: '2026-11-18', emails_sent: 0, target_volume: 0 });
  t.true(body.daily_stats[1].target_volume > 0);
  const all = (await get(tenant, '/warmup?from=2026-11-18&to=2026-11-19&email_id=nonsense')).body;
  t.like(all, { email_account_id: '00000000-0000-0000-0000-000000000000', email: '' });
  t.like(all.summary, { total_sent: 3, total_replied: 1 });
  assertStatus(t, await get(tenant, `/warmup?from=2026-11-18&to=2026-11-19&email_id=${newId()}`), 404);
  clock.set(new Date('2026-11-22T12:00:00Z'));
  await call(world, 'POST', `/v1/emails/${mailbox.id}/warmup/pause`, { token: tenant.apiKey });
  const week = (await get(tenant, `/warmup?from=2026-11-18&to=2026-11-24`)).body.daily_stats;
  const targets = week.map(({ target_volume: target }: { target_volume: number }) => target);
  const [base, next] = [targets[1], targets[2] - targets[1]];
  t.true(base > 0 && next > 0);
  t.deepEqual(targets, [0, base, base + next, base + 2 * next, base + 3 * next, 0, 0], 'until it was paused');
});

test.serial('usage counts what there is', async (t) => {
  const { tenant } = await scene();
  const { body } = await get(tenant, '/usage');
  t.like(body, {
    period: 'day',
    email_accounts: { total: 1, active: 1, in_warmup: 0, with_errors: 0 },
    campaigns: { total: 1, active: 1, paused: 0, draft: 0, emails_sent: 2 },
    contacts: { total: 4, subscribed: 3, added_today: 2 },
    api: { total_calls: 0, daily_limit: 0, top_endpoints: [] },
  });
  t.is((await get(tenant, '/usage?period=week')).body.campaigns.emails_sent, 4);
});

test.serial('a month begins on the last day of the month before where that has no such day', async (t) => {
  const { tenant } = await scene(new Date('2026-02-27T23:30:00Z'));
  clock.set(new Date('2026-03-30T00:10:00Z'));
  t.is((await get(tenant, '/usage?period=month')).body.campaigns.emails_sent, 2);
});

test.serial('every figure opens what it counts, page by page, narrowed as the report is', async (t) => {
  const { tenant, campaignId, stepIds, mailbox, ids } = await scene();
  const list = async (query: string) => {
    const { status, body } = await get(tenant, `/explain?${query}`);
    t.is(status, 200, JSON.stringify(body));
    return body;
  };
  const sent = await list(`figure=sent&campaign_id=${campaignId}&step_id=${stepIds[0]}&limit=3`);
  t.is(sent.pagination.total, 4);
  t.is(sent.data.length, 3);
  t.like(sent.data[0], { kind: 'email', campaign_id: campaignId, email_account_id: mailbox.id });
  const rest = await list(
    `figure=sent&campaign_id=${campaignId}&step_id=${stepIds[0]}&limit=3&cursor=${sent.pagination.next_cursor}`,
  );
  t.deepEqual([...sent.data, ...rest.data].map(({ id }) => id).sort(), [...ids].sort());
  const [before] = (await list('figure=sent&to=2026-11-18T23:10:00Z')).data;
  t.truthy(before, 'time is counted in whole hours, as in the reports');
  t.deepEqual(
    (await list('figure=replies')).data.map(({ id }: { id: string }) => id),
    [ids[2]],
  );
  t.deepEqual(
    (await list('figure=machine_opens')).data.map(({ id }: { id: string }) => id),
    [ids[1]],
  );
  t.is((await list(`figure=devices&campaign_id=${campaignId}&key=mobile`)).pagination.total, 1);
  t.is((await list(`figure=devices&campaign_id=${campaignId}&key=desktop`)).pagination.total, 0);
  t.is((await list(`figure=total_contacts&campaign_id=${campaignId}`)).pagination.total, 4);
  t.is((await list(`figure=sent&campaign_id=none`)).pagination.total, 0);
  const other = await world.tenant();
  const foreign = await get(other, `/explain?figure=sent&campaign_id=${campaignId}`);
  t.deepEqual([foreign.status, foreign.body.pagination.total], [200, 0]);
});

test.serial('what a figure is not counted by is named, every fault of it', async (t) => {
  const tenant = await world.tenant();
  const faults = async (query: string) => {
    const { status, body } = await get(tenant, `/explain?${query}`);
    t.is(status, 400, query);
    return body.problems.map(({ path }: { path: string }) => path);
  };
  t.deepEqual(await faults('figure=all'), ['query.figure']);
  t.deepEqual(await faults('figure=dlq_pending&step_id=a&key=b'), ['query.step_id', 'query.key']);
  t.deepEqual(await faults('figure=countries&provider=b'), ['query.provider', 'query.campaign_id']);
  t.deepEqual(await faults('figure=countries&key=&limit=0&from=2026-02-03T00:00:00Z&to=2026-02-02T00:00:00Z'), [
    'query.limit',
    'query.to',
    'query.from',
    'query.to',
    'query.campaign_id',
  ]);
});

test.serial('received answers, reported replies and bounces without an email open as well', async (t) => {
  const { tenant, org, mailbox } = await scene();
  const { deps } = world;
  const now = clock.now();
  const message = {
    organization_id: org,
    mailbox_id: mailbox.id,
    folder: 'INBOX',
    uid_validity: 1,
    thread_id: newId(),
  };
  for (const [uid, kind, intent] of [
    [1, 'reply', 'question'],
    [2, 'out_of_office', null],
    [3, 'other', null],
  ] as const)
    await deps
      .db('inbound_messages')
      .insert({ id: newId(), ...message, uid, kind, intent, received_at: now, created_at: now });
  await deps
    .db('engagement_events')
    .insert({ id: newId(), organization_id: org, type: 'bounce', at: now, detail: JSON.stringify({}) });
  await deps.db('deliverability_events').insert({
    id: newId(),
    organization_id: org,
    event_type: 'reply',
    recipient_email: 'ann@lead.test',
    created_at: now,
  });
  await walkAnalytics(t, world, org);
  const { body } = await get(tenant, '/explain?figure=reply_count');
  t.like(body.data[0], { kind: 'reported_event', contact_email: 'ann@lead.test' });
  const total = async (figure: string) => (await get(tenant, `/explain?figure=${figure}`)).body.pagination.total;
  t.is(await total('intent_question'), 1);
  t.is(await total('intent_out_of_office'), 1);
  t.is(await total('bounce_count'), 2);
  t.is(await total('bounces'), 1);
});
