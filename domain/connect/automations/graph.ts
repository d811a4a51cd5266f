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

/** The id of the one trigger of a graph. */
export const TRIGGER_ID = 'trigger';
export const MAX_NODES = 100;
export const MAX_EDGES = 200;

type NodeStatus = AutomationNodeResult['status'];

/** What a node needs to be looked at: its node, and the edges that lead to it. */
interface Place {
  node: AutomationNode;
  incoming: readonly AutomationEdge[];
}

const orders = new WeakMap<AutomationGraph, readonly Place[]>();

/** The nodes of a graph without cycles, each after those that lead to it; of those that could be next, in the order of the graph. */
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
    // A cycle: validation refuses one, and a graph that has one all the same ends here.
    if (next.length === 0) break;
    for (const node of next) {
      order.push({ node, incoming: incoming.get(node.id) ?? [] });
      placed.add(node.id);
    }
    left = left.filter(({ id }) => !placed.has(id));
  }
  return order;
}

/** Whether an edge is followed, by what became of the node that it starts from. */
export function isTaken(edge: AutomationEdge, status: NodeStatus): boolean {
  if (status === 'branch_true') return edge.when === 'true';
  if (status === 'branch_false') return edge.when === 'false';
  return status === 'success';
}

/** The ids of the nodes that cannot be put in an order, because they stand in a cycle or behind one. */
export function nodesOfCycles(graph: AutomationGraph): string[] {
  const placed = new Set(orderOf(graph).map(({ node }) => node.id));
  return graph.nodes.filter(({ id }) => !placed.has(id)).map(({ id }) => id);
}
