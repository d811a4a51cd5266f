import test from 'ava';
import { Client, Connection } from '@temporalio/client';
import { silentLogger } from '../lib/log.ts';
import { eventually } from '../test/harness/eventually.ts';
import { startOwnTemporal } from '../test/harness/temporal.ts';
import { prepareRegularly } from './prepare.ts';

test('a server that lost what Heron needs is prepared again while workers run, until they stop', async (t) => {
  t.timeout(120_000);
  const server = await startOwnTemporal({ bare: true });
  t.teardown(() => server.stop());
  const connection = await Connection.connect({ address: server.address });
  t.teardown(() => connection.close());
  const client = new Client({ connection });
  const schedule = client.schedule.getHandle('maintenance/kept');
  const there = () =>
    schedule.describe().then(
      () => true,
      () => false,
    );
  const kept = prepareRegularly(client, { namespace: 'default', taskQueue: 'kept' }, silentLogger, 100);
  await eventually(there, 90_000);
  t.is(await client.workflow.count("OrganizationId = 'x'").then(({ count }) => count), 0);
  await schedule.delete();
  await eventually(there, 90_000);
  await kept.stop();
  await schedule.delete();
  t.false(await there());
});
