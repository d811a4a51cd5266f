import test from 'ava';
import { stopCampaign, startCampaign } from '../../domain/campaigns/start.ts';
import { advanceEnrollment } from '../../domain/engine/enrollment/advance.ts';
import { finishEnrollment } from '../../domain/engine/control/finish.ts';
import { deliverSend } from '../../domain/engine/sending/deliver.ts';
import { transact } from '../../domain/kernel/transact.ts';
import { recordInbound } from '../../domain/engine/outcomes/record-inbound.ts';
import { listUncertain, settleUncertain } from '../../domain/tasks/uncertain.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { createCampaign, createContact, createMailbox, enroll, type StepSpec } from '../harness/factories.ts';
import { Crash, createFakeSmtp, type Attempt } from '../harness/fake-smtp.ts';
import { createWorld, type World } from '../harness/world.ts';

const MONDAY = new Date('2026-03-02T08:00:00Z');
const TWO_STEPS: StepSpec[] = [
  { subject: 'Hello there', body_plain: 'one' },
  { subject: '', body_plain: 'two', thread_reply: true, wait_after: 1 },
];
const clock = new ManualClock(MONDAY);
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.beforeEach(() => clock.set(MONDAY));
test.after.always(() => world?.close());

async function given(steps: StepSpec[] = TWO_STEPS) {
  const { organizationId } = await world.tenant();
  const mailboxId = await createMailbox(world.deps, organizationId, 'm@s.example.com', {
    smtp: { host: '127.0.0.1', port: 1 },
  });
  const { campaignId } = await createCampaign(world.deps, organizationId, steps, { status: 'active' });
  const contactId = await createContact(world.deps.db, clock.now(), organizationId);
  const [enrollmentId] = (await enroll(world.deps, organizationId, campaignId, [contactId])) as [string];
  const smtp = createFakeSmtp();
  const ctx = world.system(organizationId);
  const db = world.deps.db;
  const lead = {
    organizationId,
    mailboxId,
    campaignId,
    contactId,
    enrollmentId,
    smtp,
    ctx,
    db,
    advance: () => advanceEnrollment(ctx, enrollmentId),
    deliver: (sendId: string) => deliverSend(ctx, { smtp }, sendId),
    /** Goes on, over waits, to the next email, and returns its send at its time. */
    async reserve(): Promise<string> {
      for (let n = 0; n < 20; n += 1) {
        const decision = await lead.advance();
        if (decision.kind === 'send') return decision.sendId;
        if (decision.kind === 'slot' || decision.kind === 'wait') {
          clock.set(new Date(decision.kind === 'slot' ? decision.at : decision.until));
          if (decision.kind === 'slot') return decision.sendId;
        } else throw new Error(`no slot: ${JSON.stringify(decision)}`);
      }
      throw new Error('no slot');
    },
    /** Has the worker of the next email die, and what it left be looked at when the claim has run out. */
    async dies(attempt: Attempt): Promise<string> {
      const sendId = await lead.reserve();
      smtp.next = () => attempt;
      await lead.deliver(sendId).catch((error: unknown) => {
        if (!(error instanceof Crash)) throw error;
      });
      smtp.next = () => 'accept';
      clock.advance(world.deps.config.SEND_CLAIM_MS);
      return sendId;
    },
    send: (id: string) => db('sends').where({ id }).first(),
    enrollment: () => db('enrollments').where({ id: enrollmentId }).first(),
    letters: () => db('dead_letters').where({ organization_id: organizationId }),
  };
  return lead;
}

test.serial('an email whose worker died before it could end goes back to its slot, and leaves once', async (t) => {
  const lead = await given();
  const sendId = await lead.dies('die-before');
  t.like(await lead.send(sendId), { state: 'sending', handover: 'pending' });
  t.deepEqual(await lead.deliver(sendId), { outcome: 'sent' });
  t.like(await lead.send(sendId), { state: 'sent', handover: 'begun', attempts: 1 });
  t.is(lead.smtp.taken.length, 1);
  t.deepEqual(await lead.letters(), []);
});

test.serial('one that is too late for its slot gets another, and its count goes with it', async (t) => {
  const lead = await given();
  const sendId = await lead.dies('die-before');
  clock.advance(10 * 60_000);
  t.deepEqual(await lead.deliver(sendId), { outcome: 'slot_missed' });
  t.deepEqual(await lead.deliver(await lead.reserve()), { outcome: 'sent' });
  t.is(lead.smtp.taken.length, 1);
  const counts = await lead.db('daily_counters').where({ organization_id: lead.organizationId, scope: 'mailbox' });
  t.deepEqual(
    counts.map(({ count }) => count),
    [1],
  );
});

test.serial('a worker that was only thought dead cannot end a message that another has taken over', async (t) => {
  const lead = await given();
  const sendId = await lead.reserve();
  lead.smtp.next = async () => {
    lead.smtp.next = () => 'accept';
    clock.advance(world.deps.config.SEND_CLAIM_MS);
    t.deepEqual(await lead.deliver(sendId), { outcome: 'sent' });
    return 'accept' as const;
  };
  await lead.deliver(sendId);
  t.is(lead.smtp.offered, 2);
  t.is(lead.smtp.taken.length, 1);
  t.like(await lead.send(sendId), { state: 'sent' });
});

test.serial('while the database cannot say so, no message ends, and nothing counts against the contact', async (t) => {
  const lead = await given();
  const sendId = await lead.reserve();
  lead.smtp.next = async (_envelope, options) => {
    options.beforeEnd = () => Promise.resolve(false);
    return 'accept' as const;
  };
  t.deepEqual(await lead.deliver(sendId), { outcome: 'deferred' });
  t.like(await lead.send(sendId), { state: 'reserved', attempts: 0, handover: null });
  t.is(lead.smtp.taken.length, 0);
});

test.serial('an uncertain email is neither sent nor skipped, and the next one does not reply to it', async (t) => {
  const lead = await given();
  const sendId = await lead.dies('die-marked');
  t.deepEqual(await lead.deliver(sendId), { outcome: 'uncertain' });
  t.like(await lead.send(sendId), { state: 'uncertain', sent_at: null });
  t.like(await lead.db('step_runs').where({ enrollment_id: lead.enrollmentId }).first(), { outcome: 'uncertain' });
  const [letter] = await lead.letters();
  t.like(letter, { task_type: 'uncertain_email', task_id: sendId, status: 'pending' });
  t.true((await listUncertain(world.deps.db)).some(({ id }) => id === sendId));
  t.deepEqual(
    await lead.db('domain_events').where({ organization_id: lead.organizationId, type: 'campaign.email_sent' }),
    [],
  );
  t.deepEqual(await lead.deliver(await lead.reserve()), { outcome: 'sent' });
  const [second] = lead.smtp.taken;
  t.regex(second!.raw, /^Subject: Hello there\r$/m, 'without the prefix of a reply');
  t.notRegex(second!.raw, /^(in-reply-to|references):/im);
});

test.serial('a person says that it was sent: later emails reply to it', async (t) => {
  const lead = await given();
  const sendId = await lead.dies('die-after');
  await lead.deliver(sendId);
  await settleUncertain(world.deps, sendId, 'sent');
  t.like(await lead.send(sendId), { state: 'sent' });
  t.deepEqual(await lead.letters(), []);
  await t.throwsAsync(settleUncertain(world.deps, sendId, 'sent'), { message: /not uncertain/ });
  await lead.deliver(await lead.reserve());
  t.regex(lead.smtp.taken[1]!.raw, new RegExp(`^In-Reply-To: ${lead.smtp.taken[0]!.messageId}`, 'm'));
});

test.serial('a person has it sent again: once, before what comes next, under the same Message-ID', async (t) => {
  const lead = await given();
  const sendId = await lead.dies('die-after');
  await lead.deliver(sendId);
  await lead.advance();
  await settleUncertain(world.deps, sendId, 'again');
  t.like((await lead.letters())[0], { status: 'replayed' });
  await t.throwsAsync(settleUncertain(world.deps, sendId, 'again'), { message: /not uncertain/ });
  t.is(await lead.reserve(), sendId);
  // A pause takes the slot away, not the wish.
  await stopCampaign(lead.ctx, lead.campaignId);
  t.like(await lead.send(sendId), { state: 'uncertain', again: true });
  await startCampaign(lead.ctx, lead.campaignId);
  t.is(await lead.reserve(), sendId);
  t.deepEqual(await lead.deliver(sendId), { outcome: 'sent' });
  t.like(await lead.send(sendId), { state: 'sent', again: false });
  t.deepEqual(
    lead.smtp.taken.map(({ messageId }) => messageId),
    [lead.smtp.taken[0]!.messageId, lead.smtp.taken[0]!.messageId],
  );
  await lead.deliver(await lead.reserve());
  t.is(lead.smtp.taken.length, 3);
  t.like(await lead.advance(), { kind: 'done', outcome: 'completed' });
});

test.serial('the last email of a lead that is through is sent again too', async (t) => {
  const lead = await given([{ subject: 'Hello there', body_plain: 'one' }]);
  const sendId = await lead.dies('die-marked');
  await lead.deliver(sendId);
  t.like(await lead.advance(), { kind: 'done', outcome: 'completed' });
  await world.deps.db('campaigns').where({ id: lead.campaignId }).update({ status: 'completed' });
  await settleUncertain(world.deps, sendId, 'again');
  t.like(await lead.enrollment(), { state: 'active', finished_at: null });
  t.like(await world.deps.db('campaigns').where({ id: lead.campaignId }).first(), { status: 'active' });
  await lead.deliver(await lead.reserve());
  t.is(lead.smtp.taken.length, 1);
  t.like(await lead.advance(), { kind: 'done', outcome: 'completed' });
});

test.serial('whoever has left the campaign is not mailed again', async (t) => {
  const lead = await given();
  const sendId = await lead.dies('die-marked');
  await lead.deliver(sendId);
  await transact(lead.ctx, (tx) => finishEnrollment(tx, lead.enrollmentId, 'replied'));
  await t.throwsAsync(settleUncertain(world.deps, sendId, 'again'), { message: /has left the campaign/ });
  t.like((await lead.letters())[0], { status: 'pending' });
});

test.serial('an answer to an uncertain email says that it was sent', async (t) => {
  const lead = await given();
  const sendId = await lead.dies('die-after');
  await lead.deliver(sendId);
  const { message_id: messageId, recipient } = await lead.send(sendId);
  const raw = `From: ${recipient}\r\nTo: m@s.example.com\r\nSubject: Re: Hello there\r\nMessage-ID: <answer@x.example>\r\nIn-Reply-To: ${messageId}\r\n\r\nThanks, call me.\r\n`;
  const place = { folder: 'INBOX', uidValidity: 1, uid: 1, receivedAt: clock.now() };
  t.is(
    await recordInbound(lead.ctx, { id: lead.mailboxId, email: 'm@s.example.com' }, Buffer.from(raw), place),
    'reply',
  );
  t.like(await lead.send(sendId), { state: 'sent' });
  t.like(await lead.enrollment(), { state: 'replied' });
  t.deepEqual(await lead.letters(), []);
});
