/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ContactImportProblemsRow {
  import_id: string;
  organization_id: string;
  line: number;
  email: string;
  row_values: string[];
  reason: string;
}

export interface ContactImportProblemsInsert {
  import_id: string;
  organization_id: string;
  line: number;
  email?: string;
  row_values?: string[];
  reason: string;
}
