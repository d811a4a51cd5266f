import type { Tx } from '../platform/kernel/transact.ts';
import type { CampaignInEffect } from './campaign/campaign-view.ts';
import type { SeatDay } from './seats.ts';

/** SQL for the ramp level for the first sending day after `ramp_day`. */
const RAISED = `case when ramp_day is null then ramp_start else ramp_level + ramp_increment end`;

/**
 * Returns the ramp level of a sending day. The first slot of the day raises the level ({@link advanceRamp}). A day
 * without slots, for example when every mailbox is held or at its cap, does not raise the level. Locks the row before
 * it is read, because other transactions may have raised the level.
 */
export async function rampToday(tx: Tx, campaign: CampaignInEffect['campaign'], on: SeatDay): Promise<number> {
  if (!isRampBefore(campaign, on)) return campaign.ramp_level;
  // The campaign is locked before the mailboxes, because `advanceRamp` may update it later in the transaction.
  const [row] = await tx.org.sql<{ level: number }>(
    `select case when ramp_day >= :day::date then ramp_level else ${RAISED} end as level from campaigns
     where organization_id = :org and id = :id for no key update`,
    { id: campaign.id, day: on.day },
  );
  return row!.level;
}

/**
 * Returns true if the ramp may still rise on a day. After a change of the time zone the day may precede `ramp_day`, and
 * the level does not rise.
 */
export function isRampBefore(
  { ramp_enabled: ramped, ramp_day: latest }: CampaignInEffect['campaign'],
  { day }: SeatDay,
): boolean {
  return ramped && (latest === null || latest < day);
}

/** Raises the ramp level when the first slot of a day is reserved. Further calls on that day change nothing. */
export async function advanceRamp(tx: Tx, campaign: CampaignInEffect['campaign'], day: string): Promise<void> {
  await tx.org.sql(
    `update campaigns set ramp_day = :day, ramp_level = ${RAISED}
     where organization_id = :org and id = :id and (ramp_day is null or ramp_day < :day::date)`,
    { id: campaign.id, day },
  );
}
