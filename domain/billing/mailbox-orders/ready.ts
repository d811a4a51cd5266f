import type { Row } from '../../../db/rows.ts';
import { SEAL_PLACES } from '../../../lib/seal-places.ts';
import { systemActor } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { connectOrdered } from '../../mailboxes/connect.ts';
import type { OrderRow } from './states.ts';

type OrderMailbox = Row<'order_mailboxes'>;

/** The passwords of a mailbox from its provider, before the mailbox is connected. */
export interface ProvidedPasswords {
  smtp: string;
  imap: string;
}

/**
 * Connects every mailbox of an order, in the transaction that makes the order ready. Moves the passwords from the order
 * to the mailboxes. Does not start Heron's own warmup, because ordered warmup is done by the provider.
 */
export async function connectMailboxes(inside: Ctx, tx: Tx, order: OrderRow): Promise<void> {
  const actor = { ...systemActor(tx.org.organizationId), userId: order.user_id };
  const rows = await tx.org.sql<OrderMailbox>(
    `select * from order_mailboxes where organization_id = :org and order_id = :order and mailbox_id is null order by position`,
    { order: order.id },
  );
  for (const row of rows) {
    const { email, first_name: given, last_name: family, smtp, imap } = row;
    const passwords = openPasswords(inside, row);
    const mailbox = await connectOrdered({ ...inside, actor }, tx, {
      email,
      name: [given, family].filter(Boolean).join(' '),
      smtp: { ...smtp!, password: passwords.smtp },
      imap: { ...imap!, password: passwords.imap },
    });
    await tx.org
      .table('order_mailboxes')
      .where({ order_id: order.id, position: row.position })
      .update({ mailbox_id: mailbox.mailbox.id, credentials: null });
  }
}

function openPasswords(
  { keyring }: Ctx,
  { order_id: orderId, position, credentials }: OrderMailbox,
): ProvidedPasswords {
  if (!credentials) throw new Error('the mailbox was created without credentials');
  const place = SEAL_PLACES.orderMailbox(orderId, position);
  return JSON.parse(keyring.open(credentials, place).toString('utf8')) as ProvidedPasswords;
}
