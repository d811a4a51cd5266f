/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface AutomationReferencesRow {
  id: string;
  organization_id: string;
  automation_id: string;
  used_automation_id: string | null;
  app_connection_id: string | null;
}

export interface AutomationReferencesInsert {
  id: string;
  organization_id: string;
  automation_id: string;
  used_automation_id?: string | null;
  app_connection_id?: string | null;
}
