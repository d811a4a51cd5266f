import type { OrgScope } from '../../../db/tenancy.ts';

/** The primary goals of the stages that have one, by stage. */
export type PrimaryGoals = Partial<Record<'signup' | 'activation' | 'paid' | 'revenue' | 'retention', string>>;

/** The primary goals of the organization; archived ones are not. */
export async function primaryGoals(org: OrgScope): Promise<PrimaryGoals> {
  const rows = await org.sql<{ kind: keyof PrimaryGoals; id: string }>(
    `select kind, id from goals where organization_id = :org and is_primary and archived_at is null and kind <> 'custom'`,
  );
  return Object.fromEntries(rows.map(({ kind, id }) => [kind, id]));
}

/** The goal whose conversions have the amounts of reports: the primary one of revenue, or where there is none of paid. */
export function revenueGoal(goals: PrimaryGoals): string | null {
  return goals.revenue ?? goals.paid ?? null;
}

/** The goal whose first conversion makes a person a customer: the primary one of signup, or where there is none of paid. */
export function acquisitionGoal(goals: PrimaryGoals): string | null {
  return goals.signup ?? goals.paid ?? null;
}
