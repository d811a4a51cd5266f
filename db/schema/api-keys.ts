/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ApiKeysRow {
  id: string;
  organization_id: string;
  /** The person who made it; null once their account is gone. */
  user_id: string | null;
  name: string;
  description: string;
  /** SHA-256 of the secret. */
  secret_hash: string;
  key_prefix: string;
  key_suffix: string;
  /** Mask of lib/permissions.ts. */
  permissions: number;
  /** Addresses and CIDR ranges; empty means any. */
  allowed_ips: string[];
  /** Mailbox ids; empty means all. */
  allowed_email_accounts: string[];
  /** 0 means the default. */
  rate_limit_per_minute: number;
  status: 'active' | 'revoked';
  last_used_at: Date | null;
  last_request_ip: string | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  revoked_reason: string | null;
  created_at: Date;
  updated_at: Date;
}

export interface ApiKeysInsert {
  id: string;
  organization_id: string;
  user_id?: string | null;
  name: string;
  description?: string;
  secret_hash: string;
  key_prefix: string;
  key_suffix: string;
  permissions: number;
  allowed_ips?: string[];
  allowed_email_accounts?: string[];
  rate_limit_per_minute?: number;
  status?: 'active' | 'revoked';
  last_used_at?: Date | null;
  last_request_ip?: string | null;
  expires_at?: Date | null;
  revoked_at?: Date | null;
  revoked_reason?: string | null;
  created_at: Date;
  updated_at: Date;
}
