import { json } from '../../../db/connection.ts';
import type { Row } from '../../../db/rows.ts';
import { isUuid } from '../../../lib/ids.ts';
import { signalOpen } from '../../../temporal/dispatch.ts';
import { automationWorkflow, type AutomationDecision } from '../../../workflows/automation/contract.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { resultOf, type NodeOutcome } from './interpret.ts';
import { executeReadyNodes } from './execute-ready-nodes.ts';
import { toWaiting, type AutomationRunState } from './state.ts';
import { findContacts } from './values.ts';

/**
 * Executes all nodes of a waiting run that can be executed now, and returns what the workflow must do next. Locks the
 * run, so that each node is executed once.
 */
export async function advanceAutomation(ctx: Ctx, runId: string): Promise<AutomationDecision> {
  return transact(ctx, async (tx) => {
    const run = await lockRun(tx, runId);
    if (!run) return { kind: 'done', outcome: 'it has ended' };
    const ended = await transact({ ...ctx, trx: tx.trx, hops: run.hops + 1 }, (own) =>
      executeReadyNodes(own, ctx, run),
    );
    await tx.org
      .table('automation_runs')
      .where({ id: run.id })
      .update({
        node_results: json(run.results),
        blocked_reason: null,
        ...(ended
          ? {
              status: ended.status,
              error_detail: ended.detail && json(ended.detail),
              finished_at: tx.now,
              graph: null,
              waiting: null,
            }
          : { waiting: json(run.waiting) }),
      });
    return ended ? { kind: 'done', outcome: ended.status } : nextOf(run, tx.now);
  });
}

function nextOf({ waiting }: AutomationRunState, now: Date): AutomationDecision {
  let until: number | null = null;
  for (const [nodeId, wait] of Object.entries(waiting)) {
    if (wait.kind === 'provider') continue;
    const at = wait.kind === 'wait' ? wait.until : wait.not_before;
    const time = at === null ? 0 : Date.parse(at);
    if (wait.kind === 'call' && time <= now.getTime()) return { kind: 'call', nodeId, where: `calling (${nodeId})` };
    until = until === null ? time : Math.min(until, time);
  }
  const where = `waiting (${Object.keys(waiting).join(', ')})`;
  return { kind: 'wait', state: 'waiting', until, where };
}

/** Returns the run with its row locked; undefined if it was deleted or has ended. */
export async function lockRun(tx: Tx, runId: string): Promise<AutomationRunState | undefined> {
  if (!isUuid(runId)) return undefined;
  const [row] = await tx.org.sql<Row<'automation_runs'> & { name: string }>(
    `select r.*, a.name from automation_runs r join automations a on a.id = r.automation_id
     where r.organization_id = :org and r.id = :id and r.status = 'running' for update of r`,
    { id: runId },
  );
  if (!row) return undefined;
  const contact = row.contact_id
    ? (await findContacts(tx.org, [row.contact_id], { lock: true })).get(row.contact_id)
    : undefined;
  return {
    id: row.id,
    automationId: row.automation_id,
    automationName: row.name,
    graph: row.graph!,
    trigger: row.trigger_event,
    data: row.data,
    contact: contact ?? null,
    results: row.node_results,
    waiting: toWaiting(row.waiting),
    hops: row.hops,
    rights: row.rights ?? [],
  };
}

/**
 * Stores the outcome of a node that called another system, and continues the run.
 * @param by `run`: called by the run's own workflow, which continues with the next decision without a signal
 * @returns false if the run no longer waits for the node
 */
export async function settleNode(
  tx: Tx,
  runId: string,
  nodeId: string,
  outcome: Exclude<NodeOutcome, 'waiting'>,
  by: 'run' | 'event' = 'event',
): Promise<boolean> {
  const run = await lockRun(tx, runId);
  const node = run?.graph.nodes.find(({ id }) => id === nodeId);
  if (!run?.waiting[nodeId] || !node) return false;
  delete run.waiting[nodeId];
  run.results.push(resultOf(node, outcome));
  await tx.org
    .table('automation_runs')
    .where({ id: run.id })
    .update({ node_results: json(run.results), waiting: json(run.waiting) });
  if (by === 'event')
    tx.intend(
      signalOpen(automationWorkflow, { organizationId: tx.org.organizationId, runId }, 'changed', { cause: 'settled' }),
    );
  return true;
}
