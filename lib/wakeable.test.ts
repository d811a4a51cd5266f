import test from 'ava';
import { createWakeable } from './wakeable.ts';

/** Duration (ms) of a pause. It is longer than any test, so that only a wake-up ends the pause. */
const FOR_EVER_MS = 3_600_000;

test('a pause ends by itself after its time', async (t) => {
  await createWakeable().pause(1);
  t.pass();
});

test('a wake-up ends the pause that is going on', async (t) => {
  const loop = createWakeable();
  const pause = loop.pause(FOR_EVER_MS);
  loop.wake();
  await pause;
  t.pass();
});

test('a wake-up during a turn ends the next pause, and only that one', async (t) => {
  const loop = createWakeable();
  loop.wake();
  loop.wake();
  await loop.pause(FOR_EVER_MS);
  const next = loop.pause(FOR_EVER_MS).then(() => 'over');
  t.is(await Promise.race([next, new Promise((resolve) => setImmediate(resolve, 'going on'))]), 'going on');
  loop.wake();
  t.is(await next, 'over');
});

test('what came before a turn began does not end its pause', async (t) => {
  const loop = createWakeable();
  loop.wake();
  loop.clear();
  const pause = loop.pause(FOR_EVER_MS).then(() => 'over');
  t.is(await Promise.race([pause, new Promise((resolve) => setImmediate(resolve, 'going on'))]), 'going on');
  loop.wake();
  await pause;
});

test('two pauses at a time are a mistake', async (t) => {
  const loop = createWakeable();
  const pause = loop.pause(FOR_EVER_MS);
  await t.throwsAsync(loop.pause(1));
  loop.wake();
  await pause;
});
