import { LRUCache } from 'lru-cache';
import type { ContactRow } from '../../../db/models/contact.ts';
import type { StepAction } from '../campaign/actions.ts';
import type { GraphStep, StepConditions } from '../campaign/graph.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { CampaignView } from '../campaign/campaign-view.ts';
import {
  settingsColumns,
  settingsInForce,
  type OutreachSettings,
  type SettingsLayers,
} from '../campaign/outreach-settings.ts';
import { askedNow, suppressedNow } from '../../directory/suppression-check.ts';
import type { Message } from '../../../messages/index.ts';

/** A step with the columns that the sending engine needs. */
export interface EngineStep extends GraphStep {
  name: string;
  wait_after: number;
}

/** A variant in use of an email step. */
interface EngineVariant {
  id: string;
  step_id: string | null;
  weight: number;
  /** Set for the winner of an A/B test; all further emails of the step use this variant. */
  promoted_at: Date | null;
}

export interface StepRun {
  id: string;
  step_id: string;
  seq: number;
  kind: string;
  state: 'running' | 'waiting' | 'completed' | 'skipped' | 'failed' | 'blocked';
  outcome: string | null;
  attempts: number;
  output_key: string | null;
  output: Record<string, unknown> | null;
  started_at: Date;
  completed_at: Date | null;
  /** Time of the first call of the app by an `app_action` step. */
  called_at: Date | null;
}

interface EnrollmentState {
  id: string;
  campaign_id: string;
  contact_id: string;
  state: string;
  app_values: Record<string, unknown>;
  mailbox_id: string | null;
  hold_since: Date | null;
  hold_until: Date | null;
  entered_at: Date;
  launched_at: Date | null;
  waiting_for: Message | null;
  waiting_until: Date | null;
  blocked: boolean;
  signalled_epoch: number;
}

/** Columns of a contact that steps and conditions may read. */
export type EngineContact = Pick<
  ContactRow,
  | 'id'
  | 'email'
  | 'first_name'
  | 'last_name'
  | 'company'
  | 'phone'
  | 'custom_fields'
  | 'subscribed'
  | 'verification_status'
  | 'verification_checked_at'
  | 'esp_provider'
>;

export interface EngineSend {
  id: string;
  step_id: string | null;
  mailbox_id: string | null;
  state: string;
  slot_at: Date;
  /** True if a person has requested to send an uncertain email again. */
  again: boolean;
  step_run_id: string | null;
  claimed_at: Date | null;
  opened_at: Date | null;
  clicked_at: Date | null;
  replied_at: Date | null;
}

export interface EngineWait {
  id: string;
  state: 'open' | 'resumed' | 'timed_out' | 'cancelled';
  event_name: string;
  opened_at: Date;
  deadline: Date | null;
  event_id: string | null;
  event_data: Record<string, unknown> | null;
}

/** The step at which a decision began, for the waits that the decision opens. */
interface Before {
  runId: string;
  /**
   * Time at which the step's work started: its email was claimed, its app was first called, or the step began. Null if
   * no work has started.
   */
  workBegan: Date | null;
  /** Ids of the events that ended the contact's earlier waits. An event ends at most one wait of a contact. */
  events: string[];
}

/** All input of one decision about a contact, read under the enrollment's lock. */
export interface Snapshot {
  enrollment: EnrollmentState;
  campaign: CampaignView;
  contact: EngineContact;
  run: StepRun | null;
  /** All emails of the contact in this campaign. */
  sends: EngineSend[];
  /** The email of the current step. Null if the step has no email. */
  send: EngineSend | null;
  wait: EngineWait | null;
  /** The step at which the decision began. Null for a contact without an email. */
  before: Before | null;
  hasSent: boolean;
  suppressed: boolean;
  /** True if a person must decide whether the contact has opted out. */
  asked: boolean;
  /** Returns the effective settings of the campaign. */
  settings(): OutreachSettings;
  /**
   * Columns of the enrollment that the decision changes. `entered` is the step run that was begun; `store` in
   * `advance.ts` writes both together.
   */
  changes: Partial<Record<EnrollmentColumn, unknown>>;
  entered: StepRun | null;
}

/** Columns of an enrollment that a decision may change. */
export type EnrollmentColumn =
  | 'state'
  | 'launched_at'
  | 'last_activity_at'
  | 'hold_since'
  | 'hold_until'
  | 'hold_reason'
  | 'hold_source'
  | 'current_step_id'
  | 'step_started_at'
  | 'mailbox_id'
  | 'app_values'
  | 'waiting_for'
  | 'waiting_until'
  | 'blocked'
  | 'signalled_epoch';

/** States of an email that was or may have been sent. */
export const POSSIBLY_SENT: ReadonlySet<string> = new Set(['sent', 'uncertain', 'sending', 'bounced']);

type Row = Record<'enrollment' | 'campaign' | 'contact' | 'run' | 'wait', any> & {
  sends: any[];
  suppressed: boolean;
  asked: boolean;
} & Pick<SettingsLayers, 'workspace' | 'overrides'>;

/**
 * Identifies an enrollment by its id, or by campaign and contact as its workflow does. A contact that was removed and
 * added again has a new id.
 */
export type EnrollmentKey = string | { campaignId: string; contactId: string };

/**
 * Locks an enrollment and then reads the input of the next decision. Returns undefined when it is deleted. Uses two
 * statements: a single statement would read the other rows before it waits for the lock.
 */
export async function readSnapshot(tx: Tx, key: EnrollmentKey): Promise<Snapshot | undefined> {
  const byId = typeof key === 'string';
  const which = byId ? 'e.id = :id' : 'e.campaign_id = :campaignId and e.contact_id = :contactId';
  const bindings: Record<string, string> = byId
    ? { id: key }
    : { campaignId: key.campaignId, contactId: key.contactId };
  const lock = tx.org.sql<{ id: string }>(
    `select e.id from enrollments e where e.organization_id = :org and ${which} for update` as `${string}:org${string}`,
    bindings,
  );
  const read = tx.org.sql<Row>(
    `select to_jsonb(e) as enrollment, to_jsonb(c) as campaign, to_jsonb(ct) as contact,
       to_jsonb(r) as run,
       (select coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'step_id', s.step_id, 'mailbox_id', s.mailbox_id, 'state', s.state, 'slot_at', s.slot_at, 'again', s.again, 'step_run_id', s.step_run_id, 'claimed_at', s.claimed_at, 'opened_at', s.opened_at,
          'clicked_at', s.clicked_at, 'replied_at', s.replied_at)), '[]') from sends s where s.enrollment_id = e.id) as sends,
       case when w.id is not null then to_jsonb(w) || jsonb_build_object('event_data', pe.data) end as wait,
       ${settingsColumns('c')}, ${suppressedNow('e.organization_id', 'ct.email')} as suppressed,
       ${askedNow('e.organization_id', 'ct.email')} as asked
     from enrollments e
     join campaigns c on c.id = e.campaign_id
     join contacts ct on ct.id = e.contact_id
     left join lateral (
       select id, step_id, seq, kind, state, outcome, attempts, output_key, output, started_at, completed_at, called_at
       from step_runs where enrollment_id = e.id order by seq desc limit 1) r on true
     left join waits w on w.step_run_id = r.id
     left join product_events pe on pe.id = w.event_id
     where e.organization_id = :org and ${which}` as `${string}:org${string}`,
    { ...bindings, now: tx.now },
  );
  // Both queries are sent together. PostgreSQL runs the second one after the first has its lock.
  const [[locked], [row]] = await Promise.all([lock, read]);
  if (!row) return undefined;
  // The contact was removed and added again during the wait for the lock. The new enrollment is not locked yet.
  if (row.enrollment.id !== locked?.id) return readSnapshot(tx, key);
  const run = dates<StepRun | null>(row.run, ['started_at', 'completed_at', 'called_at']);
  const sends = row.sends.map((send) =>
    dates<EngineSend>(send, ['slot_at', 'claimed_at', 'opened_at', 'clicked_at', 'replied_at']),
  );
  const send = sendOf(sends, run?.step_id);
  return {
    enrollment: dates(row.enrollment, ['hold_since', 'hold_until', 'entered_at', 'launched_at', 'waiting_until']),
    campaign: dates(row.campaign, ['start_date', 'end_date', 'created_at', 'started_at', 'idle_since']),
    contact: dates(row.contact, ['verification_checked_at']),
    run,
    sends,
    send,
    before: run && {
      runId: run.id,
      workBegan: workBegan(run, send),
      events: row.wait?.event_id ? [row.wait.event_id] : [],
    },
    wait: dates(row.wait, ['opened_at', 'deadline']),
    hasSent: sends.some(({ state }) => POSSIBLY_SENT.has(state)),
    suppressed: row.suppressed,
    asked: row.asked,
    settings: () =>
      settingsInForce({ workspace: row.workspace, overrides: row.overrides, mode: row.campaign.unsubscribe_mode }),
    changes: {},
    entered: null,
  };
}

function workBegan({ kind, started_at, called_at }: StepRun, send: EngineSend | null): Date | null {
  if (kind === 'email') return send?.claimed_at ?? null;
  return kind === 'app_action' ? called_at : started_at;
}

/** Returns the email of a step. A step sends at most one email, even if the contact reaches it several times. */
export function sendOf(sends: readonly EngineSend[], stepId: string | undefined): EngineSend | null {
  return (stepId !== undefined && sends.find(({ step_id: of }) => of === stepId)) || null;
}

/**
 * Returns the latest email that was sent or is being sent. Opens, clicks and replies in branch conditions refer to this
 * email.
 */
export function latestEmail({ sends }: Pick<Snapshot, 'sends'>): EngineSend | null {
  return sends.reduce<EngineSend | null>(
    (latest, send) => (POSSIBLY_SENT.has(send.state) && !(latest && latest.slot_at > send.slot_at) ? send : latest),
    null,
  );
}

/** Converts timestamp strings of a jsonb row to dates. */
function dates<T>(row: any, fields: string[]): T {
  if (row) for (const field of fields) row[field] = row[field] === null ? null : new Date(row[field]);
  return row as T;
}

export interface Graph {
  steps: EngineStep[];
  variants: EngineVariant[];
  /** Next steps of removed steps, by the id of the removed step. */
  removed: Map<string, string | null>;
}

const MAX_GRAPHS = 1_000;
const graphs = new LRUCache<string, Graph>({ max: MAX_GRAPHS });

/**
 * Returns the current step graph of a campaign. Every change of the graph raises `graph_version` in the same
 * transaction, so a cached version is current.
 */
export async function readGraph(tx: Tx, campaign: { id: string; graph_version: number }): Promise<Graph> {
  const key = `${campaign.id}/${campaign.graph_version}`;
  const cached = graphs.get(key);
  if (cached) return cached;
  const rows = await tx.org
    .table('campaign_steps')
    .where({ campaign_id: campaign.id })
    .orderBy('position')
    .select('id', 'position', 'kind', 'name', 'wait_after', 'conditions', 'action');
  const variants = await tx.org
    .table('campaign_variants')
    .where({ campaign_id: campaign.id, is_active: true })
    .where('weight', '>', 0)
    .orderBy('id')
    .select('id', 'step_id', 'weight', 'promoted_at');
  const removed = await tx.org
    .table('removed_steps')
    .where({ campaign_id: campaign.id })
    .select('step_id', 'successor_id');
  const graph: Graph = {
    removed: new Map(removed.map(({ step_id: id, successor_id: successor }) => [id, successor])),
    steps: rows.map((row) => ({
      ...row,
      conditions: row.conditions as unknown as StepConditions,
      action: row.action as StepAction | null,
    })),
    variants,
  };
  graphs.set(key, graph);
  return graph;
}
