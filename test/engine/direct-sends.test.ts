import test from 'ava';
import { simpleParser } from 'mailparser';
import { decideApproval } from '../../domain/approvals/decide.ts';
import { settleUncertain } from '../../domain/operations/dead-letters/uncertain.ts';
import { newId } from '../../lib/ids.ts';
import { maskOf } from '../../lib/permissions.ts';
import { approverCtx } from '../harness/approvals.ts';
import { createWritingDesk } from '../harness/direct-sends.ts';
import { createApiKey, createCampaign, createContact } from '../harness/factories.ts';
import { Crash, type Attempt } from '../harness/fake-smtp.ts';
import { bounceOf, replyTo } from '../harness/inbound.ts';
import { createMondayWorld } from '../harness/lead.ts';
import { createSentLead } from '../harness/standing-leads.ts';

const stage = await createMondayWorld(test);
const { world, clock } = stage;
const MINUTE = 60_000;

async function composed(desk: Awaited<ReturnType<typeof createWritingDesk>>, fields: Record<string, unknown> = {}) {
  const answer = await desk.post('/unibox/compose', {
    email_account_id: desk.mailboxId,
    to: [`${newId()}@else.test`],
    subject: 'Hello',
    body_plain: 'Hi there',
    ...fields,
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body;
}

test.serial('an email leaves once, with the signature, and is told', async (t) => {
  const desk = await createWritingDesk(stage, { signature_plain: 'Sam', signature_html: '<p>Sam</p>' });
  const {
    task_id: id,
    result,
    scheduled_at,
    thread_id,
  } = await composed(desk, {
    to: ['lea@else.test'],
    cc: ['max@else.test'],
    bcc: ['kim@else.test', 'lea@else.test'],
    body_html: '<p>Hi there</p>',
    attachments: [
      { filename: 'offer.txt', content_type: 'text/plain', content: Buffer.from('An offer').toString('base64') },
    ],
  });
  t.is(result, 'executed');
  t.is(scheduled_at, clock.now().toISOString());
  t.like(await desk.advance(id), { kind: 'send', at: clock.now().getTime() });
  t.deepEqual(await desk.deliver(id), { outcome: 'sent' });
  t.deepEqual(await desk.advance(id), { kind: 'done', outcome: 'sent' });
  t.like(await desk.read(id), { state: 'sent', waiting_for: null, contact_id: null });
  t.like(await desk.readEmail(id), {
    state: 'sent',
    campaign_id: null,
    message_id: thread_id,
    recipient: 'lea@else.test',
  });
  t.is(desk.smtp.taken.length, 1);
  const [taken] = desk.smtp.taken;
  t.deepEqual(taken!.to, ['lea@else.test', 'max@else.test', 'kim@else.test']);
  const mail = await simpleParser(taken!.raw);
  t.is(mail.messageId, thread_id);
  t.is(mail.text, 'Hi there\n\nSam');
  t.true((mail.html as string).includes('<p>Sam</p>'));
  t.false(/kim@else/.test(taken!.raw), 'bcc is in no header');
  t.deepEqual(
    mail.attachments.map(({ filename, contentType, content }) => [filename, contentType, content.toString()]),
    [['offer.txt', 'text/plain', 'An offer']],
  );
  const events = await world.deps.db('domain_events').where({ organization_id: desk.tenant.organizationId });
  t.deepEqual(
    events.map(({ type }) => type),
    ['inbox.email_sent'],
  );
  t.like(events[0]!.data, { email_id: id, thread_id, to: ['lea@else.test'] });
});

test.serial('the cap and the gap of the mailbox hold for them, together with what campaigns send', async (t) => {
  const desk = await createWritingDesk(stage, { min_wait_time: 600, campaign_limit: 3 });
  const times: string[] = [];
  for (let n = 0; n < 4; n += 1) times.push((await composed(desk)).scheduled_at);
  const from = clock.now().getTime();
  t.deepEqual(
    times.map((at) => (Date.parse(at) - from) / MINUTE),
    [0, 10, 20, 16 * 60],
    'the fourth is for tomorrow, UTC',
  );
  const counts = await world.deps.db('daily_counters').where({ scope_id: desk.mailboxId }).orderBy('day');
  t.deepEqual(
    counts.map(({ count }) => count),
    [3, 1],
  );
});

test.serial('slots that campaigns have reserved for later stand back, unless it is smart', async (t) => {
  const desk = await createWritingDesk(stage, { min_wait_time: 600, campaign_limit: 3 });
  const { db } = world.deps;
  const { organizationId } = desk.tenant;
  const { campaignId } = await createCampaign(world.deps, organizationId, [{ subject: 'S', body_plain: 'b' }]);
  const from = clock.now().getTime();
  const reserve = async (minutes: number) => {
    const id = newId();
    const at = new Date(from + minutes * MINUTE);
    await db('sends').insert({
      id,
      organization_id: organizationId,
      campaign_id: campaignId,
      mailbox_id: desk.mailboxId,
      state: 'reserved',
      recipient: 'x@y.test',
      slot_at: at,
      slot_day: '2026-03-02',
      created_at: clock.now(),
      updated_at: clock.now(),
    });
    await db.raw(
      `insert into daily_counters (organization_id, scope, scope_id, day, count) values (?, 'mailbox', ?, '2026-03-02', 1)
       on conflict (scope_id, scope, day) do update set count = daily_counters.count + 1`,
      [organizationId, desk.mailboxId],
    );
    return id;
  };
  const slots = [await reserve(5), await reserve(15), await reserve(25)];
  const smart = await composed(desk, { send_mode: 'smart' });
  t.is((Date.parse(smart.scheduled_at) - from) / MINUTE, 16 * 60, 'the day is given away');
  const instant = await composed(desk);
  t.is(Date.parse(instant.scheduled_at), from);
  const left = await db('sends').whereIn('id', slots).orderBy('slot_at').pluck('id');
  t.deepEqual(left, slots.slice(1), 'the one within its gap stood back');
  const [today] = await db('daily_counters').where({ scope_id: desk.mailboxId, day: '2026-03-02' });
  t.is(today.count, 3);
  t.is(await desk.finish(instant.task_id), 'sent');
  const second = await composed(desk);
  t.is((Date.parse(second.scheduled_at) - from) / MINUTE, 10, 'its gap to what has left');
  t.deepEqual(await db('sends').whereIn('id', slots).pluck('id'), slots.slice(2));
});

test.serial(
  'a mailbox that rests sends when its hold ends; one that never can gives up after three days',
  async (t) => {
    const desk = await createWritingDesk(stage);
    const until = new Date(clock.now().getTime() + 20 * MINUTE);
    await world.deps
      .db('mailboxes')
      .where({ id: desk.mailboxId })
      .update({ hold_code: 'sending_limit', hold_until: until });
    const { task_id: id } = await composed(desk);
    t.like(await desk.advance(id), { kind: 'wait', state: 'held' });
    t.like(await desk.read(id), {
      waiting_for: { code: 'wait.mailbox_held', values: { reason: { code: 'hold.sending_limit' } } },
    });
    t.is(await desk.finish(id), 'sent');
    t.is((await desk.readEmail(id)).sent_at.getTime(), until.getTime());

    const { task_id: second } = await composed(desk);
    await world.deps.db('mailboxes').where({ id: desk.mailboxId }).update({ status: 'inactive' });
    for (let turns = 0; turns < 4; turns += 1) {
      const decision = await desk.advance(second);
      if (decision.kind !== 'wait' && decision.kind !== 'send') break;
      if (decision.kind === 'send') await desk.deliver(second);
    }
    clock.advance(3 * 86_400_000 + MINUTE);
    t.deepEqual(await desk.advance(second), { kind: 'done', outcome: 'failed' });
    t.like(await desk.read(second), { state: 'failed', error_code: 'not_sent_in_time' });
    const [letter] = await world.deps.db('dead_letters').where({ organization_id: desk.tenant.organizationId });
    t.like(letter, { task_type: 'direct_email', task_id: second });
    t.is(desk.smtp.taken.length, 1);
    // A person retries the dead letter.
    await world.deps.db('mailboxes').where({ id: desk.mailboxId }).update({ status: 'active' });
    t.is((await desk.post(`/tasks/dlq/${letter.id}/replay`, {})).status, 200);
    t.is(await desk.finish(second), 'sent');
  },
);

test.serial('an address that is suppressed meanwhile is left out; when none is left, nothing leaves', async (t) => {
  const desk = await createWritingDesk(stage, { min_wait_time: 600 });
  const { organizationId } = desk.tenant;
  const suppress = (email: string) =>
    world.deps.db('suppressions').insert({
      id: newId(),
      organization_id: organizationId,
      email,
      kind: 'email',
      source: 'manual',
      created_at: clock.now(),
      updated_at: clock.now(),
    });
  const first = await composed(desk, { to: ['a@else.test', 'b@else.test'], cc: ['c@else.test'] });
  const second = await composed(desk, { to: ['a@else.test'] });
  for (const email of ['a@else.test', 'c@else.test']) await suppress(email);
  t.is(await desk.finish(first.task_id), 'sent');
  t.deepEqual(desk.smtp.taken[0]!.to, ['b@else.test']);
  t.deepEqual((await desk.read(first.task_id)).left_out.sort(), ['a@else.test', 'c@else.test']);
  t.is(await desk.finish(second.task_id), 'failed');
  t.like(await desk.read(second.task_id), { state: 'failed', error_code: 'suppressed' });
  t.is(desk.smtp.taken.length, 1);
  const refused = await desk.post('/unibox/compose', {
    email_account_id: desk.mailboxId,
    to: ['a@else.test', 'b@else.test'],
    subject: 'x',
    body_plain: 'y',
  });
  t.is(refused.status, 400);
  t.deepEqual(
    refused.body.problems.map(({ path }: { path: string }) => path),
    ['body.to.0'],
  );
  // The email becomes a dead letter, which a person retries after removing the suppression.
  const [letter] = (await desk.get('/tasks/dlq?status=pending')).body.data;
  t.like(letter, { task_type: 'direct_email', task_id: second.task_id });
  await world.deps.db('suppressions').where({ organization_id: organizationId, email: 'a@else.test' }).delete();
  t.is((await desk.post(`/tasks/dlq/${letter.id}/replay`, {})).status, 200);
  t.is(await desk.finish(second.task_id), 'sent');
  t.deepEqual(desk.smtp.taken[1]!.to, ['a@else.test']);
});

test.serial(
  'an uncertain email whose address is suppressed when it is to leave again is listed as uncertain',
  async (t) => {
    const desk = await createWritingDesk(stage);
    const { organizationId } = desk.tenant;
    const { task_id: id } = await composed(desk, { to: ['a@else.test'] });
    desk.smtp.next = () => 'die-marked' as Attempt;
    await desk.deliver(id).catch((error: unknown) => t.true(error instanceof Crash));
    clock.advance(world.deps.config.SEND_CLAIM_MS);
    t.is(await desk.finish(id), 'uncertain');
    const letters = async () => (await desk.get('/tasks/dlq?status=pending')).body.data;
    const [first] = await letters();
    t.is((await desk.post(`/tasks/dlq/${first.id}/replay`, {})).status, 200);
    t.deepEqual(await letters(), []);
    await world.deps.db('suppressions').insert({
      id: newId(),
      organization_id: organizationId,
      email: 'a@else.test',
      kind: 'email',
      source: 'manual',
      created_at: clock.now(),
      updated_at: clock.now(),
    });
    t.is(await desk.finish(id), 'uncertain');
    t.like((await letters())[0], { task_type: 'uncertain_email', task_id: id });
  },
);

for (const [attempt, outcome] of [
  ['die-before', 'sent'],
  ['die-marked', 'uncertain'],
  ['die-after', 'uncertain'],
] as const)
  test.serial(`a worker that is lost (${attempt}) leaves it ${outcome}, never twice`, async (t) => {
    const desk = await createWritingDesk(stage);
    const { task_id: id } = await composed(desk);
    desk.smtp.next = () => attempt as Attempt;
    await desk.deliver(id).catch((error: unknown) => t.true(error instanceof Crash));
    desk.smtp.next = () => 'accept';
    clock.advance(world.deps.config.SEND_CLAIM_MS);
    t.is(await desk.finish(id), outcome);
    t.like(await desk.read(id), { state: outcome });
    t.is(desk.smtp.taken.length, attempt === 'die-marked' ? 0 : 1);
    if (outcome === 'sent') return;
    if (attempt === 'die-marked') {
      // If the second attempt is interrupted too, the email is uncertain again.
      await settleUncertain(world.deps, id, 'again');
      const response = '452 4.2.2 mailbox full';
      desk.smtp.next = () => ({ kind: 'refused', stage: 'recipient', code: 452, response, permanent: false });
      t.is(await desk.finish(id), 'uncertain');
      desk.smtp.next = () => 'accept';
    }
    await settleUncertain(world.deps, id, attempt === 'die-after' ? 'sent' : 'again');
    t.is(await desk.finish(id), 'sent');
    t.is(desk.smtp.taken.length, 1);
    t.is((await world.deps.db('dead_letters').where({ task_id: id, status: 'pending' })).length, 0);
  });

test.serial('refusals: tried again, bounced, or held like those of campaign emails', async (t) => {
  const desk = await createWritingDesk(stage);
  const refuse = (code: number, response: string) => () =>
    ({ kind: 'refused', stage: 'recipient', code, response, permanent: code >= 500 }) as const;
  const deferred = await composed(desk);
  desk.smtp.next = refuse(451, '451 4.7.1 greylisted, try again');
  t.deepEqual(await desk.deliver(deferred.task_id), { outcome: 'deferred' });
  t.like(await desk.read(deferred.task_id), { state: 'queued', attempts: 1 });
  desk.smtp.next = () => 'accept';
  t.is(await desk.finish(deferred.task_id), 'sent');

  const gone = await composed(desk, { to: ['gone@else.test'] });
  desk.smtp.next = refuse(550, '550 5.1.1 user unknown');
  t.is(await desk.finish(gone.task_id), 'bounced');
  t.is((await world.deps.db('suppressions').where({ email: 'gone@else.test' })).length, 1);
  const types = await world.deps
    .db('domain_events')
    .where({ organization_id: desk.tenant.organizationId })
    .orderBy('id')
    .pluck('type');
  t.false(types.includes('campaign.email_bounced'));
  t.true(types.includes('inbox.email_failed') && types.includes('deliverability.bounce'));

  const doomed = await composed(desk);
  desk.smtp.next = refuse(452, '452 4.2.2 mailbox full');
  t.is(await desk.finish(doomed.task_id), 'failed');
  t.like(await desk.read(doomed.task_id), { attempts: 5, error_code: 'attempts_exhausted' });

  const part = await composed(desk, { to: ['one@else.test', 'two@else.test'] });
  desk.smtp.next = () => ({
    kind: 'accepted',
    response: '250 ok',
    rejected: [{ recipient: 'one@else.test', code: 550, response: '550 5.1.1 user unknown' }],
  });
  t.is(await desk.finish(part.task_id), 'sent');
  t.deepEqual((await desk.read(part.task_id)).left_out, ['one@else.test']);
  t.is((await world.deps.db('suppressions').where({ email: 'one@else.test' })).length, 1);

  desk.smtp.next = refuse(550, '550 5.7.1 sending limit exceeded for this account');
  const held = await composed(desk);
  t.deepEqual(await desk.deliver(held.task_id), { outcome: 'mailbox_held' });
  desk.smtp.next = () => 'accept';
  t.is(await desk.finish(held.task_id), 'sent');
});

test.serial(
  'a reply threads: headers, subject, mailbox; the campaign goes on, and its answer counts there',
  async (t) => {
    const desk = await createWritingDesk(stage);
    const { db } = world.deps;
    const { organizationId } = desk.tenant;
    const { campaignId, stepIds } = await createCampaign(
      world.deps,
      organizationId,
      [{ subject: 'Hello', body_plain: 'b' }],
      {
        stop_on_reply: false,
      },
    );
    const lea = await createSentLead(world.deps, organizationId, {
      campaignId,
      stepId: stepIds[0]!,
      mailbox: { id: desk.mailboxId, email: desk.email },
      email: 'lea@lead.test',
    });
    clock.advance(MINUTE);
    await desk.receive(replyTo(lea.original, 'What does it cost?', { messageId: '<question@lead.test>' }));
    clock.advance(MINUTE);
    const thread = lea.original.messageId;
    const awaiting = async () => (await desk.get('/unibox?awaiting_reply=true')).body.data.length;
    const { body, status } = await desk.post('/unibox/reply', { thread_id: thread, body_plain: 'Ten euros.' });
    t.is(status, 200);
    t.is(await awaiting(), 0);
    t.is(await desk.finish(body.task_id), 'sent');
    t.is(await awaiting(), 1, 'the last message is ours');
    t.is((await desk.get('/unibox?awaiting_reply=false')).body.data.length, 0);
    const ours = await simpleParser(desk.smtp.taken[0]!.raw);
    t.is(ours.subject, 'Re: Hello');
    t.is(ours.inReplyTo, '<question@lead.test>');
    t.deepEqual(ours.references, [thread, '<question@lead.test>']);
    t.deepEqual(desk.smtp.taken[0]!.to, ['lea@lead.test']);
    t.is(ours.from!.value[0]!.address, desk.email);
    t.like(await db('enrollments').where({ id: lea.enrollmentId }).first(), { state: 'active' });
    t.like(await desk.read(body.task_id), { about_send_id: lea.sendId, contact_id: lea.contactId, thread_id: thread });

    // The opt-out counts for the campaign's email even if the recipient's mail program refers only to the last message.
    clock.advance(MINUTE);
    await desk.receive(
      replyTo(
        { messageId: ours.messageId!, from: desk.email, to: 'lea@lead.test' },
        'Please remove me from your list and do not contact me again.',
      ),
    );
    t.like(await db('enrollments').where({ id: lea.enrollmentId }).first(), { state: 'unsubscribed' });
    t.is(await awaiting(), 0, 'they have written');
    const messages = (await desk.get(`/unibox/thread?thread_id=${encodeURIComponent(thread)}`)).body.data;
    t.deepEqual(
      messages.map(({ direction }: { direction: string }) => direction),
      ['sent', 'received', 'sent', 'received'],
    );
    t.is(messages[2].body_plain.trim(), 'Ten euros.');
    const again = await desk.post('/unibox/reply', { thread_id: thread, body_plain: 'But…' });
    t.is(again.status, 400, 'who has opted out is not written to');
  },
);

test.serial('a report names the address that bounced, whoever it was of several', async (t) => {
  const desk = await createWritingDesk(stage);
  const { task_id: id, thread_id } = await composed(desk, { to: ['a@else.test'], cc: ['b@else.test'] });
  t.is(await desk.finish(id), 'sent');
  const original = { messageId: thread_id, from: desk.email, to: 'a@else.test' };
  await desk.receive(bounceOf(original, '5.1.1', 'b@else.test'));
  t.like(await desk.read(id), { state: 'sent' });
  await desk.receive(bounceOf(original, '5.1.1', 'a@else.test'));
  t.like(await desk.read(id), { state: 'bounced' });
  const suppressed = await world.deps
    .db('suppressions')
    .where({ organization_id: desk.tenant.organizationId })
    .orderBy('email')
    .pluck('email');
  t.deepEqual(suppressed, ['a@else.test', 'b@else.test']);
});

test.serial('cancelled before its time it never leaves; afterwards it is too late', async (t) => {
  const desk = await createWritingDesk(stage);
  const at = new Date(clock.now().getTime() + 60 * MINUTE).toISOString();
  const later = await composed(desk, { send_mode: 'scheduled', scheduled_at: at });
  t.is(later.scheduled_at, at);
  t.like(await desk.advance(later.task_id), { kind: 'wait', state: 'scheduled', until: Date.parse(at) });
  t.deepEqual(
    (await desk.get('/unibox/scheduled')).body.data.map((one: { task_id: string }) => one.task_id),
    [later.task_id],
  );
  const cancel = (id: string) => desk.remove(`/unibox/scheduled/${id}`);
  t.is((await cancel(later.task_id)).status, 204);
  t.is((await cancel(later.task_id)).status, 409);
  clock.set(new Date(at));
  t.deepEqual(await desk.advance(later.task_id), { kind: 'done', outcome: 'cancelled' });
  const now = await composed(desk);
  desk.smtp.next = async () => {
    t.is((await cancel(now.task_id)).status, 409, 'a worker has it');
    return 'accept' as const;
  };
  t.is(await desk.finish(now.task_id), 'sent');
  const reserved = await composed(desk);
  t.is((await cancel(reserved.task_id)).status, 204);
  t.deepEqual(await desk.deliver(reserved.task_id), { outcome: 'released' });
  t.is(desk.smtp.taken.length, 1);
  const counts = await world.deps.db('daily_counters').where({ scope_id: desk.mailboxId });
  t.deepEqual(
    counts.map(({ count }) => count),
    [1],
  );
});

test.serial('a key without a policy waits for a person, who sees what will leave', async (t) => {
  const desk = await createWritingDesk(stage);
  const { organizationId, userId } = desk.tenant;
  const { apiKey } = await createApiKey(world.deps, organizationId, userId, {
    permissions: maskOf(['SEND_DIRECT_EMAIL', 'WRITE_UNIBOX', 'READ_UNIBOX']),
  });
  const ask = () =>
    desk.post(
      '/unibox/compose',
      { email_account_id: desk.mailboxId, to: ['lea@else.test'], subject: 'Hello', body_plain: 'Hi' },
      apiKey,
    );
  const { body, status } = await ask();
  t.is(status, 200);
  t.like(body, { result: 'awaiting_approval' });
  t.is(Date.parse(body.approval_expires_at) - clock.now().getTime(), 30 * MINUTE);
  t.true(body.approval_url.endsWith(`/approvals/${body.approval_id}`));
  t.deepEqual(
    body.reasons.map(({ code }: { code: string }) => code),
    ['no_policy'],
  );
  t.like(await desk.advance(body.task_id), { kind: 'wait', state: 'awaiting_approval' });
  const approval = await world.deps.db('approvals').where({ id: body.approval_id }).first();
  t.like(approval, { action_type: 'email.compose', subject_id: body.task_id, status: 'pending' });
  t.like(approval.payload.samples[0], { to: 'lea@else.test', from: desk.email, subject: 'Hello', text: 'Hi' });

  const decide = (id: string, decision: 'approved' | 'denied') =>
    decideApproval(approverCtx(world.deps, desk.tenant), id, { decision, reason: 'why not' });
  await decide(body.approval_id, 'approved');
  t.is(await desk.finish(body.task_id), 'sent');
  t.like(await world.deps.db('approvals').where({ id: body.approval_id }).first(), { status: 'executed' });

  const denied = (await ask()).body;
  await decide(denied.approval_id, 'denied');
  t.is(await desk.finish(denied.task_id), 'denied');
  const expired = (await ask()).body;
  t.is(await desk.finish(expired.task_id), 'expired');
  t.like(await world.deps.db('approvals').where({ id: expired.approval_id }).first(), { status: 'expired' });
  const changed = (await ask()).body;
  await world.deps.db('direct_sends').where({ id: changed.task_id }).update({ body_plain: 'Something else' });
  t.is((await decide(changed.approval_id, 'approved')).status, 'expired');
  t.is(await desk.finish(changed.task_id), 'expired');
  t.is((await desk.read(changed.task_id)).error_detail.code, 'direct.changed');

  const ended = async (approvalId: string) =>
    t.like(await world.deps.db('approvals').where({ id: approvalId }).first(), { status: 'expired' });
  const withdrawn = (await ask()).body;
  t.is((await desk.remove(`/unibox/scheduled/${withdrawn.task_id}`)).status, 204);
  await ended(withdrawn.approval_id);
  // Cancels the email after the decision but before the workflow's next iteration.
  const tooSoon = (await ask()).body;
  await decide(tooSoon.approval_id, 'approved');
  t.is((await desk.remove(`/unibox/scheduled/${tooSoon.task_id}`)).status, 204);
  t.is(await desk.finish(tooSoon.task_id), 'cancelled');
  const homeless = (await ask()).body;
  await world.deps.db('direct_sends').where({ id: homeless.task_id }).update({ mailbox_id: null });
  await decide(homeless.approval_id, 'approved');
  t.is(await desk.finish(homeless.task_id), 'expired');
  await ended(homeless.approval_id);
  t.is((await desk.read(homeless.task_id)).error_detail.code, 'direct.mailbox_removed');
  t.is(desk.smtp.taken.length, 1);
});

test.serial('a contact who has opted out is not written to, and one that exists is linked', async (t) => {
  const desk = await createWritingDesk(stage);
  const { organizationId } = desk.tenant;
  await createContact(world.deps.db, clock.now(), organizationId, { email: 'out@else.test', subscribed: false });
  const contactId = await createContact(world.deps.db, clock.now(), organizationId, { email: 'in@else.test' });
  const sent = await composed(desk, { to: ['in@else.test'], cc: ['out@else.test'] });
  t.like(sent.left_out[0], { address: 'out@else.test' });
  t.is((await desk.read(sent.task_id)).contact_id, contactId);
});
