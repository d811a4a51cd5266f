import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

export type { StoredMailService } from '../json-columns.ts';

/** A connected mailbox. */
export type MailboxRow = Row<'mailboxes'>;

export const Mailboxes = orgEntity('mailboxes', ['smtp', 'imap']);
