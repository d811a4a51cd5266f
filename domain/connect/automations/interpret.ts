import { inOrder, isTaken, type AutomationGraph, type AutomationNode, type AutomationNodeResult } from './graph.ts';
import type { Said } from '../../../lib/errors.ts';
import { message, type Message } from '../../../messages/index.ts';
import { isNative } from './actions.ts';

/** What a node came to; `waiting`: nothing yet. */
export type NodeOutcome =
  | { status: Exclude<AutomationNodeResult['status'], 'error'> }
  | { status: 'error'; error: Said }
  | 'waiting';

/**
 * Goes on with a run as far as it can: every node that the run reaches is done once all nodes before it are settled. A node is reached by an edge out of
 * one that succeeded, or out of the answer that a condition gave; with several edges one is enough. A node that none of its edges reaches is skipped,
 * and so is what comes after one that failed. A node that waits holds up what comes after it and nothing else.
 * @param results of the nodes that are settled; what is settled now is added
 * @param execute does a node that is reached, or finds that it is not over
 */
export async function interpret(
  graph: AutomationGraph,
  results: AutomationNodeResult[],
  execute: (node: AutomationNode) => Promise<NodeOutcome>,
): Promise<void> {
  const settled = new Map(results.map((result) => [result.node_id, result.status]));
  for (const { node, incoming } of inOrder(graph)) {
    if (settled.has(node.id)) continue;
    const before = incoming.map((edge) => ({ edge, status: settled.get(edge.source) }));
    if (before.some(({ status }) => status === undefined)) continue;
    const isReached = node.type === 'trigger' || before.some(({ edge, status }) => isTaken(edge, status!));
    const outcome: NodeOutcome = isReached ? await execute(node) : { status: 'skipped' };
    if (outcome === 'waiting') continue;
    settled.set(node.id, outcome.status);
    results.push(resultOf(node, outcome));
  }
}

/** A node's line of the results. */
export function resultOf(node: AutomationNode, outcome: Exclude<NodeOutcome, 'waiting'>): AutomationNodeResult {
  return {
    node_id: node.id,
    type: node.type,
    action: node.action ?? '',
    label: labelOf(node),
    status: outcome.status,
    error: outcome.status === 'error' ? outcome.error : null,
  };
}

/** The status of a run whose nodes are settled, and what it says of the first that failed. */
export function verdictOf(results: readonly AutomationNodeResult[]): {
  status: 'success' | 'error';
  detail: Message | null;
} {
  const failed = results.find(({ status }) => status === 'error');
  return failed
    ? { status: 'error', detail: message('connect.run_node', { node: failed.node_id, reason: failed.error ?? '' }) }
    : { status: 'success', detail: null };
}

function labelOf({ type, action = '', condition }: AutomationNode): Message {
  if (type === 'trigger') return message('connect.label_trigger');
  if (type === 'action')
    return isNative(action) ? message(`action.${action}`) : message('connect.label_provider', { action });
  const { field, key = '', operator = '' } = condition ?? {};
  return field === 'expression'
    ? message('connect.label_expression')
    : message('connect.label_condition', { key, operator });
}
