import type { Columns } from '../../../db/rows.ts';
import { isSender } from '../campaign/sender-pool.ts';
import type { CampaignLogType } from '../campaign/log.ts';
import { json } from '../../../db/connection.ts';
import { newId } from '../../../lib/ids.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { signalControl, signalLauncher } from './signals.ts';
import type { Message } from '../../../messages/index.ts';

/** What happened to a mailbox, for the logs of the campaigns that send from it. */
interface PoolChange {
  type: Extract<CampaignLogType, 'sender_held' | 'sender_back' | 'sender_removed'>;
  message: Message;
}

/** Contacts woken at once; the others look by themselves at the time they were given. */
const WAKE_LIMIT = 5_000;

interface Concerned {
  id: string;
  name: string;
}

/**
 * Active campaigns that may send from a mailbox now. Asked before a change that takes the mailbox out of pools, and after
 * one that brings it in.
 */
export async function findActiveCampaigns(tx: Tx, mailboxId: string): Promise<Concerned[]> {
  return tx.org.sql<Concerned>(
    `select k.id, k.name from campaigns k join mailboxes m on m.organization_id = k.organization_id and m.id = :mailbox
       left join campaign_senders c on c.campaign_id = k.id and c.mailbox_id = m.id
     where k.organization_id = :org and k.status = 'active' and ${isSender({ id: 'k.id', tags: 'k.email_tags', strategy: 'k.sender_strategy' })}
     order by k.id`,
    { mailbox: mailboxId },
  );
}

/**
 * Signals campaigns after a mailbox has joined or left their pool, was held, or may send more than before: their launchers check again, leads that
 * were refused for lack of a mailbox are due at once, and runs that wait for a mailbox ask again. The launcher notices
 * a pool that is empty now.
 * @param change what their logs say of it; null for nothing
 */
export async function announcePoolChange(
  tx: Tx,
  mailboxId: string,
  campaigns: readonly Concerned[],
  change: PoolChange | null,
): Promise<void> {
  if (campaigns.length === 0) return;
  const ids = campaigns.map(({ id }) => id);
  // Not waited for: who holds a campaign may want this mailbox. Its refused leads are then asked at their own time.
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
       and waiting_until > :now and waiting_for #>> '{values,what,code}' like '%mailbox%' limit ${WAKE_LIMIT}`,
    { ids, now: tx.now },
  );
  for (const run of waiting) signalControl(tx, run, 'pool');
  if (change) await logEach(tx, mailboxId, ids, change);
  for (const id of ids) signalLauncher(tx, id, 'pool');
}

/** One line in the log of each campaign; one that is being deleted at this moment needs none, and is not waited for. */
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
