import { utcDay } from '../../../lib/clock.ts';
import type { Columns } from '../../../db/rows.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { countDaily, type CounterChange } from '../campaign/counters.ts';
import { dayKey } from '../../platform/scheduling/windows.ts';

/** Target of a release: the reserved slots of a campaign, of enrollments or of a mailbox, or a single slot. */
interface ReleaseTarget {
  campaignId?: string;
  enrollmentIds?: readonly string[];
  mailboxId?: string;
  sendId?: string;
}

interface Slot extends Columns<'sends', 'campaign_id' | 'mailbox_id' | 'slot_day' | 'is_first'> {
  mailbox_day: string;
}

/**
 * SQL condition for each kind of target. Each target has its own statement, because a prepared statement with all
 * conditions could not use an index.
 */
const CONDITIONS: Record<keyof ReleaseTarget, string> = {
  campaignId: 'campaign_id = :campaignId::uuid',
  enrollmentIds: 'enrollment_id = any(:enrollmentIds::uuid[])',
  mailboxId: 'mailbox_id = :mailboxId::uuid',
  sendId: 'id = :sendId::uuid',
};

/**
 * Releases reserved slots: deletes the rows and lowers the daily counts. The contacts then request new slots. Emails
 * already claimed by a worker (`sending`) are not affected. An uncertain email that was to be resent keeps its row and
 * Message-ID, and requests another slot. Returns the number of released slots.
 */
export async function releaseReservedSends(tx: Tx, target: ReleaseTarget): Promise<number> {
  const conditions = (Object.keys(target) as (keyof ReleaseTarget)[]).map((name) => CONDITIONS[name]);
  // Locks in id order, because simultaneous releases of a campaign and of a mailbox may share slots.
  const rows = await tx.org.sql<Slot>(
    `with held as (
       select id from sends where organization_id = :org and state = 'reserved' and ${conditions.join(' and ')} order by id for update
     ), kept as (
       update sends s set state = 'uncertain', updated_at = :now from held where s.id = held.id and s.again
       returning s.campaign_id, s.mailbox_id, s.slot_day, (s.slot_at at time zone 'utc')::date as mailbox_day, s.is_first
     ), gone as (
       delete from sends s using held where s.id = held.id and not s.again
       returning s.campaign_id, s.mailbox_id, s.slot_day, (s.slot_at at time zone 'utc')::date as mailbox_day, s.is_first
     )
     select * from gone union all select * from kept`,
    { ...target, now: tx.now },
  );
  if (rows.length === 0) return 0;
  // Locks mailboxes before counters, as the allocator does. Resets `next_free_at`, because released slots make earlier
  // times free again.
  const mailboxes = [...new Set(rows.map((row) => row.mailbox_id).filter((id) => id !== null))];
  await tx.org.sql(
    `with held as (select id from mailboxes where organization_id = :org and id = any(:ids::uuid[]) order by id for no key update)
     update mailboxes m set next_free_at = 'epoch', spent_days = '{}' from held where m.id = held.id`,
    { ids: mailboxes },
  );
  await countDaily(
    tx.org,
    rows.flatMap((row) => countsOf(row, -1)),
  );
  return rows.length;
}

/**
 * Removes a mailbox from its leads and sends before the mailbox is locked for deletion. The foreign keys would
 * otherwise take the locks in the wrong order.
 */
export async function detachMailbox(tx: Tx, mailboxId: string): Promise<void> {
  await tx.org.sql(
    `with held as (select id from enrollments where organization_id = :org and mailbox_id = :id order by id for update)
     update enrollments e set mailbox_id = null from held where e.id = held.id`,
    { id: mailboxId },
  );
  await tx.org.sql(
    `with held as (select id from direct_sends where organization_id = :org and mailbox_id = :id order by id for update)
     update direct_sends d set mailbox_id = null from held where d.id = held.id`,
    { id: mailboxId },
  );
  await releaseReservedSends(tx, { mailboxId });
  await tx.org.table('sends').where({ mailbox_id: mailboxId }).update({ mailbox_id: null });
}

/**
 * Returns the first time from `from` on that keeps the mailbox's minimum gap to every reserved slot. Locks the mailbox,
 * so that no other transaction reserves that time. Returns `from` if the mailbox is deleted.
 */
export async function freeSlot(tx: Tx, email: { id: string; mailbox_id: string | null }, from: Date): Promise<Date> {
  if (!email.mailbox_id) return from;
  const [mailbox] = await tx.org.sql<{ gap: number }>(
    `select min_wait_time * 1000 as gap from mailboxes where organization_id = :org and id = :id for no key update`,
    { id: email.mailbox_id },
  );
  if (!mailbox) return from;
  const taken = await tx.org.sql<Columns<'sends', 'slot_at'>>(
    `select slot_at from sends where organization_id = :org and mailbox_id = :mailbox and state in ('reserved', 'sending') and id <> :id
       and slot_at > cast(:from as timestamptz) - :gap * interval '1 millisecond'
     union all
     select slot_at from warmup_mails where organization_id = :org and mailbox_id = :mailbox and state in ('reserved', 'sending')
       and slot_at > cast(:from as timestamptz) - :gap * interval '1 millisecond'
     order by slot_at`,
    { mailbox: email.mailbox_id, id: email.id, from, gap: mailbox.gap },
  );
  let at = from.getTime();
  for (const { slot_at: other } of taken) {
    if (other.getTime() - at >= mailbox.gap) break;
    at = Math.max(at, other.getTime() + mailbox.gap);
  }
  // Frees the time of the email's old slot.
  await tx.org.sql(
    `update mailboxes set next_free_at = 'epoch', spent_days = '{}' where organization_id = :org and id = :id`,
    { id: email.mailbox_id },
  );
  return new Date(at);
}

/**
 * Moves the slot of an email to a later time. Moves its daily counts too if the new time is on another day of the
 * campaign (in its time zone) or of the mailbox (UTC). Deleted campaigns and mailboxes have no counts.
 */
export async function moveSlot(tx: Tx, sendId: string, to: Date): Promise<void> {
  const [slot] = await tx.org.sql<Slot & { timezone: string | null }>(
    `select s.campaign_id, s.mailbox_id, s.slot_day, (s.slot_at at time zone 'utc')::date as mailbox_day, s.is_first, c.timezone
     from sends s left join campaigns c on c.id = s.campaign_id where s.organization_id = :org and s.id = :id`,
    { id: sendId },
  );
  if (!slot) return;
  const moved: Slot = {
    ...slot,
    slot_day: slot.timezone ? dayKey(slot.timezone, to) : slot.slot_day,
    mailbox_day: utcDay(to),
  };
  await tx.org.table('sends').where({ id: sendId }).update({ slot_at: to, slot_day: moved.slot_day });
  await countDaily(tx.org, [...countsOf(slot, -1), ...countsOf(moved, 1)]);
}

/** Returns the changes of the daily counts for an email with a slot, whatever the email's state. */
function countsOf(slot: Slot, by: 1 | -1): CounterChange[] {
  const changes: CounterChange[] = [];
  if (slot.campaign_id) changes.push({ scope: 'campaign', scopeId: slot.campaign_id, day: slot.slot_day, by });
  if (slot.campaign_id && slot.is_first)
    changes.push({ scope: 'campaign_new', scopeId: slot.campaign_id, day: slot.slot_day, by });
  if (slot.mailbox_id) changes.push({ scope: 'mailbox', scopeId: slot.mailbox_id, day: slot.mailbox_day, by });
  return changes;
}
