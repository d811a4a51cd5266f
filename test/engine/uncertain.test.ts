import test from 'ava';
import { stopCampaign, startCampaign } from '../../domain/campaigns/start.ts';
import { finishEnrollment } from '../../domain/sending/control/finish.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { recordInbound } from '../../domain/sending/outcomes/record-inbound.ts';
import { listUncertain, settleUncertain } from '../../domain/operations/dead-letters/uncertain.ts';
import { breakWrites } from '../harness/broken-writes.ts';
import { eventually } from '../harness/eventually.ts';
import type { StepSpec } from '../harness/factories.ts';
import { createLead, createMondayWorld } from '../harness/lead.ts';
import { Crash, type Attempt } from '../harness/fake-smtp.ts';
import { externalText } from '../../domain/platform/external-text.ts';

const TWO_STEPS: StepSpec[] = [
  { subject: 'Hello there', body_plain: 'one' },
  { subject: '', body_plain: 'two', thread_reply: true, wait_after: 1 },
];
const stage = await createMondayWorld(test);
const { world, clock } = stage;

async function given(steps: StepSpec[] = TWO_STEPS, campaign: Record<string, unknown> = {}) {
  const lead = await createLead(stage, steps, { campaign });
  const { db, organizationId, smtp } = lead;
  return {
    ...lead,
    /** Makes the recipient answer an email. Returns the classification of the message. */
    async answer(sendId: string) {
      const { message_id: messageId, recipient } = await lead.readSend(sendId);
      const raw = `From: ${recipient}\r\nTo: m@s.example.com\r\nSubject: Re: Hello there\r\nMessage-ID: <to-${sendId}@x.example>\r\nIn-Reply-To: ${messageId}\r\n\r\nThanks, call me.\r\n`;
      const place = { folder: 'INBOX', uidValidity: 1, uid: 1, receivedAt: clock.now() };
      return recordInbound(lead.ctx, { id: lead.mailboxId, email: 'm@s.example.com' }, Buffer.from(raw), place);
    },
    /** Simulates the death of the worker that sends the next email. Checks the email after the claim has expired. */
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
    letters: () => db('dead_letters').where({ organization_id: organizationId }),
  };
}

test.serial('an email whose worker died before it could end goes back to its slot, and leaves once', async (t) => {
  const lead = await given();
  const sendId = await lead.dies('die-before');
  t.like(await lead.readSend(sendId), { state: 'sending', handover: 'pending' });
  t.deepEqual(await lead.deliver(sendId), { outcome: 'sent' });
  t.like(await lead.readSend(sendId), { state: 'sent', handover: 'begun', attempts: 1 });
  t.is(lead.smtp.taken.length, 1);
  t.deepEqual(await lead.letters(), []);
});

test.serial(
  'an email counts from the moment at which the server took it, however late that can be stored',
  async (t) => {
    const lead = await given();
    const sendId = await lead.reserve();
    const mend = await breakWrites(world, 'sends', 'update', `new.state = 'sent'`);
    const tookAt = clock.now();
    const left = lead.deliver(sendId);
    await eventually(async () => lead.smtp.taken.length > 0);
    clock.advance(60_000);
    await mend();
    t.deepEqual(await left, { outcome: 'sent' });
    t.deepEqual((await lead.readSend(sendId)).sent_at, tookAt);
    const event = await lead
      .db('domain_events')
      .where({ organization_id: lead.organizationId, type: 'campaign.email_sent' })
      .first();
    t.is(event.data.sent_at, tookAt.toISOString());
  },
);

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
  t.like(await lead.readSend(sendId), { state: 'sent' });
});

test.serial('while the database cannot say so, no message ends, and nothing counts against the contact', async (t) => {
  const lead = await given();
  const sendId = await lead.reserve();
  lead.smtp.next = async (_envelope, options) => {
    options.beforeEnd = () => Promise.resolve(false);
    return 'accept' as const;
  };
  t.deepEqual(await lead.deliver(sendId), { outcome: 'deferred' });
  t.like(await lead.readSend(sendId), { state: 'reserved', attempts: 0, handover: null });
  t.is(lead.smtp.taken.length, 0);
});

test.serial('an uncertain email is neither sent nor skipped, and the next one does not reply to it', async (t) => {
  const lead = await given();
  const sendId = await lead.dies('die-marked');
  t.deepEqual(await lead.deliver(sendId), { outcome: 'uncertain' });
  t.like(await lead.readSend(sendId), { state: 'uncertain', sent_at: null });
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
  t.like(await lead.readSend(sendId), { state: 'sent' });
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
  // A pause releases the slot, but keeps the request to send the email again.
  await stopCampaign(lead.ctx, lead.campaignId);
  t.like(await lead.readSend(sendId), { state: 'uncertain', again: true });
  await startCampaign(lead.ctx, lead.campaignId);
  t.is(await lead.reserve(), sendId);
  t.deepEqual(await lead.deliver(sendId), { outcome: 'sent' });
  t.like(await lead.readSend(sendId), { state: 'sent', again: false });
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
  t.like(await lead.readEnrollment(), { state: 'active', finished_at: null });
  t.like(await world.deps.db('campaigns').where({ id: lead.campaignId }).first(), { status: 'active' });
  await lead.deliver(await lead.reserve());
  t.is(lead.smtp.taken.length, 1);
  t.like(await lead.advance(), { kind: 'done', outcome: 'completed' });
});

test.serial('a lead whose way was ended gets an email again that a person asks for, and no further step', async (t) => {
  const lead = await given([...TWO_STEPS, { body_plain: 'three', wait_after: 1 }]);
  const sendId = await lead.dies('die-marked');
  await lead.deliver(sendId);
  await lead.advance();
  await transact(lead.ctx, (tx) =>
    finishEnrollment(tx, lead.enrollmentId, 'completed', { reason: externalText('a meeting was booked') }),
  );
  await settleUncertain(world.deps, sendId, 'again');
  await lead.deliver(await lead.reserve());
  t.like(await lead.advance(), { kind: 'done', outcome: 'completed' });
  t.is(lead.smtp.taken.length, 1);
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
  t.is(await lead.answer(sendId), 'reply');
  t.like(await lead.readSend(sendId), { state: 'sent' });
  t.like(await lead.readEnrollment(), { state: 'replied' });
  t.deepEqual(await lead.letters(), []);
});

// A reply does not end the sequence, so only the reply itself prevents that the email is sent again.
const GOES_ON = { stop_on_reply: false };

test.serial('an email that waits to be sent again does not leave once it is answered', async (t) => {
  const lead = await given(TWO_STEPS, GOES_ON);
  const sendId = await lead.dies('die-after');
  await lead.deliver(sendId);
  await settleUncertain(world.deps, sendId, 'again');
  t.is(await lead.reserve(), sendId);
  t.is(await lead.answer(sendId), 'reply');
  t.like(await lead.readSend(sendId), { state: 'sent', again: false });
  t.deepEqual(await lead.deliver(sendId), { outcome: 'sent' }, 'there is nothing to do');
  t.is(lead.smtp.taken.length, 1);
  const counts = lead.db('daily_counters').where({ organization_id: lead.organizationId, scope: 'mailbox' });
  t.deepEqual(await counts.pluck('count'), [1], 'its second slot is free again');
  await lead.deliver(await lead.reserve());
  t.regex(lead.smtp.taken[1]!.raw, new RegExp(`^In-Reply-To: ${lead.smtp.taken[0]!.messageId}`, 'm'));
});

test.serial('an email that was refused for a while does not leave again once it is answered', async (t) => {
  const lead = await given(TWO_STEPS, GOES_ON);
  const sendId = await lead.reserve();
  const response = '452 4.2.2 the mailbox is full';
  lead.smtp.next = () => ({ kind: 'refused', stage: 'data', code: 452, response, permanent: false });
  t.deepEqual(await lead.deliver(sendId), { outcome: 'deferred' });
  lead.smtp.next = () => 'accept';
  t.is(await lead.answer(sendId), 'reply', 'the server had taken it all the same');
  t.like(await lead.readSend(sendId), { state: 'sent' });
  t.like(await lead.db('step_runs').where({ enrollment_id: lead.enrollmentId }).first(), {
    state: 'completed',
    outcome: 'sent',
  });
  t.not(await lead.reserve(), sendId);
  t.is(lead.smtp.taken.length, 0);
});

test.serial('an email that could not be sent again is uncertain as before, and its lead goes on', async (t) => {
  const lead = await given();
  const sendId = await lead.dies('die-marked');
  await lead.deliver(sendId);
  await settleUncertain(world.deps, sendId, 'again');
  const response = '452 4.2.2 the mailbox is full';
  lead.smtp.next = () => ({ kind: 'refused', stage: 'data', code: 452, response, permanent: false });
  let became: { outcome: string } = { outcome: 'deferred' };
  for (let tries = 0; became.outcome === 'deferred' && tries < 10; tries += 1) {
    t.is(await lead.reserve(), sendId);
    became = await lead.deliver(sendId);
  }
  t.deepEqual(became, { outcome: 'failed' });
  t.like(await lead.readSend(sendId), { state: 'uncertain', again: false });
  t.like(await lead.readEnrollment(), { state: 'active' });
  lead.smtp.next = () => 'accept';
  const pending = (await lead.letters()).filter(({ status }) => status === 'pending');
  t.deepEqual(
    pending.map(({ task_type: type }) => type),
    ['uncertain_email'],
  );
  await settleUncertain(world.deps, sendId, 'again');
  t.is(await lead.reserve(), sendId);
  t.deepEqual(await lead.deliver(sendId), { outcome: 'sent' });
  t.is(lead.smtp.taken.length, 1);
});
