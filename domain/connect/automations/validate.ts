import type { OrgScope } from '../../../db/tenancy.ts';
import type { Problem } from '../../../lib/errors.ts';
import {
  dealProblems as problemsOfDeals,
  taskTypeProblems,
  type DealToMake,
} from '../../sending/campaign/crm-actions.ts';
import { REPLY_INTENTS } from '../../sending/campaign/outreach-settings.ts';
import { isTrigger } from '../triggers/vocabulary.ts';
import { parseTemplate } from '../../mail/messages/template.ts';
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

/** What starts an automation that only steps of campaigns and other automations run. */
export const CALLED = 'automation.called';

/** Nodes of one automation that run another one. */
const MAX_CALLS = 10;

/** An automation as its author writes it. */
export interface AutomationWrite {
  name: string;
  enabled: boolean;
  trigger_event: string;
  filter: AutomationFilter;
  graph: AutomationGraph;
}

/**
 * Everything that is wrong with an automation, beyond the shape of its fields; a fault of a node or an edge names its id. Fields that are missing are not
 * looked at.
 * @param id of the automation, where it is there already
 */
export async function automationProblems(
  org: OrgScope,
  given: Partial<AutomationWrite>,
  id?: string,
): Promise<Problem[]> {
  const { trigger_event: trigger, filter, graph } = given;
  const problems: Problem[] = [];
  if (trigger !== undefined && trigger !== CALLED && !isTrigger(trigger))
    problems.push({ path: 'body.trigger_event', message: `"${trigger}" is no trigger: docs/triggers.md lists them` });
  if (filter && trigger !== undefined) problems.push(...filterProblems(filter, trigger));
  if (graph) {
    problems.push(...structureProblems(graph));
    problems.push(...graph.nodes.flatMap((node, index) => nodeProblems(node, `body.graph.nodes.${index}`)));
    if (graph.nodes.filter(({ action }) => action === 'sendsets.run_automation').length > MAX_CALLS)
      problems.push({ path: 'body.graph.nodes', message: `At most ${MAX_CALLS} of them may run another automation` });
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
    problems.push({ path: 'body.filter.intents', message: `${trigger} has no intent` });
  for (const [index, intent] of (filter.intents ?? []).entries())
    if (!REPLY_INTENTS.some((known) => known === intent))
      problems.push({ path: `body.filter.intents.${index}`, message: `is none of ${REPLY_INTENTS.join(', ')}` });
  if (filter.min_confidence !== undefined && trigger !== 'email.replied')
    problems.push({ path: 'body.filter.min_confidence', message: `${trigger} has no confidence` });
  return problems;
}

function structureProblems(graph: AutomationGraph): Problem[] {
  const { nodes, edges } = graph;
  const problems: Problem[] = [];
  const at = (node: AutomationNode, message: string): void =>
    void problems.push({ path: `body.graph.nodes.${nodes.indexOf(node)}`, message: `Node "${node.id}" ${message}` });
  const triggers = nodes.filter(({ type }) => type === 'trigger');
  if (triggers.length === 0)
    problems.push({ path: 'body.graph.nodes', message: 'needs a trigger with the id "trigger"' });
  for (const extra of triggers.slice(1)) at(extra, 'is a second trigger');
  for (const node of nodes) {
    if (node.type === 'trigger' && node.id !== TRIGGER_ID) at(node, 'is the trigger: its id must be "trigger"');
    if (node.type !== 'trigger' && node.id === TRIGGER_ID) at(node, `is a ${node.type}: only the trigger has this id`);
  }
  const byId = new Map<string, AutomationNode>();
  for (const node of nodes) {
    if (byId.has(node.id)) at(node, 'has the id of another node');
    byId.set(node.id, node);
  }
  problems.push(...edgeProblems(edges, byId));
  for (const id of nodesOfCycles(graph)) at(byId.get(id)!, 'stands in a cycle, or behind one');
  for (const node of unreached(graph, byId)) at(node, 'is not reached from the trigger');
  for (const node of nodes.filter(({ type }) => type === 'condition')) {
    for (const when of ['true', 'false'] as const) {
      const count = edges.filter((edge) => edge.source === node.id && edge.when === when).length;
      if (count !== 1)
        at(node, count === 0 ? `needs an edge for ${when}` : `has ${count} edges for ${when}: one is allowed`);
    }
  }
  return problems;
}

function edgeProblems(edges: readonly AutomationEdge[], byId: ReadonlyMap<string, AutomationNode>): Problem[] {
  const seen = new Set<string>();
  return edges.flatMap((edge, index) => {
    const messages: string[] = [];
    if (seen.has(edge.id)) messages.push('has the id of another edge');
    seen.add(edge.id);
    const source = byId.get(edge.source);
    if (!source) messages.push(`starts from "${edge.source}", which is no node`);
    const target = byId.get(edge.target);
    if (!target) messages.push(`leads to "${edge.target}", which is no node`);
    if (target?.type === 'trigger') messages.push('leads to the trigger');
    if (source?.type === 'condition' && edge.when === '')
      messages.push(`leaves the condition "${source.id}": its \`when\` must be true or false`);
    if (source && source.type !== 'condition' && edge.when !== '')
      messages.push(`leaves "${source.id}", which is no condition: its \`when\` must be empty`);
    return messages.map((message) => ({ path: `body.graph.edges.${index}`, message: `Edge "${edge.id}" ${message}` }));
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
  const of = (problem: Problem): Problem => ({ ...problem, message: `Node "${node.id}": ${problem.message}` });
  const problems: Problem[] = [];
  if (node.type !== 'condition' && node.condition)
    problems.push({ path: `${path}.condition`, message: 'only a condition has one' });
  if (node.type !== 'action' && node.action)
    problems.push({ path: `${path}.action`, message: 'only an action has one' });
  if (node.type === 'condition')
    problems.push(
      ...(node.condition
        ? conditionProblems(node.condition, `${path}.condition`)
        : [{ path: `${path}.condition`, message: 'is needed by a condition' }]),
    );
  if (node.type === 'action') problems.push(...actionProblems(node, path));
  return problems.map(of);
}

function actionProblems({ action, connection_id: connection, config = {} }: AutomationNode, path: string): Problem[] {
  if (!action) return [{ path: `${path}.action`, message: 'is needed by an action' }];
  if (!isNative(action)) {
    const provider = findProvider(partsOfAction(action).provider);
    const isKnown = provider !== undefined && findAction(provider, action) !== undefined;
    if (!isKnown || action.startsWith(`${NATIVE}.`))
      return [{ path: `${path}.action`, message: `"${action}" is no action` }];
    if (!connection)
      return [{ path: `${path}.connection_id`, message: `${action} needs a connection of ${provider.name}` }];
    return [
      ...providerProblems({ provider: provider.id }, action, config, path),
      ...templateProblems(config, `${path}.config`),
    ];
  }
  const problems: Problem[] = [];
  if (connection) problems.push({ path: `${path}.connection_id`, message: `${action} uses no connection` });
  problems.push(...schemaFaults(NATIVE_ACTIONS[action].config, config, `${path}.config`));
  return [...problems, ...templateProblems(config, `${path}.config`)];
}

/** Faults of the templates in a config, at any depth. */
function templateProblems(value: unknown, path: string): Problem[] {
  if (typeof value === 'string') return parseTemplate(value).errors.map(({ message }) => ({ path, message }));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => templateProblems(inner, `${path}.${key}`));
}

/** Connections must be of the workspace and of the provider of the action. */
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
    const message = found ? `is a connection of ${found}, not of ${provider}` : 'is not a connection of this workspace';
    return [{ path, message: `Node "${node.id}": ${message}` }];
  });
}

const NO_ROW: Readonly<Record<NamedTable, string>> = {
  labels: 'is not a category of this workspace',
  campaigns: 'is not a campaign of this workspace',
  crm_pipelines: 'is not a pipeline of this workspace',
  crm_stages: 'is not a stage of this workspace',
  memberships: 'is not a member of this workspace',
  app_connections: 'is not an app connection of this workspace',
  automations: 'is not an automation of this workspace',
};

interface Named {
  table: NamedTable;
  id: string;
  path: string;
  node: AutomationNode;
}

/** The rows that the configs of a graph name. */
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
        problems.push({ path, message: `Node "${node.id}": an automation cannot run itself` });
      else if (!known.has(id.toLowerCase())) problems.push({ path, message: `Node "${node.id}": ${NO_ROW[table]}` });
    }
  }
  return problems;
}

/** Deals that could never be made, with the nodes that would make them. */
async function dealProblems(org: OrgScope, { nodes }: AutomationGraph): Promise<Problem[]> {
  const deals = nodes.flatMap(({ action, config = {} }, index) => {
    if (action !== 'sendsets.create_deal') return [];
    const deal = NATIVE_ACTIONS[action].config.safeParse(config);
    return deal.success ? [{ ...(deal.data as unknown as DealToMake), path: `body.graph.nodes.${index}.config` }] : [];
  });
  return named(nodes, await problemsOfDeals(org, deals));
}

/** Kinds of tasks that the workspace does not have, with the nodes that name them. */
async function taskProblems(org: OrgScope, { nodes }: AutomationGraph): Promise<Problem[]> {
  const kinds = nodes.flatMap(({ action, config = {} }, index) =>
    action === 'sendsets.create_task' && typeof config.type === 'string'
      ? [{ name: config.type, path: `body.graph.nodes.${index}.config.type` }]
      : [],
  );
  return named(nodes, await taskTypeProblems(org, kinds));
}

/** Problems whose path leads into a node, with its id. */
function named(nodes: readonly AutomationNode[], problems: readonly Problem[]): Problem[] {
  return problems.map(({ path, message }) => {
    const node = nodes[Number(path.split('.')[3])]!;
    return { path, message: `Node "${node.id}": ${message}` };
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
