import { isRefusedRow } from '../../../db/errors.ts';
import { MINUTE_MS } from '../../../lib/clock.ts';
import { errorKind } from '../../../lib/error-report.ts';
import { AppError } from '../../../lib/errors.ts';
import { refusalReason } from '../../crm/configured.ts';
import { enqueueProviderAction } from '../integrations/enqueue.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { withSavepoint, type Tx } from '../../platform/kernel/transact.ts';
import { WorkBudget } from '../../mail/messages/template.ts';
import { message, type Message } from '../../../messages/index.ts';
import { isNative, NATIVE_ACTIONS } from './actions.ts';
import { holds } from './conditions.ts';
import type { AutomationNode } from './graph.ts';
import { interpret, verdictOf, type NodeOutcome } from './interpret.ts';
import { PERFORM, type InstantAction } from './perform.ts';
import type { AutomationRunState } from './state.ts';
import { renderConfig, TextTooLarge, valuesOf } from './values.ts';
import { codedReason } from '../../platform/coded-reason.ts';
import { render } from '../../../messages/render.ts';

/** Result of a run within one transaction. Undefined while nodes wait. */
export type Ended = { status: 'success' | 'error'; detail: Message | null } | undefined;

/**
 * Executes every node of a run that can be executed now, in the caller's transaction, and stores the results. Emits
 * automation.run_failed if the run ends with an error.
 * @param tx transaction whose events get a hop count one higher than that of the event that started the run
 */
export async function executeReadyNodes(tx: Tx, ctx: Ctx, run: AutomationRunState): Promise<Ended> {
  const joined = { ...ctx, trx: tx.trx, joined: tx, hops: tx.hops };
  const budget = new WorkBudget();
  await interpret(run.graph, run.results, (node) => execute(tx, joined, { run, node, budget }));
  if (Object.keys(run.waiting).length > 0) return undefined;
  const ended = verdictOf(run.results);
  if (ended.status === 'error') announceFailure(tx, run, ended.detail!);
  return ended;
}

/**
 * Emits automation.run_failed. `loop` is true if the run was not started because runs start each other in too long a
 * chain, or too often.
 */
export function announceFailure(tx: Tx, run: AutomationRunState, detail: Message, { loop = false } = {}): void {
  tx.emit('automation.run_failed', {
    automation_id: run.automationId,
    automation_name: run.automationName,
    run_id: run.id,
    trigger_event: run.trigger,
    contact_id: run.contact?.id ?? null,
    error_detail: render(detail),
    ...codedReason(detail),
    loop,
  });
}

interface Doing {
  run: AutomationRunState;
  node: AutomationNode;
  /**
   * Limit of template work shared by all nodes. A single condition or text could otherwise block the process for a
   * tenth of a second.
   */
  budget: WorkBudget;
}

async function execute(tx: Tx, ctx: Ctx, doing: Doing): Promise<NodeOutcome> {
  const { run, node, budget } = doing;
  if (node.type === 'trigger') return { status: 'success' };
  if (run.waiting[node.id]) return stillWaiting(tx, run, node.id);
  try {
    if (node.type === 'action') return await act(tx, ctx, doing);
    return { status: holds(node.condition!, valuesOf(run.data, run.contact), budget) ? 'branch_true' : 'branch_false' };
  } catch (error) {
    if (error instanceof AppError) return { status: 'error', error: refusalReason(error) };
    if (error instanceof TextTooLarge) return { status: 'error', error: error.said };
    // Fails the node if the database rejects a row, because it would reject the row on every retry. Rethrows any other
    // error, which the action has not caused.
    if (!isRefusedRow(error)) throw error;
    ctx.log.warn({ err: error, runId: run.id, nodeId: node.id }, 'what an action of an automation writes was refused');
    return { status: 'error', error: message('connect.run_refused_row', { kind: errorKind(error) }) };
  }
}

function stillWaiting(tx: Tx, run: AutomationRunState, nodeId: string): NodeOutcome {
  const waiting = run.waiting[nodeId]!;
  if (waiting.kind !== 'wait' || new Date(waiting.until) > tx.now) return 'waiting';
  delete run.waiting[nodeId];
  return { status: 'success' };
}

async function act(tx: Tx, ctx: Ctx, { run, node, budget }: Doing): Promise<NodeOutcome> {
  const { id, action, connection_id: connectionId, config = {} } = node;
  if (!isNative(action)) {
    await withSavepoint(tx, (own) =>
      enqueueProviderAction(own, {
        connectionId: connectionId ?? '',
        action: action ?? '',
        config,
        contactId: run.contact?.id ?? null,
        data: run.data,
        trigger: run.trigger,
        source: { kind: 'automation', run_id: run.id, node_id: id },
      }),
    );
    run.waiting[id] = { kind: 'provider' };
    return 'waiting';
  }
  // A config stored by another version of Heron may not match the current schema.
  const fitting = NATIVE_ACTIONS[action].config.safeParse(config);
  if (!fitting.success) return { status: 'error', error: message('connect.config_misfit') };
  // Renders the config after the schema check, because values written by strangers may be too long for the schema. The
  // actions shorten such values.
  const checked = renderConfig(
    fitting.data as Record<string, unknown>,
    valuesOf(run.data, run.contact),
    new WorkBudget(budget),
  );
  if (action === 'sendsets.wait') {
    const until = new Date(tx.now.getTime() + Number(checked.wait_minutes) * MINUTE_MS);
    run.waiting[id] = { kind: 'wait', until: until.toISOString() };
    return 'waiting';
  }
  if (action === 'sendsets.webhook') {
    run.waiting[id] = { kind: 'call', attempts: 0, not_before: null };
    return 'waiting';
  }
  const perform = PERFORM[action as InstantAction];
  await withSavepoint(tx, (own) => perform({ tx: own, ctx, run, nodeId: id }, checked as never));
  return { status: 'success' };
}
