import test from 'ava';
import { correctReading } from '../../inbox/threads/correct.ts';
import { createCampaign, enroll } from '../../../test/harness/factories.ts';
import { createSend, replyTo } from '../../../test/harness/inbound.ts';
import { createWritingDesk } from '../../../test/harness/direct-sends.ts';
import { openInbox } from '../../../test/harness/inbox-desk.ts';
import { createLead, createMondayWorld, type Lead } from '../../../test/harness/lead.ts';
import { assertStatus, call } from '../../../test/harness/world.ts';

const monday = await createMondayWorld(test);
const { world } = monday;
const DOUBTFUL = 'We get a lot of these emails. What is it about?';
const ADDRESS = 'lea@lead.test';

/** Creates a lead with a reserved email in one campaign, whose reply to another campaign may be an opt-out. */
async function scene() {
  const lead = await createLead(monday, undefined, { contact: { email: ADDRESS } });
  const inbox = await openInbox(world, lead.tenant);
  const { deps } = world;
  const { campaignId, stepIds } = await createCampaign(deps, lead.organizationId, [{ subject: 'Hello' }, {}]);
  const [enrollmentId] = (await enroll(deps, lead.organizationId, campaignId, [lead.contactId])) as [string];
  await deps.db('enrollments').where({ id: enrollmentId }).update({ state: 'active', launched_at: deps.clock.now() });
  const { messageId } = await createSend(deps, lead.organizationId, {
    campaignId,
    enrollmentId,
    stepId: stepIds[0]!,
    contactId: lead.contactId,
    mailboxId: inbox.mailboxId,
    recipient: ADDRESS,
  });
  const sendId = await lead.reserve();
  const ask = (words = DOUBTFUL, from = ADDRESS) =>
    inbox.receive(replyTo({ messageId, from: inbox.email, to: ADDRESS }, words, { from }));
  return { lead, inbox, enrollmentId, sendId, ask };
}

const questions = (lead: Lead) =>
  world.deps.db('opt_out_questions').where({ organization_id: lead.organizationId }).pluck('email');
const signals = async (lead: Lead) =>
  (await world.deps.db('outbox').where({ workflow_id: `enrollment/${lead.campaignId}/${lead.contactId}` })).length;

test.serial(
  'nothing leaves to an address that may have asked to stop until a person decides that it did not',
  async (t) => {
    const { lead, enrollmentId, sendId, ask } = await scene();
    const messageId = await ask();
    t.deepEqual(await questions(lead), [ADDRESS]);
    t.is((await world.deps.db('enrollments').where({ id: enrollmentId }).first()).state, 'replied');
    t.deepEqual(await lead.deliver(sendId), { outcome: 'opt_out_asked' });
    t.like(await lead.advance(), { kind: 'hold', state: 'held' });
    t.is((await lead.readEnrollment()).state, 'active', 'the other campaign waits and has not ended');
    t.is(lead.smtp.taken.length, 0);

    const before = await signals(lead);
    await correctReading(lead.ctx, messageId, { asksToStop: false });
    t.is(await signals(lead), before + 1, 'its run is signalled');
    t.deepEqual(await questions(lead), []);
    t.deepEqual(await lead.deliver(await lead.reserve()), { outcome: 'sent' });
    t.is((await world.deps.db('suppressions').where({ organization_id: lead.organizationId })).length, 0);
  },
);

test.serial('a person who decides that it is an opt-out suppresses the address, and every campaign ends', async (t) => {
  const { lead, sendId, ask } = await scene();
  const messageId = await ask();
  await correctReading(lead.ctx, messageId, { kind: 'opt_out' });
  t.deepEqual(await questions(lead), []);
  t.like(await lead.readEnrollment(), { state: 'unsubscribed' });
  t.like(await world.deps.db('suppressions').where({ organization_id: lead.organizationId }).first(), {
    email: ADDRESS,
    source: 'unsubscribe',
  });
  t.not((await lead.deliver(sendId)).outcome, 'sent');
});

test.serial(
  'a question and a claim at the same moment: either the email left before, or it does not leave',
  async (t) => {
    for (let round = 0; round < 4; round += 1) {
      const { lead, sendId, ask } = await scene();
      const [delivery] = await Promise.all([lead.deliver(sendId), ask()]);
      const hasLeft = lead.smtp.taken.length === 1;
      t.is(hasLeft, 'outcome' in delivery && delivery.outcome === 'sent');
      t.deepEqual(await questions(lead), [ADDRESS]);
      if (!hasLeft) t.like(await lead.advance(), { kind: 'hold' });
    }
  },
);

test.serial('two people decide at the same moment: one decision counts, and nothing is left open', async (t) => {
  const { lead, ask } = await scene();
  const messageId = await ask();
  await Promise.all([
    correctReading(lead.ctx, messageId, { kind: 'opt_out' }),
    correctReading(lead.ctx, messageId, { asksToStop: false }),
  ]);
  t.deepEqual(await questions(lead), []);
  const { corrected_kind: kind } = await world.deps.db('inbound_messages').where({ id: messageId }).first();
  const suppressed = await world.deps.db('suppressions').where({ organization_id: lead.organizationId });
  t.is(suppressed.length, kind === 'opt_out' ? 1 : 0);
});

test.serial('a new email written by hand waits for the decision too', async (t) => {
  const { lead, inbox, ask } = await scene();
  const messageId = await ask();
  const compose = () =>
    call(world, 'POST', '/v1/unibox/compose', {
      token: lead.tenant.apiKey,
      body: { email_account_id: inbox.mailboxId, to: [ADDRESS], subject: 'Hello', body_plain: 'Hello' },
    });
  const refused = await compose();
  assertStatus(t, refused, 400);
  t.regex(JSON.stringify(refused.body), /may be an opt-out/);
  await correctReading(lead.ctx, messageId, { asksToStop: false });
  t.not((await compose()).status, 400);
});

test.serial(
  'a person answers in the thread of a doubtful request, a key does not; no earlier answer leaves',
  async (t) => {
    const desk = await createWritingDesk(monday);
    const email = { email_account_id: desk.mailboxId, to: [ADDRESS], subject: 'Hello', body_plain: 'Hello' };
    const first = await desk.post('/unibox/compose', email);
    t.is(await desk.finish(first.body.task_id), 'sent');
    const { message_id: messageId, thread_id: threadId } = await desk.read(first.body.task_id);
    const ask = (words: string) =>
      desk.receive(replyTo({ messageId, from: desk.email, to: ADDRESS }, words, { from: ADDRESS }));
    const answer = (token?: string) =>
      desk.post('/unibox/reply', { thread_id: threadId, body_plain: 'Do you want no further emails?' }, token);

    await ask(DOUBTFUL);
    const refused = await answer(desk.tenant.apiKey);
    assertStatus(t, refused, 400);
    t.regex(JSON.stringify(refused.body), /may be an opt-out/);
    const written = await answer();
    assertStatus(t, written, 200);
    t.is(await desk.finish(written.body.task_id), 'sent');
    t.deepEqual(desk.smtp.taken.length, 2);

    const earlier = await answer();
    monday.clock.set(new Date(monday.clock.now().getTime() + 1000));
    await ask(DOUBTFUL);
    t.is(await desk.finish(earlier.body.task_id), 'failed');
    t.is(desk.smtp.taken.length, 2);
  },
);

test.serial('the opt-out of a colleague stands, whatever a person decides about the recipient', async (t) => {
  const { lead, ask } = await scene();
  const messageId = await ask('Please remove me from your list.', 'boss@lead.test');
  t.deepEqual(await questions(lead), [ADDRESS]);
  await correctReading(lead.ctx, messageId, { asksToStop: false });
  const suppressed = () =>
    world.deps.db('suppressions').where({ organization_id: lead.organizationId }).orderBy('email').pluck('email');
  t.deepEqual(await suppressed(), ['boss@lead.test']);
  const again = await ask('Please remove me from your list!', 'boss@lead.test');
  await correctReading(lead.ctx, again, { kind: 'opt_out' });
  t.deepEqual(await suppressed(), ['boss@lead.test', ADDRESS]);
});

test.serial('with the automatic opt-out switched off a person is asked', async (t) => {
  const { lead, ask } = await scene();
  await world.deps.db('outreach_settings').insert({
    organization_id: lead.organizationId,
    settings: JSON.stringify({ reply_intent: { auto_suppress_on_unsubscribe_keyword: false } }),
    updated_at: world.deps.clock.now(),
  });
  const messageId = await ask('Please unsubscribe me.');
  t.deepEqual(await questions(lead), [ADDRESS]);
  t.is((await world.deps.db('suppressions').where({ organization_id: lead.organizationId })).length, 0);
  await correctReading(lead.ctx, messageId, { kind: 'opt_out' });
  t.is((await world.deps.db('suppressions').where({ organization_id: lead.organizationId })).length, 1);
});

test.serial('a question whose message is deleted with its mailbox counts as an opt-out', async (t) => {
  const { lead, ask, inbox } = await scene();
  await ask();
  await world.deps.db('mailboxes').where({ id: inbox.mailboxId }).delete();
  t.like(await world.deps.db('suppressions').where({ organization_id: lead.organizationId }).first(), {
    email: ADDRESS,
    source: 'unsubscribe',
  });
});

test.serial('a message of another workspace cannot be decided on', async (t) => {
  const { lead, ask } = await scene();
  const messageId = await ask();
  const other = await world.tenant();
  const answer = await call(world, 'PATCH', `/v1/unibox/${messageId}`, {
    token: other.apiKey,
    body: { asks_to_stop: false },
  });
  assertStatus(t, answer, 404);
  t.deepEqual(await questions(lead), [ADDRESS]);
});
