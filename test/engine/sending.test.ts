import test from 'ava';
import { deleteCampaign } from '../../domain/campaigns/remove.ts';
import { stopCampaign, startCampaign } from '../../domain/campaigns/start.ts';
import { deleteContact } from '../../domain/audience/contacts/remove.ts';
import { advanceEnrollment } from '../../domain/sending/enrollment/advance.ts';
import { EVENT_PAYLOADS } from '../../domain/platform/kernel/event-payloads.ts';
import { clearHold } from '../../domain/sending/control/mailbox-hold.ts';
import { recordSignIn, recordRefusedSignIn } from '../../domain/mailboxes/sync-state.ts';
import { finishEnrollment } from '../../domain/sending/control/finish.ts';
import { addRechecks, RESUMED } from '../../domain/sending/control/rechecks.ts';
import { launchDueLeads } from '../../domain/sending/enrollment/launch.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { removeMailbox } from '../../domain/mailboxes/update.ts';
import { deliverSend } from '../../domain/sending/deliver.ts';
import { createLead, createMondayWorld, MONDAY } from '../harness/lead.ts';
import { newId } from '../../lib/ids.ts';
import type { SmtpOutcome } from '../../lib/smtp/index.ts';
import { createContact, enroll, type StepSpec } from '../harness/factories.ts';
import { Crash } from '../harness/fake-smtp.ts';
import { message } from '../../messages/index.ts';
import { externalText } from '../../domain/platform/external-text.ts';

const UNREACHABLE: SmtpOutcome = {
  kind: 'unreachable',
  stage: 'connect',
  reason: message('mailboxes.unreachable_connect'),
};
const stage = await createMondayWorld(test);
const { world, clock } = stage;

/** Creates a lead at its first email, and a scripted mail server. */
async function given(steps?: StepSpec[], campaign: Record<string, unknown> = {}) {
  const lead = await createLead(stage, steps, { campaign });
  const { db, organizationId } = lead;
  return {
    ...lead,
    sends: () => db('sends').where({ organization_id: organizationId }),
    /** Returns the daily counts that are not zero, as `scope/day`. */
    async counts() {
      const rows = await db('daily_counters')
        .where({ organization_id: organizationId })
        .whereNot({ count: 0 })
        .orderBy(['scope', 'day']);
      return Object.fromEntries(rows.map((row) => [`${row.scope}/${row.day}`, row.count]));
    },
  };
}

test.serial('a reply while the server is away leaves no slot behind', async (t) => {
  const { smtp, ctx, enrollmentId, reserve, deliver, sends, counts } = await given();
  const sendId = await reserve();
  smtp.next = async () => {
    await transact(ctx, (tx) => finishEnrollment(tx, enrollmentId, 'replied'));
    return UNREACHABLE;
  };
  await deliver(sendId);
  t.deepEqual(await sends(), []);
  t.deepEqual(await counts(), {});
});

test.serial('a campaign deleted while the server is away leaves no slot behind', async (t) => {
  const { smtp, ctx, campaignId, reserve, deliver, sends, counts } = await given();
  const sendId = await reserve();
  smtp.next = async () => {
    await deleteCampaign(ctx, campaignId);
    return UNREACHABLE;
  };
  await deliver(sendId);
  t.deepEqual(await sends(), []);
  t.deepEqual(await counts(), {});
});

for (const [what, act] of Object.entries({
  'its mailbox is removed': ({ ctx, mailboxId }) => removeMailbox(ctx, mailboxId),
  'its campaign is deleted': ({ ctx, campaignId }) => deleteCampaign(ctx, campaignId),
  'its contact is deleted': ({ ctx, contactId }) => deleteContact(ctx, contactId),
} satisfies Record<string, (given: any) => Promise<unknown>>)) {
  test.serial(`an email a dead worker left is settled as uncertain even when ${what}`, async (t) => {
    const lead = await given();
    const sendId = await lead.reserve();
    lead.smtp.next = () => 'die-marked';
    await t.throwsAsync(lead.deliver(sendId), { instanceOf: Crash });
    await act(lead);
    t.deepEqual(
      await lead.deliver(sendId),
      { outcome: 'busy', retryAt: clock.now().getTime() + 15_000 },
      'mostly it is settled long before the claim ends',
    );
    clock.advance(world.deps.config.SEND_CLAIM_MS - 5_000);
    t.deepEqual(await lead.deliver(sendId), { outcome: 'busy', retryAt: clock.now().getTime() + 5_000 });
    clock.advance(5_000);
    t.deepEqual(await lead.deliver(sendId), { outcome: 'uncertain' });
    t.like(await lead.readSend(sendId), { state: 'uncertain' });
    t.is(lead.smtp.offered, 1);
  });
}

test.serial('a step that is no email any more is not mailed, and its slot goes back', async (t) => {
  const { campaignId, stepIds, smtp, reserve, deliver, advance, sends, counts } = await given();
  const sendId = await reserve();
  const action = JSON.stringify({ type: 'wait', wait_minutes: 5 });
  await world.deps.db('campaign_steps').where({ id: stepIds[0] }).update({ kind: 'wait', action });
  await world.deps.db('campaigns').where({ id: campaignId }).update({ graph_version: 2 });
  await deliver(sendId);
  t.is(smtp.offered, 0);
  t.like(await advance(), { kind: 'wait', where: 'step 1 of 1, waiting' });
  t.deepEqual(await sends(), []);
  t.deepEqual(await counts(), {});
});

test.serial('the same, when the contact looks before the slot comes', async (t) => {
  const { campaignId, stepIds, reserve, advance, sends } = await given();
  await reserve();
  await world.deps
    .db('campaign_steps')
    .where({ id: stepIds[0] })
    .update({ kind: 'wait', action: JSON.stringify({ type: 'wait', wait_minutes: 5 }) });
  await world.deps.db('campaigns').where({ id: campaignId }).update({ graph_version: 2 });
  t.like(await advance(), { kind: 'wait' });
  t.deepEqual(await sends(), []);
});

test.serial('a retry that falls on another day moves its counts with it', async (t) => {
  const { smtp, reserve, deliver, counts, ctx, enrollmentId } = await given();
  clock.set(new Date('2026-03-02T23:59:30Z'));
  const sendId = await reserve();
  t.deepEqual(await counts(), { 'campaign/2026-03-02': 1, 'campaign_new/2026-03-02': 1, 'mailbox/2026-03-02': 1 });
  smtp.next = () => UNREACHABLE;
  t.deepEqual(await deliver(sendId), { outcome: 'deferred' });
  t.deepEqual(await counts(), { 'campaign/2026-03-03': 1, 'campaign_new/2026-03-03': 1, 'mailbox/2026-03-03': 1 });
  await transact(ctx, (tx) => finishEnrollment(tx, enrollmentId, 'replied'));
  t.deepEqual(await counts(), {});
});

test.serial('attempts count on over pauses, so an address that is always deferred comes to an end', async (t) => {
  const { smtp, ctx, campaignId, deliver, reserve, advance, readEnrollment } = await given();
  smtp.next = () => refusal('450 4.2.1 try again later');
  const outcomes: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    outcomes.push((await deliver(await reserve())).outcome);
    await stopCampaign(ctx, campaignId).catch(() => {});
    await startCampaign(ctx, campaignId).catch(() => {});
  }
  t.deepEqual(outcomes, ['deferred', 'deferred', 'deferred', 'deferred', 'failed']);
  t.like(await readEnrollment(), { state: 'failed' });
  t.deepEqual(await advance(), { kind: 'done', outcome: 'failed' });
  t.like(await world.deps.db('dead_letters').where({ organization_id: ctx.actor.organizationId }).first(), {
    attempts: 5,
    max_attempts: 5,
  });
});

test.serial('a deferred email keeps the gap of its mailbox to the emails that have slots', async (t) => {
  const { organizationId, campaignId, mailboxId, smtp, ctx, deliver, reserve, readSend } = await given();
  const { db } = world.deps;
  await db('mailboxes').where({ id: mailboxId }).update({ min_wait_time: 600 });
  const sendId = await reserve();
  const others = await Promise.all([1, 2].map(() => createContact(db, clock.now(), organizationId)));
  for (const id of await enroll(world.deps, organizationId, campaignId, others))
    t.regex((await advanceEnrollment(ctx, id)).kind, /^(send|slot)$/);
  smtp.next = () => UNREACHABLE;
  await deliver(sendId);
  const slots = async () =>
    (await db('sends').where({ mailbox_id: mailboxId }).orderBy('slot_at').pluck('slot_at')).map((at: Date) =>
      at.getTime(),
    );
  const spaced = (times: number[]) => times.every((at, index) => index === 0 || at - times[index - 1]! >= 600_000);
  t.true(spaced(await slots()), String(await slots()));
  t.true((await readSend(sendId)).slot_at.getTime() >= clock.now().getTime() + 60_000);
  // The next email keeps its distance from the slot to which the first one moved.
  const late = await createContact(db, clock.now(), organizationId);
  const [next] = await enroll(world.deps, organizationId, campaignId, [late]);
  t.regex((await advanceEnrollment(ctx, next!)).kind, /^(send|slot)$/);
  t.true(spaced(await slots()), String(await slots()));
});

test.serial('a slot given back does not let the next email follow the last one too soon', async (t) => {
  const { organizationId, campaignId, mailboxId, ctx, deliver, reserve } = await given();
  const { db } = world.deps;
  await db('mailboxes').where({ id: mailboxId }).update({ min_wait_time: 600 });
  t.deepEqual(await deliver(await reserve()), { outcome: 'sent' });
  const sentAt = clock.now().getTime();
  const [first, second] = await Promise.all([1, 2].map(() => createContact(db, clock.now(), organizationId)));
  const [one, two] = await enroll(world.deps, organizationId, campaignId, [first!, second!]);
  await advanceEnrollment(ctx, one!);
  await transact(ctx, (tx) => finishEnrollment(tx, one!, 'replied'));
  await advanceEnrollment(ctx, two!);
  t.true((await db('sends').where({ enrollment_id: two }).first()).slot_at.getTime() >= sentAt + 600_000);
});

test.serial('the claim looks at the lead again: one that has ended, or is held, is not mailed', async (t) => {
  const changes = [
    ['replied', { state: 'replied' }],
    ['bounced', { state: 'bounced' }],
    ['pending', { state: 'pending' }],
    ['held', { hold_since: MONDAY, hold_until: null, hold_source: 'manual' }],
  ] as const;
  for (const [outcome, change] of changes) {
    const { enrollmentId, smtp, reserve, deliver, sends, counts } = await given();
    const sendId = await reserve();
    // Changes the row directly, like a concurrent reply. `finish` would release the slot itself.
    await world.deps.db('enrollments').where({ id: enrollmentId }).update(change);
    t.deepEqual(await deliver(sendId), { outcome });
    t.is(smtp.offered, 0, outcome);
    t.deepEqual(await sends(), []);
    t.deepEqual(await counts(), {});
  }
});

test.serial('an email that missed its slot by more than its window asks for another', async (t) => {
  const late = async (settings: object | null, lateMs: number) => {
    const lead = await given();
    if (settings)
      await world.deps.db('outreach_settings').insert({
        organization_id: lead.organizationId,
        settings: JSON.stringify({ task_reliability: settings }),
        updated_at: MONDAY,
      });
    const sendId = await lead.reserve();
    clock.advance(lateMs);
    return (await lead.deliver(sendId)).outcome;
  };
  t.is(await late(null, 299_000), 'sent');
  t.is(await late(null, 301_000), 'slot_missed');
  t.is(await late({ execution_window_seconds: 7200 }, 301_000), 'slot_missed', 'never later than the engine allows');
  t.is(await late({ execution_window_seconds: 60 }, 61_000), 'slot_missed');
  t.is(await late({ execution_window_seconds: 60 }, 59_000), 'sent');
  t.is(await late({ enabled: false, execution_window_seconds: 60 }, 61_000), 'sent');
});

test.serial(
  'settling what was accepted is one step: send, run, lead and event agree, and a stale token moves nothing',
  async (t) => {
    const { enrollmentId, organizationId, smtp, reserve, deliver, readSend, readEnrollment } = await given();
    const { db } = world.deps;
    const sendId = await reserve();
    smtp.next = async () => {
      // Simulates another worker that took over the email as abandoned.
      await db('sends').where({ id: sendId }).update({ claim_token: newId() });
      return 'accept' as const;
    };
    await deliver(sendId);
    t.like(await readSend(sendId), { state: 'sending', sent_at: null });
    t.deepEqual(await db('domain_events').where({ organization_id: organizationId, type: 'campaign.email_sent' }), []);
    const other = await given();
    const otherId = await other.reserve();
    await other.deliver(otherId);
    const row = await other.readSend(otherId);
    t.like(row, { state: 'sent', sent_at: clock.now() });
    t.like(await db('step_runs').where({ enrollment_id: other.enrollmentId }).first(), {
      state: 'completed',
      outcome: 'sent',
      detail: null,
    });
    t.like(await other.readEnrollment(), { mailbox_id: other.mailboxId, waiting_for: null });
    const events = await db('domain_events').where({
      organization_id: other.organizationId,
      type: 'campaign.email_sent',
    });
    t.is(events.length, 1);
    t.deepEqual(EVENT_PAYLOADS['campaign.email_sent'].parse(events[0].data), {
      campaign_id: other.campaignId,
      step_id: other.stepIds[0],
      contact_id: other.contactId,
      contact_email: row.recipient,
      email_account_id: other.mailboxId,
      task_id: otherId,
      message_id: row.message_id,
      sent_at: clock.now().toISOString(),
    });
    t.is(enrollmentId === other.enrollmentId, false);
    t.like(await readEnrollment(), { state: 'active' });
  },
);

test.serial('an attempt that comes again before the retry is due waits for it', async (t) => {
  const { smtp, deliver, reserve, readSend } = await given();
  const sendId = await reserve();
  smtp.next = () => UNREACHABLE;
  await deliver(sendId);
  const { slot_at: due } = await readSend(sendId);
  t.deepEqual(await deliver(sendId), { outcome: 'busy', retryAt: due.getTime() });
  t.is(smtp.offered, 1);
});

test.serial('credentials that cannot be opened hold the mailbox, and nothing is taken for sent', async (t) => {
  const { mailboxId, smtp, deliver, reserve, sends, advance } = await given();
  const sendId = await reserve();
  await world.deps
    .db('mailboxes')
    .where({ id: mailboxId })
    .update({ credentials: Buffer.from('sealed with another key') });
  t.deepEqual(await deliver(sendId), { outcome: 'mailbox_held' });
  t.is(smtp.offered, 0);
  t.deepEqual(await sends(), []);
  const held = (await world.deps.db('mailboxes').where({ id: mailboxId }).first())!;
  t.is(held.hold_code, 'auth_failed');
  const asleep = await advance();
  t.is(asleep.kind, 'wait');
  t.true((asleep as { until: number }).until >= held.hold_until!.getTime(), 'until the hold has passed');
});

test.serial('a sign-in that may pass later defers; one that is refused holds the mailbox', async (t) => {
  const busy = await given();
  busy.smtp.next = () => ({
    kind: 'refused',
    stage: 'auth',
    code: 454,
    response: '454 4.7.0 try later',
    permanent: false,
  });
  t.deepEqual(await busy.deliver(await busy.reserve()), { outcome: 'deferred' });
  t.like(await world.deps.db('mailboxes').where({ id: busy.mailboxId }).first(), { hold_code: null });
  const wrong = await given();
  wrong.smtp.next = () => ({ kind: 'refused', stage: 'auth', code: 535, response: '535 5.7.8 no', permanent: true });
  t.deepEqual(await wrong.deliver(await wrong.reserve()), { outcome: 'mailbox_held' });
  t.deepEqual(await wrong.sends(), []);
  t.deepEqual(await wrong.counts(), {});
});

test.serial('a contact refused while the copies are taken bounces with the words of the server', async (t) => {
  const { smtp, deliver, reserve, readSend } = await given(undefined, { cc: ['copy@example.org'] });
  const sendId = await reserve();
  smtp.next = ({ to }) => ({
    kind: 'accepted',
    response: '250 taken',
    rejected: [{ recipient: to[0]!, code: 450, response: '450 4.2.2 mailbox full' }],
  });
  t.deepEqual(await deliver(sendId), { outcome: 'bounced' });
  t.like(await readSend(sendId), { state: 'bounced', smtp_response: '450 4.2.2 mailbox full' });
});

test.serial('a link that was edited before the retry leads where the mail says', async (t) => {
  const { stepIds, smtp, deliver, reserve } = await given([
    { subject: 'S', body_plain: 'see https://example.com/old' },
  ]);
  const sendId = await reserve();
  smtp.next = () => UNREACHABLE;
  await deliver(sendId);
  await world.deps.db('campaign_steps').where({ id: stepIds[0] }).update({ body_plain: 'see https://example.com/new' });
  clock.advance(5 * 60_000);
  smtp.next = () => 'accept';
  t.deepEqual(await deliver(sendId), { outcome: 'sent' });
  t.deepEqual(
    (await world.deps.db('tracked_links').where({ send_id: sendId })).map(({ url }) => url),
    ['https://example.com/new'],
  );
});

test.serial(
  'two workers with the same email: one speaks to the server, and the retry builds the same Message-ID',
  async (t) => {
    const { smtp, deliver, reserve } = await given();
    const sendId = await reserve();
    const outcomes = await Promise.all([deliver(sendId), deliver(sendId), deliver(sendId)]);
    t.is(outcomes.filter(({ outcome }) => outcome === 'sent').length >= 1, true);
    t.is(smtp.offered, 1);
    t.deepEqual(await deliver(sendId), { outcome: 'sent' });
    t.is(smtp.taken.length, 1);
  },
);

test.serial('the server is given less time than the claim lasts', async (t) => {
  const { smtp, ctx, reserve } = await given();
  const sendId = await reserve();
  let timeout = Infinity;
  smtp.next = (_envelope, options) => {
    timeout = options.timeoutMs!;
    return 'accept' as const;
  };
  await deliverSend(ctx, { smtp }, sendId);
  t.true(timeout < world.deps.config.SEND_CLAIM_MS, `${timeout} ms`);
});

test.serial('a lead whose run was lost between launch and its first word is woken', async (t) => {
  const { ctx, campaignId, contactId, stepIds, readEnrollment } = await given();
  await launchDueLeads(ctx, campaignId);
  t.like(await readEnrollment(), { state: 'active', current_step_id: stepIds[0] });
  await world.deps.db('outbox').delete();
  clock.advance(11 * 60_000);
  await launchDueLeads(ctx, campaignId);
  const woken = () =>
    world.deps.db('outbox').where({ workflow_id: `enrollment/${campaignId}/${contactId}`, kind: 'signal' });
  t.is((await woken()).length, 1);
  await launchDueLeads(ctx, campaignId);
  t.is((await woken()).length, 1, 'once per while, not once per turn');
});

test.serial('leads no mailbox may write to do not keep the others waiting', async (t) => {
  const { ctx, organizationId, campaignId } = await given(undefined, { esp_match_mode: 'strict' });
  const add = async (espProvider: string, n: number) => {
    const contacts = await Promise.all(
      Array.from({ length: n }, () =>
        createContact(world.deps.db, clock.now(), organizationId, { esp_provider: espProvider }),
      ),
    );
    return enroll(world.deps, organizationId, campaignId, contacts);
  };
  await add('gmail', 120);
  const others = await add('other', 3);
  for (let n = 0; n < 4; n += 1) await launchDueLeads(ctx, campaignId);
  t.is((await world.deps.db('enrollments').whereIn('id', others).where({ state: 'active' })).length, 3);
  t.like(await launchDueLeads(ctx, campaignId), { report: { kind: 'wait', launched: 0 } });
});

test.serial('a lead that was locked when the campaign resumed is signalled a moment later', async (t) => {
  const { ctx, campaignId, enrollmentId, advance } = await given();
  await advance();
  await transact(ctx, (tx) => addRechecks(tx, campaignId, RESUMED));
  await world.deps.db.transaction(async (trx) => {
    await trx('enrollments').where({ id: enrollmentId }).forUpdate();
    t.like(await launchDueLeads(ctx, campaignId), { report: { kind: 'wait', launched: 0 } });
  });
  await launchDueLeads(ctx, campaignId);
  t.like(await world.deps.db('enrollments').where({ id: enrollmentId }).first(), { signalled_epoch: 2 });
});

test.serial('an email whose mail host is full is not claimed, and can still be released', async (t) => {
  const { smtp, campaignId, reserve, deliver, readSend } = await given();
  const sendId = await reserve();
  smtp.acquireNow = () => undefined;
  smtp.acquire = async () => ({ retryInMs: 700 });
  t.deepEqual(await deliver(sendId), { outcome: 'host_busy', retryInMs: 700 });
  t.is(smtp.offered, 0);
  t.like(await readSend(sendId), { state: 'reserved', attempts: 0, claim_token: null });
  const left: string[] = [];
  smtp.acquire = async () => {
    // The email's row is not locked while it waits for a permit, so the campaign can be paused.
    await world.deps.db('campaigns').where({ id: campaignId }).update({ status: 'paused' });
    return { release: (result) => void left.push(result) };
  };
  t.deepEqual(await deliver(sendId), { outcome: 'campaign_not_active' });
  t.is(smtp.offered, 0);
  t.deepEqual(left, ['unused'], 'the permit is given back, and the host was not asked');
});

test.serial('an email of a known mail host waits for its permit before the claim, and is claimed once', async (t) => {
  const { smtp, ctx, mailboxId, reserve, deliver, readSend } = await given();
  const sendId = await reserve();
  // The first claim makes this process remember the mail host.
  smtp.acquireNow = () => undefined;
  smtp.acquire = async () => ({ retryInMs: 700 });
  await deliver(sendId);
  let asked = 0;
  smtp.acquireNow = () => void (asked += 1);
  t.deepEqual(await deliverSend(ctx, { smtp }, sendId, mailboxId), { outcome: 'host_busy', retryInMs: 700 });
  t.is(asked, 0, 'an email that is still wanted is not claimed in vain');
  t.like(await readSend(sendId), { state: 'reserved', attempts: 0, claim_token: null });
  const left: string[] = [];
  smtp.acquire = async () => ({ release: (result) => void left.push(result) });
  t.deepEqual(await deliverSend(ctx, { smtp }, sendId, mailboxId), { outcome: 'sent' });
  t.is(asked, 0, 'the claim has the permit');
  t.deepEqual(left, ['answered']);
});

test.serial('an email of a known mail host without a permit is released if it is no longer wanted', async (t) => {
  const { smtp, ctx, campaignId, mailboxId, reserve, deliver } = await given();
  const sendId = await reserve();
  smtp.acquireNow = () => undefined;
  smtp.acquire = async () => ({ retryInMs: 700 });
  await deliver(sendId);
  await world.deps.db('campaigns').where({ id: campaignId }).update({ status: 'paused' });
  t.deepEqual(await deliverSend(ctx, { smtp }, sendId, mailboxId), { outcome: 'campaign_not_active' });
});

test.serial('the permit with a mail host is free once the host has answered, before copies are made', async (t) => {
  const { smtp, reserve, deliver, readSend } = await given();
  const sendId = await reserve();
  const left: string[] = [];
  smtp.acquireNow = () => ({ release: (result) => void left.push(result) });
  smtp.next = () => UNREACHABLE;
  t.deepEqual(await deliver(sendId), { outcome: 'deferred' });
  t.is(left[0], 'hung');
  t.like(await readSend(sendId), { state: 'reserved' });
});

const refusal = (response: string, stage: 'sender' | 'recipient' | 'data' = 'recipient'): SmtpOutcome => ({
  kind: 'refused',
  stage,
  code: Number(response.slice(0, 3)),
  response,
  permanent: response.startsWith('5'),
});

for (const [response, code] of [
  ['550 5.1.90 Your message cannot be sent because you reached your daily limit', 'sending_limit'],
  ['550 5.4.5 Daily user sending limit exceeded', 'sending_limit'],
  ['450 4.2.1 You have sent too many messages in the last hour', 'sending_limit'],
  ['550 5.7.708 Service unavailable. Access denied, traffic not accepted from this IP', 'sending_suspended'],
  ['554 Message rejected: Email address is not verified.', 'sender_not_verified'],
  ['554 5.7.1 Service unavailable; Client host [192.0.2.9] blocked using a block list', 'sender_reputation'],
  ['550 5.7.1 relaying denied', 'server_refused'],
  ['554 5.3.2 System not accepting network messages', 'server_refused'],
] as const) {
  test.serial(`"${response}" is the mailbox's fault: it is held, no contact is bounced or suppressed`, async (t) => {
    const { smtp, deliver, reserve, sends, counts, readEnrollment, organizationId, mailboxId } = await given();
    smtp.next = () => refusal(response, 'data');
    t.deepEqual(await deliver(await reserve()), { outcome: 'mailbox_held' });
    t.deepEqual(await sends(), []);
    t.deepEqual(await counts(), {});
    t.like(await readEnrollment(), { state: 'active' });
    const mailbox = await world.deps.db('mailboxes').where({ id: mailboxId }).first();
    t.is(mailbox.hold_code, code);
    t.true(mailbox.hold_until > clock.now());
    t.deepEqual(await world.deps.db('suppressions').where({ organization_id: organizationId }), []);
  });
}

test.serial('only an answer that says the recipient is gone suppresses', async (t) => {
  const after = async (response: string, stage?: 'data') => {
    const lead = await given();
    lead.smtp.next = () => refusal(response, stage);
    const { outcome } = await lead.deliver(await lead.reserve());
    const listed = await world.deps.db('suppressions').where({ organization_id: lead.organizationId });
    return { outcome, suppressed: listed.length };
  };
  t.deepEqual(await after('550 5.1.1 No such user here'), { outcome: 'bounced', suppressed: 1 });
  t.deepEqual(await after('550 No such user here'), { outcome: 'bounced', suppressed: 1 });
  t.deepEqual(await after('550 No such user here', 'data'), { outcome: 'deferred', suppressed: 0 });
  t.deepEqual(await after('552 5.2.2 Mailbox full'), { outcome: 'deferred', suppressed: 0 });
  t.deepEqual(await after('450 4.1.1 No such user here'), { outcome: 'deferred', suppressed: 0 });
  t.deepEqual(await after('554 5.7.1 Message rejected as spam', 'data'), { outcome: 'bounced', suppressed: 0 });
  t.deepEqual(await after('550 something went wrong'), { outcome: 'deferred', suppressed: 0 });
});

test.serial(
  'an outage of hours fails no lead: the attempts of a server that cannot be reached do not count',
  async (t) => {
    const { smtp, deliver, reserve, readSend, readEnrollment } = await given();
    const sendId = await reserve();
    smtp.next = () => UNREACHABLE;
    for (let attempt = 0; attempt < 30; attempt += 1) {
      t.deepEqual(await deliver(sendId), { outcome: 'deferred' });
      clock.set((await readSend(sendId)).slot_at);
    }
    t.like(await readSend(sendId), { state: 'reserved', attempts: 0 });
    t.like(await readEnrollment(), { state: 'active' });
    smtp.next = () => 'accept';
    t.deepEqual(await deliver(sendId), { outcome: 'sent' });
  },
);

test.serial('a refusal that only one contact meets is about that contact: the mailbox is not held twice', async (t) => {
  const { ctx, smtp, organizationId, campaignId, mailboxId, deliver, reserve, readEnrollment } = await given();
  smtp.next = () => refusal('550 5.7.1 sender not allowed to write to this group');
  t.deepEqual(await deliver(await reserve()), { outcome: 'mailbox_held' });
  clock.advance(6 * 3600_000 + 1);
  const other = await createContact(world.deps.db, clock.now(), organizationId);
  const [otherLead] = (await enroll(world.deps, organizationId, campaignId, [other])) as [string];
  const decision = await advanceEnrollment(ctx, otherLead);
  if (decision.kind !== 'send' && decision.kind !== 'slot') throw new Error(`no slot: ${JSON.stringify(decision)}`);
  if (decision.kind === 'slot') clock.set(new Date(decision.at));
  smtp.next = () => 'accept';
  t.deepEqual(await deliver(decision.sendId), { outcome: 'sent' });
  clock.advance(1000);
  smtp.next = () => refusal('550 5.7.1 sender not allowed to write to this group');
  t.deepEqual(await deliver(await reserve()), { outcome: 'bounced' });
  t.like(await readEnrollment(), { state: 'bounced' });
  const mailbox = await world.deps.db('mailboxes').where({ id: mailboxId }).first();
  t.true(mailbox.hold_until === null || mailbox.hold_until <= clock.now());
  t.deepEqual(await world.deps.db('suppressions').where({ organization_id: organizationId }), []);
});

test.serial('what sending and what reading is held for are kept apart', async (t) => {
  const { ctx, mailboxId, reserve, deliver, smtp, advance } = await given();
  const mailbox = () => world.deps.db('mailboxes').where({ id: mailboxId }).first();
  smtp.next = () => refusal('550 5.4.5 Daily user sending limit exceeded', 'data');
  t.deepEqual(await deliver(await reserve()), { outcome: 'mailbox_held' });
  const until = (await mailbox()).hold_until;
  await recordRefusedSignIn(ctx, mailboxId, externalText('no'), 3600_000);
  t.like(await mailbox(), { hold_code: 'sending_limit', hold_until: until, imap_hold_code: 'imap_auth_failed' });
  const asleep = await advance();
  t.true(asleep.kind === 'wait' && asleep.until >= until.getTime(), 'until both have passed');
  await recordSignIn(ctx, mailboxId);
  t.like(await mailbox(), { hold_code: 'sending_limit', hold_until: until, imap_hold_code: null });
  t.regex((await advance()).kind, /^wait$/);
  await transact(ctx, (tx) => clearHold(tx, mailboxId, 'sending_limit'));
  await recordRefusedSignIn(ctx, mailboxId, externalText('no'), 3600_000);
  t.like(await advance(), { kind: 'wait' }, 'nothing is sent while replies go unseen');
  await recordSignIn(ctx, mailboxId);
  smtp.next = () => 'accept';
  t.deepEqual(await deliver(await reserve()), { outcome: 'sent' });
});
