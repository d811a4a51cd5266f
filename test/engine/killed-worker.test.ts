/**
 * Tests a worker that is killed during automation runs: Heron's own actions happen once, calls of other systems are
 * repeated with the same id.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { forkSource } from '../../local/typescript.ts';
import { createAppConnection } from '../../domain/connect/app-connections/connections.ts';
import type { EventData } from '../../domain/platform/kernel/event-payloads.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { registerSubscribers } from '../../domain/platform/events/register.ts';
import { SUBSCRIBERS } from '../../domain/operations/subscribers/index.ts';
import { sampleData } from '../../domain/connect/triggers/vocabulary.ts';
import { newId } from '../../lib/ids.ts';
import { startN8n, type N8nDouble } from '../doubles/index.ts';
import { act, chain, createAutomation } from '../harness/automations.ts';
import { eventually } from '../harness/eventually.ts';
import { createContact } from '../harness/factories.ts';
import { connect } from '../harness/integrations.ts';
import { startReceiver, type Receiver } from '../harness/receiver.ts';
import { createWorld, type World } from '../harness/world.ts';

const PROCESS = fileURLToPath(new URL('../harness/engine-process.ts', import.meta.url));
const ENV = { WORKER_ROLES: 'temporal,relay,fanout,reactions', TEMPORAL_TASK_QUEUE: `killed-${newId()}` };
const RUNS = 4;
const PATIENCE_MS = 120_000;

let world: World;
let n8n: N8nDouble;
let app: Receiver;
const workers = new Set<ChildProcess>();
test.before(async () => {
  [world, n8n, app] = await Promise.all([createWorld({ env: ENV }), startN8n(), startReceiver()]);
  await registerSubscribers(world.deps, SUBSCRIBERS);
});
test.after.always(async () => {
  for (const worker of workers) worker.kill('SIGKILL');
  await Promise.all([app?.stop(), n8n?.close()]);
  await world?.close();
});

async function startWorkerProcess(): Promise<ChildProcess> {
  const worker = forkSource(PROCESS, [], {
    env: { ...process.env, PRIMARY_DB: world.databaseUrl, WORLD_ENV: JSON.stringify(ENV) },
  });
  workers.add(worker);
  const [first] = await Promise.race([once(worker, 'message'), once(worker, 'exit').then(() => [undefined])]);
  if (!first) throw new Error('the worker ended before it worked');
  return worker;
}

test('of runs whose worker is killed nothing is lost and nothing of Heron is done twice; calls of others keep their ids', async (t) => {
  t.timeout(PATIENCE_MS * 2);
  const tenant = await world.tenant();
  const { organizationId: org } = tenant;
  const { db, clock } = world.deps;
  const ctx = world.system(org);
  const { connection } = await createAppConnection(ctx, { name: 'App', baseUrl: app.url });
  const { id: connectionId } = await connect(world, tenant, 'n8n', { webhook_url: n8n.hookUrl });
  const automation = await createAutomation(
    world,
    org,
    'email.replied',
    chain(
      act('task', 'create_task', { title: 'Call' }),
      act('app', 'webhook', { app_connection_id: connection.id, path: '/hook', inputs: {} }),
      { ...act('tool', 'x'), action: 'n8n.send_webhook', connection_id: connectionId },
      act('tell', 'notify', { message: 'done' }),
    ),
  );
  // The app answers half of the calls, and the others hang; all calls to n8n hang.
  app.respond(({ index }) => (index <= RUNS / 2 ? { status: 204 } : 'hang'));
  n8n.failAll({ kind: 'hang' });
  const victim = await startWorkerProcess();
  const sample = sampleData('email.replied') as EventData<'campaign.reply_received'>;
  const contacts = await Promise.all(Array.from({ length: RUNS }, () => createContact(db, clock.now(), org)));
  await transact(ctx, async (tx) => {
    for (const contact_id of contacts)
      tx.emit('campaign.reply_received', { ...sample, contact_id, campaign_id: null, reply_message_id: null });
  });
  await eventually(async () => app.open === RUNS / 2 && n8n.heard.length === RUNS / 2, PATIENCE_MS);
  victim.kill('SIGKILL');
  workers.delete(victim);
  await once(victim, 'exit');

  app.respond(204);
  n8n.failAll(undefined);
  // Makes the dead worker's lease on its deliveries expire.
  await db('integration_lanes')
    .where({ connection_id: connectionId })
    .update({ due_at: new Date(0) });
  await startWorkerProcess();
  const runs = await eventually(async () => {
    const rows = await db('automation_runs').where({ automation_id: automation });
    return rows.length === RUNS && rows.every(({ finished_at: at }) => at !== null) && rows;
  }, PATIENCE_MS);
  for (const run of runs) t.like(run, { status: 'success', error_detail: null });

  const tasks = await db('crm_tasks').where({ organization_id: org, title: 'Call' });
  t.deepEqual(tasks.map((task) => task.contact_id).sort(), [...contacts].sort(), 'a task each, once');
  const told = await db('domain_events').where({ organization_id: org, type: 'automation.notified' });
  t.deepEqual(told.map(({ data }) => data.run_id).sort(), runs.map(({ id }) => id).sort(), 'told each, once');
  const calls = app.requests.map(({ headers }) => String(headers['idempotency-key']));
  t.deepEqual([...new Set(calls)].sort(), runs.map(({ id }) => `${id}:app`).sort());
  t.is(calls.length, RUNS + RUNS / 2, 'the calls that hung are made again, under their ids');
  const sent = n8n.heard.map(({ raw }) => JSON.parse(raw) as { id: string; contact: { id: string } });
  t.is(new Set(sent.map(({ id }) => id)).size, RUNS, 'what is sent again has its id');
  t.is(n8n.taken.length, RUNS);
  t.deepEqual([...new Set(sent.map(({ contact }) => contact.id))].sort(), [...contacts].sort());
  t.is((await db('integration_deliveries').where({ organization_id: org })).length, 0);
});
