import type { StepAction } from '../campaigns/actions.ts';
import type { GraphStep, StepConditions } from '../campaigns/graph.ts';
import type { Tx } from '../kernel/transact.ts';
import type { CampaignView } from '../sending/campaign-view.ts';
import { settingsColumns, settingsInForce, type OutreachSettings, type SettingsLayers } from '../settings/outreach.ts';
import { suppressedNow } from '../suppressions/check.ts';

/** A step as the engine sees it. */
export interface EngineStep extends GraphStep {
  name: string;
  wait_after: number;
}

/** A variant a step can be sent as. */
export interface EngineVariant {
  id: string;
  step_id: string | null;
  weight: number;
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
}

export interface EnrollmentState {
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
  waiting_for: string | null;
  waiting_until: Date | null;
  blocked: boolean;
  signalled_epoch: number;
}

export interface EngineContact {
  id: string;
  email: string;
  first_name: string;
  last_name: string;
  company: string;
  phone: string;
  custom_fields: Record<string, string>;
  subscribed: boolean;
  verification_status: string;
  verification_checked_at: Date | null;
  esp_provider: string;
}

export interface EngineSend {
  id: string;
  state: string;
  slot_at: Date;
  opened_at: Date | null;
  clicked_at: Date | null;
  replied_at: Date | null;
}

export interface EngineWait {
  id: string;
  state: 'open' | 'resumed' | 'timed_out' | 'cancelled';
  event_name: string;
  deadline: Date | null;
  event_data: Record<string, unknown> | null;
}

/** Everything one decision about a contact is made from, read under the enrollment's lock. */
export interface Snapshot {
  enrollment: EnrollmentState;
  campaign: CampaignView;
  contact: EngineContact;
  run: StepRun | null;
  /** The email of the run's step, if it is one. */
  send: EngineSend | null;
  wait: EngineWait | null;
  hasSent: boolean;
  suppressed: boolean;
  /** The settings in force for the campaign. */
  settings(): OutreachSettings;
  /** Columns of the enrollment the decision changes, written once at its end. */
  changes: Record<string, unknown>;
}

type Row = Record<'enrollment' | 'campaign' | 'contact' | 'run' | 'send' | 'wait', any> & { has_sent: boolean; suppressed: boolean } & Pick<SettingsLayers, 'workspace' | 'overrides'>;

/**
 * Locks an enrollment, then reads what the next decision needs; undefined when it is gone. In one statement, what is
 * read beside the locked row would be as old as the wait for the lock.
 */
export async function readSnapshot(tx: Tx, enrollmentId: string): Promise<Snapshot | undefined> {
  const [locked] = await tx.org.sql(`select id from enrollments where organization_id = :org and id = :id for update`, { id: enrollmentId });
  if (!locked) return undefined;
  const [row] = await tx.org.sql<Row>(
    `select to_jsonb(e) as enrollment, to_jsonb(c) as campaign, to_jsonb(ct) as contact,
       to_jsonb(r) as run, to_jsonb(s) as send,
       case when w.id is not null then to_jsonb(w) || jsonb_build_object('event_data', pe.data) end as wait,
       exists (select 1 from sends p where p.enrollment_id = e.id and p.state in ('sent', 'uncertain', 'sending', 'bounced')) as has_sent,
       ${settingsColumns('c')}, ${suppressedNow('e.organization_id', 'ct.email')} as suppressed
     from enrollments e
     join campaigns c on c.id = e.campaign_id
     join contacts ct on ct.id = e.contact_id
     left join lateral (select * from step_runs where enrollment_id = e.id order by seq desc limit 1) r on true
     left join sends s on s.enrollment_id = e.id and s.step_id = r.step_id
     left join waits w on w.step_run_id = r.id
     left join product_events pe on pe.id = w.event_id
     where e.organization_id = :org and e.id = :id`,
    { id: enrollmentId, now: tx.now },
  );
  if (!row) return undefined;
  return {
    enrollment: dates(row.enrollment, ['hold_since', 'hold_until', 'entered_at', 'launched_at', 'waiting_until']),
    campaign: dates(row.campaign, ['start_date', 'end_date', 'created_at', 'idle_since']),
    contact: dates(row.contact, ['verification_checked_at']),
    run: dates(row.run, ['started_at', 'completed_at']),
    send: dates(row.send, ['slot_at', 'opened_at', 'clicked_at', 'replied_at']),
    wait: dates(row.wait, ['deadline']),
    hasSent: row.has_sent,
    suppressed: row.suppressed,
    settings: () => settingsInForce({ workspace: row.workspace, overrides: row.overrides, mode: row.campaign.unsubscribe_mode }),
    changes: {},
  };
}

/** jsonb carries times as text; decisions compare them. */
function dates<T>(row: any, fields: string[]): T {
  if (row) for (const field of fields) row[field] = row[field] === null ? null : new Date(row[field]);
  return row as T;
}

export interface Graph {
  steps: EngineStep[];
  variants: EngineVariant[];
}

const MAX_GRAPHS = 1_000;
const graphs = new Map<string, Graph>();

/**
 * The step graph of a campaign as it is now. Every change of it raises `graph_version` in its own transaction, so a
 * version that is cached is current.
 */
export async function readGraph(tx: Tx, campaign: { id: string; graph_version: number }): Promise<Graph> {
  const key = `${campaign.id}/${campaign.graph_version}`;
  const cached = graphs.get(key);
  if (cached) return cached;
  const rows = await tx.org.table('campaign_steps').where({ campaign_id: campaign.id }).orderBy('position')
    .select('id', 'position', 'kind', 'name', 'wait_after', 'conditions', 'action');
  const variants = await tx.org.table('campaign_variants').where({ campaign_id: campaign.id, is_active: true }).where('weight', '>', 0)
    .orderBy('id').select('id', 'step_id', 'weight');
  const graph: Graph = {
    steps: rows.map((row) => ({ ...row, conditions: row.conditions as StepConditions, action: row.action as StepAction | null }) as EngineStep),
    variants: variants as EngineVariant[],
  };
  if (graphs.size >= MAX_GRAPHS) graphs.clear();
  graphs.set(key, graph);
  return graph;
}
