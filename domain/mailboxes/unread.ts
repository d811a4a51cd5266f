import { across } from '../../db/across.ts';
import type { Columns } from '../../db/rows.ts';
import { HOUR_MS } from '../../lib/clock.ts';
import { message } from '../../messages/index.ts';
import { forEachIsolated } from '../platform/kernel/for-each-isolated.ts';
import { systemCtx, type Deps } from '../platform/kernel/context.ts';
import { transact } from '../platform/kernel/transact.ts';
import type { HoldCode } from '../sending/control/hold-codes.ts';
import { AUTH_HOLD_MS, clearHold, holdMailbox } from '../sending/control/mailbox-hold.ts';
import { SYNCABLE } from './leases.ts';

/** Time (ms) after which a mailbox that could not be read must not send. */
const UNREAD_MS = HOUR_MS;
/** A hold is extended if its remaining time (ms) is shorter. */
const RENEW_MS = HOUR_MS / 2;
/** Maximum number of mailboxes held or released per review. */
const BATCH = 1_000;

type Unread = Columns<'mailbox_sync', 'mailbox_id' | 'organization_id' | 'failures' | 'last_error'> & { since: Date };

/** SQL for the time up to which the INBOX of a mailbox has been read. */
const READ_AT = 'coalesce(y.last_synced_at, m.created_at)';
const INBOXES = `mailbox_sync y join mailboxes m on m.id = y.mailbox_id where y.folder = 'INBOX' and ${SYNCABLE}`;

/**
 * Returns the longest time (seconds) for which a mailbox has not been read. Excludes mailboxes whose server fails,
 * because their owners are already notified.
 */
export async function oldestLookSeconds({ db, clock }: Deps): Promise<number> {
  const [row] = await across(db, 'engine').sql<{ oldest: Date | null }>(
    `select min(${READ_AT}) as oldest from ${INBOXES} and y.failures = 0`,
    {},
  );
  return row!.oldest ? Math.max(0, (clock.now().getTime() - row!.oldest.getTime()) / 1000) : 0;
}

/**
 * Holds the mailboxes whose INBOX has not been read for an hour, and releases those that are read again. Holds a
 * mailbox only if the previous review also found that it was not read. After a downtime this gives the workers time to
 * read it.
 * @param before mailboxes that the previous review found unread
 * @returns mailboxes found unread now
 */
export async function reviewReading(deps: Deps, before: ReadonlySet<string>): Promise<Set<string>> {
  const now = deps.clock.now();
  await releaseRead(deps, now);
  const unread = await findUnread(deps, now);
  const byId = new Map(unread.map((mailbox) => [mailbox.mailbox_id, mailbox]));
  const still = [...byId.keys()].filter((id) => before.has(id));
  await forEachIsolated(deps, still, (id) => holdUnread(deps, byId.get(id)!));
  return new Set(byId.keys());
}

/**
 * Returns mailboxes that have not been read for an hour, beginning with those not read for the longest time. Excludes
 * mailboxes that are already held for another reason.
 */
function findUnread({ db }: Deps, now: Date): Promise<Unread[]> {
  return across(db, 'engine').sql<Unread>(
    `select y.mailbox_id, y.organization_id, y.failures, y.last_error, ${READ_AT} as since from ${INBOXES} and ${READ_AT} < :since
       and (m.imap_hold_code is null or m.imap_hold_until < case m.imap_hold_code when 'imap_unread' then :renew::timestamptz else :now end)
       and (m.hold_code is null or m.hold_until is not null)
     order by ${READ_AT} limit :limit`,
    {
      since: new Date(now.getTime() - UNREAD_MS),
      now,
      renew: new Date(now.getTime() + RENEW_MS),
      limit: BATCH,
    },
  );
}

async function holdUnread(deps: Deps, mailbox: Unread): Promise<void> {
  const { mailbox_id: id, organization_id: organizationId, since, failures, last_error: error } = mailbox;
  const at = since.toISOString();
  await transact(systemCtx(deps, organizationId, `sync/${id}`), (tx) =>
    holdMailbox(tx, id, {
      code: 'imap_unread',
      reason:
        failures > 0 && error
          ? message('mailboxes.unread_failing', { at, reason: error })
          : message('mailboxes.unread_waiting', { at }),
      until: new Date(tx.now.getTime() + AUTH_HOLD_MS),
    }),
  );
}

async function releaseRead(deps: Deps, now: Date): Promise<void> {
  const held = await across(deps.db, 'engine').sql<
    Columns<'mailbox_sync', 'mailbox_id' | 'organization_id'> & { code: HoldCode }
  >(
    `select y.mailbox_id, y.organization_id, m.imap_hold_code as code from ${INBOXES} and y.failures = 0
       and m.imap_hold_code in ('imap_unread', 'imap_unsupported') and y.last_synced_at >= :since limit :limit`,
    { since: new Date(now.getTime() - UNREAD_MS), limit: BATCH },
  );
  await forEachIsolated(deps, held, async ({ mailbox_id: id, organization_id: organizationId, code }) => {
    await transact(systemCtx(deps, organizationId, `sync/${id}`), (tx) => clearHold(tx, id, code));
  });
}
