import type { Columns } from '../../../db/rows.ts';
import { hasOpenLeads } from './status.ts';
import { releaseReservedSends } from './release.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { EnrollmentSignals } from '../../../workflows/enrollment/contract.ts';
import { signalFinished, signalLauncher } from './signals.ts';
import type { Message } from '../../../messages/index.ts';
import { json } from '../../../db/connection.ts';

/** Final states of an enrollment. */
export type FinalState = 'completed' | 'replied' | 'bounced' | 'failed' | 'unsubscribed' | 'undeliverable';

interface FinishOptions {
  /** Failure reason shown to people. */
  reason?: Message;
  /** Id of the enrollment whose own workflow makes this call and needs no signal. */
  runOf?: string | null;
  /** Incoming message that ended the enrollment, for the workflow's history. */
  because?: EnrollmentSignals['reply'];
  /**
   * Id of the campaign, if the caller has locked the enrollment and has checked that no step run, wait or slot is open.
   * The caller must then commit immediately after this call.
   */
  nothingOpenIn?: string;
}

/**
 * Ends an enrollment unless it has ended already. Only the first of several concurrent calls has an effect.
 * @param options.byRun true when the contact's own workflow makes this call and needs no signal
 * @returns true if this call ended it
 */
export async function finishEnrollment(
  tx: Tx,
  enrollmentId: string,
  state: FinalState,
  options: Omit<FinishOptions, 'runOf'> & { byRun?: boolean } = {},
): Promise<boolean> {
  const { byRun, ...rest } = options;
  return (await finishEnrollments(tx, [enrollmentId], state, { ...rest, runOf: byRun ? enrollmentId : null })) > 0;
}

/**
 * Variant of {@link finishEnrollment} for several enrollments. Locks shared rows in a fixed order. Cancels open waits,
 * releases reserved slots and signals the workflows, and the launcher when no lead is left.
 * @returns the number of enrollments that this call ended
 */
export async function finishEnrollments(
  tx: Tx,
  enrollmentIds: readonly string[],
  state: FinalState,
  options: FinishOptions = {},
): Promise<number> {
  if (enrollmentIds.length === 0) return 0;
  const campaign = options.nothingOpenIn;
  const rows = await tx.org.sql<
    Columns<'enrollments', 'id' | 'campaign_id' | 'contact_id' | 'launched_at'> & { left: boolean | null }
  >(
    `with open as (
       select id from enrollments where organization_id = :org and id = any(:ids::uuid[]) and state in ('pending', 'active') order by id for update
     ), ended as (
       update enrollments e set state = :state, finished_at = :now, last_activity_at = :now, waiting_for = null, waiting_until = null,
         blocked = false, failure_reason = cast(:reason as jsonb)
       from open where e.id = open.id
       returning e.id, e.campaign_id, e.contact_id, e.launched_at
     ) ${campaign ? `, ${OTHERS}` : ''}
     select ended.*, ${campaign ? OTHERS_LEFT : 'null'} as "left" from ended` as `${string}:org${string}`,
    {
      ids: enrollmentIds,
      state,
      now: tx.now,
      reason: options.reason ? json(options.reason) : null,
      ...(campaign ? { campaign } : {}),
    },
  );
  if (rows.length === 0) return 0;
  if (!campaign)
    await closeWhatIsOpen(
      tx,
      rows.map(({ id }) => id),
      state,
    );
  for (const row of rows) {
    if (row.launched_at && row.id !== options.runOf) signalFinished(tx, row, options.because);
    if (!row.left) tx.atEnd(`campaign-emptied/${row.campaign_id}`, () => signalIfEmptied(tx, row, enrollmentIds));
  }
  return rows.length;
}

async function closeWhatIsOpen(tx: Tx, ids: readonly string[], state: FinalState): Promise<void> {
  await tx.org.sql(
    `with due as (
       select id from waits where organization_id = :org and enrollment_id = any(:ids::uuid[]) and state = 'open' order by id for update
     ), cancelled as (
       update waits w set state = 'cancelled', settled_at = :now from due where w.id = due.id
     )
     update step_runs set state = 'skipped', outcome = coalesce(outcome, :state), completed_at = :now
     where organization_id = :org and enrollment_id = any(:ids::uuid[]) and state in ('running', 'waiting', 'blocked')`,
    { ids, state, now: tx.now },
  );
  await releaseReservedSends(tx, { enrollmentIds: ids });
}

/**
 * CTEs that lock another open lead of the campaign. A lead that can be locked is not being finished by another
 * transaction, and this check runs again when it is finished.
 */
const OTHERS = `waiting as (
       -- The lead that is launched last: no other transaction is likely to lock it now.
       select id from enrollments where organization_id = :org and campaign_id = :campaign and state = 'pending' and id <> all(:ids::uuid[])
       order by entered_at desc, id desc limit 1 for share skip locked
     ), active as (
       select id from enrollments where organization_id = :org and campaign_id = :campaign and state = 'active' and id <> all(:ids::uuid[])
       order by waiting_until desc limit 1 for share skip locked
     )`;
/** SQL condition on {@link OTHERS}: the campaign has another open lead. */
const OTHERS_LEFT = 'exists (select 1 from waiting) or exists (select 1 from active)';

/**
 * Signals the launcher when the last lead has finished. Without the lock, two transactions that end the last two leads
 * would each count the other lead as open, and neither would signal.
 * @param left false if it is known that no other lead can be locked; null if not known
 */
async function signalIfEmptied(
  tx: Tx,
  { campaign_id: campaignId, left }: { campaign_id: string; left: boolean | null },
  ids: readonly string[],
): Promise<void> {
  if (left === null) {
    const [row] = await tx.org.sql<{ left: boolean }>(`with ${OTHERS} select ${OTHERS_LEFT} as "left"`, {
      campaign: campaignId,
      ids,
    });
    if (row!.left) return;
  }
  await tx.org.lock(`campaign-emptied/${campaignId}`);
  if (!(await hasOpenLeads(tx, campaignId))) signalLauncher(tx, campaignId, 'emptied');
}
