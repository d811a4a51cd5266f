import { announceUpdate } from '../../directory/announce-contact.ts';
import { suppressedAmong } from '../../directory/suppression-check.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { Subject } from './subject.ts';

/** Returns the addresses that a stored message, or a copy of it, added to the suppression list. */
export async function optedOutBy(
  tx: Tx,
  addresses: readonly string[],
  copies: readonly string[],
): Promise<Set<string>> {
  const rows = await tx.org.sql<{ email: string }>(
    `select email from suppressions where organization_id = :org and kind = 'email' and email = any(cast(:addresses as text[]))
       and metadata ->> 'email_id' = any(cast(:copies as text[]))`,
    { addresses: [...addresses], copies: [...copies] },
  );
  return new Set(rows.map(({ email }) => email));
}

/**
 * Reverts an opt-out that was detected by mistake: its suppression entries, its counts, and `subscribed` if an entry
 * had cleared it. An address stays listed if it was listed before, or has since been listed for another reason.
 *
 * @param copies ids of the stored message and its copies
 */
export async function withdrawOptOut(
  tx: Tx,
  { send, email }: Subject,
  fromEmail: string,
  copies: readonly string[],
): Promise<void> {
  const bindings = { copies: [...copies], addresses: [...new Set([email, fromEmail])] };
  const lifted = await tx.org.sql<{ email: string; was_subscribed: boolean | null }>(
    `delete from suppressions where organization_id = :org and kind = 'email' and email = any(cast(:addresses as text[]))
       and source = 'unsubscribe' and metadata ->> 'email_id' = any(cast(:copies as text[])) and created_at = updated_at
     returning email, cast(metadata ->> 'was_subscribed' as boolean) as was_subscribed`,
    bindings,
  );
  const contacts = await tx.org.sql<{ id: string; email: string }>(
    `select id, email from contacts where organization_id = :org and email = any(cast(:addresses as text[])) order by id for no key update`,
    bindings,
  );
  await tx.org.sql(
    `delete from engagement_events where organization_id = :org and type = 'unsubscribe' and detail ->> 'email_id' = any(cast(:copies as text[]))
       and (send_id = :send or contact_id = any(cast(:contacts as uuid[])))`,
    { copies: bindings.copies, send: send?.id ?? null, contacts: contacts.map(({ id }) => id) },
  );
  if (send)
    await tx.org.sql(
      `update sends s set updated_at = :now, unsubscribed_at =
         (select min(e.at) from engagement_events e where e.organization_id = :org and e.send_id = s.id and e.type = 'unsubscribe')
       where s.organization_id = :org and s.id = :send and s.unsubscribed_at is not null`,
      { send: send.id, now: tx.now },
    );
  const covered = await suppressedAmong(tx.org, bindings.addresses, tx.now);
  for (const contact of contacts) {
    const entry = lifted.find((one) => one.email === contact.email);
    if (!entry?.was_subscribed || covered.has(contact.email)) continue;
    await tx.org.table('contacts').where({ id: contact.id }).update({ subscribed: true, updated_at: tx.now });
    await announceUpdate(tx, contact.id);
  }
}
