import type { MailboxRow } from '../../../db/models/mailbox.ts';
import { DAY_MS } from '../../../lib/clock.ts';

export type HealthState = 'healthy' | 'watch' | 'throttled' | 'quarantined' | 'blocked';

/** What the ramp of a mailbox is made of. */
export type Ramp = Pick<MailboxRow, 'warmup' | 'warmup_paused_at' | 'warmup_base' | 'warmup_max' | 'warmup_increase'>;

/**
 * Warmup emails that a mailbox is to send on the UTC day of `now`: the base on the day of its anchor, the increase more for every day
 * since, up to the maximum. While it is paused the day of the pause counts. A throttled one sends half of it, a quarantined or
 * blocked one nothing. 0 where warmup is off.
 */
export function dailyTarget(ramp: Ramp, health: HealthState, now: Date): number {
  if (!ramp.warmup || isOut(health)) return 0;
  const days = Math.max(0, dayOf(ramp.warmup_paused_at ?? now) - dayOf(ramp.warmup));
  const full = Math.min(ramp.warmup_max, ramp.warmup_base + ramp.warmup_increase * days);
  return health === 'throttled' ? Math.floor(full / 2) : full;
}

/** Warmup takes at most this share of a mailbox's cap of the day; the rest is left to campaigns. */
export const SHARE_OF_CAP = 0.5;

/** {@link dailyTarget} within the share of a cap of the day. */
export function targetWithin(cap: number, ramp: Ramp, health: HealthState, now: Date): number {
  return Math.min(dailyTarget(ramp, health, now), Math.floor(cap * SHARE_OF_CAP));
}

/**
 * Warmup emails that a mailbox with this cap is to send on the UTC days from that of `from` on, as its ramp and health stand: one number for each day, the
 * last for all days after it.
 */
export function upcomingTargets(ramp: Ramp, health: HealthState, cap: number, from: Date): number[] {
  const targetOf = (day: number) => targetWithin(cap, ramp, health, new Date(from.getTime() + day * DAY_MS));
  const last = targetOf(366);
  const targets: number[] = [];
  // A ramp only rises.
  for (let day = 0; day < 366 && targets.at(-1) !== last; day += 1) targets.push(targetOf(day));
  return targets;
}

/** Whether a mailbox is out of the pool for a while because of where its emails landed. */
export function isOut(health: HealthState | undefined): boolean {
  return health === 'quarantined' || health === 'blocked';
}

function dayOf(at: Date): number {
  return Math.floor(at.getTime() / DAY_MS);
}
