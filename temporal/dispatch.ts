import { across } from '../db/across.ts';
import type { Trx } from '../db/connection.ts';
import { json } from '../db/connection.ts';
import { notifyAfterCommit } from '../db/notify.ts';
import { traceparent } from '../lib/trace.ts';
import type { Presence } from './presence.ts';
import { PRIORITY, type IdConflict, type IdReuse, type Signals, type WorkflowContract } from '../workflows/contract.ts';
import type { Resource } from '../workflows/queues.ts';

/** NOTIFY channel that wakes the relay after a commit with intents. */
export const OUTBOX_CHANNEL = 'heron_outbox';

/** Start of a workflow, in a form that can be stored in the outbox. */
export interface StartSpec {
  workflowType: string;
  args: unknown;
  kind: string;
  summary: string;
  searchAttributes: { OrganizationId: string } & Attributes;
  priority?: { priorityKey: number; fairnessKey: string };
  memo?: Memo;
  reuse?: IdReuse;
  conflict?: IdConflict;
  queue?: Resource;
}

/** Search attributes whose values are not in the arguments. Operators filter workflows by them. */
export interface Attributes {
  /** Workspace of an installation workflow that serves only this workspace. It is also the fairness key. */
  OrganizationId?: string;
  CampaignId?: string;
  EndpointId?: string;
}

/** Names shown to operators in addition to the ids. They contain no address. */
export type Memo = Readonly<Record<string, string>>;

/** Details of a workflow that operators see, in addition to those derived from its arguments. */
interface Shown {
  memo?: Memo | undefined;
  attributes?: Attributes | undefined;
}

/** Signal with its payload. */
interface SignalSpec {
  signal: string;
  payload: Signals[string];
}

/** Trace span in which the intent was written, if traces are recorded. */
interface Traced {
  traceparent?: string;
}

/** Action for Temporal after the transaction commits. A signal without a start reaches only an open workflow. */
export type Intent =
  | { kind: 'start'; workflowId: string; payload: StartSpec & Traced }
  | { kind: 'signal'; workflowId: string; payload: SignalSpec & (StartSpec | { workflowType?: never }) & Traced }
  | { kind: 'cancel'; workflowId: string; payload: { reason: string } & Traced };

/** Creates an intent to start a workflow. An open workflow is not started again. */
export function start<Args>(contract: WorkflowContract<Args>, args: Args, shown?: Shown): Intent {
  return { kind: 'start', workflowId: contract.id(args), payload: startSpec(contract, args, shown) };
}

/** Creates an intent to signal a workflow. If no workflow is open, one is started, which also repairs a missing one. */
export function signal<Args, Taken extends Signals, Name extends keyof Taken & string>(
  contract: WorkflowContract<Args, Taken>,
  args: Args,
  name: Name,
  payload: Taken[Name],
  shown?: Shown,
): Intent {
  return {
    kind: 'signal',
    workflowId: contract.id(args),
    payload: { ...startSpec(contract, args, shown), signal: name, payload },
  };
}

/** Creates an intent to signal an open workflow. It never starts a workflow. */
export function signalOpen<Args, Taken extends Signals, Name extends keyof Taken & string>(
  contract: WorkflowContract<Args, Taken>,
  args: Args,
  name: Name,
  payload: Taken[Name],
): Intent {
  return { kind: 'signal', workflowId: contract.id(args), payload: { signal: name, payload } };
}

/** Creates an intent to cancel a workflow; it has no effect if none is open. */
export function cancel<Args>(contract: WorkflowContract<Args>, args: Args, reason: string): Intent {
  return { kind: 'cancel', workflowId: contract.id(args), payload: { reason } };
}

/** Returns the start of a contract's workflow, for the outbox, the gateway and schedules. */
export function startSpec<Args>(
  contract: WorkflowContract<Args>,
  args: Args,
  { memo, attributes }: Shown = {},
): StartSpec {
  const searchAttributes = { ...contract.searchAttributes(args), ...attributes };
  return {
    workflowType: contract.type,
    args: contract.args(args),
    kind: contract.kind,
    summary: contract.summary(args),
    searchAttributes,
    priority: { priorityKey: PRIORITY[contract.work], fairnessKey: searchAttributes.OrganizationId },
    ...(memo ? { memo } : {}),
    ...(contract.reuse === 'always' ? {} : { reuse: contract.reuse }),
    ...(contract.conflict === 'join' ? {} : { conflict: contract.conflict }),
    ...(contract.queue ? { queue: contract.queue } : {}),
  };
}

/** Tenant of intents for workflows that belong to no organization. */
const INSTALLATION = 'installation';

/**
 * Writes intents into the outbox of an open transaction and wakes the relay after its commit.
 * @param options.withinMs period (ms) over which non-urgent intents are spread at random, so that a large number of
 * them does not delay others
 * @param options.organizationId organization of intents whose payload names none
 */
export async function writeIntents(
  trx: Trx,
  intents: readonly Intent[],
  { withinMs = 0, organizationId = INSTALLATION }: { withinMs?: number; organizationId?: string } = {},
): Promise<void> {
  if (intents.length === 0) return;
  notifyAfterCommit(trx, OUTBOX_CHANNEL);
  const span = traceparent();
  await across(trx, 'engine').sql(
    `insert into outbox (kind, workflow_id, tenant, payload, available_at)
     select t.kind, t.workflow_id, t.tenant, t.payload::jsonb, now() + random() * :within::float8 * interval '1 millisecond'
     from unnest(:kinds::text[], :ids::text[], :tenants::text[], :payloads::text[]) with ordinality as t(kind, workflow_id, tenant, payload, place)
     order by t.place`,
    {
      within: withinMs,
      kinds: intents.map(({ kind }) => kind),
      ids: intents.map(({ workflowId }) => workflowId),
      tenants: intents.map(({ payload }) =>
        'searchAttributes' in payload ? payload.searchAttributes.OrganizationId : organizationId,
      ),
      payloads: intents.map(({ payload }) => json(span ? { ...payload, traceparent: span } : payload)),
    },
  );
}

/** Temporal calls that domain functions may make directly. All other calls go through the outbox. */
export interface WorkflowGateway {
  /**
   * Runs a workflow to its end and returns its result.
   * @throws AppError service_unavailable when Temporal or its workers do not answer within `timeoutMs`, or no suitable
   * worker is running
   */
  execute<Args, Result>(contract: WorkflowContract<Args>, args: Args, timeoutMs: number): Promise<Result>;
  /**
   * Yields the ids of open workflows of a family between two ids, in pages. Reads from visibility, which lags by
   * seconds.
   */
  openRuns(
    contract: Pick<WorkflowContract<never>, 'type' | 'queue'>,
    range: { from: string; to: string },
  ): AsyncIterable<readonly string[]>;
  /**
   * Terminates the open workflows of an organization. Finds them by visibility, which lags by seconds, so a caller must
   * repeat the call. Returns the number of terminated workflows.
   */
  endRunsOf(organizationId: string, reason: string): Promise<number>;
  /** Returns true if a workflow with the id is currently open. */
  isOpen(workflowId: string): Promise<boolean>;
  /**
   * Returns the ids of open workflows whose workflow tasks keep failing, at most `limit`. They are stuck until the code
   * or their history changes. Reads from visibility. Servers before 1.29 do not report such workflows, so the result is
   * then empty.
   */
  failingRuns(limit: number): Promise<readonly string[]>;
  /**
   * Returns the response time (ms) of the workflow service, the number of running worker processes, and the queues that
   * no process serves.
   * @throws Error when Temporal does not answer
   */
  health(): Promise<{ latencyMs: number } & Presence>;
}
