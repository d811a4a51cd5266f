import type { Clock } from '../../lib/clock.ts';

/** Test clock that changes only when it is set. */
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

  /** Sets the clock to a time. */
  set(to: Date): void {
    this.#now = to.getTime();
  }
}
