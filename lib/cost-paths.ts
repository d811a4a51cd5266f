/** Does work under the name of its path. */
type EnterPath = <T>(path: string, work: () => Promise<T>) => Promise<T>;

/** The path of work that is repeated by the clock, whether there is anything to do or not. */
export const BY_CLOCK = 'by the clock';

let enter: EnterPath | undefined;

/**
 * Names the path (claim, relay, …) to which work belongs, for tests and benches that count its statements. Does the work alone where nobody counts, as an async context
 * would slow down every promise of the process. Begins no span, as loops iterate too often for a trace.
 */
export function onPath<T>(path: string, work: () => Promise<T>): Promise<T> {
  return enter ? enter(path, work) : work();
}

/** Has all work of {@link onPath} in this process done by `given`, until the returned function is called. */
export function followPaths(given: EnterPath): () => void {
  enter = given;
  return () => {
    enter = undefined;
  };
}
