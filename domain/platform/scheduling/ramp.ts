/** State of a campaign's daily ramp-up. Counts are emails per mailbox and day. */
export interface Ramp {
  readonly enabled: boolean;
  /** Number of emails on the first day. */
  readonly start: number;
  /** Number of emails added on each further sending day. */
  readonly increment: number;
  /** Maximum of the ramp. 0 or null means the cap per mailbox. */
  readonly ceiling: number | null;
  /** The stored `ramp_level`: number of emails allowed on day 0. 0 or null when the ramp has not begun. */
  readonly level: number | null;
  readonly perMailboxCap: number;
}

/**
 * Returns the number of emails allowed per mailbox on ramp day `dayIndex`, counted in sending days since `level` was
 * stored. The index is 0 if the stored level is raised daily. The result never exceeds the ceiling or the mailbox's
 * cap. A `start` above the level applies at once. A ramp allows at least one email, because with zero the campaign
 * would wait indefinitely.
 */
export function rampLevel(ramp: Ramp, dayIndex: number): number {
  const cap = Math.max(0, Math.floor(ramp.perMailboxCap));
  if (!ramp.enabled) return cap;
  const ceiling = ramp.ceiling !== null && ramp.ceiling > 0 ? Math.min(cap, ramp.ceiling) : cap;
  const begun = Math.max(1, ramp.start, ramp.level ?? 0);
  const reached = begun + Math.max(0, ramp.increment) * Math.max(0, Math.floor(dayIndex));
  return Math.floor(Math.min(ceiling, reached));
}
