/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface InvitationsRow {
  id: string;
  organization_id: string;
  /** Lower-case. */
  email: string;
  role_id: string;
  /** SHA-256 of the token in the mailed link. */
  token_hash: string;
  invited_by: string | null;
  created_at: Date;
  expires_at: Date;
  accepted_at: Date | null;
  cancelled_at: Date | null;
}

export interface InvitationsInsert {
  id: string;
  organization_id: string;
  email: string;
  role_id: string;
  token_hash: string;
  invited_by?: string | null;
  created_at: Date;
  expires_at: Date;
  accepted_at?: Date | null;
  cancelled_at?: Date | null;
}
