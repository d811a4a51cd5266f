import type { MailboxRow } from '../../db/models/mailbox.ts';
import { DAY_MS } from '../../lib/clock.ts';

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

/** Whether a mailbox is out of the pool for a while because of where its emails landed. */
export function isOut(health: HealthState | undefined): boolean {
  return health === 'quarantined' || health === 'blocked';
}

function dayOf(at: Date): number {
  return Math.floor(at.getTime() / DAY_MS);
}
