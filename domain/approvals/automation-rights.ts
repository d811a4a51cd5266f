import { isDeepStrictEqual } from 'node:util';
import type { AutomationGraph } from '../../db/json-columns.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { AppError, type Problem } from '../../lib/errors.ts';
import type { OrgPermission, Permission } from '../../lib/permissions.ts';
import { isCredential, may, type Actor } from '../platform/kernel/actor.ts';
import { message, type Message } from '../../messages/index.ts';

/**
 * What an action of an automation may ask of its author beyond writing automations: what the route of the same deed asks for. People have permissions, keys
 * and applications the scope that stands for them.
 */
const RIGHTS = {
  contacts: { permission: 'manage_contacts', scope: 'WRITE_CONTACTS' },
  crm: { permission: 'manage_contacts', scope: 'WRITE_CRM' },
  campaigns: { permission: 'manage_campaigns', scope: 'WRITE_CAMPAIGNS' },
  inbox: { permission: 'send_campaigns', scope: 'WRITE_UNIBOX' },
  // To add leads without the policy that bounds what a key or application adds: people alone.
  leads: null,
} as const satisfies Record<string, { permission: OrgPermission; scope: Permission } | null>;

/** A right that an action may need. Names are stored: one that is published is never renamed. */
export type AutomationRight = keyof typeof RIGHTS;

/** The actions that Heron does by itself, with the rights that each needs. */
export const ACTION_RIGHTS = {
  'sendsets.add_tag': ['contacts'],
  'sendsets.remove_tag': ['contacts'],
  'sendsets.set_category': ['contacts'],
  'sendsets.label_email': ['inbox'],
  'sendsets.create_task': ['crm'],
  'sendsets.create_deal': ['crm'],
  'sendsets.move_deal_stage': ['crm'],
  'sendsets.add_to_campaign': ['campaigns', 'leads'],
  'sendsets.remove_from_campaign': ['campaigns'],
  'sendsets.suppress': ['contacts'],
  'sendsets.notify': [],
  'sendsets.webhook': [],
  'sendsets.wait': [],
  // Those of the automation that it starts: see `startedProblems`.
  'sendsets.run_automation': [],
} as const satisfies Record<string, readonly AutomationRight[]>;

/** The rights of whoever saves an automation. */
export function authorRights(actor: Actor): AutomationRight[] {
  return (Object.keys(RIGHTS) as AutomationRight[]).filter((right) => {
    const needed = RIGHTS[right];
    return needed ? may(actor, [needed.scope], [needed.permission]) : !isCredential(actor);
  });
}

/** A node whose action needs a right that is not there. */
interface Lacking {
  index: number;
  nodeId: string;
  action: string;
  right: AutomationRight;
}

/** The nodes of a graph that need more than these rights. Actions of providers need none: whoever writes automations may use connections. */
export function lackingRights({ nodes }: AutomationGraph, rights: readonly string[]): Lacking[] {
  return nodes.flatMap(({ id: nodeId, action = '' }, index) => {
    const needed: readonly AutomationRight[] = Object.hasOwn(ACTION_RIGHTS, action)
      ? ACTION_RIGHTS[action as keyof typeof ACTION_RIGHTS]
      : [];
    return needed.filter((right) => !rights.includes(right)).map((right) => ({ index, nodeId, action, right }));
  });
}

/**
 * The rights of a run.
 * @param author rights of whoever saved its automation
 * @param caller of the run that asked for it; null where an event or a step of a campaign did
 */
export function runRights(author: readonly string[], caller: readonly string[] | null): string[] {
  return caller ? author.filter((right) => caller.includes(right)) : [...author];
}

/** The fault of an action that needs a right, with the name that the right has for the caller: `manage_contacts` or `WRITE_CRM`. */
export function lackingRight(actor: Actor, action: string, right: AutomationRight): Message {
  const name = nameOf(actor, right);
  return name ? message('field.needs_right', { action, right: name }) : message('field.needs_person', { action });
}

/** Undefined of a right that only people have. */
function nameOf(actor: Actor, right: AutomationRight): string | undefined {
  const needed = RIGHTS[right];
  return needed ? (isCredential(actor) ? needed.scope : needed.permission) : undefined;
}

/** A place that starts an automation: the path of its id in the request. */
interface Start {
  automationId: string;
  path: string;
}

/**
 * What the actor may not do of that which automations do that are started here, and those that they start in turn, switched on or not: whoever starts an
 * automation borrows no rights of the person who saved it.
 * @param ownId an automation whose stored graph does not count, as it is being replaced
 */
export async function startedProblems(
  org: OrgScope,
  actor: Actor,
  starts: readonly Start[],
  ownId?: string,
): Promise<Problem[]> {
  if (starts.length === 0) return [];
  const started = await org.sql<{ root: string; name: string; graph: AutomationGraph }>(
    `with recursive started (root, id) as (
       select distinct named, named from unnest(cast(:ids as uuid[])) as named
       union
       select s.root, r.used_automation_id from started s
       join automation_references r on r.automation_id = s.id and r.organization_id = :org and r.used_automation_id is not null
     )
     select s.root, a.name, a.graph from started s join automations a on a.id = s.id
     where a.organization_id = :org and a.id is distinct from cast(:ownId as uuid) order by s.root, a.id`,
    { ids: starts.map(({ automationId }) => automationId), ownId: ownId ?? null },
  );
  const rights = authorRights(actor);
  return starts.flatMap(({ automationId, path }) =>
    started
      .filter(({ root }) => root === automationId.toLowerCase())
      .flatMap(({ name, graph }) =>
        lackingRights(graph, rights).map(({ action, right }) => ({
          path,
          message: startsLacking(actor, name, action, right),
        })),
      )
      .filter(
        ({ message: said }, index, all) => all.findIndex((other) => isDeepStrictEqual(other.message, said)) === index,
      ),
  );
}

function startsLacking(actor: Actor, automation: string, action: string, right: AutomationRight): Message {
  const name = nameOf(actor, right);
  return name
    ? message('field.starts_needs_right', { automation, action, right: name })
    : message('field.starts_needs_person', { automation, action });
}

/**
 * Refuses steps of a campaign that do what their author may not do: by themselves in the CRM, or by an automation that they start.
 * @throws AppError forbidden, naming what is lacking
 */
export async function assertMayWriteSteps(
  org: OrgScope,
  actor: Actor,
  steps: readonly { action?: { type: string; automation_id?: string } | null | undefined; path: string }[],
): Promise<void> {
  const rights = authorRights(actor);
  const own = steps.flatMap(({ action, path }) =>
    action && OWN_ACTIONS.has(action.type)
      ? ACTION_RIGHTS[`sendsets.${action.type as 'create_task'}`]
          .filter((right) => !rights.includes(right))
          .map((right) => ({ path: `${path}.action.type`, message: lackingRight(actor, action.type, right) }))
      : [],
  );
  const starts = steps.flatMap(({ action, path }) =>
    action?.type === 'run_automation' && action.automation_id
      ? [{ automationId: action.automation_id, path: `${path}.action.automation_id` }]
      : [],
  );
  const started = await startedProblems(org, actor, starts);
  if (own.length + started.length > 0)
    throw new AppError(
      'forbidden',
      started.length > 0 ? message('steps.starts_beyond_author') : message('steps.beyond_author'),
      { problems: [...own, ...started], fix: message('steps.beyond_author.fix') },
    );
}

/** Steps that ask of their author what the same action of an automation does. */
const OWN_ACTIONS: ReadonlySet<string> = new Set(['create_task', 'create_deal', 'move_deal_stage']);
