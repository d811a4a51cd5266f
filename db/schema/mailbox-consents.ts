/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { StoredActor } from '../json-columns.ts';

export interface MailboxConsentsRow {
  id: string;
  organization_id: string;
  provider: 'gmail' | 'outlook';
  status: 'pending' | 'exchanging' | 'confirming' | 'connecting' | 'done' | 'failed';
  /** SHA-256 of the secret with which its caller asks for the result. */
  session_hash: string;
  /** SHA-256 of the state parameter. */
  state_hash: string;
  /** PKCE verifier and nonce, then the tokens; sealed under `mailbox_consents/<id>`; null once it has ended. */
  sealed: Buffer | null;
  actor: StoredActor;
  email: string;
  mailbox_id: string | null;
  error_code: string | null;
  error_message: string | null;
  created_at: Date;
  expires_at: Date;
}

export interface MailboxConsentsInsert {
  id: string;
  organization_id: string;
  provider: 'gmail' | 'outlook';
  status?: 'pending' | 'exchanging' | 'confirming' | 'connecting' | 'done' | 'failed';
  session_hash: string;
  state_hash: string;
  sealed?: Buffer | null;
  actor: string;
  email?: string;
  mailbox_id?: string | null;
  error_code?: string | null;
  error_message?: string | null;
  created_at: Date;
  expires_at: Date;
}
