/** Durations in milliseconds. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The UTC midnight (epoch ms) after a moment (epoch ms): when the daily counts of mailboxes begin anew. */
export function nextUtcMidnight(at: number): number {
  return (Math.floor(at / DAY_MS) + 1) * DAY_MS;
}

/** The UTC day of a moment (a date, or epoch ms), YYYY-MM-DD. */
export function utcDay(at: Date | number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/**
 * The source of time for whatever decides business: due times, expiry, caps, windows, what is stored as a moment. It is injected, so tests can set it.
 * Leases, retries of the outbox and signs of life between processes are arbitrated by PostgreSQL alone, and stay on its `now()`. Workflows use
 * Temporal's time, time budgets within one process `performance.now()`.
 */
export interface Clock {
  /** The present moment. */
  now(): Date;
}

/** The machine's own clock, for tests and tools without a database. Processes of Heron have a {@link MeasuredClock}. */
export const systemClock: Clock = { now: () => new Date() };

/** A correction (ms) up to this is waited out, so that time does not run backwards; a larger one is made at once. */
const HOLD_MS = 1_000;

/**
 * PostgreSQL's time without a statement per question: the process's clock plus an offset that {@link MeasuredClock.measure} keeps right.
 *
 * PostgreSQL answers a measurement at some moment between its sending and its receipt. So each gives a range in which the offset must lie, as wide as the round trip.
 * The offset is the middle of what all of them allow: at most half of the smallest round trip off. Where nothing is allowed by all of them, a clock was set or
 * has drifted, and the latest measurement counts alone.
 *
 * `now()` never runs backwards within a process when the offset shrinks by up to a second: it stands still until time has caught up. After a larger correction
 * the earlier answers were wrong, and standing still for so long would be worse than one step back. Between processes it agrees to within their round trips;
 * where the order of two writes matters more exactly, row locks and stream positions decide it, never this clock.
 */
export class MeasuredClock implements Clock {
  readonly #processNow: () => number;
  /** Range of offsets (ms) that the measurements allow; the whole number line before the first one. */
  #lowMs = -Infinity;
  #highMs = Infinity;
  #offsetMs = 0;
  #latestMs = -Infinity;

  /** @param processNow the process's clock, epoch ms */
  constructor(processNow: () => number = Date.now) {
    this.#processNow = processNow;
  }

  now(): Date {
    const ms = this.#processNow() + this.#offsetMs;
    const isSmallStepBack = ms < this.#latestMs && this.#latestMs - ms <= HOLD_MS;
    this.#latestMs = isSmallStepBack ? this.#latestMs : ms;
    return new Date(this.#latestMs);
  }

  /**
   * Measures the offset. A measurement that fails changes nothing: the database is away, or whoever needs it will see the error.
   * @param readServerMs asks PostgreSQL for its `clock_timestamp()`, epoch ms, and does nothing else
   */
  async measure(readServerMs: () => Promise<number>): Promise<void> {
    const sentAt = this.#processNow();
    const serverMs = await readServerMs().catch(() => undefined);
    // The process's clock tells whole milliseconds, rounded down.
    const receivedBefore = this.#processNow() + 1;
    // A clock that was set back meanwhile measures nothing.
    if (serverMs === undefined || receivedBefore < sentAt) return;
    const [low, high] = [serverMs - receivedBefore, serverMs - sentAt];
    const fits = low <= this.#highMs && high >= this.#lowMs;
    this.#lowMs = fits ? Math.max(low, this.#lowMs) : low;
    this.#highMs = fits ? Math.min(high, this.#highMs) : high;
    this.#offsetMs = (this.#lowMs + this.#highMs) / 2;
  }
}

/**
 * Whether a moment lies in the years 0001 to 9999 of UTC, which RFC 3339 can write. An offset leads out of them: `9999-12-31T23:59:59-12:00` is in
 * the year 10000.
 */
export function isWritable(moment: Date): boolean {
  const year = moment.getUTCFullYear();
  return year >= 1 && year <= 9999;
}
