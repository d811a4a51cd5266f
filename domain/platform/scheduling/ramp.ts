/** The state of a campaign's daily ramp-up. Counts are sends per mailbox per day. */
export interface Ramp {
  readonly enabled: boolean;
  /** The allowance of the first day. */
  readonly start: number;
  /** What each further sending day adds. */
  readonly increment: number;
  /** The highest allowance of the ramp; 0 or null means the per-mailbox cap. */
  readonly ceiling: number | null;
  /** The stored ramp_level: the allowance reached when day 0 began; 0 or null when the ramp has not begun. */
  readonly level: number | null;
  readonly perMailboxCap: number;
}

/**
 * Sends allowed per mailbox on ramp day `dayIndex`, counted in sending days since `level` was stored (so 0 when
 * the level is advanced daily). Never above the ceiling or the mailbox's own cap. A start raised above the level
 * applies at once, and a ramp allows at least one email, because with zero the campaign would wait for ever.
 */
export function rampLevel(ramp: Ramp, dayIndex: number): number {
  const cap = Math.max(0, Math.floor(ramp.perMailboxCap));
  if (!ramp.enabled) return cap;
  const ceiling = ramp.ceiling !== null && ramp.ceiling > 0 ? Math.min(cap, ramp.ceiling) : cap;
  const begun = Math.max(1, ramp.start, ramp.level ?? 0);
  const reached = begun + Math.max(0, ramp.increment) * Math.max(0, Math.floor(dayIndex));
  return Math.floor(Math.min(ceiling, reached));
}
