import type { OrgScope } from '../../../db/tenancy.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { upcomingTargets, type HealthState, type Ramp } from './ramp.ts';

/** Warmup emails of a mailbox on days that are not planned yet. */
interface ComingWarmup {
  /** The first day, as a number of UTC days since 1970. */
  firstDay: number;
  /** Emails per day from the first day on. The last number applies to all later days. */
  emails: readonly number[];
}

/**
 * Returns the expected warmup emails of the coming days, assuming that ramps and health stay unchanged. Leaves out days
 * that are already planned, because their emails have slots and are counted there.
 * @param caps emails per UTC day, by mailbox
 */
export async function upcomingWarmup(
  org: OrgScope,
  caps: ReadonlyMap<string, number>,
  now: Date,
): Promise<Map<string, ComingWarmup>> {
  const rows = await org.sql<Ramp & { id: string; health_state: HealthState; planned_day: string | null }>(
    `select m.id, m.warmup, m.warmup_paused_at, m.warmup_base, m.warmup_max, m.warmup_increase, s.health_state, s.planned_day
     from mailboxes m join warmup_standings s on s.mailbox_id = m.id
     where m.organization_id = :org and m.id = any(cast(:ids as uuid[])) and m.warmup is not null and m.warmup_paused_at is null`,
    { ids: [...caps.keys()] },
  );
  const today = Math.floor(now.getTime() / DAY_MS);
  return new Map(
    rows.map((row) => {
      const planned = row.planned_day === null ? -1 : Date.parse(`${row.planned_day}T00:00:00Z`) / DAY_MS;
      const firstDay = Math.max(today, planned + 1);
      const emails = upcomingTargets(row, row.health_state, caps.get(row.id)!, new Date(firstDay * DAY_MS));
      return [row.id, { firstDay, emails }];
    }),
  );
}
