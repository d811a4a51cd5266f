import { isDeepStrictEqual } from 'node:util';
import type { AutomationGraph } from '../../db/json-columns.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { AppError, type Problem } from '../../lib/errors.ts';
import { isCredential, type Actor } from '../platform/kernel/actor.ts';
import { actionRightName, heldActions, readHeld, type ActionRight } from '../platform/rights.ts';
import { message, type Message } from '../../messages/index.ts';

/** Built-in actions, with the rights that each of them requires. */
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
  // Requires the same rights as the actions of the started automation (see `startedProblems`).
  'sendsets.run_automation': [],
} as const satisfies Record<string, readonly ActionRight[]>;

/**
 * Returns the rights of the person, key or application that saves an automation. They are stored with the automation.
 * @throws AppError unauthorized when the acting key or application has just been revoked
 */
export async function authorRights(org: OrgScope, actor: Actor): Promise<ActionRight[]> {
  return heldActions(await readHeld(org, actor));
}

/** A node of the graph, with a right that its action requires and that is missing. */
interface Lacking {
  index: number;
  nodeId: string;
  action: string;
  right: ActionRight;
}

/**
 * Lists the nodes of a graph whose actions require other rights than the given ones. Actions of external services
 * require no right, because every author of automations may use the workspace's connections.
 */
export function lackingRights({ nodes }: AutomationGraph, rights: readonly string[]): Lacking[] {
  return nodes.flatMap(({ id: nodeId, action = '' }, index) => {
    const needed: readonly ActionRight[] = Object.hasOwn(ACTION_RIGHTS, action)
      ? ACTION_RIGHTS[action as keyof typeof ACTION_RIGHTS]
      : [];
    return needed.filter((right) => !rights.includes(right)).map((right) => ({ index, nodeId, action, right }));
  });
}

/**
 * Returns the rights with which an automation runs.
 * @param author rights of the person who saved the automation
 * @param caller rights of the requesting run; null if an event or a campaign step made the request
 */
export function runRights(author: readonly string[], caller: readonly string[] | null): string[] {
  return caller ? author.filter((right) => caller.includes(right)) : [...author];
}

/**
 * Returns the error for an action that requires a missing right. It contains the name of the right as the caller knows
 * it, such as `manage_contacts` or `WRITE_CRM`.
 */
export function lackingRight(actor: Actor, action: string, right: ActionRight): Message {
  const name = nameOf(actor, right);
  return name ? message('field.needs_right', { action, right: name }) : message('field.needs_person', { action });
}

/** Returns the name of a right as the actor knows it. Undefined for a right that only people can have. */
function nameOf(actor: Actor, right: ActionRight): string | undefined {
  return actionRightName({ isCredential: isCredential(actor) }, right);
}

/** A reference in a request that starts an automation: its id, and the path of the id in the request. */
interface Start {
  automationId: string;
  path: string;
}

/**
 * Lists the actions of started automations that require rights which the actor does not have. Includes automations that
 * these start in turn, even disabled ones. Therefore nobody gets additional rights by starting an automation of another
 * person.
 * @param ownId an automation to ignore, because its stored graph is being replaced
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
  const rights = await authorRights(org, actor);
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

function startsLacking(actor: Actor, automation: string, action: string, right: ActionRight): Message {
  const name = nameOf(actor, right);
  return name
    ? message('field.starts_needs_right', { automation, action, right: name })
    : message('field.starts_needs_person', { automation, action });
}

/**
 * Refuses campaign steps with actions for which their author does not have the rights. Checks CRM actions, and
 * automations that the steps start.
 * @throws AppError forbidden, naming the missing rights
 */
export async function assertMayWriteSteps(
  org: OrgScope,
  actor: Actor,
  steps: readonly { action?: { type: string; automation_id?: string } | null | undefined; path: string }[],
): Promise<void> {
  if (!steps.some(({ action }) => action && (OWN_ACTIONS.has(action.type) || action.type === 'run_automation'))) return;
  const rights = await authorRights(org, actor);
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

/** Campaign step types that require the same rights as the equivalent automation action. */
const OWN_ACTIONS: ReadonlySet<string> = new Set(['create_task', 'create_deal', 'move_deal_stage']);
