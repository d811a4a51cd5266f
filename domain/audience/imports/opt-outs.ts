import { json } from '../../../db/connection.ts';
import type { ContactImportRow } from '../../../db/models/contact-import.ts';
import { newId } from '../../../lib/ids.ts';
import { message, type Message } from '../../../messages/index.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { OptOut } from './rows.ts';

/**
 * Adds addresses that the list marks as opted out or bounced to the suppression list. Existing entries stay, but
 * expiring ones become permanent.
 */
export async function importOptOuts(tx: Tx, job: ContactImportRow, optOuts: readonly OptOut[]): Promise<void> {
  const entries = new Map<string, { reason: Message; column: string }>();
  for (const { email, state, column } of optOuts)
    if (state === 'opted_out' || state === 'bounced')
      entries.set(email, { reason: message(`suppressed.imported_${state}`), column });
  if (entries.size === 0) return;
  const list = [...entries];
  await tx.org.sql(
    `insert into suppressions (id, organization_id, email, kind, reason, source, metadata, created_at, updated_at)
     select r.id, cast(:org as uuid), r.email, 'email', cast(r.reason as jsonb), 'import', cast(r.metadata as jsonb), :now, :now
     from unnest(cast(:ids as uuid[]), cast(:emails as text[]), cast(:reasons as text[]), cast(:metadata as text[]))
       as r(id, email, reason, metadata)
     order by r.email
     on conflict on constraint suppressions_value_key do update set reason = excluded.reason, source = excluded.source,
       metadata = excluded.metadata, expires_at = null, updated_at = excluded.updated_at
       where suppressions.expires_at <= :now`,
    {
      now: tx.now,
      ids: list.map(() => newId()),
      emails: list.map(([email]) => email),
      reasons: list.map(([, { reason }]) => json(reason)),
      metadata: list.map(([, { column }]) => json({ import_id: job.id, column: column.slice(0, 200) })),
    },
  );
}

/**
 * Unsubscribes the contacts of rows that forbid mail. A row may forbid mail although it is not imported, because its
 * address is repeated or known or the row is faulty.
 */
export async function unsubscribeNamed(tx: Tx, optOuts: readonly OptOut[]): Promise<void> {
  if (optOuts.length === 0) return;
  const emails = [...new Set(optOuts.map(({ email }) => email))];
  await tx.org.sql(
    `update contacts set subscribed = false, unsubscribed_by = null, updated_at = :now
     where organization_id = :org and email = any(cast(:emails as text[])) and (subscribed or unsubscribed_by is not null)`,
    { now: tx.now, emails },
  );
}
