import type { RowOf } from '../../app/api.ts';

type Mailbox = RowOf<'/v1/emails'>;

/** The mailbox that may send, where there is one alone: campaigns without a sender begin with it. */
export function onlySenderOf(mailboxes: readonly Mailbox[]): Mailbox | undefined {
  const usable = mailboxes.filter(({ status, hold }) => status === 'active' && hold === null);
  return usable.length === 1 ? usable[0] : undefined;
}
