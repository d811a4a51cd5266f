import { across } from '../../../db/across.ts';
import { pauseCampaign } from '../../sending/control/status.ts';
import { markUncertain } from '../../sending/claim.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { message } from '../../../messages/index.ts';

/** Clocks of the old installation's machines may have been ahead of the database's by as much (ms). */
const CLOCKS_MS = 10_000;

/** What was done so that nothing leaves a second time. */
export interface Held {
  /** Emails that may have left after the backup: looked for in the Sent folder, else listed as uncertain. */
  emailsInDoubt: number;
  /** Warmup emails that may have left: not sent again. */
  warmupInDoubt: number;
  /** Campaigns that were active. What they sent after the backup is not in it, so that they stand until a person starts them. */
  campaignsPaused: number;
}

/**
 * Sees to it that a restored installation sends nothing of its own accord that the one before may have sent. An email that was in a worker's
 * hands, or due before the old installation stopped, becomes one whose worker died after its end was handed over: it is looked for in the
 * Sent folder under its Message-ID, and is uncertain otherwise. Steps that the old installation reached after the backup left no row at all:
 * campaigns that were active are paused, unless nothing ran after the backup.
 * @param times.stoppedAt when the last process of the old installation ended
 */
export async function holdRestored(
  deps: Deps,
  { takenAt, stoppedAt }: { takenAt: Date; stoppedAt: Date },
): Promise<Held> {
  // Where nothing ran on, the claims of dead workers are judged by their marks, as after any crash.
  if (stoppedAt <= takenAt) return { emailsInDoubt: 0, warmupInDoubt: 0, campaignsPaused: 0 };
  const until = new Date(stoppedAt.getTime() + CLOCKS_MS);
  return {
    emailsInDoubt: await doubtEmails(deps, takenAt, until),
    warmupInDoubt: await doubtWarmup(deps, until),
    campaignsPaused: await pauseCampaigns(deps, takenAt),
  };
}

async function doubtEmails(deps: Deps, takenAt: Date, until: Date): Promise<number> {
  const found = await across(deps.db, 'operator').sql<{ id: string; organization_id: string }>(
    `select id, organization_id from sends where state = 'sending' or (state = 'reserved' and slot_at <= :until) order by id`,
    { until },
  );
  let held = 0;
  for (const { id, organization_id: organizationId } of found)
    if (await markUncertain(systemCtx(deps, organizationId, 'heron restore'), id, takenAt)) held += 1;
  return held;
}

async function doubtWarmup({ db }: Pick<Deps, 'db'>, until: Date): Promise<number> {
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
