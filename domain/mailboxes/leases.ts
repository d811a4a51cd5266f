import { across } from '../../db/across.ts';
import type { Columns } from '../../db/rows.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Db } from '../../db/connection.ts';

/** A mailbox that this process watches until its lease expires. */
export interface SyncLease {
  mailboxId: string;
  organizationId: string;
  email: string;
  /** Version of servers and passwords that the watcher uses. On a later version the watcher must restart. */
  credentialsVersion: number;
}

type LeaseRow = Columns<'mailbox_sync', 'mailbox_id' | 'organization_id'> &
  Columns<'mailboxes', 'email' | 'credentials_version'>;

/** SQL condition: mailboxes to watch. */
const SYNCABLE = `m.status = 'active' and m.imap is not null`;

/**
 * Claims up to `limit` mailboxes that no process watches, longest unwatched first. Two processes never get the same
 * mailbox. Times are the database's, so clocks of machines need not agree.
 */
export async function claimLeases(db: Db, workerId: string, leaseMs: number, limit: number): Promise<SyncLease[]> {
  const rows = await across(db, 'engine').sql<LeaseRow>(
    `with free as (
       select y.mailbox_id, m.email, m.credentials_version from mailbox_sync y join mailboxes m on m.id = y.mailbox_id
       where y.folder = 'INBOX' and (y.lease_until is null or y.lease_until < now()) and (y.retry_at is null or y.retry_at <= now()) and ${SYNCABLE}
       order by y.lease_until nulls first limit :limit for update of y skip locked)
     update mailbox_sync y set owner = :worker, lease_until = now() + :lease * interval '1 millisecond'
     from free where y.mailbox_id = free.mailbox_id and y.folder = 'INBOX'
     returning y.mailbox_id, y.organization_id, free.email, free.credentials_version`,
    { worker: workerId, lease: leaseMs, limit },
  );
  return rows.map((row) => ({
    mailboxId: row.mailbox_id,
    organizationId: row.organization_id,
    email: row.email,
    credentialsVersion: row.credentials_version,
  }));
}

/** Extends the leases of watched mailboxes. Returns the credentials versions of the mailboxes this process keeps. */
export async function renewLeases(
  db: Db,
  workerId: string,
  leaseMs: number,
  watched: readonly string[],
): Promise<Map<string, number>> {
  if (watched.length === 0) return new Map();
  const rows = await across(db, 'engine').sql<Pick<LeaseRow, 'mailbox_id' | 'credentials_version'>>(
    `update mailbox_sync y set lease_until = now() + :lease * interval '1 millisecond'
     from mailboxes m where m.id = y.mailbox_id and y.mailbox_id = any(:watched) and y.folder = 'INBOX' and y.owner = :worker and ${SYNCABLE}
     returning y.mailbox_id, m.credentials_version`,
    { worker: workerId, lease: leaseMs, watched },
  );
  return new Map(rows.map((row) => [row.mailbox_id, row.credentials_version]));
}

/** Releases a mailbox, so that any process may claim it at once. */
export async function releaseLease(db: Db, workerId: string, mailboxId: string): Promise<void> {
  await across(db, 'engine')
    .table('mailbox_sync')
    .where({ mailbox_id: mailboxId, folder: 'INBOX', owner: workerId })
    .update({ owner: null, lease_until: null });
}

/**
 * Releases a mailbox whose reading failed, to be claimed again after a delay. `delayOf` returns the delay (ms) for a
 * number of successive failures.
 */
export async function failLease(
  db: Db,
  workerId: string,
  mailboxId: string,
  delayOf: (failures: number) => number,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const row = await across(trx, 'engine')
      .table('mailbox_sync')
      .where({ mailbox_id: mailboxId, folder: 'INBOX', owner: workerId })
      .forUpdate()
      .first('failures');
    if (!row) return;
    const failures = row.failures + 1;
    await across(trx, 'engine')
      .table('mailbox_sync')
      .where({ mailbox_id: mailboxId, folder: 'INBOX' })
      .update({
        owner: null,
        lease_until: null,
        failures,
        retry_at: across(trx, 'engine').raw(`now() + :delay * interval '1 millisecond'`, { delay: delayOf(failures) }),
      });
  });
}

/** Records that a process is alive. Returns how many mailboxes each process should watch. */
export async function fairShare(db: Db, workerId: string, aliveMs: number): Promise<number> {
  await across(db, 'engine').sql(
    `insert into sync_workers (id, alive_until) values (:worker, now() + :alive * interval '1 millisecond')
     on conflict (id) do update set alive_until = excluded.alive_until`,
    { worker: workerId, alive: aliveMs },
  );
  const [counted] = await across(db, 'engine').sql<{ workers: number; mailboxes: number }>(
    `select (select count(*)::int from sync_workers where alive_until > now()) as workers,
       (select count(*)::int from mailbox_sync y join mailboxes m on m.id = y.mailbox_id where y.folder = 'INBOX' and ${SYNCABLE}) as mailboxes`,
  );
  const { workers, mailboxes } = counted!;
  return Math.ceil(mailboxes / Math.max(1, workers));
}

/** Removes a process from the count, with all processes that recorded nothing for a day. */
export async function leaveWorkers(db: Db, workerId: string): Promise<void> {
  await across(db, 'engine').sql(
    `delete from sync_workers where id = :worker or alive_until < now() - interval '1 day'`,
    {
      worker: workerId,
    },
  );
}
