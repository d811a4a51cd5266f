import test from 'ava';
import { blockRun } from '../../domain/operations/system/blocked-runs.ts';
import { reconcile } from '../../domain/operations/system/reconcile.ts';
import { newId } from '../../lib/ids.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { silentLogger } from '../../lib/log.ts';
import { createTemporalClient } from '../../temporal/client.ts';
import { writeIntents, type Intent, type WorkflowGateway } from '../../temporal/dispatch.ts';
import { createIntentSender, startRelay } from '../../temporal/relay.ts';
import { startPresenceRecorder } from '../../workers/presence.ts';
import { eventually } from '../harness/eventually.ts';
import { heron } from '../harness/heron.ts';
import { call, createWorld, noWorkflows, type World } from '../harness/world.ts';
import { assertNowhere, randomSecret } from '../harness/secrets.ts';
import { message } from '../../messages/index.ts';

/*
 * Runs the operator's commands for workflows as processes, and checks PostgreSQL, Temporal, readiness and the gauge of
 * missing workflows. No worker runs, so a started workflow stays open.
 */

/** Workflow ids that a Temporal stub reports as open, for searches in this process. */
const open = new Set<string>();
const workflows: WorkflowGateway = {
  ...noWorkflows,
  async *openRuns() {
    yield [...open];
  },
  endRunsOf: () => Promise.resolve(0),
  isOpen: (id) => Promise.resolve(open.has(id)),
  failingRuns: () => Promise.resolve([]),
  health: () => Promise.resolve({ latencyMs: 1, workers: 1, unserved: [] }),
};

let world: World;
test.beforeEach(async () => {
  open.clear();
  world = await createWorld({ workflows });
});
test.afterEach.always(() => world?.close());

const cli = (...args: string[]) => {
  const { TEMPORAL_ADDRESS, TEMPORAL_TASK_QUEUE } = world.deps.config;
  return heron(args, { PRIMARY_DB: world.databaseUrl, TEMPORAL_ADDRESS, TEMPORAL_TASK_QUEUE });
};

async function importThatWaits(): Promise<{ organizationId: string; apiKey: string; id: string; workflowId: string }> {
  const { organizationId, apiKey } = await world.tenant();
  const id = newId();
  const now = new Date();
  await world.deps.db('contact_imports').insert({
    id,
    organization_id: organizationId,
    status: 'queued',
    filename: 'people.csv',
    created_at: now,
    updated_at: now,
  });
  return { organizationId, apiKey, id, workflowId: `contact-import/${id}` };
}

const intents = () => world.deps.db('outbox').orderBy('id');

/** Returns true if Temporal has an open workflow with an id. */
async function isRunning(workflowId: string): Promise<boolean> {
  const client = createTemporalClient(world.deps.config);
  try {
    return (await client.workflow.getHandle(workflowId).describe()).status.name === 'RUNNING';
  } catch {
    return false;
  } finally {
    await client.connection.close();
  }
}

/** Dispatches all intents of the outbox to Temporal. */
async function relayAll(): Promise<void> {
  const client = createTemporalClient(world.deps.config);
  const relay = await startRelay({
    db: world.deps.db,
    databaseUrl: world.databaseUrl,
    carry: createIntentSender(client, world.deps.config.TEMPORAL_TASK_QUEUE),
    log: silentLogger,
  });
  await eventually(async () => (await intents()).every(({ parked_at }) => parked_at !== null), 60_000);
  await relay.stop();
  await client.connection.close();
}

test.serial('heron reconcile counts, starts what is missing, and finds nothing the second time', async (t) => {
  t.timeout(180_000);
  const { workflowId } = await importThatWaits();
  const dry = await cli('reconcile', '--dry-run');
  t.is(dry.code, 0, dry.stderr);
  t.regex(dry.stdout, /^contact-import +1 must be open, 1 missing$/m);
  t.regex(dry.stdout, /^1 run is missing; nothing was started \(--dry-run\)\.$/m);
  t.deepEqual(await intents(), []);
  t.deepEqual(await world.deps.db('reconciliations'), [], 'a dry run leaves no record');

  // Two commands and the relay run at the same time, but only one workflow may start.
  const [first, second] = await Promise.all([cli('reconcile', '--json'), cli('reconcile', '--json'), relayAll()]);
  for (const { code, stderr } of [first!, second!]) t.is(code, 0, stderr);
  const { dry_run: isDry, families } = JSON.parse(first!.stdout) as {
    dry_run: boolean;
    families: { family: string; checked: number; missing: number }[];
  };
  t.false(isDry);
  t.like(
    families.find(({ family }) => family === 'contact-import'),
    { checked: 1 },
  );
  await relayAll();
  t.true(await isRunning(workflowId));
  const third = await cli('reconcile');
  t.regex(third.stdout, /^No run is missing\.$/m);
  t.deepEqual(await intents(), []);
});

test.serial('heron outbox lists, retries and drops parked intents; what waits behind them is carried', async (t) => {
  t.timeout(180_000);
  t.is((await cli('outbox')).stdout, 'No intent is parked.\n');
  const { id, organizationId } = await importThatWaits();
  const start = (name: string): Intent => ({
    kind: 'start',
    workflowId: `contact-import/${name}`,
    payload: {
      workflowType: 'contactImport',
      args: { organizationId, importId: id },
      kind: 'contact-import',
      summary: 'test',
      searchAttributes: { OrganizationId: organizationId },
    },
  });
  const [kept, given] = [newId(), newId()];
  await world.deps.db.transaction((trx) => writeIntents(trx, [start(kept), start(given), start(given)]));
  const [keep, give] = await intents();
  await world.deps
    .db('outbox')
    .whereIn('id', [keep.id, give.id])
    .update({
      parked_at: new Date(),
      available_at: new Date(Date.now() + 3_600_000),
      attempts: 10,
      last_error: 'malformed',
    });
  const listed = await cli('outbox');
  t.is(listed.code, 0, listed.stderr);
  t.regex(listed.stdout, new RegExp(`^ {2}${keep.id}  start contact-import/${kept}$`, 'm'));
  t.regex(listed.stdout, /10 attempts: malformed/);
  t.is(listed.stdout.match(/1 later intent waits behind it/g)?.length, 1);
  t.deepEqual(
    JSON.parse((await cli('outbox', '--json')).stdout).parked.map((intent: { id: string; behind: number }) => [
      intent.id,
      intent.behind,
    ]),
    [
      [String(keep.id), 0],
      [String(give.id), 1],
    ],
  );

  const before = await intents();
  for (const command of ['retry', 'drop']) {
    const { code, stdout, stderr } = await cli('outbox', command, String(keep.id), '999999');
    t.is(code, 1);
    t.is(stdout, '');
    t.regex(stderr, /^heron: These intents are not parked, and nothing was changed: 999999\n.*heron outbox/);
  }
  t.deepEqual(await intents(), before, 'nothing was half done');
  t.deepEqual(JSON.parse((await cli('outbox', 'retry', String(keep.id))).stdout), { retried: 1 });
  t.deepEqual(JSON.parse((await cli('outbox', 'drop', String(give.id))).stdout), { dropped: 1 });
  await relayAll();
  t.deepEqual(await intents(), []);
  t.true(await isRunning(`contact-import/${kept}`));
  t.true(await isRunning(`contact-import/${given}`), 'what waited behind the dropped one was carried');
});

test.serial('heron retry has a blocked run go on, and says when there is none', async (t) => {
  t.timeout(180_000);
  const { organizationId, id, workflowId } = await importThatWaits();
  const never = await cli('retry', workflowId);
  t.is(never.code, 1);
  t.is(never.stdout, '');
  t.is(never.stderr, `heron: ${workflowId} is not blocked\n`);
  await blockRun(world.system(organizationId), workflowId, new Error('person@secret.example'));
  t.like(await world.deps.db('contact_imports').where({ id }).first(), {
    blocked_reason: message('run.kept_failing', { kind: 'Error' }),
  });
  const retried = await cli('retry', workflowId);
  t.is(retried.code, 0, retried.stderr);
  t.deepEqual(JSON.parse(retried.stdout), { retried: workflowId });
  t.like(await world.deps.db('contact_imports').where({ id }).first(), { blocked_reason: null });
  t.like(await world.deps.db('dead_letters').where({ task_id: id }).first(), { status: 'replayed' });
  t.like((await intents())[0], { kind: 'signal', workflow_id: workflowId });
  await relayAll();
  t.true(await isRunning(workflowId));
});

test.serial('commands about runs: help, wrong usage, a database and a Temporal that are away', async (t) => {
  t.timeout(180_000);
  const usage: [string[], RegExp][] = [
    [['reconcile', '--wrong'], /unknown option '--wrong'/],
    [['outbox', 'retry', 'x'], /not the id of an intent/],
    [['outbox', 'drop'], /missing required argument 'id'/],
    [['retry'], /missing required argument 'workflow id'/],
  ];
  const help: [string[], RegExp][] = [
    [['reconcile', '--help'], /--dry-run +count only/],
    [['outbox', '--help'], /retry .*[\s\S]*drop /],
  ];
  const commands = [['reconcile'], ['outbox'], ['retry', 'campaign/x'], ['reactions']];
  const password = randomSecret('password');
  const away = `postgres://heron:${password}@127.0.0.1:1/heron`;
  for (const [args, said] of usage) {
    const { code, stdout, stderr } = await cli(...args);
    t.is(code, 2, args.join(' '));
    t.is(stdout, '');
    t.regex(stderr, said, args.join(' '));
  }
  for (const [args, said] of help) {
    const { code, stdout } = await cli(...args);
    t.is(code, 0);
    t.regex(stdout, said);
  }
  for (const args of commands) {
    const { code, stdout, stderr } = await heron(args, { PRIMARY_DB: away });
    t.is(code, 1, args.join(' '));
    t.is(stdout, '');
    t.regex(stderr, /^heron: the database at 127\.0\.0\.1:1\/heron cannot be used: .*ECONNREFUSED.*\n$/);
    assertNowhere(t, stderr, [password]);
  }
  await importThatWaits();
  const { code, stdout, stderr } = await heron(['reconcile'], {
    PRIMARY_DB: world.databaseUrl,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
  });
  t.is(code, 1);
  t.is(stdout, '');
  t.regex(stderr, /Temporal at 127\.0\.0\.1:1 cannot be reached/);
  t.deepEqual(await intents(), []);
});

test.serial(
  'readiness and the gauge say how many runs were missing at the last look, and that no worker looks',
  async (t) => {
    const { apiKey, workflowId } = await importThatWaits();
    const metrics = createMetrics();
    const pulse = await startPresenceRecorder(world.deps, metrics);
    await pulse.stop();
    t.false((await metrics.registry.metrics()).includes('heron_runs_missing{'), 'no look yet');
    const runs = async () => {
      const { body } = await call(world, 'GET', '/v1/system/readiness', { token: apiKey });
      return body.checks.find((check: { name: string }) => check.name === 'runs');
    };
    const gauge = async () => {
      const fresh = createMetrics();
      await (await startPresenceRecorder(world.deps, fresh)).stop();
      return /heron_runs_missing\{family="contact-import"\} (\d+)/.exec(await fresh.registry.metrics())?.[1];
    };
    t.like(await runs(), { ok: true, detail: 'The first check for missing runs is still to come' });
    await reconcile(world.deps);
    t.like(await runs(), {
      ok: false,
      detail: 'Runs were missing at the last check, and were started again: 1 contact-import',
    });
    t.is(await gauge(), '1');
    await reconcile(world.deps, { dryRun: true });
    t.is(await gauge(), '1', 'a dry run is no look');

    // Deletes the outbox intents, as if they had been dispatched.
    await world.deps.db('outbox').delete();
    open.add(workflowId);
    await reconcile(world.deps);
    t.like(await runs(), { ok: true, detail: 'Every run that must be open was open at the last check' });
    t.is(await gauge(), '0');

    // A search over very many rows takes several sweeps and adds up their results.
    open.clear();
    await world.deps.db.raw(
      `insert into contact_imports (id, organization_id, status, filename, created_at, updated_at)
       select gen_random_uuid(), organization_id, status, filename, now(), now() from contact_imports, generate_series(1, 1500)`,
    );
    const cut = new AbortController();
    const onPage = (_family: string, checked: number) => void (checked === 1_000 && cut.abort());
    await reconcile(world.deps, { signal: cut.signal, onPage, ratePerSecond: Infinity });
    t.regex((await runs()).detail, /: 1000 contact-import$/);
    t.is(await gauge(), '1000');
    await reconcile(world.deps, { resume: true, ratePerSecond: Infinity });
    t.is(await gauge(), '1501', 'the look goes on where it ended');
    await world.deps.db('outbox').delete();
    for (const { id } of await world.deps.db('contact_imports').select('id')) open.add(`contact-import/${id}`);
    await reconcile(world.deps);
    t.like(await runs(), { ok: true });
    await world.deps.db('reconciliations').update({ ended_at: new Date(Date.now() - 3 * 3_600_000) });
    t.like(await runs(), { ok: false });
    t.regex((await runs()).detail, /^The last check for missing runs was on \w{3} \d+, 20/);
  },
);
