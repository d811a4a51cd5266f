/** Runs work under the name of its cost path, such as `relay`. */
type EnterPath = <T>(path: string, work: () => Promise<T>) => Promise<T>;

/** Cost path of periodic queries that run even when no work is due. */
export const BY_CLOCK = 'by the clock';

let enter: EnterPath | undefined;

/**
 * Runs work under the name of its cost path (claim, relay, …), so that tests and benches can count its SQL statements.
 * Only calls `work` unless {@link followPaths} has registered a function, because an async context slows down every
 * promise of the process. Starts no trace span, because loops iterate too often.
 */
export function withCostPath<T>(path: string, work: () => Promise<T>): Promise<T> {
  return enter ? enter(path, work) : work();
}

/**
 * Registers a function that runs all work of {@link withCostPath} in this process. Returns a function that unregisters
 * it.
 */
export function followPaths(given: EnterPath): () => void {
  enter = given;
  return () => {
    enter = undefined;
  };
}
