import type { RowOf } from '../../app/api.ts';

type Mailbox = RowOf<'/v1/emails'>;

/**
 * Returns the only mailbox that can send; undefined if there are none or several. Campaigns without a sender start with
 * it.
 */
export function onlySenderOf(mailboxes: readonly Mailbox[]): Mailbox | undefined {
  const usable = mailboxes.filter(({ status, hold }) => status === 'active' && hold === null);
  return usable.length === 1 ? usable[0] : undefined;
}
