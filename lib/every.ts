import { inIteration } from './iterations.ts';

export interface Repeated {
  /** Starts no further execution, and waits until the active one has ended. */
  stop(): Promise<void>;
}

/**
 * Runs `work` at fixed intervals. Skips a run while the previous one is active, so that runs do not accumulate when the
 * database is slow.
 * @param loop name of the work, for `/health`
 * @param ms milliseconds between the starts of two runs
 * @param onError called with the error of a failed run; later runs continue
 */
export function every(
  loop: string,
  ms: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): Repeated {
  let underWay: Promise<void> | undefined;
  const timer = setInterval(() => {
    underWay ??= inIteration(loop, work)
      .catch(onError)
      .finally(() => {
        underWay = undefined;
      });
  }, ms);
  return {
    async stop() {
      clearInterval(timer);
      await underWay;
    },
  };
}
