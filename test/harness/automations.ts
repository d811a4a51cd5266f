import { json } from '../../db/connection.ts';
import type { AutomationFilter, AutomationGraph, AutomationNode } from '../../db/json-columns.ts';
import type { EventData } from '../../domain/platform/kernel/event-payloads.ts';
import { systemActor } from '../../domain/platform/kernel/actor.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { authorRights } from '../../domain/approvals/automation-rights.ts';
import type { ActionRight } from '../../domain/platform/rights.ts';
import { SUBSCRIBERS } from '../../domain/operations/subscribers/index.ts';
import { sampleData } from '../../domain/connect/triggers/vocabulary.ts';
import { OrgScope } from '../../db/tenancy.ts';
import { newId } from '../../lib/ids.ts';
import { createContact } from './factories.ts';
import { react } from './reactions.ts';
import type { World } from './world.ts';

const at = { x: 0, y: 0 };

/** Trigger node of every graph. */
const TRIGGER: AutomationNode = { id: 'trigger', type: 'trigger', ...at };

/** Returns an action node. */
export const act = (id: string, action: string, config: Record<string, unknown> = {}): AutomationNode => ({
  id,
  type: 'action',
  action: `sendsets.${action}`,
  config,
  ...at,
});

/** Returns a condition node on a field. */
export const ask = (id: string, key: string, operator: string, value?: unknown): AutomationNode => ({
  id,
  type: 'condition',
  condition: { field: 'field', key, operator, value },
  ...at,
});

/**
 * Returns a graph of a trigger and these nodes. Links are written `a>b`, or `a>b:true` for an output of a condition.
 */
export function draw(nodes: AutomationNode[], links: string[]): AutomationGraph {
  const edges = links.map((id) => {
    const [, source, target, when = ''] = /^(.+)>([^:]+)(?::(.+))?$/.exec(id)!;
    return { id, source: source!, target: target!, when: when as '' };
  });
  return { nodes: [TRIGGER, ...nodes], edges };
}

/** Returns a graph that runs the actions one after another. */
export const chain = (...nodes: AutomationNode[]): AutomationGraph =>
  draw(
    nodes,
    nodes.map(({ id }, index) => `${nodes[index - 1]?.id ?? 'trigger'}>${id}`),
  );

/** Stores an automation without validating it. */
export async function createAutomation(
  { deps }: Pick<World, 'deps'>,
  organizationId: string,
  trigger: string,
  graph: AutomationGraph,
  more: { filter?: AutomationFilter; enabled?: boolean; name?: string; authorRights?: ActionRight[] } = {},
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
    author_rights:
      more.authorRights ?? (await authorRights(new OrgScope(deps.db, organizationId), systemActor(organizationId))),
    created_at: now,
    updated_at: now,
  });
  return id;
}

/** Creates a workspace with a contact, for creating automations, receiving replies and reading results. */
export async function openAutomationDesk(world: World) {
  const { organizationId: org } = await world.tenant();
  const { db, clock } = world.deps;
  const ctx = world.system(org);
  const contactId = await createContact(db, clock.now(), org);
  const label = async () => {
    const id = newId();
    const stamps = { created_at: clock.now(), updated_at: clock.now() };
    await db('labels').insert({
      id,
      organization_id: org,
      registry: 'category',
      title: id,
      color: '#000000',
      position: 0,
      ...stamps,
    });
    return id;
  };
  const reply = async (data: Partial<EventData<'campaign.reply_received'>> = {}) => {
    const sample = sampleData('email.replied') as EventData<'campaign.reply_received'>;
    await transact(ctx, async (tx) =>
      tx.emit('campaign.reply_received', { ...sample, contact_id: contactId, campaign_id: null, ...data }),
    );
  };
  return {
    org,
    ctx,
    contactId,
    label,
    reply,
    /** Applies events until the subscribers emit no further ones. */
    async settle() {
      for (let before = -1, now = 0; now !== before;) {
        before = now;
        await react(world.deps, SUBSCRIBERS);
        now = (await db('domain_events').where({ organization_id: org }).select('id')).length;
      }
    },
    automate: (graph: AutomationGraph, more: Parameters<typeof createAutomation>[4] = {}, trigger = 'email.replied') =>
      createAutomation(world, org, trigger, graph, more),
    runs: (automationId: string) =>
      db('automation_runs').where({ organization_id: org, automation_id: automationId }).orderBy('id'),
    rows: (table: string) => db(table).where({ organization_id: org }),
    tags: async () => (await db('contact_categories').where({ contact_id: contactId })).map((row) => row.label_id),
    events: async (type: string) =>
      (await db('domain_events').where({ organization_id: org, type })).map((row) => row.data),
  };
}
