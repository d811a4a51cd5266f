/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface TeamMembersRow {
  organization_id: string;
  team_id: string;
  user_id: string;
  added_at: Date;
}

export interface TeamMembersInsert {
  organization_id: string;
  team_id: string;
  user_id: string;
  added_at: Date;
}
