/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface SentWordsRow {
  direct_send_id: string;
  organization_id: string;
  mailbox_id: string | null;
  number: number;
  shelves: number[];
  recipients: string;
  subject: string;
  words: string;
}

export interface SentWordsInsert {
  direct_send_id: string;
  organization_id: string;
  mailbox_id?: string | null;
  number: number;
  shelves: number[];
  recipients: string;
  subject: string;
  words: string;
}
