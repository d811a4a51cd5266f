/** Durations of a minute, an hour and a day in milliseconds. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/**
 * Returns the next UTC midnight (epoch ms) after a time (epoch ms). The daily counts of mailboxes restart at that time.
 */
export function nextUtcMidnight(at: number): number {
  return (Math.floor(at / DAY_MS) + 1) * DAY_MS;
}

/** Returns the UTC day of a time (a date, or epoch ms) as YYYY-MM-DD. */
export function utcDay(at: Date | number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/**
 * Source of the current time for business decisions: due times, expiry, caps, windows, stored times. It is injected, so
 * that tests can set it. Leases, outbox retries and heartbeats between processes use PostgreSQL's `now()` instead.
 * Workflows use Temporal's time, and time budgets within one process use `performance.now()`.
 */
export interface Clock {
  now(): Date;
}

/** Clock of the machine, for tests and tools without a database. Processes of Heron use a {@link MeasuredClock}. */
export const systemClock: Clock = { now: () => new Date() };

/**
 * Maximum backward correction (ms) for which `now()` stands still, so that time does not go backwards. A larger
 * correction is applied immediately.
 */
const HOLD_MS = 1_000;

/** Difference (ms) between the machine's clock and PostgreSQL's from which a process warns. */
export const DRIFT_WARNING_MS = 1_000;
/** Difference (ms) between the machine's clock and PostgreSQL's from which a worker accepts no work. */
export const DRIFT_LIMIT_MS = 5_000;

/**
 * Clock that follows PostgreSQL's time without a query per call. It adds an offset to the process's steady clock, which
 * {@link MeasuredClock.measure} updates. The steady clock does not jump when the machine's clock is set, but it stops
 * while the machine is suspended.
 *
 * PostgreSQL reads its clock at some time between the start and the end of a measurement. So a measurement gives a range
 * of possible offsets, whose width is its round trip. The offset is the middle of the intersection of these ranges, so
 * its error is at most half of the smallest round trip. An empty intersection means that PostgreSQL's clock was set, or
 * that a clock has drifted or stopped. Then only the latest measurement is used.
 *
 * When the offset shrinks by up to a second, `now()` is held until time has caught up, so it never runs backwards. A
 * larger correction means that earlier values were wrong: one step back is better than a long standstill. Clocks of two
 * processes agree to within their round trips. Where the order of two writes must be exact, row locks and stream
 * positions decide it, never this clock.
 */
export class MeasuredClock implements Clock {
  readonly #machineNow: () => number;
  readonly #steadyNow: () => number;
  /** Range of offsets (ms) that the measurements allow. The range is unbounded before the first measurement. */
  #lowMs = -Infinity;
  #highMs = Infinity;
  #offsetMs = 0;
  #latestMs = -Infinity;

  /**
   * @param machineNow returns the machine's clock (epoch ms), which may be set at any time
   * @param steadyNow returns a clock (epoch ms) that is never set
   */
  constructor(
    machineNow: () => number = Date.now,
    steadyNow: () => number = () => performance.timeOrigin + performance.now(),
  ) {
    this.#machineNow = machineNow;
    this.#steadyNow = steadyNow;
  }

  now(): Date {
    const ms = this.#steadyNow() + this.#offsetMs;
    const isSmallStepBack = ms < this.#latestMs && this.#latestMs - ms <= HOLD_MS;
    this.#latestMs = isSmallStepBack ? this.#latestMs : ms;
    return new Date(this.#latestMs);
  }

  /** Returns the time (ms) by which the machine's clock is ahead of this one; negative if it is behind. */
  aheadMs(): number {
    return this.#machineNow() - this.#steadyNow() - this.#offsetMs;
  }

  /**
   * Measures the offset. A failed measurement changes nothing and reports no error, because its cause, such as an
   * unreachable database, makes other queries fail too.
   * @param readServerMs returns PostgreSQL's `clock_timestamp()` (epoch ms) and does nothing else
   */
  async measure(readServerMs: () => Promise<number>): Promise<void> {
    const sentAt = this.#steadyNow();
    const serverMs = await readServerMs().catch(() => undefined);
    if (serverMs === undefined) return;
    const [low, high] = [serverMs - this.#steadyNow(), serverMs - sentAt];
    const fits = low <= this.#highMs && high >= this.#lowMs;
    this.#lowMs = fits ? Math.max(low, this.#lowMs) : low;
    this.#highMs = fits ? Math.min(high, this.#highMs) : high;
    this.#offsetMs = (this.#lowMs + this.#highMs) / 2;
  }
}

/**
 * Returns the time (ms) by which the machine's clock is ahead of the given one; negative if it is behind. 0 for a clock
 * that is not measured.
 */
export function machineAheadMs(clock: Clock): number {
  return clock instanceof MeasuredClock ? clock.aheadMs() : 0;
}

/** Returns true if the machine's clock is so wrong that a worker accepts no work. */
export function isAdrift(clock: Clock): boolean {
  return Math.abs(machineAheadMs(clock)) >= DRIFT_LIMIT_MS;
}

/**
 * Returns true if a time lies in the years 0001 to 9999 of UTC, which RFC 3339 supports. A time-zone offset can lead
 * out of this range: `9999-12-31T23:59:59-12:00` is in the year 10000.
 */
export function isWritable(moment: Date): boolean {
  const year = moment.getUTCFullYear();
  return year >= 1 && year <= 9999;
}
