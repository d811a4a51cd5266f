import test, { type ExecutionContext } from 'ava';
import { createSystemMail } from '../../lib/mail/index.ts';
import { silentLogger } from '../../lib/log.ts';
import { approvalContent, approverCtx, createApproval } from '../../test/harness/approvals.ts';
import { createMember, type Tenant } from '../../test/harness/factories.ts';
import { startMailWorld, type MailWorld } from '../../test/harness/mail.ts';
import { ManualClock } from '../../test/harness/manual-clock.ts';
import { createWorld, type World } from '../../test/harness/world.ts';
import { decideApproval } from './decide.ts';
import { mailApprovers } from './mail-approvers.ts';
import { message } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';

const PER_HOUR = 3;
const SENDER = { email: 'heron@ours.test', password: 'secret' };
const clock = new ManualClock();
let world: World;
let mail: MailWorld;

test.before(async () => {
  [world, mail] = await Promise.all([
    createWorld({ clock, env: { APPROVAL_MAILS_PER_HOUR: String(PER_HOUR) } }),
    startMailWorld(),
  ]);
  await mail.addMailbox(SENDER);
  const { host, port } = mail.smtp;
  const server = { SMTP_HOST: host, SMTP_PORT: port, SMTP_USERNAME: SENDER.email, SMTP_PASSWORD: SENDER.password };
  world.deps.systemMail = createSystemMail(
    { ...world.deps.config, ...server, MAIL_TRANSPORT: 'smtp', SMTP_SECURITY: 'none', MAIL_FROM: SENDER.email },
    silentLogger,
  );
});
test.after.always(async () => {
  world?.deps.systemMail.close();
  await world?.close();
  await mail?.stop();
});

const hold = (tenant: Tenant, changes = {}) => createApproval(world.system(tenant.organizationId), tenant, changes);
const mailAbout = (tenant: Tenant, id: string) => mailApprovers(world.system(tenant.organizationId), id);
const mailsTo = (email: string) => mail.messages.filter(({ envelope }) => envelope.to.includes(email));
const states = async (id: string) =>
  Object.fromEntries(
    (await world.deps.db('approval_mails').where({ approval_id: id })).map((row) => [row.user_id, row.state]),
  );
const isDone = async (t: ExecutionContext, id: string, done = true) =>
  t.is((await world.deps.db('approval_notices').where({ approval_id: id }).first()).state, done ? 'done' : 'due');
const emailOf = async (userId: string) => (await world.deps.db('users').where({ id: userId }).first()).email as string;

test.serial('everyone who may decide is mailed once: who asks, what, to how many, until when, and where', async (t) => {
  const [tenant, other] = await Promise.all([world.tenant('Acme & Sons'), world.tenant()]);
  const member = await createMember(world.deps, tenant, 'Member');
  const viewer = await createMember(world.deps, tenant, 'Viewer');
  const content = approvalContent({
    title: message('action.launch', { name: `Spring <b>\r\nBcc: x@evil.example ${'and so on '.repeat(20)}` }),
    recipients: { count: 120, source: { kind: 'campaign' }, fingerprint: 'x' },
  });
  const approval = await hold(tenant, { content });
  t.deepEqual(await mailAbout(tenant, approval.id), { kind: 'done', why: 'mailed 2' });
  await isDone(t, approval.id);

  t.is(mailsTo(await emailOf(viewer.userId)).length, 0, 'a role that cannot send cannot decide');
  t.is(mailsTo(other.email).length, 0, 'another workspace');
  t.is(mailsTo(await emailOf(member.userId)).length, 1);
  const [received, ...more] = mailsTo(tenant.email);
  t.is(more.length, 0);
  const { subject, text, html, headers, cc, bcc } = await received!.parsed();
  t.regex(subject!, /^test asks: Launch "Spring <b> Bcc: x@evil\.example and so on .{20,}…$/);
  t.true(cc === undefined && bcc === undefined);
  t.is(headers.get('auto-submitted'), 'auto-generated');
  const until = render(message('mail.moment', { at: approval.expires_at.toISOString() }));
  const link = `${world.deps.config.APP_URL}/approvals/${approval.id}`;
  for (const part of ['test, an API key of the workspace Acme & Sons', '120 people', 'me@acme.example', until, link])
    t.true(text!.includes(part), part);
  t.true(String(html).includes('Acme &amp; Sons') && String(html).includes('Spring &lt;b&gt;'));
  t.deepEqual([...new Set(String(html).match(/https?:\/\/[^\s"<]+/g))], [link], 'one link, which carries no secret');
  t.deepEqual(text!.match(/https?:\/\/\S+/g), [link]);

  t.deepEqual(await mailAbout(tenant, approval.id), { kind: 'done', why: 'mailed 0' });
  t.is(mailsTo(tenant.email).length, 1, 'not twice');
});

test.serial('two attempts at once mail each person once', async (t) => {
  const tenant = await world.tenant();
  await createMember(world.deps, tenant, 'Member');
  const { id } = await hold(tenant);
  const before = mail.messages.length;
  await Promise.all([mailAbout(tenant, id), mailAbout(tenant, id), mailAbout(tenant, id)]);
  t.is(mail.messages.length - before, 2);
});

test.serial('what was decided, or is out of time, is not mailed', async (t) => {
  const tenant = await world.tenant();
  const decided = await hold(tenant);
  await decideApproval(approverCtx(world.deps, tenant), decided.id, { decision: 'denied' });
  const expired = await hold(tenant);
  clock.advance(world.deps.config.APPROVAL_EXPIRES_MS);
  for (const { id } of [decided, expired]) {
    await mailAbout(tenant, id);
    await isDone(t, id);
  }
  t.is(mailsTo(tenant.email).length, 0);
});

test.serial('a person gets so many an hour, and the last one says so', async (t) => {
  const tenant = await world.tenant();
  const approvals = [];
  for (let n = 0; n < PER_HOUR + 3; n += 1) approvals.push(await hold(tenant));
  const nextAt = render(message('mail.moment', { at: new Date(clock.now().getTime() + 3_600_000).toISOString() }));
  await Promise.all(approvals.map(({ id }) => mailAbout(tenant, id)));
  const texts = await Promise.all(mailsTo(tenant.email).map(async (one) => (await one.parsed()).text!));
  t.is(texts.length, PER_HOUR);
  t.is(texts.filter((text) => text.includes(`Until ${nextAt}, further requests appear only in the list`)).length, 1);
  const left = await world.deps.db('approval_mails').where({ user_id: tenant.userId, state: 'left_out' });
  t.is(left.length, 3);

  clock.advance(3_600_000);
  await mailAbout(tenant, (await hold(tenant)).id);
  t.is(mailsTo(tenant.email).length, PER_HOUR + 1, 'the next hour');
});

test.serial(
  'a server that is away is asked again; a refusal and a lost answer are final, and keep no other from it',
  async (t) => {
    const tenant = await world.tenant();
    const [refused, lost, deferred] = await Promise.all(
      ['Member', 'Member', 'Member'].map((role) => createMember(world.deps, tenant, role)),
    );
    mail.script(await emailOf(refused!.userId), { kind: 'reject' });
    mail.script(await emailOf(lost!.userId), { kind: 'drop' });
    mail.script(await emailOf(deferred!.userId), { kind: 'defer', times: 1 });
    const { id } = await hold(tenant);
    mail.server.setAway(true);
    await t.throwsAsync(mailAbout(tenant, id), { message: /mail transport/ });
    mail.server.setAway(false);
    t.deepEqual(await states(id), {});
    await isDone(t, id, false);

    await t.throwsAsync(mailAbout(tenant, id), { message: /mail transport/ });
    t.deepEqual(await states(id), {
      [tenant.userId]: 'sent',
      [refused!.userId]: 'refused',
      [lost!.userId]: 'uncertain',
    });
    t.deepEqual(await mailAbout(tenant, id), { kind: 'done', why: 'mailed 1' });
    t.is((await states(id))[deferred!.userId], 'sent');
    for (const person of [tenant, lost!, deferred!]) t.is(mailsTo(await emailOf(person.userId)).length, 1);
    await isDone(t, id);
  },
);

test.serial('what a dead worker was sending is not sent again', async (t) => {
  const tenant = await world.tenant();
  const { id } = await hold(tenant);
  const claim = { approval_id: id, user_id: tenant.userId, organization_id: tenant.organizationId, state: 'sending' };
  await world.deps.db('approval_mails').insert({ ...claim, claimed_at: clock.now() });
  await mailAbout(tenant, id);
  t.deepEqual(await states(id), { [tenant.userId]: 'uncertain' });
  t.is(mailsTo(tenant.email).length, 0);
});
