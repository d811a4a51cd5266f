/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface MessageWordsRow {
  message_id: string;
  organization_id: string;
  number: number;
  thread_id: string;
  shelves: number[];
  sender: string;
  subject: string;
  words: string;
}

export interface MessageWordsInsert {
  message_id: string;
  organization_id: string;
  number: number;
  thread_id: string;
  shelves: number[];
  sender: string;
  subject: string;
  words: string;
}
