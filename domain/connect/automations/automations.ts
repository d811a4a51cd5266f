import { changed, created, deleted } from '../../platform/changes.ts';
import { json } from '../../../db/connection.ts';
import { isForeignKeyViolation } from '../../../db/errors.ts';
import type { Columns, Row } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { AppError, notFound, refuseProblems } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { isCredential } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { authorRights, lackingRights, lackingRight, startedProblems } from '../../approvals/automation-rights.ts';
import { assertUnchanged } from '../../platform/assert-unchanged.ts';
import type { ActionRight } from '../../platform/rights.ts';
import { assertBelowLimit } from '../../platform/full-list.ts';
import { automationProblems, named, namedRows, type AutomationWrite } from './validate.ts';
import { endOpenAutomationRuns } from './end-runs.ts';

/** Maximum number of automations of a workspace. Every event is matched against all automations of its trigger. */
export const MAX_AUTOMATIONS = 200;
/** Maximum number of rows named in a refusal. */
const MAX_NAMED = 20;

export type AutomationRow = Row<'automations'>;

/** Lists the automations of the workspace, newest first. */
export async function listAutomations(ctx: Ctx): Promise<AutomationRow[]> {
  return reader(ctx).table('automations').orderBy('id', 'desc').limit(MAX_AUTOMATIONS);
}

/** Returns one automation. @throws AppError not_found */
export async function getAutomation(ctx: Ctx, id: string): Promise<AutomationRow> {
  return findAutomation(reader(ctx), id);
}

/** Finds an automation by id. @throws AppError not_found */
export async function findAutomation(org: OrgScope, id: string): Promise<AutomationRow> {
  const row = isUuid(id) ? await org.table('automations').where({ id }).first() : undefined;
  if (!row) throw notFound('automation');
  return row;
}

/**
 * Creates an automation. If it is enabled, it reacts to all later events.
 * @throws AppError forbidden if the automation exceeds its author's rights, or if a key or application saves one that
 * adds leads to campaigns
 * @throws AppError bad_request naming every fault with the id of its node, or at the workspace's limit
 */
export async function createAutomation(ctx: Ctx, input: AutomationWrite): Promise<AutomationRow> {
  return transact(ctx, async (tx) => {
    await lockAutomations(tx);
    const rights = await assertMayWrite(ctx, tx, input);
    refuseProblems(await automationProblems(tx.org, input));
    await assertBelowLimit(tx, 'automations', { most: MAX_AUTOMATIONS, what: message('connect.automations') });
    const id = newId();
    await tx.org.insert('automations', {
      id,
      ...columnsOf(input),
      author_rights: rights,
      created_at: tx.now,
      updated_at: tx.now,
    });
    await storeReferences(tx, id, input);
    tx.audit({ action: 'create', entityType: 'automation', entityId: id, changes: created(summaryOf(input)) });
    return findAutomation(tx.org, id);
  });
}

/**
 * Replaces an automation. Active runs keep the graph with which they began; disabling the automation ends active runs
 * at once.
 * @param options.expectedUpdatedAt the `updated_at` that the caller has seen
 * @throws AppError not_found, forbidden and bad_request as {@link createAutomation}; conflict if `updated_at` has
 * changed
 */
export async function replaceAutomation(
  ctx: Ctx,
  id: string,
  input: AutomationWrite,
  { expectedUpdatedAt }: { expectedUpdatedAt?: Date | undefined } = {},
): Promise<AutomationRow> {
  return transact(ctx, async (tx) => {
    await lockAutomations(tx);
    const rights = await assertMayWrite(ctx, tx, input, id);
    const before = await findAutomation(tx.org, id);
    assertUnchanged('automation', before.updated_at, expectedUpdatedAt);
    refuseProblems(await automationProblems(tx.org, input, id));
    await tx.org
      .table('automations')
      .where({ id })
      .update({ ...columnsOf(input), author_rights: rights, updated_at: tx.now });
    await tx.org.table('automation_references').where({ automation_id: id }).delete();
    await storeReferences(tx, id, input);
    if (before.enabled && !input.enabled) await endOpenAutomationRuns(tx, id, message('connect.run_switched_off'));
    tx.audit({
      action: 'update',
      entityType: 'automation',
      entityId: id,
      changes: changed(summaryOf(before), summaryOf(input)),
    });
    return findAutomation(tx.org, id);
  });
}

/**
 * Checks the rights of the author. An automation acts with the rights of the workspace, so its author must have the
 * rights of all its actions. To start another automation, the author needs the rights of that automation too. A
 * disabled automation has no effect, so everybody who may write automations may save it. The author's rights are stored
 * with the automation, because another person with more rights may later change an automation that it starts
 * (`startAutomationRuns`). The policy of a key or application limits the number of leads that it adds to a sending
 * campaign. An automation adds leads later and without a limit, so only a person may save such an automation.
 * @returns the rights of the author, for storage
 */
async function assertMayWrite(
  { actor }: Ctx,
  tx: Tx,
  { graph, enabled }: AutomationWrite,
  ownId?: string,
): Promise<ActionRight[]> {
  if (isCredential(actor) && graph.nodes.some(({ action }) => action === 'sendsets.add_to_campaign'))
    throw new AppError('forbidden', message('connect.person_saves'), {
      fix: message('connect.person_saves.fix'),
    });
  const rights = await authorRights(tx.org, actor);
  if (!enabled) return rights;
  const own = lackingRights(graph, rights).map(({ index, nodeId, action, right }) => ({
    path: `body.graph.nodes.${index}`,
    message: message('connect.node_fault', { node: nodeId, problem: lackingRight(actor, action, right) }),
  }));
  const starts = namedRows(graph)
    .filter(({ table }) => table === 'automations')
    .map(({ id, path }) => ({ automationId: id, path }));
  const problems = [...own, ...named(graph.nodes, await startedProblems(tx.org, actor, starts, ownId))];
  if (problems.length === 0) return rights;
  throw new AppError('forbidden', message('connect.beyond_rights'), {
    problems,
    fix: message('connect.beyond_rights.fix'),
  });
}

/** Disables all automations of the workspace, and ends their active runs. */
export async function disableAutomations(tx: Tx): Promise<void> {
  await lockAutomations(tx);
  for (const id of await tx.org.table('automations').where({ enabled: true }).orderBy('id').pluck('id')) {
    await tx.org.table('automations').where({ id }).update({ enabled: false, updated_at: tx.now });
    await endOpenAutomationRuns(tx, id, message('connect.run_switched_off'));
    tx.audit({
      action: 'update',
      entityType: 'automation',
      entityId: id,
      changes: { enabled: { from: true, to: false } },
    });
  }
}

/**
 * Deletes an automation with its runs, and ends active runs. The effects of completed nodes stay.
 * @throws AppError not_found; conflict with the campaign steps and automations that run it
 */
export async function deleteAutomation(ctx: Ctx, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    await lockAutomations(tx);
    const automation = await findAutomation(tx.org, id);
    await refuseUsed(tx, id);
    await endOpenAutomationRuns(tx, id, message('connect.run_deleted'));
    try {
      await tx.org.table('automations').where({ id }).delete();
    } catch (error) {
      // A foreign-key violation means that a campaign step that runs the automation was saved concurrently.
      if (!isForeignKeyViolation(error)) throw error;
      throw new AppError('conflict', message('connect.used_by_step'), { cause: error });
    }
    tx.audit({ action: 'delete', entityType: 'automation', entityId: id, changes: deleted({ name: automation.name }) });
  });
}

/**
 * Allows only one change of a workspace's automations at a time, because each change checks their number and
 * references.
 */
async function lockAutomations(tx: Tx): Promise<void> {
  await tx.org.lock(`automations/${tx.org.organizationId}`);
}

function columnsOf({ name, enabled, trigger_event, filter, graph }: AutomationWrite) {
  return { name, enabled, trigger_event, filter: json(filter), graph: json(graph) };
}

function summaryOf({
  name,
  enabled,
  trigger_event,
  graph,
}: Pick<AutomationWrite, 'name' | 'enabled' | 'trigger_event' | 'graph'>): Record<string, unknown> {
  return { name, enabled, trigger_event, nodes: graph.nodes.length };
}

/** Stores references to the rows that the graph needs. Their foreign keys prevent the deletion of these rows. */
async function storeReferences(tx: Tx, automationId: string, { graph }: AutomationWrite): Promise<void> {
  const named = namedRows(graph);
  const idsOf = (table: string) => [...new Set(named.filter((row) => row.table === table).map(({ id }) => id))];
  const rows = [
    ...idsOf('automations').map((id) => ({ used_automation_id: id })),
    ...idsOf('app_connections').map((id) => ({ app_connection_id: id })),
  ];
  if (rows.length === 0) return;
  await tx.org.insert(
    'automation_references',
    rows.map((row) => ({ id: newId(), automation_id: automationId, ...row })),
  );
}

async function refuseUsed(tx: Tx, id: string): Promise<void> {
  const steps = await tx.org.sql<Columns<'campaign_steps', 'id' | 'name'>>(
    'select id, name from campaign_steps where organization_id = :org and automation_id = :id order by id limit :limit',
    { id, limit: MAX_NAMED },
  );
  const automations = await tx.org.sql<Columns<'automations', 'id' | 'name'>>(
    `select distinct a.id, a.name from automation_references r join automations a on a.id = r.automation_id
     where r.organization_id = :org and r.used_automation_id = :id order by a.id limit :limit`,
    { id, limit: MAX_NAMED },
  );
  if (steps.length + automations.length === 0) return;
  throw new AppError('conflict', message('connect.used_by_others'), {
    problems: [
      ...steps.map((step) => ({
        path: `campaign_steps.${step.id}`,
        message: message('connect.step_runs_it', { name: step.name }),
      })),
      ...automations.map((other) => ({
        path: `automations.${other.id}`,
        message: message('connect.automation_runs_it', { name: other.name }),
      })),
    ],
    fix: message('connect.used_by_others.fix'),
  });
}
