/**
 * Time (ms) without progress after which an iteration counts as stalled. Each call that an iteration waits for has a
 * shorter timeout.
 */
const STALLED_MS = 60_000;

interface Iteration {
  loop: string;
  /** Time of the iteration's start or last progress (`performance.now()`, ms). */
  since: number;
}

/** Iterations of this process's loops that have not settled. */
const open = new Set<Iteration>();

/**
 * Runs one iteration of a background loop. If the iteration stalls, {@link stalledLoops} returns the name of its loop.
 * @param work receives a function that reports progress, for an iteration with many calls to other systems
 */
export async function inIteration<T>(loop: string, work: (progress: () => void) => Promise<T>): Promise<T> {
  const iteration = { loop, since: performance.now() };
  open.add(iteration);
  try {
    return await work(() => void (iteration.since = performance.now()));
  } finally {
    open.delete(iteration);
  }
}

/**
 * Returns this process's loops whose iteration made no progress for a minute. Such loops continue only after a restart
 * of the process.
 */
export function stalledLoops(): string[] {
  const until = performance.now() - STALLED_MS;
  return [...new Set([...open].filter(({ since }) => since <= until).map(({ loop }) => loop))].sort();
}

/** Returns the longest time (s) without progress of an open iteration, for each loop that has one. */
export function openIterationSeconds(): Map<string, number> {
  const ages = new Map<string, number>();
  for (const { loop, since } of open) ages.set(loop, Math.max(ages.get(loop) ?? 0, (performance.now() - since) / 1000));
  return ages;
}

/**
 * Returns the answer of `/health`, which tells if this process works. An unreachable database or Temporal does not
 * change the answer.
 */
export function liveness():
  | { status: 200; body: { status: 'ok' } }
  | { status: 503; body: { status: 'stalled'; loops: string[] } } {
  const loops = stalledLoops();
  return loops.length === 0
    ? { status: 200, body: { status: 'ok' } }
    : { status: 503, body: { status: 'stalled', loops } };
}
