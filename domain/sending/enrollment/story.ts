import { across } from '../../../db/across.ts';
import type { Db } from '../../../db/connection.ts';
import { OrgScope } from '../../../db/tenancy.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { enrollmentWorkflow } from '../../../workflows/enrollment/contract.ts';
import type { Message } from '../../../messages/index.ts';
import { shownWait } from './shown-wait.ts';

/** The email of a step and its outcome. Times are UTC; the recipient's address is omitted. */
export interface StorySend {
  id: string;
  /** Message-ID of the first email in the conversation, which identifies it. Null before that email is composed. */
  thread_id: string | null;
  state: string;
  mailbox_id: string | null;
  slot_at: Date;
  sent_at: Date | null;
  message_id: string | null;
  attempts: number;
  error: string | null;
}

/** A wait for a product event, and its outcome. */
export interface StoryWait {
  event_name: string;
  state: string;
  opened_at: Date;
  deadline: Date | null;
  settled_at: Date | null;
  event_id: string | null;
}

/** A step that the contact has reached. */
export interface StoryStep {
  seq: number;
  /** Position of the step in the campaign, from 1. Null when the step was deleted. */
  position: number | null;
  name: string;
  kind: string;
  state: string;
  outcome: string | null;
  detail: Message | null;
  attempts: number;
  started_at: Date;
  completed_at: Date | null;
  send: StorySend | null;
  wait: StoryWait | null;
}

/** One contact's path through one campaign, as recorded in PostgreSQL: ids, kinds and times, no addresses. */
export interface Story {
  enrollment_id: string;
  organization_id: string;
  contact_id: string;
  campaign: { id: string; name: string; status: string; steps: number; timezone: string };
  workflow_id: string;
  state: string;
  reason: Message | null;
  entered_at: Date;
  launched_at: Date | null;
  finished_at: Date | null;
  steps: StoryStep[];
  /** The slot of the first email, reserved before the workflow starts. */
  reserved: StorySend | null;
  hold: { since: Date; until: Date | null; reason: Message | null; source: string | null } | null;
  /** Current reason for the contact's wait. Null when the contact has finished or was not launched. */
  now: { waiting_for: Message; until: Date | null; blocked: boolean } | null;
  /** Lines of the campaign's log about this contact: holds, releases, blocked and retried steps. */
  log: { at: Date; type: string; message: Message }[];
}

const MAX_LOG = 100;

/**
 * Returns the history of one contact in one campaign of any organization, for the operator's command line.
 * @param reference id of an enrollment, or of its workflow: `enrollment/<campaign>/<contact>`
 * @throws AppError not_found
 */
export async function enrollmentStory(db: Db, reference: string): Promise<Story> {
  const found = await locate(db, reference.trim());
  const story = found && (await readStory(new OrgScope(db, found.organization_id), found.id));
  if (!story) throw notFound('enrollment');
  return story;
}

/** Returns the story of an enrollment of the organization, or undefined if there is none. */
export async function readStory(org: OrgScope, enrollmentId: string): Promise<Story | undefined> {
  const [row] = await org.sql(
    `select e.*, c.name as campaign_name, c.status as campaign_status, c.timezone,
       (select count(*)::int from campaign_steps s where s.campaign_id = e.campaign_id) as step_count
     from enrollments e join campaigns c on c.id = e.campaign_id
     where e.organization_id = :org and e.id = :id`,
    { id: enrollmentId },
  );
  if (!row) return undefined;
  const { state, blocked, campaign_status: campaignStatus } = row;
  const stored = { waiting_for: row.waiting_for, waiting_until: row.waiting_until };
  const now = shownWait(stored, { state, blocked, campaignStatus });
  return {
    enrollment_id: row.id,
    organization_id: org.organizationId,
    contact_id: row.contact_id,
    campaign: {
      id: row.campaign_id,
      name: row.campaign_name,
      status: row.campaign_status,
      steps: row.step_count,
      timezone: row.timezone,
    },
    workflow_id: enrollmentWorkflow.id({
      organizationId: org.organizationId,
      campaignId: row.campaign_id,
      contactId: row.contact_id,
    }),
    state: row.state,
    reason: row.failure_reason,
    entered_at: row.entered_at,
    launched_at: row.launched_at,
    finished_at: row.finished_at,
    ...(await readSteps(org, row.id, row.campaign_id)),
    hold: row.hold_since && {
      since: row.hold_since,
      until: row.hold_until,
      reason: row.hold_reason,
      source: row.hold_source,
    },
    now: now.waiting_for && { waiting_for: now.waiting_for, until: now.waiting_until, blocked },
    log: await readLog(org, row.campaign_id, row.contact_id),
  };
}

async function locate(db: Db, reference: string): Promise<{ id: string; organization_id: string } | undefined> {
  const columns = ['id', 'organization_id'] as const;
  if (isUuid(reference))
    return across(db, 'operator')
      .table('enrollments')
      .where({ id: reference })
      .first(...columns);
  const [, campaignId = '', contactId = ''] = /^(?:enrollment\/)?([^/]+)\/([^/]+)$/.exec(reference) ?? [];
  if (!isUuid(campaignId) || !isUuid(contactId)) return undefined;
  return across(db, 'operator')
    .table('enrollments')
    .where({ campaign_id: campaignId, contact_id: contactId })
    .first(...columns);
}

async function readSteps(
  org: OrgScope,
  enrollmentId: string,
  campaignId: string,
): Promise<Pick<Story, 'steps' | 'reserved'>> {
  const campaignSteps = await org
    .table('campaign_steps')
    .where({ campaign_id: campaignId })
    .orderBy('position')
    .select('id', 'name');
  const runs = await org.table('step_runs').where({ enrollment_id: enrollmentId }).orderBy('seq');
  const sends = await org.table('sends').where({ enrollment_id: enrollmentId }).orderBy('id');
  const waits = await org.table('waits').where({ enrollment_id: enrollmentId });
  const steps = runs.map((run): StoryStep => {
    const index = campaignSteps.findIndex(({ id }) => id === run.step_id);
    const send = sends.find(({ step_run_id: of }) => of === run.id);
    const wait = waits.find(({ step_run_id: of }) => of === run.id);
    return {
      seq: run.seq,
      position: index < 0 ? null : index + 1,
      name: campaignSteps[index]?.name ?? '',
      kind: run.kind,
      state: run.state,
      outcome: run.outcome,
      detail: run.detail,
      attempts: run.attempts,
      started_at: run.started_at,
      completed_at: run.completed_at,
      send: send ? sendOf(send) : null,
      wait: wait
        ? {
            event_name: wait.event_name,
            state: wait.state,
            opened_at: wait.opened_at,
            deadline: wait.deadline,
            settled_at: wait.settled_at,
            event_id: wait.event_id,
          }
        : null,
    };
  });
  const early = sends.find(({ step_run_id: of }) => of === null);
  return { steps, reserved: early ? sendOf(early) : null };
}

function sendOf(row: Record<string, any>): StorySend {
  return {
    id: row.id,
    thread_id: row.conversation?.messageIds[0] ?? null,
    state: row.state,
    mailbox_id: row.mailbox_id,
    slot_at: row.slot_at,
    sent_at: row.sent_at,
    message_id: row.message_id,
    attempts: row.attempts,
    error: row.error_code,
  };
}

async function readLog(org: OrgScope, campaignId: string, contactId: string): Promise<Story['log']> {
  const rows = await org.sql<Story['log'][number]>(
    `select created_at as at, event_type as type, message from campaign_logs
     where organization_id = :org and campaign_id = :campaign and metadata ->> 'contact_id' = :contact
     order by id desc limit :limit`,
    { campaign: campaignId, contact: contactId, limit: MAX_LOG },
  );
  return rows.toReversed();
}
