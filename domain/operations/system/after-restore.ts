import { across } from '../../../db/across.ts';
import { pauseCampaign } from '../../sending/control/status.ts';
import { markUncertain } from '../../sending/claim.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { message } from '../../../messages/index.ts';

/** Maximum time (ms) by which clocks in the old installation may have been ahead of the database's clock. */
const CLOCKS_MS = 10_000;

/** Result of {@link holdRestored}. */
export interface RestoreHolds {
  /**
   * Number of emails that may have been sent after the backup. They are searched for in the Sent folder, and become
   * uncertain if they are not found.
   */
  emailsInDoubt: number;
  /** Number of warmup emails that may have been sent. They are not sent again. */
  warmupInDoubt: number;
  /**
   * Number of active campaigns that were paused. Emails that they sent after the backup are unknown, so a person must
   * start them again.
   */
  campaignsPaused: number;
}

/**
 * Prevents a restored installation from sending emails that the old one may have sent. Emails that were claimed, or due
 * before the old installation stopped, are treated as if their worker had crashed after sending them. Each is searched
 * for in the Sent folder by its Message-ID, and becomes uncertain if it is not found. Active campaigns are paused,
 * because emails that were planned after the backup are unknown. Changes nothing if no process ran after the backup.
 * @param times.stoppedAt time at which the last process of the old installation ended
 */
export async function holdRestored(
  deps: Deps,
  { takenAt, stoppedAt }: { takenAt: Date; stoppedAt: Date },
): Promise<RestoreHolds> {
  // Returns early if no process ran after the backup, because then no email can have been sent since. Emails that were
  // claimed are handled as after any crash.
  if (stoppedAt <= takenAt) return { emailsInDoubt: 0, warmupInDoubt: 0, campaignsPaused: 0 };
  const until = new Date(stoppedAt.getTime() + CLOCKS_MS);
  return {
    emailsInDoubt: await markEmailsUncertain(deps, takenAt, until),
    warmupInDoubt: await markWarmupUncertain(deps, until),
    campaignsPaused: await pauseCampaigns(deps, takenAt),
  };
}

async function markEmailsUncertain(deps: Deps, takenAt: Date, until: Date): Promise<number> {
  const found = await across(deps.db, 'operator').sql<{ id: string; organization_id: string }>(
    `select id, organization_id from sends where state = 'sending' or (state = 'reserved' and slot_at <= :until) order by id`,
    { until },
  );
  let held = 0;
  for (const { id, organization_id: organizationId } of found)
    if (await markUncertain(systemCtx(deps, organizationId, 'heron restore'), id, takenAt)) held += 1;
  return held;
}

async function markWarmupUncertain({ db }: Pick<Deps, 'db'>, until: Date): Promise<number> {
  const rows = await across(db, 'operator').sql(
    `update warmup_mails set state = 'uncertain', error = 'restored'
     where state = 'sending' or (state = 'reserved' and slot_at <= :until) returning id`,
    { until },
  );
  return rows.length;
}

async function pauseCampaigns(deps: Deps, takenAt: Date): Promise<number> {
  const active = await across(deps.db, 'operator').sql<{ id: string; organization_id: string }>(
    `select id, organization_id from campaigns where status = 'active' order by organization_id, id`,
  );
  const reason = message('log.restored_from_backup', { at: takenAt.toISOString() });
  let paused = 0;
  for (const { id, organization_id: organizationId } of active)
    if (
      await transact(systemCtx(deps, organizationId, 'heron restore'), (tx) => pauseCampaign(tx, id, 'paused', reason))
    )
      paused += 1;
  return paused;
}
