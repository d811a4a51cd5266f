import test from 'ava';
import { allowEverything } from '../../test/harness/approvals.ts';
import { openDesk, type Desk } from '../../test/harness/campaign-desk.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../../test/harness/world.ts';
import { externalText } from '../../domain/platform/external-text.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

/** Calls the API with a key. The key has no policy unless the test creates one. */
const asKey = (desk: Desk, method: string, path: string, body: unknown = {}): Promise<Answer> =>
  call(world, method, `/v1${path}`, { token: desk.tenant.apiKey, body });
const decide = (desk: Desk, id: string, decision = 'approved') =>
  desk.call('POST', `/approvals/${id}/decision`, { decision }, desk.tenant.sessionToken);
const stateOf = async (id: string) => (await world.deps.db('approvals').where({ id }).first()).status as string;

test('a key without a policy: the start waits for a person, who sees all of it, and happens when they approve', async (t) => {
  const desk = await openDesk(world);
  const { campaign } = await desk.ready(2);
  const at = `/campaigns/${campaign.id}`;
  const held = await asKey(desk, 'POST', `${at}/start`);
  assertStatus(t, held, 202);
  t.like(held.body, { result: 'awaiting_approval', reasons: [{ code: 'no_policy' }] });
  t.is(held.body.approval_url, `${world.deps.config.APP_URL}/approvals/${held.body.approval_id}`);
  t.is((await desk.row(campaign.id)).status, 'draft');
  t.is((await asKey(desk, 'POST', `${at}/start`)).body.approval_id, held.body.approval_id, 'asked again');
  const { data } = (await desk.call('GET', '/approvals', undefined, desk.tenant.sessionToken)).body;
  t.like(data[0], { subject_type: 'campaign', subject_id: campaign.id, action_type: 'campaign.launch' });
  t.like(data[0].payload, { title: { code: 'action.launch', values: { name: 'Spring' } }, recipients: { count: 2 } });
  t.is(data[0].payload.samples.length, 2);

  const decided = await decide(desk, held.body.approval_id);
  assertStatus(t, decided, 200);
  t.is(decided.body.status, 'executed');
  t.is((await desk.row(campaign.id)).status, 'active');
  const events = await desk.events();
  t.deepEqual(
    events.filter((type) => type.startsWith('approval') || type === 'campaign.started'),
    ['approval.requested', 'approval.decided', 'approval.executed', 'campaign.started'],
  );
});

test('what has changed since is not started, and needs another approval', async (t) => {
  const desk = await openDesk(world);
  const { campaign } = await desk.ready(1);
  const at = `/campaigns/${campaign.id}`;
  const { approval_id: id } = (await asKey(desk, 'POST', `${at}/start`)).body;
  await asKey(desk, 'POST', `${at}/leads`, { contact_ids: [await desk.contact()] });
  const decided = await decide(desk, id);
  t.like(decided.body, { status: 'expired', reason: 'The content has changed since the approval' });
  t.is((await desk.row(campaign.id)).status, 'draft');

  // PATCH applies the other changes, and only the start waits for an approval.
  const patched = await asKey(desk, 'PATCH', at, { status: 'active', name: 'Summer' });
  assertStatus(t, patched, 202);
  t.like(await desk.row(campaign.id), { status: 'draft', name: 'Summer' });
  const renamed = await asKey(desk, 'PATCH', at, { status: 'active', name: 'Autumn' });
  t.not(renamed.body.approval_id, patched.body.approval_id);
  t.is(await stateOf(patched.body.approval_id), 'expired');
  t.is((await decide(desk, renamed.body.approval_id, 'denied')).body.status, 'denied');
  t.is((await desk.row(campaign.id)).status, 'draft');
  // The API key that requested the start reads the refusal in the campaign's log.
  const { data } = (await call(world, 'GET', `/v1${at}/logs`, { token: desk.tenant.apiKey })).body;
  const refused = data.filter((line: { event_type: string }) => line.event_type === 'campaign_start_refused');
  t.deepEqual(
    refused.map(({ message, metadata }: { message: string; metadata: object }) => [message, metadata]),
    [
      ['A person denied the start', { approval_id: renamed.body.approval_id }],
      ['The approved start did not happen: the campaign had changed', { approval_id: id }],
    ],
  );
});

test('the checks of a start run again with the decision: what they refuse is not approved', async (t) => {
  const desk = await openDesk(world);
  const { campaign } = await desk.ready(1);
  const { approval_id: id } = (await asKey(desk, 'POST', `/campaigns/${campaign.id}/start`)).body;
  const mailboxes = world.deps.db('mailboxes').where({ organization_id: desk.tenant.organizationId });
  await mailboxes.clone().update({ hold_code: 'auth_failed', hold_reason: externalText('refused') });
  const refused = await decide(desk, id);
  t.like(refused.body, { code: 'campaign_no_mailbox' });
  t.is(await stateOf(id), 'pending');
  await mailboxes.clone().update({ hold_code: null, hold_reason: null });
  t.is((await decide(desk, id)).body.status, 'executed');
});

test('within its policy a key starts at once; beyond it the reasons say why not', async (t) => {
  const desk = await openDesk(world);
  const [first, second] = [(await desk.ready(2)).campaign, (await desk.ready(2)).campaign];
  await allowEverything(world.deps, desk.tenant);
  await world.deps
    .db('agent_policies')
    .where({ api_key_id: desk.tenant.apiKeyId })
    .update({ max_recipients_per_day: 3 });
  t.deepEqual((await asKey(desk, 'POST', `/campaigns/${first.id}/start`)).body, { status: 'started' });
  const held = await asKey(desk, 'POST', `/campaigns/${second.id}/start`);
  assertStatus(t, held, 202);
  t.like(held.body.reasons[0], { code: 'recipients_per_day_exceeded' });
});

test('a person who starts the campaign, or deletes it, ends what waits', async (t) => {
  const desk = await openDesk(world);
  const [started, deleted] = [(await desk.ready(1)).campaign, (await desk.ready(1)).campaign];
  const ids: string[] = [];
  for (const { id } of [started, deleted])
    ids.push((await asKey(desk, 'POST', `/campaigns/${id}/start`)).body.approval_id);
  const { sessionToken } = desk.tenant;
  assertStatus(t, await desk.call('POST', `/campaigns/${started.id}/start`, {}, sessionToken), 200);
  assertStatus(t, await desk.call('DELETE', `/campaigns/${deleted.id}`, undefined, sessionToken), 204);
  for (const id of ids) {
    t.is(await stateOf(id), 'expired');
    assertStatus(t, await decide(desk, id), 409);
  }
});

test('a tool over plain HTTP answers 202 with the approval', async (t) => {
  const desk = await openDesk(world);
  const { campaign } = await desk.ready(1);
  const held = await asKey(desk, 'POST', '/ai/tools/start_campaign/call', { arguments: { campaign_id: campaign.id } });
  assertStatus(t, held, 202);
  t.like(held.body.result, { result: 'awaiting_approval' });
  t.is(await stateOf(held.body.result.approval_id), 'pending');
});
