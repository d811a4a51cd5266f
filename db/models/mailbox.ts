import { orgEntity, OrgModel } from './model.ts';

/** A mail service as stored: everything but the password. */
export interface StoredMailService {
  host: string;
  port: number;
  username: string;
  security: 'tls' | 'starttls' | 'none';
}

/** A connected mailbox (contract 3, "Mailboxes and managed mailboxes"). `email` is lower-case. */
export class MailboxRow extends OrgModel {
  static override tableName = 'mailboxes';
  static override jsonAttributes = ['smtp', 'imap'];

  user_id!: string | null;
  email!: string;
  name!: string;
  provider!: 'gmail' | 'outlook' | 'smtp_imap';
  status!: 'active' | 'inactive' | 'revoked';
  smtp!: StoredMailService;
  imap!: StoredMailService | null;
  /** Both passwords, sealed under `mailboxes/<id>`. */
  credentials!: Buffer;
  /** Rises with every change of servers or passwords; open connections below it are stale. */
  credentials_version!: number;
  /** Campaign emails per UTC day. */
  campaign_limit!: number;
  /** Seconds between two emails. */
  min_wait_time!: number;
  reply_to!: string;
  save_to_sent!: boolean;
  send_as_email!: string;
  signature_plain!: string;
  signature_html!: string;
  signature_sync!: boolean;
  signature_code!: boolean;
  timezone!: string;
  tracking_domain!: string;
  tracking_domain_verified!: boolean;
  tracking_domain_verified_at!: Date | null;
  warmup!: Date | null;
  warmup_paused_at!: Date | null;
  warmup_base!: number;
  warmup_max!: number;
  warmup_increase!: number;
  warmup_reply_rate!: number;
  warmup_tag!: string;
  warmup_pool_type!: string;
  warmup_start_time!: string;
  warmup_end_time!: string;
  warmup_days!: number;
  hold_code!: string | null;
  hold_reason!: string | null;
  hold_until!: Date | null;
  last_slot_at!: Date | null;
}

export const Mailboxes = orgEntity(MailboxRow);
