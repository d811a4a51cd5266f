/** Work that is repeated. */
export interface Repeated {
  /** Begins no more, and waits for what is under way. */
  stop(): Promise<void>;
}

/**
 * Repeats work at intervals. A turn that is due while the one before is under way is left out, so that a database that is slow does not get ever more of
 * them at once.
 * @param ms from the beginning of one turn to that of the next
 * @param onError called with what a turn throws; the next one is made all the same
 */
export function every(ms: number, work: () => Promise<void>, onError: (error: unknown) => void): Repeated {
  let underWay: Promise<void> | undefined;
  const timer = setInterval(() => {
    underWay ??= work()
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
