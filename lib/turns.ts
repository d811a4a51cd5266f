/** Time (ms) without progress after which a turn counts as stalled. All that a turn waits for has a shorter limit of its own. */
const STALLED_MS = 60_000;

interface Turn {
  loop: string;
  /** Time of its begin or last progress, on the clock of `performance`. */
  since: number;
}

/** Turns of this process that have not settled. */
const open = new Set<Turn>();

/**
 * Runs one turn of a background loop. {@link stalledLoops} names the loop if the turn never settles.
 * @param work gets a function that reports progress, for a turn of many calls to other systems
 */
export async function inTurn<T>(loop: string, work: (progress: () => void) => Promise<T>): Promise<T> {
  const turn = { loop, since: performance.now() };
  open.add(turn);
  try {
    return await work(() => void (turn.since = performance.now()));
  } finally {
    open.delete(turn);
  }
}

/** Returns the loops of this process with a turn that made no progress for a minute. They need a new process. */
export function stalledLoops(): string[] {
  const until = performance.now() - STALLED_MS;
  return [...new Set([...open].filter(({ since }) => since <= until).map(({ loop }) => loop))].sort();
}

/** Returns the longest time (s) without progress of an open turn, for each loop that has one. */
export function openTurnSeconds(): Map<string, number> {
  const ages = new Map<string, number>();
  for (const { loop, since } of open) ages.set(loop, Math.max(ages.get(loop) ?? 0, (performance.now() - since) / 1000));
  return ages;
}

/** Answer of `/health`: liveness of this process. A database or Temporal that is away does not change it. */
export function liveness():
  | { status: 200; body: { status: 'ok' } }
  | { status: 503; body: { status: 'stalled'; loops: string[] } } {
  const loops = stalledLoops();
  return loops.length === 0
    ? { status: 200, body: { status: 'ok' } }
    : { status: 503, body: { status: 'stalled', loops } };
}
