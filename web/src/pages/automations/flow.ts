import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { applyToNewest } from '../../components/draft.ts';

export type Automation = AnswerOf<'/v1/automations'>['automations'][number];
type Graph = Automation['graph'];
export type FlowNode = Graph['nodes'][number];
type Run = AnswerOf<'/v1/automations/{id}/runs'>['runs'][number];
/** Result of a node in a run or a dry run. */
export type Result = Run['node_results'][number] & { preview?: Record<string, unknown> };
/** Output of a node: `true` and `false` for a condition, empty for others. */
type When = '' | 'true' | 'false';

/** Size of a node in the graph and the distance between nodes (px). */
export const NODE = { width: 230, height: 66 };
const GAP = { x: 40, y: 60 };

/** Parts of an automation that are saved together. */
export type Draft = Pick<Automation, 'name' | 'enabled' | 'trigger_event' | 'filter' | 'graph'>;

/**
 * Trigger, filter and graph of an automation are edited as one field. After two concurrent edits, the person must
 * discard one of them.
 */
type Flow = Pick<Automation, 'trigger_event' | 'filter' | 'graph'>;
/** An automation in the form that the editor changes. */
export type Edited = Pick<Automation, 'name' | 'enabled' | 'updated_at'> & { flow: Flow };

/** Returns the flow of an automation: trigger, filter and graph. */
export function flowOf({ trigger_event, filter, graph }: Flow): Flow {
  return { trigger_event, filter, graph };
}

/** Returns the initial state of an editor. `updated_at` detects concurrent saves. */
export function editedOf(automation: Automation): Edited {
  const { name, enabled, updated_at } = automation;
  return { name, enabled, flow: flowOf(automation), updated_at };
}

/** Returns the outputs of a node. */
export function outputsOf({ type }: FlowNode): readonly When[] {
  return type === 'condition' ? ['true', 'false'] : [''];
}

/** Returns the ids of the nodes that an output leads to. */
export function targets({ edges }: Graph, source: string, when: When): string[] {
  return edges.filter((edge) => edge.source === source && edge.when === when).map(({ target }) => target);
}

/** Returns the graph with an output connected to these nodes. */
export function connectOutput(graph: Graph, source: string, when: When, to: readonly string[]): Graph {
  const others = graph.edges.filter((edge) => edge.source !== source || edge.when !== when);
  const taken = others.map(({ id }) => id);
  return {
    ...graph,
    edges: [...others, ...to.map((target) => ({ id: freeId('e', taken, target), source, target, when }))],
  };
}

/** Inserts a node at an output of another node. The previous targets follow the new node. */
export function insertAfter(graph: Graph, source: string, when: When, type: 'action' | 'condition'): [Graph, string] {
  const id = freeId(
    type,
    graph.nodes.map((node) => node.id),
  );
  const from = graph.nodes.find((node) => node.id === source)!;
  const after = targets(graph, source, when);
  const side = when === 'true' ? -1 : when === 'false' ? 1 : 0;
  const node: FlowNode = {
    id,
    type,
    x: from.x + side * (NODE.width / 2 + GAP.x / 2),
    y: from.y + NODE.height + GAP.y,
    ...(type === 'condition'
      ? { condition: { field: 'field', key: '', operator: 'eq', value: '' } }
      : { action: 'sendsets.add_tag', config: {} }),
  };
  const moved = graph.nodes.map((one) => (one.y > from.y ? { ...one, y: one.y + NODE.height + GAP.y } : one));
  const linked = connectOutput({ nodes: [...moved, node], edges: graph.edges }, source, when, [id]);
  return [after.length > 0 ? connectOutput(linked, id, type === 'condition' ? 'true' : '', after) : linked, id];
}

/** Removes a node. Links to it then lead to the nodes after it. */
export function remove(graph: Graph, id: string): Graph {
  const after = graph.edges.filter((edge) => edge.source === id).map(({ target }) => target);
  const before = graph.edges.filter((edge) => edge.target === id);
  const rest: Graph = {
    nodes: graph.nodes.filter((node) => node.id !== id),
    edges: graph.edges.filter((edge) => edge.source !== id && edge.target !== id),
  };
  return before.reduce(
    (left, { source, when }) =>
      connectOutput(left, source, when, [
        ...new Set([...targets(left, source, when), ...(when === '' ? after : after.slice(0, 1))]),
      ]),
    rest,
  );
}

/** Returns an unused node id. It consists of the prefix, the preferred name if there is one, and a number. */
function freeId(prefix: string, taken: readonly string[], wish = ''): string {
  for (let at = 1; ; at += 1) {
    const id = `${[prefix, wish].filter(Boolean).join('-').slice(0, 50)}-${at}`;
    if (!taken.includes(id)) return id;
  }
}

/** Returns the full request body, because the API replaces the whole automation and resets omitted fields. */
function toBody({ name, enabled, trigger_event, filter, graph }: Draft) {
  return { name, enabled, trigger_event, filter, graph };
}

/** Enables or disables an automation and keeps all other stored fields. */
export async function switchAutomation(automation: Automation, enabled: boolean): Promise<unknown> {
  const params = { path: { id: automation.id } };
  const put = (seen: Automation) =>
    dataOf(
      heron.PATCH('/v1/automations/{id}', {
        params,
        body: { ...toBody({ ...seen, enabled }), expected_updated_at: seen.updated_at },
      }),
    );
  return applyToNewest(
    automation,
    put,
    async () => (await dataOf(heron.GET('/v1/automations/{id}', { params }))).automation,
  );
}

/** Returns true if the role may change automations: it may use integrations or change workspace settings. */
export function useMayChange(): boolean {
  const [mayUse, maySet] = [useCan('use_integrations'), useCan('manage_settings')];
  return mayUse || maySet;
}
