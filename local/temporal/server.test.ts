import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { Client, Connection } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { resolveTemporalCli, startTemporalServer, type TemporalCli } from './index.ts';

let cli: TemporalCli;
let directory: string;

test.before(async () => {
  cli = await resolveTemporalCli(() => undefined);
  directory = await mkdtemp(join(tmpdir(), 'heron-temporal-'));
});
test.after.always(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function withClient<T>(address: string, work: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address });
  try {
    return await work(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

test('state on disk and search attributes survive kill -9', async (t) => {
  const options = { cli, dbFile: join(directory, 'state', 'temporal.db'), logFile: join(directory, 'kept.log') };
  const first = await startTemporalServer({ ...options, headless: true });
  t.teardown(() => first.stop());
  t.is(first.uiUrl, undefined);
  const kind = defineSearchAttributeKey('Kind', SearchAttributeType.KEYWORD);
  await withClient(first.address, (client) =>
    client.workflow.start('waits', {
      taskQueue: 'nobody-listens',
      workflowId: 'survivor',
      typedSearchAttributes: [{ key: kind, value: 'enrollment' }],
    }),
  );
  process.kill(first.pid, 'SIGKILL');
  t.is((await first.exited).signal, 'SIGKILL');

  const port = Number(first.address.split(':')[1]);
  const second = await startTemporalServer({ ...options, port });
  t.teardown(() => second.stop());
  t.is(second.address, first.address);
  const description = await withClient(second.address, (client) => client.workflow.getHandle('survivor').describe());
  t.is(description.status.name, 'RUNNING');
  t.is(description.typedSearchAttributes.get(kind), 'enrollment');
  t.is((await fetch(second.uiUrl!)).status, 200);
  await second.stop();
  t.is((await second.exited).code, 0);
});

test('a program that is no Temporal is an error with what it printed', async (t) => {
  const broken: TemporalCli = { path: '/bin/ls', source: 'path', server: '1.32.0' };
  const logFile = join(directory, 'broken.log');
  await t.throwsAsync(startTemporalServer({ cli: broken, logFile }), { message: /\/bin\/ls.* did not start:[^]*ls: / });
});
