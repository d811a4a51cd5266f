/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface WebhookCountsRow {
  organization_id: string;
  minute: Date;
  subject: string;
  admitted: number;
}

export interface WebhookCountsInsert {
  organization_id: string;
  minute: Date;
  subject: string;
  admitted: number;
}
