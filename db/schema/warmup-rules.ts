/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface WarmupRulesRow {
  id: string;
  organization_id: string;
  name: string;
  priority: number;
  sender_match_type: 'any' | 'domain' | 'tld' | 'provider';
  /** Lower-case, trimmed; empty where the type is any. */
  sender_match_value: string;
  recipient_match_type: 'any' | 'domain' | 'tld' | 'provider';
  recipient_match_value: string;
  weight: number;
  enabled: boolean;
  created_at: Date;
  updated_at: Date;
}

export interface WarmupRulesInsert {
  id: string;
  organization_id: string;
  name: string;
  priority?: number;
  sender_match_type: 'any' | 'domain' | 'tld' | 'provider';
  sender_match_value?: string;
  recipient_match_type: 'any' | 'domain' | 'tld' | 'provider';
  recipient_match_value?: string;
  weight?: number;
  enabled?: boolean;
  created_at: Date;
  updated_at: Date;
}
