import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import test from 'ava';
import { startRealtime } from '../../api/servers/realtime.ts';
import { pingBus, subscribeBus } from '../../lib/event-bus.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { freePort } from '../../local/servers.ts';
import { startFanOut } from '../../workers/fanout.ts';
import { eventually } from '../harness/eventually.ts';
import { findProgram } from '../harness/programs.ts';
import { openStream } from '../harness/stream-client.ts';
import { emitEvents } from '../harness/webhooks.ts';
import { createWorld } from '../harness/world.ts';

const NATS = await findProgram('nats-server');

async function startNats(port: number): Promise<ChildProcess> {
  const server = spawn(NATS!, ['-a', '127.0.0.1', '-p', String(port), '--user', 'heron', '--pass', 's3cret'], {
    stdio: 'ignore',
  });
  await eventually(() =>
    pingBus(`nats://heron:s3cret@127.0.0.1:${port}`, 1_000).then(
      () => true,
      () => false,
    ),
  );
  return server;
}

(NATS ? test : test.skip)(
  'gateways hear of events by NATS, without a connection for notifications; they find them without it, too, and hear again when it is back',
  async (t) => {
    t.timeout(60_000);
    const port = await freePort();
    let nats = await startNats(port);
    t.teardown(() => void nats.kill('SIGKILL'));
    const NATS_URL = `nats://heron:s3cret@127.0.0.1:${port}`;
    const world = await createWorld({ env: { EVENTBUS_PROVIDER: 'nats', NATS_URL } });
    const { deps } = world;
    const fanOut = await startFanOut(deps, createMetrics());
    const gateways = await Promise.all([1, 2].map(() => startRealtime(deps, createMetrics(), { port: 0 })));
    t.teardown(async () => {
      await Promise.all(gateways.map((gateway) => gateway.close()));
      await fanOut.stop();
      await world.close();
    });
    const tenant = await world.tenant();
    const said: string[] = [];
    const subject = `heron.${deps.config.TEMPORAL_NAMESPACE}.${deps.config.TEMPORAL_TASK_QUEUE}.positions`;
    const ear = await subscribeBus(NATS_URL, subject.replaceAll(/[^\w.-]/g, '_'), (text) => said.push(text), deps.log);
    t.teardown(() => ear.close());
    const clients = await Promise.all(gateways.map(({ url }) => openStream(url, { token: tenant.apiKey })));
    for (const client of clients) client.say({ type: 'subscribe' });
    for (const client of clients) await client.next('subscribed');
    const heard = (count: number) => eventually(async () => clients.every((client) => client.ids().length === count));

    const { rows } = await deps.db.raw(
      `select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name = 'heron-listen-heron_positions'`,
    );
    t.is(rows[0].count, 1, 'of the fan-out alone');
    await emitEvents(deps, tenant.organizationId, 3);
    await heard(3);
    // Checks the notification itself, because gateways also poll and would find the events without it.
    await eventually(async () => said.includes(tenant.organizationId));
    nats.kill('SIGKILL');
    await once(nats, 'exit');
    await emitEvents(deps, tenant.organizationId, 2);
    await heard(5);
    nats = await startNats(port);
    said.length = 0;
    let emitted = 5;
    // Polling finds events emitted before all clients have reconnected; notifications announce later ones.
    await eventually(async () => {
      await emitEvents(deps, tenant.organizationId, 1);
      emitted += 1;
      return said.includes(tenant.organizationId);
    });
    await heard(emitted);
    t.deepEqual(clients[0]!.ids(), clients[1]!.ids());
    await t.throwsAsync(pingBus(`nats://heron:wrong@127.0.0.1:${port}`, 1_000));
  },
);
