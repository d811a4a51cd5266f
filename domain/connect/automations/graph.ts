import type {
  AutomationEdge,
  AutomationGraph,
  AutomationNode,
  AutomationNodeResult,
} from '../../../db/json-columns.ts';

export type {
  AutomationEdge,
  AutomationFilter,
  AutomationGraph,
  AutomationNode,
  AutomationNodeResult,
  AutomationWaiting,
} from '../../../db/json-columns.ts';

/** Id of the graph's only trigger. */
export const TRIGGER_ID = 'trigger';
export const MAX_NODES = 100;
export const MAX_EDGES = 200;

type NodeStatus = AutomationNodeResult['status'];

/** A node with the edges that lead to it. */
interface Place {
  node: AutomationNode;
  incoming: readonly AutomationEdge[];
}

const orders = new WeakMap<AutomationGraph, readonly Place[]>();

/**
 * Sorts the nodes of an acyclic graph topologically. Nodes without an order between them keep their order in the graph.
 */
export function inOrder(graph: AutomationGraph): readonly Place[] {
  let order = orders.get(graph);
  if (!order) {
    order = orderOf(graph);
    orders.set(graph, order);
  }
  return order;
}

function orderOf(graph: AutomationGraph): Place[] {
  const incoming = new Map<string, AutomationEdge[]>();
  for (const edge of graph.edges) incoming.set(edge.target, [...(incoming.get(edge.target) ?? []), edge]);
  const order: Place[] = [];
  const placed = new Set<string>();
  for (let left = graph.nodes; left.length > 0;) {
    const next = left.filter(({ id }) => (incoming.get(id) ?? []).every(({ source }) => placed.has(source)));
    // Stops at a cycle. Validation refuses cycles, so this is only a safeguard.
    if (next.length === 0) break;
    for (const node of next) {
      order.push({ node, incoming: incoming.get(node.id) ?? [] });
      placed.add(node.id);
    }
    left = left.filter(({ id }) => !placed.has(id));
  }
  return order;
}

/** Returns true if an edge is followed, given the status of its source node. */
export function isTaken(edge: AutomationEdge, status: NodeStatus): boolean {
  if (status === 'branch_true') return edge.when === 'true';
  if (status === 'branch_false') return edge.when === 'false';
  return status === 'success';
}

/** Returns the ids of the nodes that cannot be ordered, because they are in a cycle or after one. */
export function nodesOfCycles(graph: AutomationGraph): string[] {
  const placed = new Set(orderOf(graph).map(({ node }) => node.id));
  return graph.nodes.filter(({ id }) => !placed.has(id)).map(({ id }) => id);
}
