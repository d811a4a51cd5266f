import type { Trx } from '../db/connection.ts';
import { json } from '../db/connection.ts';
import type { WorkflowContract } from '../workflows/contract.ts';

/** Channel on which the relay is woken after a commit that left intents. */
export const OUTBOX_CHANNEL = 'heron_outbox';

/** How a run is started, in a form that survives the outbox. */
export interface StartSpec {
  workflowType: string;
  args: unknown;
  kind: string;
  summary: string;
  searchAttributes: { OrganizationId: string; CampaignId?: string };
}

/** What Temporal must do after the transaction commits. */
export type Intent =
  | { kind: 'start'; workflowId: string; payload: StartSpec }
  | { kind: 'signal'; workflowId: string; payload: StartSpec & { signal: string } }
  | { kind: 'cancel'; workflowId: string; payload: { reason: string } };

/** Intent to start a workflow. A run that is already open is left alone. */
export function start<Args>(contract: WorkflowContract<Args>, args: Args): Intent {
  return { kind: 'start', workflowId: contract.id(args), payload: startSpec(contract, args) };
}

/** Intent to signal a workflow. Signals only say "look again"; where no run is open, one is started, which heals a lost run. */
export function signal<Args>(contract: WorkflowContract<Args>, args: Args, name: string): Intent {
  return { kind: 'signal', workflowId: contract.id(args), payload: { ...startSpec(contract, args), signal: name } };
}

/** Intent to cancel a workflow; nothing happens when none is open. */
export function cancel<Args>(contract: WorkflowContract<Args>, args: Args, reason: string): Intent {
  return { kind: 'cancel', workflowId: contract.id(args), payload: { reason } };
}

function startSpec<Args>(contract: WorkflowContract<Args>, args: Args): StartSpec {
  return {
    workflowType: contract.type,
    args,
    kind: contract.kind,
    summary: contract.summary(args),
    searchAttributes: contract.searchAttributes(args),
  };
}

/**
 * Writes intents into the outbox of an open transaction and wakes the relay when it commits.
 * @param withinMs what is not urgent is carried out at some moment within this time, so that many at once hold up nothing else
 */
export async function writeIntents(trx: Trx, intents: readonly Intent[], withinMs = 0): Promise<void> {
  if (intents.length === 0) return;
  await trx.raw(
    `with written as (
       insert into outbox (kind, workflow_id, payload, available_at)
       select t.kind, t.workflow_id, t.payload::jsonb, now() + random() * ?::float8 * interval '1 millisecond' from unnest(?::text[], ?::text[], ?::text[]) with ordinality as t(kind, workflow_id, payload, place)
       order by t.place
       returning id
     )
     select pg_notify('${OUTBOX_CHANNEL}', '') from written limit 1`,
    [
      withinMs,
      intents.map(({ kind }) => kind),
      intents.map(({ workflowId }) => workflowId),
      intents.map(({ payload }) => json(payload)),
    ] as never,
  );
}

/** What verbs may ask of Temporal directly. Everything else goes through the outbox. */
export interface WorkflowGateway {
  /**
   * Runs a workflow to its end and returns its result.
   * @throws AppError service_unavailable when Temporal or its workers do not answer within `timeoutMs`
   */
  execute<Args, Result>(contract: WorkflowContract<Args>, args: Args, timeoutMs: number): Promise<Result>;
  /** Milliseconds the workflow service took to answer, and whether workers poll the task queue. */
  health(): Promise<{ latencyMs: number; workers: number }>;
}
