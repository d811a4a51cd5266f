import type { MailboxRow } from '../../../db/models/mailbox.ts';
import { DAY_MS } from '../../../lib/clock.ts';

export type HealthState = 'healthy' | 'watch' | 'throttled' | 'quarantined' | 'blocked';

/** Columns that determine a mailbox's warmup ramp. */
export type Ramp = Pick<MailboxRow, 'warmup' | 'warmup_paused_at' | 'warmup_base' | 'warmup_max' | 'warmup_increase'>;

/**
 * Returns the number of warmup emails for a mailbox on the UTC day of `now`. Starts with `warmup_base` on the ramp's
 * first day and grows by `warmup_increase` per day, up to `warmup_max`. While paused, the ramp stays at the day of the
 * pause. When throttled the number is halved; when quarantined, blocked or off it is 0.
 */
export function dailyTarget(ramp: Ramp, health: HealthState, now: Date): number {
  if (!ramp.warmup || isOut(health)) return 0;
  const days = Math.max(0, dayOf(ramp.warmup_paused_at ?? now) - dayOf(ramp.warmup));
  const full = Math.min(ramp.warmup_max, ramp.warmup_base + ramp.warmup_increase * days);
  return health === 'throttled' ? Math.floor(full / 2) : full;
}

/** Maximum share (0 to 1) of a mailbox's daily cap for warmup. The rest is reserved for campaigns. */
export const SHARE_OF_CAP = 0.5;

/** Returns {@link dailyTarget}, limited to warmup's share of the daily cap. */
export function targetWithin(cap: number, ramp: Ramp, health: HealthState, now: Date): number {
  return Math.min(dailyTarget(ramp, health, now), Math.floor(cap * SHARE_OF_CAP));
}

/**
 * Returns the number of warmup emails of a mailbox for each UTC day from `from` on, with its present ramp and health.
 * The last number applies to all later days.
 */
export function upcomingTargets(ramp: Ramp, health: HealthState, cap: number, from: Date): number[] {
  const targetOf = (day: number) => targetWithin(cap, ramp, health, new Date(from.getTime() + day * DAY_MS));
  const last = targetOf(366);
  const targets: number[] = [];
  // Stops at the final value, because a ramp never decreases.
  for (let day = 0; day < 366 && targets.at(-1) !== last; day += 1) targets.push(targetOf(day));
  return targets;
}

/** Returns true if a mailbox is temporarily out of the pool because too many of its emails were placed in spam. */
export function isOut(health: HealthState | undefined): boolean {
  return health === 'quarantined' || health === 'blocked';
}

function dayOf(at: Date): number {
  return Math.floor(at.getTime() / DAY_MS);
}
