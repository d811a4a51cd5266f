import type { OrgScope } from '../../../db/tenancy.ts';
import type { Problem } from '../../../lib/errors.ts';
import {
  dealProblems as problemsOfDeals,
  taskTypeProblems,
  type DealInput,
} from '../../sending/campaign/crm-actions.ts';
import { REPLY_INTENTS } from '../../sending/campaign/outreach-settings.ts';
import { isTrigger } from '../triggers/vocabulary.ts';
import { parseTemplate } from '../../mail/messages/template.ts';
import { message, type Message } from '../../../messages/index.ts';
import { isNative, NATIVE_ACTIONS, type NamedTable } from './actions.ts';
import { actionProblems as providerProblems } from '../integrations/enqueue.ts';
import { findAction, findProvider, NATIVE, partsOfAction, schemaFaults } from '../integrations/registry.ts';
import { conditionProblems } from './conditions.ts';
import {
  nodesOfCycles,
  TRIGGER_ID,
  type AutomationEdge,
  type AutomationFilter,
  type AutomationGraph,
  type AutomationNode,
} from './graph.ts';

/** Trigger of an automation that only campaign steps and other automations start. */
export const CALLED = 'automation.called';

/** Maximum number of nodes of one automation that start another automation. */
const MAX_CALLS = 10;

/** Fields of an automation that its author writes. */
export interface AutomationWrite {
  name: string;
  enabled: boolean;
  trigger_event: string;
  filter: AutomationFilter;
  graph: AutomationGraph;
}

/**
 * Lists every problem of an automation that the schema of its fields does not detect. A problem of a node or an edge
 * names its id. Missing fields are not checked.
 * @param id id of the automation, if it already exists
 */
export async function automationProblems(
  org: OrgScope,
  given: Partial<AutomationWrite>,
  id?: string,
): Promise<Problem[]> {
  const { trigger_event: trigger, filter, graph } = given;
  const problems: Problem[] = [];
  if (trigger !== undefined && trigger !== CALLED && !isTrigger(trigger))
    problems.push({ path: 'body.trigger_event', message: message('connect.unknown_trigger') });
  if (filter && trigger !== undefined) problems.push(...filterProblems(filter, trigger));
  if (graph) {
    problems.push(...structureProblems(graph));
    problems.push(...graph.nodes.flatMap((node, index) => nodeProblems(node, `body.graph.nodes.${index}`)));
    if (graph.nodes.filter(({ action }) => action === 'sendsets.run_automation').length > MAX_CALLS)
      problems.push({ path: 'body.graph.nodes', message: message('connect.too_many_calls', { max: MAX_CALLS }) });
    problems.push(
      ...(await referenceProblems(org, graph, id?.toLowerCase())),
      ...(await dealProblems(org, graph)),
      ...(await taskProblems(org, graph)),
      ...(await connectionProblems(org, graph)),
    );
  }
  return problems;
}

function filterProblems(filter: AutomationFilter, trigger: string): Problem[] {
  const saysIntent = trigger === 'email.replied' || trigger === 'email.received';
  const problems: Problem[] = [];
  if (filter.intents && !saysIntent)
    problems.push({
      path: 'body.filter.intents',
      message: message('connect.trigger_without', { trigger, field: 'intent' }),
    });
  for (const [index, intent] of (filter.intents ?? []).entries())
    if (!REPLY_INTENTS.some((known) => known === intent))
      problems.push({
        path: `body.filter.intents.${index}`,
        message: message('field.choice', { choices: REPLY_INTENTS }),
      });
  if (filter.min_confidence !== undefined && trigger !== 'email.replied')
    problems.push({
      path: 'body.filter.min_confidence',
      message: message('connect.trigger_without', { trigger, field: 'confidence' }),
    });
  return problems;
}

function structureProblems(graph: AutomationGraph): Problem[] {
  const { nodes, edges } = graph;
  const problems: Problem[] = [];
  const at = (node: AutomationNode, problem: Message): void =>
    void problems.push({ path: `body.graph.nodes.${nodes.indexOf(node)}`, message: nodeFault(node, problem) });
  const triggers = nodes.filter(({ type }) => type === 'trigger');
  if (triggers.length === 0) problems.push({ path: 'body.graph.nodes', message: message('connect.graph_no_trigger') });
  for (const extra of triggers.slice(1)) at(extra, message('connect.graph_second_trigger'));
  for (const node of nodes) {
    if (node.type === 'trigger' && node.id !== TRIGGER_ID) at(node, message('connect.graph_trigger_id'));
    if (node.type !== 'trigger' && node.id === TRIGGER_ID)
      at(node, message('connect.graph_not_trigger', { type: node.type }));
  }
  const byId = new Map<string, AutomationNode>();
  for (const node of nodes) {
    if (byId.has(node.id)) at(node, message('connect.graph_same_node'));
    byId.set(node.id, node);
  }
  problems.push(...edgeProblems(edges, byId));
  for (const id of nodesOfCycles(graph)) at(byId.get(id)!, message('connect.graph_cycle'));
  for (const node of unreached(graph, byId)) at(node, message('connect.graph_unreached'));
  for (const node of nodes.filter(({ type }) => type === 'condition')) {
    for (const when of ['true', 'false'] as const) {
      const count = edges.filter((edge) => edge.source === node.id && edge.when === when).length;
      if (count !== 1)
        at(
          node,
          count === 0
            ? message('connect.graph_no_branch', { branch: when })
            : message('connect.graph_branches', { count, branch: when }),
        );
    }
  }
  return problems;
}

function edgeProblems(edges: readonly AutomationEdge[], byId: ReadonlyMap<string, AutomationNode>): Problem[] {
  const seen = new Set<string>();
  return edges.flatMap((edge, index) => {
    const faults: Message[] = [];
    if (seen.has(edge.id)) faults.push(message('connect.graph_same_edge'));
    seen.add(edge.id);
    const source = byId.get(edge.source);
    if (!source) faults.push(message('connect.graph_no_source', { node: edge.source }));
    const target = byId.get(edge.target);
    if (!target) faults.push(message('connect.graph_no_target', { node: edge.target }));
    if (target?.type === 'trigger') faults.push(message('connect.graph_to_trigger'));
    if (source?.type === 'condition' && edge.when === '')
      faults.push(message('connect.graph_when_needed', { node: source.id }));
    if (source && source.type !== 'condition' && edge.when !== '')
      faults.push(message('connect.graph_when_empty', { node: source.id }));
    return faults.map((problem) => ({
      path: `body.graph.edges.${index}`,
      message: message('connect.edge_fault', { edge: edge.id, problem }),
    }));
  });
}

function unreached({ nodes, edges }: AutomationGraph, byId: ReadonlyMap<string, AutomationNode>): AutomationNode[] {
  const reached = new Set<string>([TRIGGER_ID]);
  const queue = [TRIGGER_ID];
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    for (const edge of edges.filter(({ source }) => source === id)) {
      if (reached.has(edge.target) || !byId.has(edge.target)) continue;
      reached.add(edge.target);
      queue.push(edge.target);
    }
  }
  return nodes.filter(({ id, type }) => type !== 'trigger' && !reached.has(id));
}

function nodeProblems(node: AutomationNode, path: string): Problem[] {
  const of = (problem: Problem): Problem => ({ ...problem, message: nodeFault(node, problem.message) });
  const problems: Problem[] = [];
  if (node.type !== 'condition' && node.condition)
    problems.push({ path: `${path}.condition`, message: message('connect.only_condition') });
  if (node.type !== 'action' && node.action)
    problems.push({ path: `${path}.action`, message: message('connect.only_action') });
  if (node.type === 'condition')
    problems.push(
      ...(node.condition
        ? conditionProblems(node.condition, `${path}.condition`)
        : [{ path: `${path}.condition`, message: message('field.required') }]),
    );
  if (node.type === 'action') problems.push(...actionProblems(node, path));
  return problems.map(of);
}

function actionProblems({ action, connection_id: connection, config = {} }: AutomationNode, path: string): Problem[] {
  if (!action) return [{ path: `${path}.action`, message: message('field.required') }];
  if (!isNative(action)) {
    const provider = findProvider(partsOfAction(action).provider);
    const isKnown = provider !== undefined && findAction(provider, action) !== undefined;
    if (!isKnown || action.startsWith(`${NATIVE}.`))
      return [{ path: `${path}.action`, message: message('connect.unknown_native', { action }) }];
    if (!connection)
      return [
        {
          path: `${path}.connection_id`,
          message: message('connect.needs_connection', { action, provider: provider.name }),
        },
      ];
    return [
      ...providerProblems({ provider: provider.id }, action, config, path),
      ...templateProblems(config, `${path}.config`),
    ];
  }
  const problems: Problem[] = [];
  if (connection)
    problems.push({ path: `${path}.connection_id`, message: message('connect.no_connection_used', { action }) });
  problems.push(...schemaFaults(NATIVE_ACTIONS[action].config, config, `${path}.config`));
  return [...problems, ...templateProblems(config, `${path}.config`)];
}

/** Lists template errors in a config, at any depth. */
function templateProblems(value: unknown, path: string): Problem[] {
  if (typeof value === 'string') return parseTemplate(value).errors.map(({ message }) => ({ path, message }));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => templateProblems(inner, `${path}.${key}`));
}

/** Checks that each connection belongs to the workspace and to the action's provider. */
async function connectionProblems(org: OrgScope, { nodes }: AutomationGraph): Promise<Problem[]> {
  const used = nodes.flatMap((node, index) => {
    const { provider } = partsOfAction(node.action ?? '');
    return node.type === 'action' && node.connection_id && findProvider(provider)
      ? [{ node, provider, id: node.connection_id.toLowerCase(), path: `body.graph.nodes.${index}.connection_id` }]
      : [];
  });
  if (used.length === 0) return [];
  const rows = await org.sql<{ id: string; provider: string }>(
    'select id, provider from integration_connections where organization_id = :org and id = any(cast(:ids as uuid[]))',
    { ids: used.map(({ id }) => id) },
  );
  const providers = new Map(rows.map((row) => [row.id, row.provider]));
  return used.flatMap(({ node, provider, id, path }) => {
    const found = providers.get(id);
    if (found === provider) return [];
    const problem = found
      ? message('connect.connection_of_other', { found, provider })
      : message('connect.unknown_connection');
    return [{ path, message: nodeFault(node, problem) }];
  });
}

/** Wraps a node's problem with the node's id. */
function nodeFault({ id: node }: AutomationNode, problem: Message): Message {
  return message('connect.node_fault', { node, problem });
}

const NO_ROW: Readonly<Record<NamedTable, Message>> = {
  labels: message('directory.unknown_category'),
  campaigns: message('directory.unknown_campaign'),
  crm_pipelines: message('directory.unknown_pipeline'),
  crm_stages: message('directory.unknown_stage'),
  memberships: message('directory.unknown_member'),
  app_connections: message('directory.unknown_app_connection'),
  automations: message('directory.unknown_automation'),
};

interface Named {
  table: NamedTable;
  id: string;
  path: string;
  node: AutomationNode;
}

/** Lists the rows that the configs of a graph reference. */
export function namedRows({ nodes }: AutomationGraph): Named[] {
  return nodes.flatMap((node, index) => {
    if (node.type !== 'action' || !isNative(node.action)) return [];
    const config = NATIVE_ACTIONS[node.action].config.safeParse(node.config ?? {});
    if (!config.success) return [];
    return Object.entries(NATIVE_ACTIONS[node.action].names).flatMap(([field, table]) => {
      const id = config.data[field];
      return typeof id === 'string' ? [{ table, id, path: `body.graph.nodes.${index}.config.${field}`, node }] : [];
    });
  });
}

async function referenceProblems(org: OrgScope, graph: AutomationGraph, ownId: string | undefined): Promise<Problem[]> {
  const named = namedRows(graph);
  const problems: Problem[] = [];
  for (const table of new Set(named.map((each) => each.table))) {
    const ids = named.filter((each) => each.table === table);
    const known = await existingRows(
      org,
      table,
      ids.map(({ id }) => id),
    );
    for (const { id, path, node } of ids) {
      if (table === 'automations' && id === ownId)
        problems.push({ path, message: nodeFault(node, message('connect.runs_itself')) });
      else if (!known.has(id.toLowerCase())) problems.push({ path, message: nodeFault(node, NO_ROW[table]) });
    }
  }
  return problems;
}

/** Lists problems of nodes whose deals can never be created. */
async function dealProblems(org: OrgScope, { nodes }: AutomationGraph): Promise<Problem[]> {
  const deals = nodes.flatMap(({ action, config = {} }, index) => {
    if (action !== 'sendsets.create_deal') return [];
    const deal = NATIVE_ACTIONS[action].config.safeParse(config);
    return deal.success ? [{ ...(deal.data as unknown as DealInput), path: `body.graph.nodes.${index}.config` }] : [];
  });
  return named(nodes, await problemsOfDeals(org, deals));
}

/** Lists problems of nodes that use a task kind unknown to the workspace. */
async function taskProblems(org: OrgScope, { nodes }: AutomationGraph): Promise<Problem[]> {
  const kinds = nodes.flatMap(({ action, config = {} }, index) =>
    action === 'sendsets.create_task' && typeof config.type === 'string'
      ? [{ name: config.type, path: `body.graph.nodes.${index}.config.type` }]
      : [],
  );
  return named(nodes, await taskTypeProblems(org, kinds));
}

/** Adds the node's id to problems whose path leads into a node. */
export function named(nodes: readonly AutomationNode[], problems: readonly Problem[]): Problem[] {
  return problems.map(({ path, message: problem }) => {
    const node = nodes[Number(path.split('.')[3])]!;
    return { path, message: nodeFault(node, problem) };
  });
}

async function existingRows(org: OrgScope, table: NamedTable, ids: readonly string[]): Promise<Set<string>> {
  const column = table === 'memberships' ? 'user_id' : 'id';
  const rows = await org.sql<{ id: string }>(
    `select t.${column} as id from ${table} t where t.organization_id = :org and t.${column} = any(cast(:ids as uuid[]))${
      table === 'labels' ? ` and t.registry = 'category'` : ''
    }`,
    { ids: [...ids] },
  );
  return new Set(rows.map(({ id }) => id));
}
