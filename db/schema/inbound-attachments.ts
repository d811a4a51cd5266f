/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface InboundAttachmentsRow {
  id: string;
  organization_id: string;
  message_id: string;
  place: number;
  filename: string;
  content_type: string;
  size_bytes: number;
  sha256: string;
  blob_id: string | null;
  left_out: 'too_large' | 'no_space' | 'expired' | 'erased' | null;
  created_at: Date;
}

export interface InboundAttachmentsInsert {
  id: string;
  organization_id: string;
  message_id: string;
  place: number;
  filename: string;
  content_type: string;
  size_bytes: number;
  sha256: string;
  blob_id?: string | null;
  left_out?: 'too_large' | 'no_space' | 'expired' | 'erased' | null;
  created_at: Date;
}
