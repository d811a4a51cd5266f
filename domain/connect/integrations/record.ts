import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, singleStatement } from '../../platform/kernel/transact.ts';
import { leaseMs } from './claim.ts';
import { Unavailable, type ContactRecord } from './providers/provider.ts';

/** Interval (ms) between attempts to lock a record while another worker or request writes to it. */
const POLL_MS = 100;

/**
 * Calls `work` with the CRM record of a contact while no other process writes to it, and stores the resulting record.
 * Therefore two concurrent pushes create only one record, even at a CRM without an atomic upsert.
 * @throws Unavailable if another process keeps the record too long; the errors of `work`
 */
export async function withRecord<T>(
  ctx: Ctx,
  connectionId: string,
  contactId: string,
  work: (record: ContactRecord) => Promise<T>,
): Promise<T> {
  const lease = newId();
  const key = { connection: connectionId, contact: contactId, lease };
  const record = await leaseRecord(ctx, key);
  try {
    return await work(record);
  } finally {
    await singleStatement(ctx).sql(
      `update integration_records set external_id = :id, email = :email, lease = null, leased_until = null
       where organization_id = :org and connection_id = :connection and contact_id = :contact and lease = :lease`,
      { ...key, id: record.externalId ?? null, email: record.email ?? null },
    );
  }
}

async function leaseRecord(
  ctx: Ctx,
  key: { connection: string; contact: string; lease: string },
): Promise<ContactRecord> {
  const forMs = leaseMs(ctx.config);
  const endsAt = performance.now() + forMs;
  for (;;) {
    const [row] = await singleStatement(ctx).sql<{ external_id: string | null; email: string | null }>(
      `insert into integration_records as r (connection_id, contact_id, organization_id, lease, leased_until)
       select :connection, c.id, :org, :lease, now() + :forMs * interval '1 millisecond'
       from contacts c where c.organization_id = :org and c.id = :contact
       on conflict (connection_id, contact_id) do update set lease = excluded.lease, leased_until = excluded.leased_until
         where r.leased_until is null or r.leased_until <= now()
       returning external_id, email`,
      { ...key, forMs },
    );
    if (row) return row.external_id === null ? {} : { externalId: row.external_id, email: row.email! };
    const [contact] = await reader(ctx).sql(
      'select 1 from contacts where organization_id = :org and id = :contact',
      key,
    );
    // The contact was deleted after it was read, so no record is stored.
    if (!contact) return {};
    if (performance.now() > endsAt) throw new Unavailable(message('connect.record_busy'));
    await sleep(POLL_MS);
  }
}
