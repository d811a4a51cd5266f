import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** A connected mailbox. */
export type MailboxRow = Row<'mailboxes'>;

export const Mailboxes = orgEntity('mailboxes', ['smtp', 'imap']);
