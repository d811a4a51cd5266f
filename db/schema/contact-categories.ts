/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ContactCategoriesRow {
  organization_id: string;
  contact_id: string;
  label_id: string;
}

export interface ContactCategoriesInsert {
  organization_id: string;
  contact_id: string;
  label_id: string;
}
