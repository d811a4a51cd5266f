import { newId } from '../../lib/ids.ts';
import type { TestDeps } from './database.ts';
import { createCampaign, createContact, enroll } from './factories.ts';
import { createSend, type Original } from './inbound.ts';

/** Functions that write leads in the middle of their campaign directly to the database. */

/** Lead whose first email was sent. */
export interface SentLead {
  contactId: string;
  enrollmentId: string;
  sendId: string;
  email: string;
  original: Original;
}

/**
 * Adds a lead to a campaign whose step email was sent from a mailbox. `contact` contains further columns of the
 * contact.
 */
export async function createSentLead(
  deps: TestDeps,
  organizationId: string,
  {
    campaignId,
    stepId,
    mailbox,
    email = `lead-${newId()}@lead.test`,
    contact = {},
  }: {
    campaignId: string;
    stepId: string;
    mailbox: { id: string; email: string };
    email?: string;
    contact?: Record<string, unknown>;
  },
): Promise<SentLead> {
  const now = deps.clock.now();
  const contactId = await createContact(deps.db, now, organizationId, { email, ...contact });
  const [enrollmentId] = (await enroll(deps, organizationId, campaignId, [contactId])) as [string];
  await deps.db('enrollments').where({ id: enrollmentId }).update({ state: 'active', launched_at: now });
  const { id: sendId, messageId } = await createSend(deps, organizationId, {
    campaignId,
    enrollmentId,
    stepId,
    contactId,
    mailboxId: mailbox.id,
    recipient: email,
  });
  return { contactId, enrollmentId, sendId, email, original: { messageId, from: mailbox.email, to: email } };
}

/** Lead that waits for a product event at the only step of its campaign. */
export interface WaitingLead {
  campaignId: string;
  stepId: string;
  enrollmentId: string;
  runId: string;
  waitId: string;
}

/** Creates a campaign that waits for an event, with a contact that has waited in it since `openedAt`. */
export async function createWaitingLead(
  deps: TestDeps,
  organizationId: string,
  contactId: string,
  { event = 'order.paid', openedAt, deadline = null }: { event?: string; openedAt: Date; deadline?: Date | null },
): Promise<WaitingLead> {
  const { campaignId, stepIds } = await createCampaign(deps, organizationId, [
    {
      kind: 'wait',
      action: { type: 'wait_for_event', wait_event_name: event, timeout_minutes: 60, on_timeout: 'continue' },
    },
  ]);
  const stepId = stepIds[0]!;
  const [enrollmentId] = (await enroll(deps, organizationId, campaignId, [contactId])) as [string];
  await deps.db('enrollments').where({ id: enrollmentId }).update({ state: 'active', launched_at: openedAt });
  const [runId, waitId] = [newId(), newId()];
  const shared = {
    organization_id: organizationId,
    enrollment_id: enrollmentId,
    campaign_id: campaignId,
    contact_id: contactId,
    step_id: stepId,
  };
  await deps
    .db('step_runs')
    .insert({ ...shared, id: runId, seq: 1, kind: 'wait_for_event', state: 'waiting', started_at: openedAt });
  await deps.db('waits').insert({
    ...shared,
    id: waitId,
    step_run_id: runId,
    event_name: event,
    state: 'open',
    entered_at: openedAt,
    opened_at: openedAt,
    deadline,
  });
  return { campaignId, stepId, enrollmentId, runId, waitId };
}
