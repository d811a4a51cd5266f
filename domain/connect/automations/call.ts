import { json } from '../../../db/connection.ts';
import { EgressError } from '../../../lib/egress/index.ts';
import type { TargetLimits } from '../../../lib/target-limits.ts';
import { message, type Message } from '../../../messages/index.ts';
import { readAnswer, readFailure, type Answer } from '../app-connections/answer.ts';
import { actionUrl } from '../app-connections/base-url.ts';
import { PERMIT_WAIT_MS, type AppBusy } from '../app-connections/call.ts';
import { openSecret } from '../app-connections/connections.ts';
import { sendSigned } from '../app-connections/signed-request.ts';
import { organizationOf, type Ctx } from '../../platform/kernel/context.ts';
import { callClaimMs, CALL_RECHECK_MS } from '../../platform/kernel/call-claim.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { NATIVE_ACTIONS } from './actions.ts';
import { lockRun, settleNode } from './advance.ts';
import type { AutomationNode } from './graph.ts';
import type { AutomationRunState } from './state.ts';
import { renderConfig, TextTooLarge, valuesOf } from './values.ts';

/**
 * Maximum number of calls of one node. The wait (ms) between two calls starts at `FIRST_WAIT_MS` and doubles up to
 * `LONGEST_WAIT_MS`.
 */
const MAX_CALLS = 8;
const FIRST_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 3_600_000;

interface Connection {
  id: string;
  base_url: string;
  secret: Buffer;
}

/**
 * Makes one call to a customer's app for a node of a run, signed like the calls of campaign steps, and stores the
 * outcome. The app gets the same id for every call of the node. A temporary failure is retried, up to eight calls; any
 * other failure becomes the error of the node. During the call, the node's `not_before` prevents a second attempt at
 * the same time.
 */
export async function callAutomationApp(
  ctx: Ctx,
  { runId, nodeId }: { runId: string; nodeId: string },
  limits: TargetLimits,
): Promise<{ outcome: 'success' | 'error' | 'retry' | 'stale' } | AppBusy> {
  const claimed = await transact(ctx, (tx) => claimNode(tx, runId, nodeId, ctx.config.APP_ACTION_TIMEOUT_MS));
  if ('outcome' in claimed) return claimed;
  const { run, node } = claimed;
  const config = NATIVE_ACTIONS['sendsets.webhook'].config.parse(node.config ?? {});
  const [connection] = await reader(ctx).sql<Connection>(
    'select id, base_url, secret from app_connections where organization_id = :org and id = :id',
    { id: config.app_connection_id as string },
  );
  if (!connection) return settle(ctx, run, nodeId, failed(message('connect.run_app_gone')));
  const permit = await limits.acquireSoon(connection.id, organizationOf(ctx), PERMIT_WAIT_MS);
  if ('retryInMs' in permit) {
    await transact(ctx, (tx) => setNotBefore(tx, runId, nodeId, null));
    return { outcome: 'busy', retryInMs: permit.retryInMs };
  }
  let result: 'answered' | 'hung' | 'unused' = 'unused';
  try {
    const response = await sendSigned(ctx, {
      event: 'automation.action',
      eventId: `${runId}:${nodeId}`,
      url: actionUrl(connection.base_url, config.path as string),
      secret: openSecret(ctx, connection),
      body: bodyOf(run, nodeId, config.inputs, ctx.clock.now()),
      timeoutMs: ctx.config.APP_ACTION_TIMEOUT_MS,
    });
    result = 'answered';
    const isDone = response.status >= 200 && response.status < 300;
    return await settle(ctx, run, nodeId, isDone ? { ok: true, output: {} } : readAnswer(response));
  } catch (error) {
    if (error instanceof TextTooLarge) return await settle(ctx, run, nodeId, failed(error.said));
    if (!(error instanceof EgressError)) throw error;
    result = error.kind === 'timeout' ? 'hung' : 'answered';
    return await settle(ctx, run, nodeId, readFailure(error));
  } finally {
    permit.release(result);
  }
}

/** Reads the run and claims the call of a node, unless another attempt's call may be in progress. */
async function claimNode(
  tx: Tx,
  runId: string,
  nodeId: string,
  timeoutMs: number,
): Promise<{ run: AutomationRunState; node: AutomationNode } | { outcome: 'stale' } | AppBusy> {
  const run = await lockRun(tx, runId);
  const node = run?.graph.nodes.find(({ id }) => id === nodeId);
  const waiting = run?.waiting[nodeId];
  if (!run || node?.action !== 'sendsets.webhook' || waiting?.kind !== 'call') return { outcome: 'stale' };
  const leftMs = waiting.not_before === null ? 0 : Date.parse(waiting.not_before) - tx.now.getTime();
  if (leftMs > 0) return { outcome: 'under_way', retryInMs: Math.min(leftMs, CALL_RECHECK_MS) };
  await setNotBefore(tx, runId, nodeId, new Date(tx.now.getTime() + callClaimMs(timeoutMs)));
  return { run, node };
}

async function setNotBefore(tx: Tx, runId: string, nodeId: string, at: Date | null): Promise<void> {
  await tx.org.sql(
    `update automation_runs set waiting = jsonb_set(waiting, array[:node, 'not_before'], cast(:at as jsonb))
     where organization_id = :org and id = :id and waiting -> :node ->> 'kind' = 'call'`,
    { id: runId, node: nodeId, at: json(at && at.toISOString()) },
  );
}

/** Builds a failure that is not retryable. */
function failed(said: Message): Answer {
  return { ok: false, retryable: false, said, fix: said };
}

function bodyOf(run: AutomationRunState, nodeId: string, inputs: unknown, now: Date): object {
  return {
    id: `${run.id}:${nodeId}`,
    run_id: run.id,
    automation: { id: run.automationId, name: run.automationName },
    node_id: nodeId,
    trigger_event: run.trigger,
    contact: run.contact,
    data: run.data,
    inputs: renderConfig(inputs, valuesOf(run.data, run.contact)),
    requested_at: now.toISOString(),
  };
}

function settle(
  ctx: Ctx,
  { id }: AutomationRunState,
  nodeId: string,
  answer: Answer,
): Promise<{ outcome: 'success' | 'error' | 'retry' | 'stale' }> {
  return transact(ctx, async (tx) => {
    const run = await lockRun(tx, id);
    const waiting = run?.waiting[nodeId];
    if (waiting?.kind !== 'call') return { outcome: 'stale' };
    const attempts = waiting.attempts + 1;
    if (!answer.ok && answer.retryable && attempts < MAX_CALLS) {
      const waitMs = Math.min(FIRST_WAIT_MS * 2 ** (attempts - 1), LONGEST_WAIT_MS);
      const notBefore = new Date(tx.now.getTime() + waitMs).toISOString();
      await tx.org
        .table('automation_runs')
        .where({ id })
        .update({ waiting: json({ ...run!.waiting, [nodeId]: { kind: 'call', attempts, not_before: notBefore } }) });
      return { outcome: 'retry' };
    }
    const outcome = answer.ok ? ({ status: 'success' } as const) : ({ status: 'error', error: answer.said } as const);
    await settleNode(tx, id, nodeId, outcome, 'run');
    return { outcome: outcome.status };
  });
}
