import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { bundleWorkflowCode, Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import test from 'ava';
import { silentLogger } from '../../lib/log.ts';
import { installRuntime } from '../../workers/runtime.ts';

/** Recorded workflows by release. Those with `waiting` were still open when they were recorded. */
type Recording = 'first' | 'first-waiting' | 'patched' | 'patched-waiting' | 'deprecated' | 'deprecated-waiting';
type Release = 'first' | 'careless' | 'patched' | 'deprecated';

const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
let bundle: WorkflowBundleWithSourceMap;
test.before(async () => {
  await installRuntime(silentLogger);
  const workflowsPath = fileURLToPath(new URL('releases.ts', import.meta.url));
  bundle = await bundleWorkflowCode({ workflowsPath, logger: quiet });
});

/**
 * Returns true if the code of a release can continue a recorded workflow. The bundle exports each release under its own
 * name.
 */
async function goesOn(release: Release, recording: Recording): Promise<boolean> {
  const text = await readFile(new URL(`histories/${recording}.json`, import.meta.url), 'utf8');
  const history = historyFromJSON(JSON.parse(text.replaceAll('"name": "trial"', `"name": "${release}"`)));
  const replays = Worker.runReplayHistories({ workflowBundle: bundle }, [{ workflowId: recording, history }]);
  for await (const { error } of replays) return error === undefined;
  throw new Error('nothing was replayed');
}

const cases: [Release, Partial<Record<Recording, boolean>>][] = [
  ['first', { first: true, 'first-waiting': true, patched: false }],
  ['careless', { first: false, 'first-waiting': true }],
  ['patched', { first: true, 'first-waiting': true, patched: true, 'patched-waiting': true }],
  [
    'deprecated',
    { first: false, patched: true, 'patched-waiting': true, deprecated: true, 'deprecated-waiting': true },
  ],
];
for (const [release, runs] of cases)
  test(`the ${release} code goes on with the runs that it can`, async (t) => {
    for (const [recording, expected] of Object.entries(runs))
      t.is(await goesOn(release, recording as Recording), expected, recording);
  });
