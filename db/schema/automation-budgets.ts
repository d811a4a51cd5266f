/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface AutomationBudgetsRow {
  organization_id: string;
  hour: Date;
  first_runs: number;
  led_runs: number;
}

export interface AutomationBudgetsInsert {
  organization_id: string;
  hour: Date;
  first_runs: number;
  led_runs: number;
}
