import test from 'ava';
import { advanceTestRun } from '../../../domain/campaigns/test-runs/advance.ts';
import { transact } from '../../../domain/platform/kernel/transact.ts';
import { readSeats } from '../../../domain/sending/seats.ts';
import { readTestEmail } from '../../../domain/sending/test-email.ts';
import { newId } from '../../../lib/ids.ts';
import { maskOf, PRESETS } from '../../../lib/permissions.ts';
import { openDesk } from '../../../test/harness/campaign-desk.ts';
import { createApiKey } from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';

let world: World;
const clock = new ManualClock(new Date('2030-03-01T22:00:00Z'));
/** Maximum number of test runs per day and key. Only the test of this limit starts this many. */
const TESTS_A_DAY = 14;

test.before(async () => {
  world = await createWorld({ clock, env: { CREDENTIAL_TESTS_PER_DAY: String(TESTS_A_DAY) } });
});
test.after.always(() => world?.close());

async function ready(body: object = {}) {
  const desk = await openDesk(world);
  const mailbox = await desk.mailbox();
  const campaign = await desk.campaign({ steps: [{ subject: 'Hello', body_plain: 'Hi' }], ...body });
  const path = `/campaigns/${campaign.id}`;
  return {
    desk,
    mailbox,
    id: campaign.id as string,
    path,
    start: (input: object) => desk.call('POST', `${path}/test`, input),
  };
}

test('a test starts for a contact or an address, in the outbox with its row, and creates a contact only for a new address', async (t) => {
  const { desk, mailbox, id, start } = await ready();
  const contact = await desk.contact({ email: 'kim@prospect.example' });
  const first = await start({ prospect_email: 'Kim@Prospect.example ' });
  assertStatus(t, first, 202);
  t.like(first.body, {
    contact_id: contact,
    prospect_email: 'kim@prospect.example',
    email_account_id: mailbox,
    campaign_id: id,
  });
  const second = await start({ contact_id: contact, prospect_email: 'tester@ours.example', mailbox_id: mailbox });
  t.like(second.body, {
    contact_id: contact,
    prospect_email: 'tester@ours.example',
    state: 'running',
    steps: [],
    app_variables: {},
  });
  const third = await start({ prospect_email: 'new@prospect.example' });
  t.like(await world.deps.db('contacts').where({ id: third.body.contact_id }).first(), {
    email: 'new@prospect.example',
  });
  const begun = new Set((await desk.outbox('test-run/')).map(({ workflow_id }) => workflow_id));
  for (const { body } of [first, second, third]) t.true(begun.has(`test-run/${body.id}`));
  t.is((await desk.row(id)).status, 'draft');
});

test('what a test needs is asked for, and what it may not do refused', async (t) => {
  const { desk, mailbox, id, path, start } = await ready();
  const nobody = await start({});
  t.deepEqual([nobody.status, nobody.body.problems[0].path], [400, 'body.prospect_email']);
  assertStatus(t, await start({ contact_id: newId() }), 404);
  t.deepEqual((await start({ prospect_email: 'a@x.example', mailbox_id: newId() })).body.problems, [
    {
      path: 'body.mailbox_id',
      message: 'is not an active mailbox of this workspace',
      code: 'tests.mailbox_inactive',
      values: {},
    },
  ]);
  const wrong = await start({ prospect_email: 'nobody', max_wait_seconds: 0 });
  t.deepEqual(wrong.body.problems.map((problem: { path: string }) => problem.path).sort(), [
    'body.max_wait_seconds',
    'body.prospect_email',
  ]);
  await desk.call('POST', '/suppressions', { entries: [{ value: 'gone@x.example' }, { value: 'closed.example' }] });
  await desk.contact({ email: 'out@x.example', subscribed: false });
  for (const address of ['gone@x.example', 'a@closed.example', 'out@x.example'])
    t.is((await start({ prospect_email: address })).status, 409, address);
  assertStatus(t, await desk.call('POST', `/campaigns/${newId()}/test`, { prospect_email: 'a@x.example' }), 404);
  const empty = await desk.campaign({ name: 'Empty' });
  t.is(
    (await desk.call('POST', `/campaigns/${empty.id}/test`, { prospect_email: 'a@x.example' })).body.code,
    'campaign_invalid',
  );
  const other = await desk.mailbox();
  const { apiKey: token } = await createApiKey(world.deps, desk.tenant.organizationId, desk.tenant.userId, {
    allowedMailboxes: [other],
  });
  t.is(
    (
      await call(world, 'POST', `/v1${path}/test`, {
        token,
        body: { prospect_email: 'a@x.example', mailbox_id: mailbox },
      })
    ).status,
    403,
  );
  t.is(
    (
      await call(world, 'POST', `/v1${path}/test`, {
        token,
        body: { prospect_email: 'a@x.example', mailbox_id: other },
      })
    ).status,
    202,
  );
  const { apiKey: blind } = await createApiKey(world.deps, desk.tenant.organizationId, desk.tenant.userId, {
    permissions: maskOf(['SEND_CAMPAIGNS']),
  });
  const contact = { contact_id: await desk.contact() };
  const spy = { ...contact, prospect_email: 'spy@x.example' };
  t.regex((await desk.call('POST', `${path}/test`, spy, blind)).text, /needs READ_CONTACTS/);
  t.is((await desk.call('POST', `${path}/test`, contact, blind)).status, 202, 'to the contact');
  await world.deps
    .db('mailboxes')
    .where({ organization_id: desk.tenant.organizationId })
    .update({ status: 'inactive' });
  t.is((await start({ prospect_email: 'a@x.example' })).body.code, 'campaign_no_mailbox');
  t.is((await world.deps.db('test_runs').where({ campaign_id: id })).length, 2);
});

test('ten tests of a campaign are open at once; a cancelled one makes room', async (t) => {
  const { desk, path, start } = await ready();
  const ids: string[] = [];
  for (let n = 0; n < 10; n += 1) ids.push((await start({ prospect_email: `p${n}@x.example` })).body.id);
  assertStatus(t, await start({ prospect_email: 'more@x.example' }), 409);
  t.like((await desk.call('POST', `${path}/test-runs/${ids[0]}/cancel`)).body, { id: ids[0], state: 'cancelled' });
  assertStatus(t, await start({ prospect_email: 'more@x.example' }), 202);
});

test('test runs are listed newest first by pages; a run of another campaign is not found', async (t) => {
  const { desk, path, start } = await ready();
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) ids.push((await start({ prospect_email: `p${n}@x.example` })).body.id);
  const first = await desk.call('GET', `${path}/test-runs?limit=2`);
  t.deepEqual(
    first.body.data.map(({ id }: { id: string }) => id),
    [ids[2], ids[1]],
  );
  t.true(first.body.pagination.has_more);
  const second = await desk.call('GET', `${path}/test-runs?limit=2&cursor=${first.body.pagination.next_cursor}`);
  t.deepEqual(
    second.body.data.map(({ id }: { id: string }) => id),
    [ids[0]],
  );
  assertStatus(t, await desk.call('GET', `${path}/test-runs?limit=101`), 400);
  // Makes the apps' stored answers too large for one response.
  await world.deps.db.raw(
    `update test_runs set app_values = jsonb_build_object('crm', repeat('x', 9000000)) where campaign_id = (select campaign_id from test_runs where id = ?)`,
    [ids[0]!],
  );
  const large: string[] = [];
  for (let next = ''; large.length < 3;) {
    const { body } = await desk.call('GET', `${path}/test-runs${next}`);
    large.push(...body.data.map((run: { id: string }) => run.id));
    t.is(body.data.length, 1);
    t.is(body.pagination.has_more, large.length < 3);
    next = `?cursor=${body.pagination.next_cursor}`;
  }
  t.deepEqual(large, ids.toReversed());
  const other = await desk.campaign({ name: 'Other' });
  t.is(
    (await desk.call('GET', `/campaigns/${other.id}/test-runs?cursor=${first.body.pagination.next_cursor}`)).status,
    400,
  );
  t.like((await desk.call('GET', `${path}/test-runs/${ids[0]}`)).body, { id: ids[0], state: 'running' });
  for (const [method, suffix] of [
    ['GET', ''],
    ['POST', '/cancel'],
  ] as const)
    for (const id of [ids[0], newId(), 'x']) {
      const answer = await desk.call(method, `/campaigns/${other.id}/test-runs/${id}${suffix}`);
      t.deepEqual([answer.status, answer.body.code], [404, 'event_run_not_found']);
      t.truthy(answer.body.fix);
    }
});

test('a run that has finished is not cancelled', async (t) => {
  const { desk, path, start } = await ready();
  const { id } = (await start({ prospect_email: 'a@x.example' })).body;
  await world.deps.db('test_runs').where({ id }).update({ state: 'completed' });
  assertStatus(t, await desk.call('POST', `${path}/test-runs/${id}/cancel`), 409);
});

test('a key without a policy tests to any address, as often a day as it may over all campaigns, whatever becomes of them; people are not counted', async (t) => {
  const { desk, id } = await ready();
  const others = [await desk.campaign({ steps: [{ subject: 'Hello', body_plain: 'Hi' }] })];
  t.is((await desk.call('GET', '/agent-policies/effective')).body.source, 'none');
  const start = (campaign: string, n: number, token?: string) =>
    desk.call('POST', `/campaigns/${campaign}/test`, { prospect_email: `stranger${n}@elsewhere.example` }, token);
  const answers = await Promise.all(
    [id, others[0].id].flatMap((campaign) => [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => start(campaign, n))),
  );
  t.is(answers.filter(({ status }) => status === 202).length, TESTS_A_DAY);
  const refused = answers.filter(({ status }) => status !== 202);
  for (const { status, body, headers } of refused) {
    t.deepEqual([status, body.code, body.retry_after], [429, 'rate_limit_exceeded', 2 * 3600]);
    t.is(headers.get('retry-after'), '7200');
  }
  assertStatus(t, await desk.call('DELETE', `/campaigns/${id}`), 204);
  assertStatus(t, await start(others[0].id, 10), 429);
  const { apiKey: another } = await createApiKey(world.deps, desk.tenant.organizationId, desk.tenant.userId);
  const fresh = await desk.campaign({ steps: [{ subject: 'Hello', body_plain: 'Hi' }] });
  assertStatus(t, await start(fresh.id, 11, another), 202);
  assertStatus(t, await start(fresh.id, 12, desk.tenant.sessionToken), 202);
  assertStatus(t, await start(fresh.id, 13), 429);
  const makeKey = async (maker?: string) =>
    (await desk.call('POST', '/api-keys', { name: 'More', permissions: PRESETS.full_access }, maker)).body
      .secret as string;
  const child = await makeKey();
  for (const made of [child, await makeKey(child)])
    t.is((await start(fresh.id, 14, made)).status, 429, 'a key that it has made has no day of its own');
  assertStatus(t, await start(fresh.id, 15, await makeKey(desk.tenant.sessionToken)), 202);
  clock.advance(2 * 3600_000);
  assertStatus(t, await start(fresh.id, 16), 202);
  assertStatus(t, await start(fresh.id, 17, child), 202);
});

test('one email is tested alone: at once, as it is being written, and without a gap for those after it', async (t) => {
  const { desk, mailbox, id, path, start } = await ready({
    steps: [
      { name: 'One', subject: 'Hello', body_plain: 'Hi' },
      { name: 'Two', body_plain: 'Again', wait_after: 3 },
    ],
  });
  await world.deps.db('mailboxes').where({ id: mailbox }).update({ min_wait_time: 600 });
  const ctx = world.system(desk.tenant.organizationId);
  const steps = (await desk.call('GET', `${path}/steps`)).body;
  const contact_id = await desk.contact();
  const step = { id: steps[1].id, subject: 'Draft', body_plain: 'Not stored' };
  const { body: run } = await start({ contact_id, prospect_email: 'me@ours.example', step });
  const now = clock.now();
  // A test run skips the days of waiting before a step.
  t.like(await advanceTestRun(ctx, run.id), { kind: 'send', at: now.getTime() });
  const [send] = await world.deps.db('sends').where({ recipient: 'me@ours.example', mailbox_id: mailbox });
  const read = () =>
    transact(ctx, async (tx) => {
      const day = { day: '2030-03-01', from: now.getTime(), until: now.getTime() };
      const [seat] = await readSeats(tx.org, { id }, [mailbox], day);
      return { taken: seat!.taken, email: (await readTestEmail(tx, send.id))! };
    });
  const reserved = await read();
  t.deepEqual(reserved.taken, [], 'reserved');
  t.like(reserved.email.step, { subject: 'Draft', body_plain: 'Not stored', name: 'Two' });
  await world.deps.db('sends').where({ id: send.id }).update({ state: 'sent', sent_at: now });
  t.deepEqual((await read()).taken, [], 'sent');
  await world.deps
    .db('test_run_steps')
    .where({ test_run_id: run.id })
    .update({ state: 'completed', completed_at: now });
  t.like(await advanceTestRun(ctx, run.id), { kind: 'done', outcome: 'completed' });

  const wrong = await start({ contact_id, step: { id: newId() } });
  t.deepEqual([wrong.status, wrong.body.problems[0].path], [400, 'body.step.id']);
});
