/** Runs work under the name of its path. */
type EnterPath = <T>(path: string, work: () => Promise<T>) => Promise<T>;

/** Path of periodic work that runs even without due work. */
export const BY_CLOCK = 'by the clock';

let enter: EnterPath | undefined;

/**
 * Runs work under a path name (claim, relay, …), so that tests and benches can count its statements. Without a
 * registered follower only the function runs, because an async context would slow down every promise of the process.
 * Starts no trace span, because loops iterate too often.
 */
export function withCostPath<T>(path: string, work: () => Promise<T>): Promise<T> {
  return enter ? enter(path, work) : work();
}

/**
 * Registers a function that runs all work of {@link withCostPath} in this process. The returned function unregisters it.
 */
export function followPaths(given: EnterPath): () => void {
  enter = given;
  return () => {
    enter = undefined;
  };
}
