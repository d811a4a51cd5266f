import { across } from '../../db/across.ts';
import type { Columns } from '../../db/rows.ts';
import { inTransaction } from '../../db/transaction.ts';
import { json, type Db } from '../../db/connection.ts';
import type { Message } from '../../messages/index.ts';

/** A mailbox that this process reads until its lease expires. */
export interface SyncLease {
  mailboxId: string;
  organizationId: string;
  email: string;
  /**
   * Version of the servers and passwords with which this process reads the mailbox. If the stored version is higher,
   * the process must connect again.
   */
  credentialsVersion: number;
}

type LeaseRow = Columns<'mailbox_sync', 'mailbox_id' | 'organization_id'> &
  Columns<'mailboxes', 'email' | 'credentials_version'>;

/** SQL condition: new mail of the mailbox `m` must be read. */
export const SYNCABLE = `m.status = 'active' and m.imap is not null`;

/** SQL condition: no process reads mailbox `y`, and no retry is scheduled. */
const FREE = `y.folder = 'INBOX' and (y.lease_until is null or y.lease_until < now()) and (y.retry_at is null or y.retry_at <= now())`;

/**
 * Claims up to `limit` mailboxes that no process reads, beginning with those that were not read for the longest time.
 * Two processes never get the same mailbox. Uses the database's time, because the clocks of the processes may differ.
 * @param standing true to claim only mailboxes that are to keep a permanent connection
 */
export async function claimLeases(
  db: Db,
  workerId: string,
  leaseMs: number,
  limit: number,
  standing: boolean,
): Promise<SyncLease[]> {
  const rows = await across(db, 'engine').sql<LeaseRow>(
    `with free as (
       select y.mailbox_id, m.email, m.credentials_version from mailbox_sync y join mailboxes m on m.id = y.mailbox_id
       where ${FREE} and ${SYNCABLE} ${standing ? 'and y.standing' : ''}
       order by y.lease_until nulls first limit :limit for update of y skip locked)
     update mailbox_sync y set owner = :worker, lease_until = now() + :lease * interval '1 millisecond'
     from free where y.mailbox_id = free.mailbox_id and y.folder = 'INBOX'
     returning y.mailbox_id, y.organization_id, free.email, free.credentials_version`,
    { worker: workerId, lease: leaseMs, limit },
  );
  return rows.map(toLease);
}

/**
 * Claims up to `limit` mailboxes that were not read for `dueMs` milliseconds. Each is read once and then released.
 * Organizations alternate: no organization gets a second mailbox before every other one has got one. Within an
 * organization, mailboxes that were not read for the longest time come first.
 */
export async function claimVisits(
  db: Db,
  workerId: string,
  leaseMs: number,
  dueMs: number,
  limit: number,
): Promise<SyncLease[]> {
  const rows = await across(db, 'engine').sql<LeaseRow>(
    `with due as (
       select y.mailbox_id, y.last_synced_at,
         row_number() over (partition by y.organization_id order by y.last_synced_at nulls first) as turn
       from mailbox_sync y join mailboxes m on m.id = y.mailbox_id
       where ${FREE} and ${SYNCABLE} and (y.last_synced_at is null or y.last_synced_at < now() - :due * interval '1 millisecond')
     ), first as materialized (select * from due order by turn, last_synced_at nulls first limit :limit),
     free as (
       select y.mailbox_id, m.email, m.credentials_version from first
       join mailbox_sync y on y.mailbox_id = first.mailbox_id join mailboxes m on m.id = y.mailbox_id
       where ${FREE} for update of y skip locked)
     update mailbox_sync y set owner = :worker, lease_until = now() + :lease * interval '1 millisecond'
     from free where y.mailbox_id = free.mailbox_id and y.folder = 'INBOX'
     returning y.mailbox_id, y.organization_id, free.email, free.credentials_version`,
    { worker: workerId, lease: leaseMs, due: dueMs, limit },
  );
  return rows.map(toLease);
}

function toLease(row: LeaseRow): SyncLease {
  return {
    mailboxId: row.mailbox_id,
    organizationId: row.organization_id,
    email: row.email,
    credentialsVersion: row.credentials_version,
  };
}

/** A mailbox whose lease this process has extended. */
export interface KeptLease {
  credentialsVersion: number;
  /** True if the mailbox is to keep a permanent connection even if there are more mailboxes than connections. */
  standing: boolean;
}

/** Extends the leases of mailboxes that this process reads. Returns the extended leases by mailbox id. */
export async function renewLeases(
  db: Db,
  workerId: string,
  leaseMs: number,
  watched: readonly string[],
): Promise<Map<string, KeptLease>> {
  if (watched.length === 0) return new Map();
  const rows = await across(db, 'engine').sql<
    Pick<LeaseRow, 'mailbox_id' | 'credentials_version'> & Columns<'mailbox_sync', 'standing'>
  >(
    `update mailbox_sync y set lease_until = now() + :lease * interval '1 millisecond'
     from mailboxes m where m.id = y.mailbox_id and y.mailbox_id = any(:watched) and y.folder = 'INBOX' and y.owner = :worker and ${SYNCABLE}
     returning y.mailbox_id, m.credentials_version, y.standing`,
    { worker: workerId, lease: leaseMs, watched },
  );
  return new Map(
    rows.map(({ mailbox_id, credentials_version: credentialsVersion, standing }) => [
      mailbox_id,
      { credentialsVersion, standing },
    ]),
  );
}

/** Releases a mailbox, so that any process may claim it immediately. */
export async function releaseLease(db: Db, workerId: string, mailboxId: string): Promise<void> {
  await across(db, 'engine')
    .table('mailbox_sync')
    .where({ mailbox_id: mailboxId, folder: 'INBOX', owner: workerId })
    .update({ owner: null, lease_until: null });
}

/**
 * Releases a mailbox that could not be read. It can be claimed again after a delay. `delayOf` returns the delay (ms)
 * for a number of successive failures.
 */
export async function failLease(
  db: Db,
  workerId: string,
  mailboxId: string,
  reason: Message,
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
        last_error: json(reason),
        retry_at: across(trx, 'engine').raw(`now() + :delay * interval '1 millisecond'`, { delay: delayOf(failures) }),
      });
  });
}

/**
 * Records that a process is alive. Returns the number of live processes, and the number of mailboxes that they share.
 */
export async function countShares(
  db: Db,
  workerId: string,
  aliveMs: number,
): Promise<{ workers: number; mailboxes: number }> {
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
  return { workers: Math.max(1, workers), mailboxes };
}

/** Name of the advisory lock that a process holds while it chooses the mailboxes with a permanent connection. */
const RANK_LOCK = 'mailbox-standing';
/**
 * Added to the score of a mailbox that already has a permanent connection, so that another mailbox replaces it only if
 * it is twice as active.
 */
const INCUMBENT = 1;

/**
 * Chooses the `places` most active mailboxes, which get a permanent connection. Organizations alternate, so that one
 * with many mailboxes does not use every connection. Only one process does this at a time.
 */
export async function rankMailboxes(db: Db, places: number): Promise<void> {
  await inTransaction(db, async (trx) => {
    const [lock] = await across(trx, 'engine').sql<{ held: boolean }>(
      'select pg_try_advisory_xact_lock(hashtextextended(:lock, 0)) as held',
      { lock: RANK_LOCK },
    );
    if (!lock!.held) return;
    await across(trx, 'engine').sql(
      `with scored as (
         select y.mailbox_id, y.organization_id, y.activity + case when y.standing then :incumbent else 0 end as score
         from mailbox_sync y join mailboxes m on m.id = y.mailbox_id where y.folder = 'INBOX' and ${SYNCABLE}
       ), turns as (
         select mailbox_id, score, row_number() over (partition by organization_id order by score desc, mailbox_id) as turn from scored
       ), ranked as (
         select mailbox_id, row_number() over (order by turn, score desc, mailbox_id) <= :places as standing from turns
       )
       update mailbox_sync y set standing = ranked.standing from ranked
       where y.mailbox_id = ranked.mailbox_id and y.folder = 'INBOX' and y.standing <> ranked.standing`,
      { places, incumbent: INCUMBENT },
    );
  });
}

/** Removes a process from the count, and also all processes without a record in the last day. */
export async function leaveWorkers(db: Db, workerId: string): Promise<void> {
  await across(db, 'engine').sql(
    `delete from sync_workers where id = :worker or alive_until < now() - interval '1 day'`,
    {
      worker: workerId,
    },
  );
}
