import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { silentLogger } from '../lib/log.ts';
import { createCampaign, createContact, createMailbox, enroll } from '../test/harness/factories.ts';
import { startEngine, type Engine } from '../test/harness/engine.ts';
import { eventually } from '../test/harness/eventually.ts';
import { heron } from '../test/harness/heron.ts';
import { startOwnTemporal } from '../test/harness/temporal.ts';
import { createWorld, type World } from '../test/harness/world.ts';
import { maintenanceWorkflow } from '../workflows/maintenance/contract.ts';
import { workflowBundle } from './bundle.ts';
import { replayNamespace } from './replay.ts';

let world: World;
let engine: Engine;
let folder: string;
test.before(async () => {
  world = await createWorld({ env: { WORKER_ROLES: 'temporal,relay' } });
  folder = await mkdtemp(join(tmpdir(), 'heron-replay-'));
  engine = await startEngine(world);
  const { organizationId } = await world.tenant();
  // No server listens on the mailbox's ports, so the email is retried repeatedly and its workflow stays open.
  const nowhere = { host: '127.0.0.1', port: 1 };
  await createMailbox(world.deps, organizationId, 'sam@sender.example.com', { smtp: nowhere, imap: nowhere });
  const { campaignId } = await createCampaign(world.deps, organizationId, [{ subject: 'Hello', body_plain: 'Hi' }]);
  const contact = await createContact(world.deps.db, world.deps.clock.now(), organizationId, {});
  await enroll(world.deps, organizationId, campaignId, [contact]);
  await engine.launch(organizationId, campaignId);
  await engine.temporal.workflow.execute(maintenanceWorkflow.type, {
    taskQueue: world.deps.config.TEMPORAL_TASK_QUEUE,
    workflowId: `maintenance/${world.deps.config.TEMPORAL_TASK_QUEUE}`,
    args: [],
  });
  await eventually(async () => {
    const { open, closed } = await counts();
    return open > 0 && closed > 0;
  });
});
test.after.always(async () => {
  await engine?.stop();
  await world?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

async function counts(): Promise<{ open: number; closed: number }> {
  const queue = `TaskQueue = '${world.deps.config.TEMPORAL_TASK_QUEUE}'`;
  const [open, closed] = await Promise.all([
    engine.temporal.workflow.count(`${queue} AND WorkflowType = 'enrollment' AND ExecutionStatus = 'Running'`),
    engine.temporal.workflow.count(`${queue} AND WorkflowType = 'maintenance' AND ExecutionStatus = 'Completed'`),
  ]);
  return { open: open.count, closed: closed.count };
}

/** Returns the current bundle with one text replaced, to simulate an incompatible edit. */
async function mutated(from: string, to: string): Promise<string> {
  const { codePath } = await workflowBundle(silentLogger);
  const code = await readFile(codePath, 'utf8');
  if (!code.includes(from)) throw new Error(`the bundle has no ${from}`);
  const path = join(folder, `${to}.js`);
  await writeFile(path, code.replaceAll(from, to));
  return path;
}

test('open and recent runs replay with the bundle of the day, and not with one that decides otherwise', async (t) => {
  const options = { recentMs: 3_600_000, perType: 100 };
  const today = await replayNamespace(engine.temporal, world.deps.config, silentLogger, {
    ...options,
    bundle: await workflowBundle(silentLogger),
  });
  t.deepEqual(today.failures, []);
  t.true(today.replayed.maintenance! >= 1, 'a run that has closed');
  t.true(today.replayed.enrollment! >= 1, 'a run that is open');
  t.true(today.replayed.campaign! >= 1);

  const red = await replayNamespace(engine.temporal, world.deps.config, silentLogger, {
    ...options,
    bundle: { codePath: await mutated('doChore', 'doTask') },
  });
  t.deepEqual(
    red.failures.map(({ workflowId }) => workflowId),
    [`maintenance/${world.deps.config.TEMPORAL_TASK_QUEUE}`],
  );
  t.regex(red.failures[0]!.reason, /[Nn]ondeterminism|doChore/);
});

test('`heron replay` is the gate of a release: what does not replay is printed, and the exit code is 1', async (t) => {
  const { TEMPORAL_ADDRESS, TEMPORAL_TASK_QUEUE } = world.deps.config;
  const replay = (...args: string[]) => heron(['replay', ...args], { TEMPORAL_ADDRESS, TEMPORAL_TASK_QUEUE });
  const green = await replay();
  t.is(green.code, 0, green.stderr);
  t.deepEqual(JSON.parse(green.stdout).failures, []);
  const red = await replay('--bundle', await mutated('doChore', 'doTask'));
  t.is(red.code, 1);
  t.true(JSON.parse(red.stdout).failures.length >= 1);
  t.regex(red.stderr, /do not replay/);
});

test('with WORKER_BUILD_ID runs go to the build that an operator made the current one', async (t) => {
  const server = await startOwnTemporal();
  const versioned = await createWorld({
    env: { TEMPORAL_ADDRESS: server.address, WORKER_ROLES: 'temporal', WORKER_BUILD_ID: 'build-7' },
  });
  const worker = await startEngine(versioned);
  t.teardown(async () => {
    await worker.stop();
    await versioned.close();
    await server.stop();
  });
  const { TEMPORAL_TASK_QUEUE: deploymentName } = versioned.deps.config;
  await eventually(() =>
    worker.temporal.workflowService
      .setWorkerDeploymentCurrentVersion({ namespace: 'default', deploymentName, buildId: 'build-7' })
      .catch(() => false as const),
  );
  const handle = await worker.temporal.workflow.start(maintenanceWorkflow.type, {
    taskQueue: deploymentName,
    workflowId: 'maintenance/versioned',
    args: [],
  });
  t.deepEqual(await handle.result(), {});
  const { raw } = await handle.describe();
  const { deploymentVersion, behavior } = raw.workflowExecutionInfo!.versioningInfo!;
  t.is(deploymentVersion!.buildId, 'build-7');
  t.is(behavior, 2, 'auto-upgrade');
});
