/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface CrmTaskCountsRow {
  organization_id: string;
  status: string;
  priority: string;
  type: string;
  assigned_to: string | null;
  assigned_team_id: string | null;
  tasks: number;
  is_folded: boolean;
}

export interface CrmTaskCountsInsert {
  organization_id: string;
  status: string;
  priority: string;
  type: string;
  assigned_to?: string | null;
  assigned_team_id?: string | null;
  tasks: number;
  is_folded?: boolean;
}
