import { json } from '../../../db/connection.ts';
import type { JsonObject, StoredIssue } from '../../../db/json-columns.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { hasEnded, type RunRow, type RunState } from './states.ts';

/** Values that a transition stores in addition to the new state. */
interface RunChange {
  /** Reason code that never changes. It is stored in the run's event and sent to webhooks. */
  reason?: string;
  /** Details of the transition, stored only in the run's event. */
  data?: JsonObject;
  policyDecision?: JsonObject;
  preflightReport?: JsonObject;
  errorDetails?: StoredIssue;
  /** Approval that the run waits for in its new state. */
  approval?: { id: string; expiresAt: Date };
  recipients?: { count: number; actions: number };
}

/**
 * Moves a run to another state if its state is one of `from`, and writes its event row, domain event and audit row. The
 * state is checked and changed in one UPDATE, so only one of two concurrent transitions succeeds.
 * @returns the updated run; undefined if its state is none of these
 */
export async function moveRun(
  tx: Tx,
  runId: string,
  from: readonly RunState[],
  to: RunState,
  change: RunChange = {},
): Promise<RunRow | undefined> {
  const [run] = await moveRuns(tx, [runId], from, to, change);
  return run;
}

/** Variant of {@link moveRun} that makes the same transition for several runs, with as many statements as for one. */
export async function moveRuns(
  tx: Tx,
  runIds: readonly string[],
  from: readonly RunState[],
  to: RunState,
  change: RunChange = {},
): Promise<RunRow[]> {
  const rows = await tx.org.sql<RunRow & { previous_state: RunState }>(
    `with held as (
       select id, state as previous_state from runs
       where organization_id = :org and id = any(:ids::uuid[]) and state = any(:from) order by id for update
     )
     update runs r set state = :to, event_count = event_count + 1, updated_at = :now, blocked_reason = null,
       ended_at = case when :ended then :now::timestamptz end,
       policy_decision = coalesce(:decision::jsonb, policy_decision),
       preflight_report = coalesce(:report::jsonb, preflight_report),
       error_details = coalesce(:error::jsonb, error_details),
       approval_id = coalesce(:approval::uuid, approval_id),
       expires_at = coalesce(:expires::timestamptz, expires_at),
       recipient_count = coalesce(:recipients::int, recipient_count),
       action_count = coalesce(:actions::int, action_count)
     from held where r.id = held.id
     returning r.*, held.previous_state`,
    {
      ids: runIds,
      from,
      to,
      now: tx.now,
      ended: hasEnded(to),
      decision: jsonOrNull(change.policyDecision),
      report: jsonOrNull(change.preflightReport),
      error: jsonOrNull(change.errorDetails),
      approval: change.approval?.id ?? null,
      expires: change.approval?.expiresAt ?? null,
      recipients: change.recipients?.count ?? null,
      actions: change.recipients?.actions ?? null,
    },
  );
  if (rows.length > 0) await recordEvents(tx, rows, change);
  return rows.map(({ previous_state: _, ...run }) => run);
}

/**
 * Writes the event rows, domain events and audit rows of runs for their current state. A run without a previous state
 * is reported as created.
 */
export async function recordEvents(
  tx: Tx,
  runs: readonly (RunRow & { previous_state: RunState | null })[],
  { reason, data = {} }: Pick<RunChange, 'reason' | 'data'>,
): Promise<void> {
  await tx.org.sql(
    `insert into run_events (run_id, organization_id, seq, type, state, previous_state, data, actor_kind, user_id, created_at)
     select t.run, :org, t.seq, case when t.previous is null then 'created' else 'state_changed' end, t.state, t.previous, :data::jsonb, :kind, :user, :now
     from unnest(:runs::uuid[], :seqs::int[], :states::text[], :previous::text[]) as t(run, seq, state, previous)`,
    {
      data: json({ ...(reason ? { reason } : {}), ...data }),
      kind: tx.actor.kind,
      user: tx.actor.userId,
      now: tx.now,
      runs: runs.map(({ id }) => id),
      seqs: runs.map(({ event_count: seq }) => seq),
      states: runs.map(({ state }) => state),
      previous: runs.map(({ previous_state: previous }) => previous),
    },
  );
  for (const run of runs) announce(tx, run, reason);
}

function announce(tx: Tx, run: RunRow & { previous_state: RunState | null }, reason: string | undefined): void {
  const previousState = run.previous_state;
  tx.emit('run.state_changed', {
    run_id: run.id,
    campaign_id: run.campaign_id,
    intent: run.intent,
    state: run.state,
    previous_state: previousState,
    reason: reason ?? null,
    approval_id: run.state === 'awaiting_approval' ? run.approval_id : null,
  });
  tx.audit({
    action: previousState === null ? 'create' : 'update',
    entityType: 'run',
    entityId: run.id,
    changes: { state: { from: previousState, to: run.state } },
    ...(reason ? { metadata: { reason } } : {}),
  });
}

/**
 * Loads a run and locks its row, so that concurrent changes, such as a launch and a cancellation, wait for each other.
 * @throws AppError not_found
 */
export async function lockRun(tx: Tx, runId: string): Promise<RunRow> {
  if (!isUuid(runId)) throw notFound('run');
  const [run] = await tx.org.sql<RunRow>('select * from runs where organization_id = :org and id = :id for update', {
    id: runId,
  });
  if (!run) throw notFound('run');
  return run;
}

function jsonOrNull(value: object | undefined): string | null {
  return value === undefined ? null : json(value);
}
