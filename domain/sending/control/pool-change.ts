import type { Columns } from '../../../db/rows.ts';
import { isSender } from '../campaign/sender-pool.ts';
import type { CampaignLogType } from '../campaign/log.ts';
import { json } from '../../../db/connection.ts';
import { newId } from '../../../lib/ids.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { signalControl, signalLauncher } from './signals.ts';
import type { Message } from '../../../messages/index.ts';
import { ADD_RECHECKS, POOL_CHANGED } from './rechecks.ts';
import { PAUSED_STATUSES } from './status.ts';

/** Change of a mailbox, as written to the logs of the campaigns that send from it. */
interface PoolChange {
  type: Extract<CampaignLogType, 'sender_held' | 'sender_back' | 'sender_removed'>;
  message: Message;
}

/** Maximum number of contacts signalled at once. Further contacts retry at their planned time. */
const WAKE_LIMIT = 5_000;

interface Concerned {
  id: string;
  /** False for a paused campaign. */
  active: boolean;
}

/**
 * Returns active and paused campaigns that may currently send from a mailbox. Call it before a change that removes the
 * mailbox from pools, and after a change that adds it.
 */
export async function findCampaignsOfSender(tx: Tx, mailboxId: string): Promise<Concerned[]> {
  return tx.org.sql<Concerned>(
    `select k.id, k.status = 'active' as active from campaigns k join mailboxes m on m.organization_id = k.organization_id and m.id = :mailbox
       left join campaign_senders c on c.campaign_id = k.id and c.mailbox_id = m.id
     where k.organization_id = :org and k.status = any(:statuses) and ${isSender({ id: 'k.id', tags: 'k.email_tags', strategy: 'k.sender_strategy' })}
     order by k.id`,
    { mailbox: mailboxId, statuses: ['active', ...PAUSED_STATUSES] },
  );
}

/**
 * Signals campaigns after a mailbox joined or left their pool, was held, or may send more. Their launchers check again
 * and notice an empty pool. Leads refused for lack of a mailbox become due at once, and workflows that wait for a
 * mailbox request slots again. The workflows of a paused campaign are signalled when it resumes.
 * @param change line for the campaigns' logs; null for none
 */
export async function announcePoolChange(
  tx: Tx,
  mailboxId: string,
  campaigns: readonly Concerned[],
  change: PoolChange | null,
): Promise<void> {
  await recheckPaused(
    tx,
    campaigns.filter(({ active }) => !active).map(({ id }) => id),
  );
  const ids = campaigns.filter(({ active }) => active).map(({ id }) => id);
  if (ids.length === 0) return;
  // Skips locked campaigns, because the transaction that locks them may wait for this mailbox. Refused leads of a
  // skipped campaign are retried at their planned time.
  await tx.org.sql(
    `with concerned as (
       select id from campaigns where organization_id = :org and id = any(:ids::uuid[]) order by id for no key update skip locked
     )
     update campaigns k set launch_epoch = -1 from concerned where k.id = concerned.id`,
    { ids },
  );
  const waiting = await tx.org.sql<Columns<'enrollments', 'campaign_id' | 'contact_id'>>(
    `select campaign_id, contact_id from enrollments
     where organization_id = :org and state = 'active' and campaign_id = any(:ids::uuid[])
       and waiting_until > :now and next_act = 'mailbox' limit ${WAKE_LIMIT}`,
    { ids, now: tx.now },
  );
  for (const run of waiting) signalControl(tx, run, 'pool');
  if (change) await logEach(tx, mailboxId, ids, change);
  for (const id of ids) signalLauncher(tx, id, 'pool');
}

/**
 * Marks paused campaigns, so that after they resume, their workflows that wait for a mailbox request slots again. Skips
 * locked campaigns, because the transaction that locks them may wait for this mailbox. The workflows of a skipped
 * campaign retry at their planned time.
 */
async function recheckPaused(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.org.sql(
    `with concerned as (
       select id as paused from campaigns where organization_id = :org and id = any(:ids::uuid[]) order by id for no key update skip locked
     )
     update campaigns set control_epoch = control_epoch + 1, ${ADD_RECHECKS} from concerned where id = paused` as `${string}:org${string}`,
    { ids, now: tx.now, rechecks: json(POOL_CHANGED) },
  );
}

/**
 * Writes one line to the log of each campaign. Skips locked rows, because a campaign that is being deleted needs no
 * line.
 */
async function logEach(tx: Tx, mailboxId: string, ids: readonly string[], change: PoolChange): Promise<void> {
  await tx.org.sql(
    `with concerned as (
       select id from campaigns where organization_id = :org and id = any(:ids::uuid[]) for key share skip locked
     )
     insert into campaign_logs (id, organization_id, campaign_id, event_type, message, metadata, created_at)
     select t.log_id, :org, concerned.id, :type, cast(:message as jsonb), cast(:metadata as jsonb), :now
     from unnest(:ids::uuid[], :logIds::uuid[]) as t(id, log_id) join concerned on concerned.id = t.id`,
    {
      ids,
      logIds: ids.map(() => newId()),
      type: change.type,
      message: json(change.message),
      metadata: json({ email_account_id: mailboxId }),
      now: tx.now,
    },
  );
}
