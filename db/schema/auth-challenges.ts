/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface AuthChallengesRow {
  id: string;
  kind: 'login' | 'register' | 'reset';
  handle_hash: string;
  code_hash: string | null;
  email: string;
  user_id: string | null;
  payload: JsonObject;
  attempts: number;
  created_at: Date;
  expires_at: Date;
  consumed_at: Date | null;
}

export interface AuthChallengesInsert {
  id: string;
  kind: 'login' | 'register' | 'reset';
  handle_hash: string;
  code_hash?: string | null;
  email: string;
  user_id?: string | null;
  payload?: string;
  attempts?: number;
  created_at: Date;
  expires_at: Date;
  consumed_at?: Date | null;
}
