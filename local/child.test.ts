import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { startChild } from './child.ts';

/** Returns the options of a child process that runs the given program instead of Heron. */
async function childOf(t: { teardown: (undo: () => Promise<void>) => void }, program: string) {
  const root = await mkdtemp(join(tmpdir(), 'heron-child-'));
  t.teardown(() => rm(root, { recursive: true }));
  await mkdir(join(root, 'bundle'));
  await writeFile(join(root, 'bundle', 'run.mjs'), program);
  return { root, env: process.env, logFile: join(root, 'logs', 'worker.log'), graceMs: 100 };
}

const SLEEP = 'const sleep = (ms) => new Promise((done) => setTimeout(done, ms));';

test('a child that is slow is waited for while it reports stages or writes lines', async (t) => {
  const program = `${SLEEP}
    for (let step = 0; step < 8; step += 1) {
      if (step % 2) console.log('line ' + step);
      else process.send({ stage: 'step ' + step });
      await sleep(600);
    }
    process.send({ ready: { url: 'http://127.0.0.1:1', setupUrl: null } });
    await sleep(1e8);`;
  const stages: string[] = [];
  // The start takes longer than `silenceMs`, but no pause between two lines of output is that long.
  const child = await startChild('worker', {
    ...(await childOf(t, program)),
    silenceMs: 4_000,
    onStage: (stage) => stages.push(stage),
  });
  await child.stop();
  t.is(child.ready.url, 'http://127.0.0.1:1');
  t.deepEqual(stages, ['step 0', 'step 2', 'step 4', 'step 6']);
});

test('a child that falls silent is given up, with its last stage, the silence and its log', async (t) => {
  const options = await childOf(
    t,
    `console.log('a line'); process.send({ stage: 'waiting for Godot' }); setInterval(() => {}, 1e6); await new Promise(() => {});`,
  );
  const error = await t.throwsAsync(startChild('worker', { ...options, silenceMs: 2_000 }));
  t.is(
    error?.message,
    `worker did not start: it was silent for 2 s while waiting for Godot. Its log is ${options.logFile}.`,
  );
  t.is(await readFile(options.logFile, 'utf8'), 'a line\n');
});

test('a child that ends without a word is said to have done so', async (t) => {
  const error = await t.throwsAsync(startChild('api', await childOf(t, 'process.exit(3);')));
  t.is(error?.message, 'api did not start: it ended without a word');
});
