import test from 'ava';
import { SUBSCRIBERS } from '../../../domain/operations/subscribers/index.ts';
import { mailLegalThreats } from '../../../domain/inbox/threads/legal-threats.ts';
import { registerSubscribers } from '../../../domain/platform/events/register.ts';
import { createAutomation } from '../../../domain/connect/automations/automations.ts';
import { awayMessage, bounceOf, replyTo } from '../../../test/harness/inbound.ts';
import { openCampaignInbox } from '../../../test/harness/inbox-desk.ts';
import { react } from '../../../test/harness/reactions.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { createApiKey, createCampaign, createMailbox, enroll } from '../../../test/harness/factories.ts';
import { maskOf } from '../../../lib/permissions.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
  await registerSubscribers(world.deps, SUBSCRIBERS);
});
test.after.always(() => world?.close());

/** Creates a lead with a sent email and a reply, and functions with which a person corrects the reply. */
async function scene(words: string, email = 'lea@company.test') {
  const inbox = await openCampaignInbox(world);
  const { tenant } = inbox;
  const lead = await inbox.mailed(email);
  const messageId = await inbox.receive(replyTo(lead.original, words, { from: email }));
  const { db } = world.deps;
  const where = { organization_id: tenant.organizationId };
  return {
    ...inbox,
    lead,
    messageId,
    correct: (body: object, token = tenant.apiKey) => call(world, 'PATCH', `/v1/unibox/${messageId}`, { token, body }),
    suppressed: () => db('suppressions').where(where).orderBy('email').pluck('email') as Promise<string[]>,
    contact: () => db('contacts').where({ id: lead.contactId }).first(),
    send: () => db('sends').where({ id: lead.sendId }).first(),
    facts: async () => {
      await react(world.deps, SUBSCRIBERS);
      return db('send_facts').where({ send_id: lead.sendId }).first();
    },
    tasks: async () => {
      await react(world.deps, SUBSCRIBERS);
      return db('crm_tasks').where(where).orderBy('id');
    },
    corrections: () => db('answer_corrections').where(where).where('count', '>', 0),
  };
}

test('the reading of a reply stands with its message, its conversation and in the list', async (t) => {
  const { get, receive, lead, messageId } = await scene('Not now, please ask me again in two weeks.');
  const answer = (await get(`/${messageId}`)).body.answer;
  t.like(answer, { kind: 'not_now', corrected: false, opt_out_force: null });
  t.true(answer.confidence > 0.5 && answer.words.length > 0);
  t.truthy(answer.until);
  const { body } = await get(`/thread?thread_id=${encodeURIComponent(lead.original.messageId)}`);
  t.deepEqual(body.data.find(({ id }: { id: string }) => id === messageId).answer, answer);
  t.is(body.data[0].answer, null, 'our own email has none');
  t.like((await get('')).body.data[0], { answer, intent: 'negative', asks_to_stop: false });
  const away = await receive(
    awayMessage(lead.original, 'I am back on 4 January. In urgent cases: Ann Bell, ann@x.test.'),
  );
  t.like((await get(`/${away}`)).body.answer, { kind: 'out_of_office', person: { email: 'ann@x.test' } });
});

test('a doubtful opt-out is marked, and one request decides', async (t) => {
  const { get, correct, suppressed, messageId } = await scene('We get a lot of these emails. What is it about?');
  t.true((await get('')).body.data[0].asks_to_stop);
  const asking = async () => (await get('?asks_to_stop=true')).body.data.length as number;
  t.is(await asking(), 1);
  t.true((await get(`/${messageId}`)).body.asks_to_stop);
  const answer = await correct({ intent: 'opt_out' });
  assertStatus(t, answer, 200);
  t.like(answer.body, { intent: 'negative', asks_to_stop: false, answer: { kind: 'opt_out', corrected: true } });
  t.deepEqual(await suppressed(), ['lea@company.test']);
  t.is(await asking(), 0);
});

test('an opt-out that was none is taken back, and can be given again', async (t) => {
  const s = await scene('Please remove me from your list.');
  t.deepEqual(await s.suppressed(), ['lea@company.test']);
  t.truthy((await s.facts()).unsubscribed_at);
  assertStatus(t, await s.correct({ intent: 'positive' }), 200);
  t.deepEqual(await s.suppressed(), []);
  t.true((await s.contact()).subscribed);
  t.is((await s.send()).unsubscribed_at, null);
  t.like(await s.facts(), { unsubscribed_at: null, negative_at: null });
  t.truthy((await s.facts()).positive_at);
  t.like(await s.corrections(), [{ read_kind: 'opt_out', said_kind: 'positive', count: 1 }] as never);

  await s.correct({ intent: 'opt_out' });
  t.deepEqual(await s.suppressed(), ['lea@company.test']);
  t.false((await s.contact()).subscribed);
  t.truthy((await s.facts()).unsubscribed_at);
  t.deepEqual(await s.corrections(), [], 'the reading was right after all');
  await s.correct({ intent: 'neutral' });
  await s.correct({ intent: 'neutral' });
  t.deepEqual(await s.suppressed(), []);
  t.like(await s.corrections(), [{ said_kind: 'neutral', count: 1 }] as never);
});

test('an opt-out that is taken back leaves what else is on the list', async (t) => {
  const s = await scene('Hello, who are you?');
  const { organizationId } = s.tenant;
  const entry = { organization_id: organizationId, email: 'lea@company.test', kind: 'email', source: 'manual' };
  const before = new Date(Date.now() - 60_000);
  await world.deps.db('suppressions').insert({ ...entry, id: s.messageId, created_at: before, updated_at: before });
  await world.deps.db('contacts').where({ id: s.lead.contactId }).update({ subscribed: false });
  await s.correct({ intent: 'opt_out' });
  await s.correct({ intent: 'question' });
  t.deepEqual(await s.suppressed(), ['lea@company.test']);
  t.false((await s.contact()).subscribed);
});

test('counts and tasks follow a correction, and one of a correction', async (t) => {
  const s = await scene('Sounds great, let us talk on Monday!');
  t.regex((await s.tasks())[0].title, /^Answer an interested reply/);
  t.truthy((await s.facts()).positive_at);
  await s.correct({ intent: 'out_of_office' });
  t.is((await s.send()).replied_at, null);
  t.like(await s.facts(), { positive_at: null, replied_at: null });
  t.like(await s.tasks(), [{ status: 'cancelled' }] as never, 'away notes open no task');
  await s.correct({ intent: 'question' });
  t.truthy((await s.send()).replied_at);
  t.like(await s.facts(), { positive_at: null });
  t.truthy((await s.facts()).question_at);
  const tasks = await s.tasks();
  t.like(tasks, [{ status: 'pending' }] as never);
  t.regex(tasks[0].title, /^Answer a question/);
  const { db } = world.deps;
  const events = await db('domain_events')
    .where({ organization_id: s.tenant.organizationId, type: 'inbox.reply_classified' })
    .orderBy('id');
  t.deepEqual(
    events.map(({ data }) => [data.kind, data.corrected, data.previous_intent]),
    [
      ['positive', false, null],
      ['out_of_office', true, 'positive'],
      ['question', true, 'out_of_office'],
    ],
  );
  const audit = await db('audit_logs').where({
    organization_id: s.tenant.organizationId,
    entity_type: 'inbound_message',
  });
  t.is(audit.length, 2);
});

test('an away note that a person wrote after all counts as a reply and ends the sequence', async (t) => {
  const s = await scene('Hello');
  const max = await s.mailed('max@company.test');
  const id = await s.receive(awayMessage(max.original, 'I am out of office.'));
  const lead = () => world.deps.db('enrollments').where({ id: max.enrollmentId }).first();
  t.is((await lead()).hold_source, 'out_of_office');
  const token = s.tenant.apiKey;
  assertStatus(t, await call(world, 'PATCH', `/v1/unibox/${id}`, { token, body: { intent: 'negative' } }), 200);
  t.like(await lead(), { state: 'replied', hold_source: null });
  t.truthy((await world.deps.db('sends').where({ id: max.sendId }).first()).replied_at);
});

test('an automation runs once for a reply, by the reading that it wants', async (t) => {
  const s = await scene('Hello');
  const { organizationId } = s.tenant;
  await react(world.deps, SUBSCRIBERS);
  const make = (intents?: string[]) =>
    createAutomation(world.system(organizationId), {
      name: 'Tag',
      enabled: true,
      trigger_event: 'email.replied',
      filter: intents ? { intents } : {},
      graph: { nodes: [{ id: 'trigger', type: 'trigger' }], edges: [] },
    } as never);
  const [all, positive] = [await make(), await make(['positive'])];
  const runs = async (id: string) => {
    await react(world.deps, SUBSCRIBERS);
    return (await world.deps.db('automation_runs').where({ automation_id: id })).length;
  };
  const max = await s.mailed('max@company.test');
  const id = await s.receive(replyTo(max.original, 'No thanks, we are not interested.'));
  t.deepEqual([await runs(all.id), await runs(positive.id)], [1, 0]);
  const correct = (intent: string) =>
    call(world, 'PATCH', `/v1/unibox/${id}`, { token: s.tenant.apiKey, body: { intent } });
  await correct('positive');
  t.deepEqual([await runs(all.id), await runs(positive.id)], [1, 1]);
  await correct('negative');
  await correct('positive');
  t.deepEqual([await runs(all.id), await runs(positive.id)], [1, 1]);
});

test('a copy in another mailbox is corrected with the message; reports and foreign mailboxes are not', async (t) => {
  const s = await scene('Hello');
  const { organizationId } = s.tenant;
  const box = { id: await createMailbox(world.deps, organizationId, 'team@ours.test'), email: 'team@ours.test' };
  const raw = replyTo(s.lead.original, 'Please unsubscribe me.', {
    from: s.lead.email,
    messageId: '<twice@company.test>',
  });
  const [first, copy] = [await s.receive(raw), await s.receive(raw, box)];
  t.deepEqual(await s.suppressed(), [s.lead.email]);
  const correct = (id: string, body: object, token = s.tenant.apiKey) =>
    call(world, 'PATCH', `/v1/unibox/${id}`, { token, body });
  assertStatus(t, await correct(copy, { intent: 'question' }), 200);
  t.deepEqual(await s.suppressed(), []);
  t.like((await s.get(`/${first}`)).body, { intent: 'question' });

  const report = await s.receive(bounceOf(s.lead.original, '5.1.1'));
  assertStatus(t, await correct(report, { intent: 'neutral' }), 409);
  assertStatus(t, await correct(first, {}), 400);
  assertStatus(t, await correct(first, { intent: 'sad' }), 400);
  assertStatus(t, await correct(first, { intent: 'neutral', asks_to_stop: false }), 400);
  const { apiKey } = await createApiKey(world.deps, organizationId, s.tenant.userId, {
    permissions: maskOf(['READ_UNIBOX', 'WRITE_UNIBOX']),
    allowedMailboxes: [box.id],
  });
  assertStatus(t, await correct(first, { intent: 'neutral' }, apiKey), 404);
});

test('corrections teach the workspace, no other, and never leave an opt-out unheard', async (t) => {
  const s = await scene('Thanks.');
  const { organizationId } = s.tenant;
  await world.deps
    .db('answer_corrections')
    .insert({ organization_id: organizationId, read_kind: 'opt_out', said_kind: 'positive', count: 50 });
  const max = await s.mailed('max@company.test');
  const id = await s.receive(replyTo(max.original, 'Please remove me from your list.'));
  const { intent, asks_to_stop: asks } = (await s.get(`/${id}`)).body;
  t.true(asks || (await s.suppressed()).includes(max.email), `read as ${intent}`);
  const plain = await scene('Thanks.');
  const [leaning, straight] = [await s.get(`/${s.messageId}`), await plain.get(`/${plain.messageId}`)];
  t.deepEqual(leaning.body.answer.kind, straight.body.answer.kind);
});

test('a request to erase data makes a task with the legal deadline, which deleting the contact fulfils', async (t) => {
  const s = await scene('Please delete all the personal data you hold about me and confirm it (GDPR).');
  t.deepEqual(await s.suppressed(), ['lea@company.test']);
  const task = (await s.tasks()).find(({ source }) => source === `erasure/${s.messageId}`);
  const received = (await world.deps.db('inbound_messages').where({ id: s.messageId }).first()).received_at as Date;
  const due = new Date(received);
  due.setUTCMonth(due.getUTCMonth() + 1);
  t.like(task, { contact_id: s.lead.contactId, status: 'pending', due_date: due });
  const { apiKey: token } = s.tenant;
  assertStatus(t, await call(world, 'DELETE', `/v1/contacts/${s.lead.contactId}`, { token }), 204);
  const after = await world.deps.db('crm_tasks').where({ id: task.id }).first();
  t.like(after, { status: 'completed' });
  t.is((await world.deps.db('inbound_messages').where({ id: s.messageId }).first()).answer, null);
  t.deepEqual(await s.suppressed(), ['lea@company.test']);
});

test('owners are mailed once, in their language, about a reply that threatens legal steps', async (t) => {
  const s = await scene('I am forwarding this to my lawyer if you write again.');
  await world.deps.db('users').where({ id: s.tenant.userId }).update({ language: 'de' });
  await react(world.deps, SUBSCRIBERS);
  const mails: { to: string; subject: string; text: string }[] = [];
  const deps = {
    ...world.deps,
    systemMail: { send: async (mail: (typeof mails)[number]) => void mails.push(mail), close() {} },
  };
  await mailLegalThreats(deps);
  await mailLegalThreats(deps);
  const ours = mails.filter(({ to }) => to === s.tenant.email);
  t.is(ours.length, 1);
  t.regex(ours[0]!.subject, /droht mit rechtlichen Schritten/);
  t.true(ours[0]!.text.includes('lea@company.test') && ours[0]!.text.includes('/inbox?thread='));
});

test('a reply ends the sequence for the company where the campaign says so, free mail providers aside', async (t) => {
  const after = async (setting: string, words: string, domain = 'company.test') => {
    const s = await scene('Hello', 'first@elsewhere.test');
    await world.deps.db('campaigns').where({ id: s.campaignId }).update({ stop_on_company_reply: setting });
    const lea = await s.mailed(`lea@${domain}`);
    const max = await s.mailed(`max@${domain}`);
    const ann = await s.mailed('ann@other.test');
    const other = await createCampaign(world.deps, s.tenant.organizationId, [{ subject: 'Other' }]);
    const [elsewhere] = await enroll(world.deps, s.tenant.organizationId, other.campaignId, [max.contactId]);
    const id = await s.receive(replyTo(lea.original, words));
    await react(world.deps, SUBSCRIBERS);
    const state = async (enrollment: string) =>
      (await world.deps.db('enrollments').where({ id: enrollment }).first()).state as string;
    t.deepEqual([await state(ann.enrollmentId), await state(elsewhere!)], ['active', 'pending']);
    return { state: () => state(max.enrollmentId), token: s.tenant.apiKey, id };
  };
  t.is(await (await after('off', 'No thanks, we are not interested.')).state(), 'active');
  t.is(await (await after('any', 'No thanks, we are not interested.')).state(), 'replied');
  t.is(await (await after('any', 'No thanks, we are not interested.', 'gmail.com')).state(), 'active');
  t.is(await (await after('positive_or_opt_out', 'Sounds great, let us talk on Monday!')).state(), 'replied');
  t.is(await (await after('positive_or_opt_out', 'Please remove me from your list.')).state(), 'replied');
  const refused = await after('positive_or_opt_out', 'No thanks, we are not interested.');
  t.is(await refused.state(), 'active');
  await call(world, 'PATCH', `/v1/unibox/${refused.id}`, { token: refused.token, body: { intent: 'positive' } });
  await react(world.deps, SUBSCRIBERS);
  t.is(await refused.state(), 'replied', 'a correction counts');
});

test('the person whom a reply names becomes a contact with its provenance', async (t) => {
  const s = await scene('Please write to our buyer Maria Lopez, maria@company.test, she decides this.');
  await world.deps.db('contacts').where({ id: s.lead.contactId }).update({ company: 'Company Ltd' });
  const token = s.tenant.apiKey;
  const refer = (id: string) => call(world, 'POST', `/v1/unibox/${id}/contact`, { token });
  const answer = await refer(s.messageId);
  assertStatus(t, answer, 200);
  t.like(answer.body, {
    email: 'maria@company.test',
    first_name: 'Maria',
    last_name: 'Lopez',
    company: 'Company Ltd',
  });
  t.like(await world.deps.db('contacts').where({ id: answer.body.id }).first(), {
    source: 'referral',
    source_detail: `message ${s.messageId}`,
  });
  t.is((await refer(s.messageId)).body.id, answer.body.id, 'once');
  const max = await s.mailed('max@company.test');
  assertStatus(t, await refer(await s.receive(replyTo(max.original, 'Hello'))), 409);
});
