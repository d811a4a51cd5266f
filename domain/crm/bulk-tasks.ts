import type { Columns } from '../../db/rows.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { AppError, type Problem } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { message } from '../../messages/index.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { transact } from '../platform/kernel/transact.ts';
import { recordActivities } from './activities.ts';
import { assertTaskFilters, compileTaskFilters, taskFilterProblems, type TaskFilters } from './task-filters.ts';
import { taskActivity, type TaskPriority, type TaskStatus } from './tasks.ts';

const MAX_IDS = 1_000;
const MAX_SELECTED = 50_000;
/** Maximum number of activities inserted at once. */
const CHUNK = 5_000;

/** Tasks that a bulk call changes: those with the given ids, or all that match the filters except some. */
interface TaskSelection {
  tasks?: readonly string[] | undefined;
  all?: boolean | undefined;
  filters?: TaskFilters | undefined;
  /** Ids of tasks to exclude. Used only with `all`. */
  exclude?: readonly string[] | undefined;
}

type Selected = Columns<'crm_tasks', 'id' | 'contact_id' | 'deal_id' | 'type' | 'status' | 'priority'>;

/**
 * Sets status and priority of many tasks. Stores the time at which tasks are completed, and adds an entry to their
 * contact's log. Emits crm.task_updated only once, with `bulk` and `count`. Returns the number of selected tasks;
 * unknown ids are not counted.
 * @throws AppError too_many_tasks, selection_too_large, invalid_filter
 */
export async function updateTasks(
  ctx: Ctx,
  selection: TaskSelection,
  edit: { status?: TaskStatus | undefined; priority?: TaskPriority | undefined },
): Promise<number> {
  return transact(ctx, async (tx) => {
    const selected = await lockSelection(tx.org, selection, tx.now);
    if (selected.length === 0) return 0;
    await tx.org.sql(
      `update crm_tasks set status = coalesce(:status, status), priority = coalesce(:priority, priority), updated_at = :now,
         completed_at = case coalesce(:status, status) when 'completed' then coalesce(completed_at, :now) end
       where organization_id = :org and id = any(cast(:ids as uuid[]))
         and (status <> coalesce(:status, status) or priority <> coalesce(:priority, priority))`,
      { ids: selected.map(({ id }) => id), status: edit.status ?? null, priority: edit.priority ?? null, now: tx.now },
    );
    const completed = edit.status === 'completed' ? selected.filter(({ status }) => status !== 'completed') : [];
    for (let at = 0; at < completed.length; at += CHUNK) {
      const part = completed.slice(at, at + CHUNK);
      await recordActivities(
        tx,
        part.map((task) => taskActivity(task, 'task_completed')),
      );
    }
    const metadata = { bulk: true as const, count: selected.length };
    tx.emit('crm.task_updated', { metadata });
    tx.audit({ action: 'update', entityType: 'crm_task', metadata: { ...metadata, ...edit } });
    return selected.length;
  });
}

/** Deletes many tasks. Returns their number. @throws AppError too_many_tasks, selection_too_large, invalid_filter */
export async function deleteTasks(ctx: Ctx, selection: TaskSelection): Promise<number> {
  return transact(ctx, async (tx) => {
    const selected = await lockSelection(tx.org, selection, tx.now);
    if (selected.length === 0) return 0;
    await tx.org.sql('delete from crm_tasks where organization_id = :org and id = any(cast(:ids as uuid[]))', {
      ids: selected.map(({ id }) => id),
    });
    tx.audit({ action: 'delete', entityType: 'crm_task', metadata: { bulk: true, count: selected.length } });
    return selected.length;
  });
}

/** Lists the problems of a selection that its schema cannot detect: malformed ids in its filters. */
export function selectionProblems({ all, filters }: TaskSelection): Problem[] {
  return all && filters ? taskFilterProblems(filters, 'body.filters') : [];
}

/**
 * Locks and returns the tasks of a selection. All callers lock them in the same order, so that transactions cannot
 * deadlock.
 */
async function lockSelection(org: OrgScope, selection: TaskSelection, now: Date): Promise<Selected[]> {
  const columns = 't.id, t.contact_id, t.deal_id, t.type, t.status, t.priority';
  if (!selection.all) {
    const ids = selection.tasks ?? [];
    if (ids.length > MAX_IDS)
      throw new AppError('too_many_tasks', message('crm.too_many_tasks', { max: MAX_IDS }), {
        problems: [{ path: 'body.tasks', message: message('field.list_longer', { max: MAX_IDS }) }],
        fix: message('crm.too_many_tasks.fix'),
      });
    return org.sql<Selected>(
      `select ${columns} from crm_tasks t where t.organization_id = :org and t.id = any(cast(:ids as uuid[])) order by t.id for no key update`,
      { ids: ids.filter(isUuid) },
    );
  }
  const exclude = selection.exclude ?? [];
  if (exclude.length > MAX_SELECTED)
    throw new AppError('too_many_tasks', message('crm.too_many_exclusions', { max: MAX_SELECTED }), {
      problems: [{ path: 'body.exclude', message: message('field.list_longer', { max: MAX_SELECTED }) }],
      fix: message('crm.too_many_exclusions.fix'),
    });
  assertTaskFilters(selection.filters ?? {}, 'body.filters');
  const where = compileTaskFilters(selection.filters ?? {}, now);
  where.add(
    `not exists (select 1 from unnest(${where.bind(exclude.filter(isUuid), 'uuid[]')}) as out(id) where out.id = t.id)`,
  );
  const rows = await org.sql<Selected>(
    `select ${columns} from crm_tasks t where t.organization_id = :org and t.id in (
       select t.id from crm_tasks t where t.organization_id = :org and ${where.all()} order by t.id limit :limit)
     order by t.id for no key update`,
    { ...where.bindings, limit: MAX_SELECTED + 1 },
  );
  if (rows.length > MAX_SELECTED)
    throw new AppError('selection_too_large', message('crm.selection_too_large', { max: MAX_SELECTED }), {
      fix: message('crm.selection_too_large.fix'),
    });
  return rows;
}
