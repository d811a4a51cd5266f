/** Durations in milliseconds. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The source of time. Injected, so that tests can set it; domain code never calls `new Date()`. */
export interface Clock {
  /** The present moment. */
  now(): Date;
}

/** The machine's own clock. */
export const systemClock: Clock = { now: () => new Date() };

/** A clock that changes only when it is set; for tests. */
export class ManualClock implements Clock {
  #now: number;

  constructor(start: Date = new Date()) {
    this.#now = start.getTime();
  }

  now(): Date {
    return new Date(this.#now);
  }

  /** Moves the clock forward by `ms` milliseconds. */
  advance(ms: number): void {
    this.#now += ms;
  }

  /** Sets the clock to a moment. */
  set(to: Date): void {
    this.#now = to.getTime();
  }
}
