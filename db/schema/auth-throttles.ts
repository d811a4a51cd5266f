/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface AuthThrottlesRow {
  key: string;
  attempts: number;
  window_ends: Date;
}

export interface AuthThrottlesInsert {
  key: string;
  attempts: number;
  window_ends: Date;
}
