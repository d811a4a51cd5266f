import { across } from '../../../db/across.ts';
import { pauseCampaign } from '../../sending/control/status.ts';
import { markUncertain } from '../../sending/claim.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { message } from '../../../messages/index.ts';

/** Time (ms) by which clocks of the old installation's machines may have been ahead of the database's. */
const CLOCKS_MS = 10_000;

/** Result of {@link holdRestored}, which prevents that emails are sent twice after a restore. */
export interface RestoreHolds {
  /**
   * Number of emails possibly sent after the backup. Such emails are searched in the Sent folder, and become uncertain
   * without a match.
   */
  emailsInDoubt: number;
  /** Number of warmup emails possibly sent. Such emails are not resent. */
  warmupInDoubt: number;
  /**
   * Number of paused campaigns that were active. Their emails sent after the backup are unknown, so a person must start
   * them again.
   */
  campaignsPaused: number;
}

/**
 * Prevents a restored installation from sending emails that the old one may have sent. Emails that were claimed, or due
 * before the old installation stopped, are treated as if their worker died after submitting the message. Each is
 * searched in the Sent folder by its Message-ID; without a match it becomes uncertain. Steps reached after the backup
 * left no rows, so active campaigns are paused. If no process ran after the backup, nothing changes.
 * @param times.stoppedAt when the last process of the old installation ended
 */
export async function holdRestored(
  deps: Deps,
  { takenAt, stoppedAt }: { takenAt: Date; stoppedAt: Date },
): Promise<RestoreHolds> {
  // No process ran after the backup, so no email can have been sent since. Claims of dead workers are recovered as
  // after any crash.
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
