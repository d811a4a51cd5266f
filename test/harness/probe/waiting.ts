import { condition, defineSignal, setHandler, sleep } from '@temporalio/workflow';

const goSignal = defineSignal('go');

/** Waits for a timer (ms) and for a signal. */
export async function waiting(timerMs: number): Promise<string> {
  let signalled = false;
  setHandler(goSignal, () => {
    signalled = true;
  });
  await Promise.all([sleep(timerMs), condition(() => signalled)]);
  return 'both came';
}
