import { json } from '../../db/connection.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { logCampaign } from './campaign/log.ts';
import { releaseReservedSends } from './control/release.ts';
import { signalRetry } from './control/signals.ts';
import { message, type Message } from '../../messages/index.ts';

/** An email that could not be composed, with related ids. */
interface Unwritten {
  sendId: string;
  stepRunId: string | null;
  enrollmentId: string;
  contactId: string;
  campaignId: string;
  step: { id: string; name: string };
  /** True if a person has requested to send an uncertain email again. */
  again: boolean;
}

const CODE = 'composition_failed';

/**
 * Blocks the contact of an email that cannot be composed. Sending it with missing values would embarrass the sender,
 * and failing the lead would lose a contact because of a typing error. Also releases the slot. The email is retried
 * when a step or variant of the campaign changes, or when a person requests it.
 * @param detail fault in the email, for the author
 */
export async function blockComposition(tx: Tx, email: Unwritten, detail: Message): Promise<void> {
  const { sendId, stepRunId, enrollmentId, contactId, campaignId, step } = email;
  const said = message('log.email_unwritable', { step: step.name, reason: detail });
  const ids = { step_id: step.id, contact_id: contactId, step_run_id: stepRunId, code: CODE };
  if (email.again) {
    await tx.org.table('sends').where({ id: sendId }).update({ again: false, updated_at: tx.now });
    await tx.org.table('sends').where({ id: sendId, state: 'reserved' }).update({ state: 'uncertain' });
    await logCampaign(tx, campaignId, 'step_failed', said, ids);
    return;
  }
  await releaseReservedSends(tx, { sendId });
  if (stepRunId)
    await tx.org
      .table('step_runs')
      .where({ id: stepRunId })
      .update({
        state: 'blocked',
        detail: json(detail),
        error: json({
          code: CODE,
          message: detail,
          fix: message('step_runs.unwritable.fix'),
        }),
      });
  await tx.org
    .table('enrollments')
    .where({ id: enrollmentId })
    .update({ blocked: true, waiting_for: json(message('wait.unwritable')), waiting_until: null });
  await logCampaign(tx, campaignId, 'step_blocked', said, ids);
}

/**
 * Resumes contacts blocked by an email that could not be composed, after a change of steps or variants. Returns their
 * number.
 */
export async function retryCompositions(tx: Tx, campaignId: string): Promise<number> {
  const leads = await tx.org.sql<{ campaign_id: string; contact_id: string }>(
    `with held as (
       select r.id, r.enrollment_id from step_runs r
       where r.organization_id = :org and r.campaign_id = :campaign and r.state = 'blocked' and r.error ->> 'code' = '${CODE}'
     ), leads as (
       select e.id, e.contact_id from enrollments e where e.organization_id = :org and e.id in (select enrollment_id from held) and e.state = 'active'
       order by e.id for update
     ), freed as (
       update step_runs r set state = 'running', error = null, detail = null
       from held h join leads l on l.id = h.enrollment_id where r.id = h.id
     )
     update enrollments e set blocked = false, last_activity_at = :now from leads l where e.id = l.id
     returning e.campaign_id, e.contact_id`,
    { campaign: campaignId, now: tx.now },
  );
  for (const lead of leads) signalRetry(tx, lead, { cause: 'operator', stepRunId: null });
  return leads.length;
}
