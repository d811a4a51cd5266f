import { json } from '../../db/connection.ts';
import type { AutomationFilter, AutomationGraph, AutomationNode } from '../../db/json-columns.ts';
import { newId } from '../../lib/ids.ts';
import type { World } from './world.ts';

const at = { x: 0, y: 0 };

/** The trigger of a graph. */
export const TRIGGER: AutomationNode = { id: 'trigger', type: 'trigger', ...at };

/** An action node. */
export const act = (id: string, action: string, config: Record<string, unknown> = {}): AutomationNode => ({
  id,
  type: 'action',
  action: `sendsets.${action}`,
  config,
  ...at,
});

/** A condition node on a field. */
export const ask = (id: string, key: string, operator: string, value?: unknown): AutomationNode => ({
  id,
  type: 'condition',
  condition: { field: 'field', key, operator, value },
  ...at,
});

/** A graph of these nodes with a trigger before them; links are written `a>b`, `a>b:true`. */
export function draw(nodes: AutomationNode[], links: string[]): AutomationGraph {
  const edges = links.map((id) => {
    const [, source, target, when = ''] = /^(.+)>([^:]+)(?::(.+))?$/.exec(id)!;
    return { id, source: source!, target: target!, when: when as '' };
  });
  return { nodes: [TRIGGER, ...nodes], edges };
}

/** The actions one after another. */
export const chain = (...nodes: AutomationNode[]): AutomationGraph =>
  draw(
    nodes,
    nodes.map(({ id }, index) => `${nodes[index - 1]?.id ?? 'trigger'}>${id}`),
  );

/** Stores an automation without looking at it. */
export async function createAutomation(
  { deps }: Pick<World, 'deps'>,
  organizationId: string,
  trigger: string,
  graph: AutomationGraph,
  more: { filter?: AutomationFilter; enabled?: boolean; name?: string } = {},
): Promise<string> {
  const id = newId();
  const now = deps.clock.now();
  await deps.db('automations').insert({
    id,
    organization_id: organizationId,
    name: more.name ?? 'An automation',
    enabled: more.enabled ?? true,
    trigger_event: trigger,
    filter: json(more.filter ?? {}),
    graph: json(graph),
    created_at: now,
    updated_at: now,
  });
  return id;
}
