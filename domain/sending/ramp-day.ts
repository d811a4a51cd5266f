import type { Tx } from '../platform/kernel/transact.ts';
import type { CampaignInEffect } from './campaign/campaign-view.ts';
import type { SeatDay } from './seats.ts';

/** The level of the day after `ramp_day`, as SQL. */
const RAISED = `case when ramp_day is null then ramp_start else ramp_level + ramp_increment end`;

/**
 * The ramp level of a sending day. The first who gets a slot of the day raises it ({@link raiseRamp}): a day on which
 * nothing can leave, as with every mailbox held or at its cap, warms nothing. Others may hold an older view of the campaign.
 */
export async function rampToday(tx: Tx, campaign: CampaignInEffect['campaign'], on: SeatDay): Promise<number> {
  if (!isRampBefore(campaign, on)) return campaign.ramp_level;
  // Who may raise it later has the row before the mailboxes, too.
  const [row] = await tx.org.sql<{ level: number }>(
    `select case when ramp_day >= :day::date then ramp_level else ${RAISED} end as level from campaigns
     where organization_id = :org and id = :id for no key update`,
    { id: campaign.id, day: on.day },
  );
  return row!.level;
}

/** Whether the ramp may still rise for a day. One before the latest can come back when the timezone is edited; it raises nothing. */
export function isRampBefore(
  { ramp_enabled: ramped, ramp_day: latest }: CampaignInEffect['campaign'],
  { day }: SeatDay,
): boolean {
  return ramped && (latest === null || latest < day);
}

/** Raises the level for a day of which the first slot is given out; once a day, whoever comes first. */
export async function advanceRamp(tx: Tx, campaign: CampaignInEffect['campaign'], day: string): Promise<void> {
  await tx.org.sql(
    `update campaigns set ramp_day = :day, ramp_level = ${RAISED}
     where organization_id = :org and id = :id and (ramp_day is null or ramp_day < :day::date)`,
    { id: campaign.id, day },
  );
}
