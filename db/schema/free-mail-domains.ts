/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface FreeMailDomainsRow {
  domain: string;
}

export interface FreeMailDomainsInsert {
  domain: string;
}
