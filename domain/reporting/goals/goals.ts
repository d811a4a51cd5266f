import { changed, created } from '../../platform/changes.ts';
import { json } from '../../../db/connection.ts';
import type { Columns, Row } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { AppError, notFound } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { assertUnchanged } from '../../platform/assert-unchanged.ts';
import { assertNotFull } from '../../platform/full-list.ts';
import { isSameDefinition, type GoalDefinition, type GoalKind } from './definition.ts';

/** Maximum number of active goals of a workspace. Each product event is compared with all of them. */
const MAX_ACTIVE_GOALS = 200;
/** Maximum number of goals in a list, archived ones included. */
const MAX_LISTED = 1000;

/** A goal with its latest definition. */
export type Goal = Omit<Row<'goals'>, 'organization_id'> & Columns<'goal_revisions', 'definition'>;
/** A version of a goal's definition. */
export type GoalRevision = Columns<'goal_revisions', 'revision' | 'definition' | 'created_at' | 'created_by'>;

const GOALS = `select g.id, g.name, g.kind, g.is_primary, g.revision, g.archived_at, g.created_at, g.updated_at, r.definition
  from goals g join goal_revisions r on r.goal_id = g.id and r.revision = g.revision where g.organization_id = :org`;

/** Lists the goals of the workspace, newest first. */
export async function listGoals(ctx: Ctx, filter: { includeArchived: boolean }): Promise<Goal[]> {
  return reader(ctx).sql<Goal>(`${GOALS} and (:archived or g.archived_at is null) order by g.id desc limit :limit`, {
    archived: filter.includeArchived,
    limit: MAX_LISTED,
  });
}

/**
 * Returns a goal with all versions of its definition, latest first.
 * @throws AppError not_found
 */
export async function getGoal(ctx: Ctx, id: string): Promise<{ goal: Goal; revisions: GoalRevision[] }> {
  const org = reader(ctx);
  const goal = await findGoal(org, id);
  const revisions = await org.sql<GoalRevision>(
    `select revision, definition, created_at, created_by from goal_revisions
     where organization_id = :org and goal_id = :id order by revision desc`,
    { id },
  );
  return { goal, revisions };
}

/**
 * Creates a goal. If the goal is primary, the previous primary goal of its stage becomes non-primary. For custom goals
 * there is no such replacement. The goal counts events received from its creation on; a replay counts earlier ones.
 * @throws AppError bad_request when the workspace has the maximum number of goals
 */
export async function createGoal(
  ctx: Ctx,
  input: { name: string; kind: GoalKind; isPrimary: boolean; definition: GoalDefinition },
): Promise<Goal> {
  return transact(ctx, async (tx) => {
    const now = await lockGoals(ctx, tx);
    await assertGoalLimit(tx);
    const id = newId();
    const demoted = input.isPrimary ? await demotePrimary(tx, input.kind, id) : null;
    await tx.org.insert('goals', {
      id,
      name: input.name,
      kind: input.kind,
      is_primary: input.isPrimary,
      revision: 1,
      created_at: now,
      updated_at: now,
    });
    await addRevision(tx, now, id, 1, input.definition);
    tx.audit({
      action: 'create',
      entityType: 'goal',
      entityId: id,
      changes: created({
        name: input.name,
        kind: input.kind,
        is_primary: input.isPrimary,
        event_name: input.definition.event_name,
      }),
      ...(demoted ? { metadata: { demoted_goal_id: demoted } } : {}),
    });
    return findGoal(tx.org, id);
  });
}

/**
 * Changes a goal, except its stage. A changed definition is a new revision, which applies to events received from now
 * on. Changing only the name or `is_primary` creates no revision. A running replay ends with `goal_changed` when the
 * definition changes.
 * @param options.expectedUpdatedAt the `updated_at` that the caller has seen
 * @throws AppError not_found; conflict when the goal is archived, or `updated_at` has changed
 */
export async function updateGoal(
  ctx: Ctx,
  id: string,
  edit: { name?: string | undefined; isPrimary?: boolean | undefined; definition?: GoalDefinition | undefined },
  { expectedUpdatedAt }: { expectedUpdatedAt?: Date | undefined } = {},
): Promise<Goal> {
  return transact(ctx, async (tx) => {
    const now = await lockGoals(ctx, tx);
    const goal = await lockGoal(tx, id);
    assertUnchanged('goal', goal.updated_at, expectedUpdatedAt);
    const { name = goal.name, isPrimary = goal.is_primary } = edit;
    const definition =
      edit.definition && !isSameDefinition(edit.definition, goal.definition) ? edit.definition : undefined;
    const demoted = isPrimary && !goal.is_primary ? await demotePrimary(tx, goal.kind, id) : null;
    const revision = goal.revision + (definition ? 1 : 0);
    if (definition) await addRevision(tx, now, id, revision, definition);
    await tx.org.table('goals').where({ id }).update({ name, is_primary: isPrimary, revision, updated_at: now });
    tx.audit({
      action: 'update',
      entityType: 'goal',
      entityId: id,
      changes: changed(goal, { name, is_primary: isPrimary, revision, ...(definition ? { definition } : {}) }),
      ...(demoted ? { metadata: { demoted_goal_id: demoted } } : {}),
    });
    return findGoal(tx.org, id);
  });
}

/**
 * Archives a goal: it matches no further events and is no longer primary. Its conversions stay. Repeated calls change
 * nothing.
 * @throws AppError not_found
 */
export async function archiveGoal(ctx: Ctx, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const archived = isUuid(id)
      ? await tx.org
          .table('goals')
          .where({ id })
          .whereNull('archived_at')
          .update({ archived_at: tx.now, is_primary: false, updated_at: tx.now })
      : 0;
    if (archived > 0) tx.audit({ action: 'archive', entityType: 'goal', entityId: id });
    else await findGoal(tx.org, id);
  });
}

/**
 * Returns a goal of the organization, archived or not.
 * @throws AppError not_found
 */
export async function findGoal(org: OrgScope, id: string): Promise<Goal> {
  const [goal] = isUuid(id) ? await org.sql<Goal>(`${GOALS} and g.id = :id`, { id }) : [];
  if (!goal) throw notFound('goal');
  return goal;
}

/**
 * Returns a goal that is not archived, locked until the transaction ends.
 * @throws AppError not_found, conflict when it is archived
 */
export async function lockGoal(tx: Tx, id: string): Promise<Goal> {
  const [goal] = isUuid(id) ? await tx.org.sql<Goal>(`${GOALS} and g.id = :id for update of g`, { id }) : [];
  if (!goal) throw notFound('goal');
  if (goal.archived_at) throw archived();
  return goal;
}

/** Returns the error for changing or replaying an archived goal. */
export function archived(): AppError {
  return new AppError('conflict', message('reporting.goal_archived'), {
    fix: message('reporting.goal_archived.fix'),
  });
}

/**
 * Returns the lock key of a workspace's goals. Changes of goals take the lock exclusively; the matching of events takes
 * a shared lock.
 */
export function goalsOf(tx: Tx): string {
  return `goals/${tx.org.organizationId}`;
}

/**
 * Allows only one change of the workspace's goals at a time. If two goals become primary concurrently, the second one
 * therefore replaces the first. Locks goals in id order, as the matching of events does, so that the two cannot
 * deadlock.
 * @returns the time from which a new definition is valid. It is read after the locks are taken, so it is later than
 * every event matched by the previous definition
 */
async function lockGoals(ctx: Ctx, tx: Tx): Promise<Date> {
  await Promise.all([
    tx.org.lock(goalsOf(tx)),
    tx.org.sql(
      'select id from goals where organization_id = :org and archived_at is null order by id for no key update',
    ),
  ]);
  return ctx.clock.now();
}

async function assertGoalLimit(tx: Tx): Promise<void> {
  const [row] = await tx.org.sql<{ count: number }>(
    'select count(*) from goals where organization_id = :org and archived_at is null',
  );
  assertNotFull(row!.count, { most: MAX_ACTIVE_GOALS, what: message('reporting.active_goals') });
}

/** Makes the other primary goal of a stage non-primary, if there is one. Returns its id. */
async function demotePrimary(tx: Tx, kind: GoalKind, exceptId: string): Promise<string | null> {
  if (kind === 'custom') return null;
  const [demoted] = await tx.org.sql<{ id: string }>(
    `update goals set is_primary = false, updated_at = :now
     where organization_id = :org and kind = :kind and is_primary and archived_at is null and id <> :id returning id`,
    { kind, id: exceptId, now: tx.now },
  );
  return demoted?.id ?? null;
}

async function addRevision(
  tx: Tx,
  now: Date,
  goalId: string,
  revision: number,
  definition: GoalDefinition,
): Promise<void> {
  await tx.org.insert('goal_revisions', {
    goal_id: goalId,
    revision,
    definition: json(definition),
    created_at: now,
    created_by: tx.actor.userId,
  });
}
