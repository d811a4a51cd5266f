import type { OrgScope } from '../../../db/tenancy.ts';

/** Primary goals by stage, for stages that have one. */
export type PrimaryGoals = Partial<Record<'signup' | 'activation' | 'paid' | 'revenue' | 'retention', string>>;

/** Returns the primary goals of the organization. Archived goals are never primary. */
export async function primaryGoals(org: OrgScope): Promise<PrimaryGoals> {
  const rows = await org.sql<{ kind: keyof PrimaryGoals; id: string }>(
    `select kind, id from goals where organization_id = :org and is_primary and archived_at is null and kind <> 'custom'`,
  );
  return Object.fromEntries(rows.map(({ kind, id }) => [kind, id]));
}

/**
 * Returns the goal whose conversions have the amounts for reports: the primary revenue goal, otherwise the primary paid
 * goal.
 */
export function revenueGoal(goals: PrimaryGoals): string | null {
  return goals.revenue ?? goals.paid ?? null;
}

/**
 * Returns the goal whose first conversion makes a person a customer: the primary signup goal, otherwise the primary
 * paid goal.
 */
export function acquisitionGoal(goals: PrimaryGoals): string | null {
  return goals.signup ?? goals.paid ?? null;
}
