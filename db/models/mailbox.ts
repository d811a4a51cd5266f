import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** An email account that Heron sends from and reads. */
export type MailboxRow = Row<'mailboxes'>;

export const Mailboxes = orgEntity('mailboxes', ['smtp', 'imap']);
