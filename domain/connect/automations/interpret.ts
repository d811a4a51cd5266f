import { inOrder, isTaken, type AutomationGraph, type AutomationNode, type AutomationNodeResult } from './graph.ts';
import { message, type Message } from '../../../messages/index.ts';
import { isNative } from './actions.ts';

/** Outcome of a node. `waiting`: the node has no outcome yet. */
export type NodeOutcome =
  | { status: Exclude<AutomationNodeResult['status'], 'error'> }
  | { status: 'error'; error: Message }
  | 'waiting';

/**
 * Executes every node of a run that is ready. A node is executed once all nodes before it have a result and at least
 * one edge reaches it. An edge reaches its target if the node at its start succeeded. An edge of a condition must also
 * match the condition's result. A node that no edge reaches is skipped. All nodes after a failed node are skipped too.
 * A waiting node delays only the nodes after it.
 * @param results results of the nodes so far; new results are appended
 * @param execute executes a reached node, or returns `waiting`
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

/** Builds the stored result of a node. */
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

/** Returns the status of a run whose nodes all have a result, and the message of the first failed node. */
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
