import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import test from 'ava';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { inspectForImport, previewFile } from './preview.ts';

let world: World;
let folder: string;
test.before(async () => {
  world = await createWorld({ env: { IMPORT_MAX_ROWS: '50000' } });
  folder = await mkdtemp(join(tmpdir(), 'heron-inspect-'));
});
test.after.always(async () => {
  await world?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Returns the share of time in which this thread's event loop was busy during `work`. */
async function busyPart(work: () => Promise<unknown>): Promise<number> {
  const before = performance.eventLoopUtilization();
  await work();
  return performance.eventLoopUtilization(before).utilization;
}

test.serial('a file that is slow to parse leaves the event loop to others', async (t) => {
  const path = join(folder, 'slow.csv');
  // Quotes in every cell and many lines make parsing slow; the header makes it a table.
  const row = `"p@example.com","a ""quoted"" name","${'x,'.repeat(60)}"\n`;
  await writeFile(path, `email,name,notes\n${row.repeat(12_000)}`);
  for (const [name, read] of [
    ['preview', () => previewFile(path)],
    ['import', () => inspectForImport(path, {}, 10_000).catch(() => {})],
  ] as const) {
    const busy = await busyPart(read);
    t.true(busy < 0.5, `${name}: busy for ${busy} of the time`);
  }
});

test.serial('the API gives what it parses to a thread, for a preview and for an import', async (t) => {
  const { apiKey: token } = await world.tenant();
  let threads = 0;
  const count = () => void (threads += 1);
  process.on('worker', count);
  t.teardown(() => process.off('worker', count));
  const send = (path: string) => {
    const body = new FormData();
    body.append('file', new Blob(['email\na@example.com\n']), 'people.csv');
    if (path.endsWith('import')) body.append('options', '{}');
    return call(world, 'POST', path, { token, body });
  };
  assertStatus(t, await send('/v1/contacts/import/preview'), 200);
  t.is(threads, 1);
  assertStatus(t, await send('/v1/contacts/import'), 202);
  t.is(threads, 2);
});
