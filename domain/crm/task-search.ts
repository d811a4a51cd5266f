import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../lib/cursor.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader } from '../platform/kernel/transact.ts';
import { Conditions } from '../platform/conditions.ts';
import { searchPage, type SortKey } from './search-page.ts';
import {
  assertIds,
  assertTaskFilters,
  compileTaskFilters,
  isFaceted,
  overdueSql,
  type TaskFilters,
} from './task-filters.ts';
import type { TaskRow, TaskStatus } from './tasks.ts';

export const TASK_SORTS = ['created_at', 'due_date', 'priority', 'title', 'updated_at'] as const;
export interface TaskSearch extends TaskFilters {
  sort_by?: (typeof TASK_SORTS)[number] | undefined;
  /** If true, the order is ascending. */
  reverse?: boolean | undefined;
}

/** Number of matching tasks by status. `high_priority_count` counts tasks of high and urgent priority. */
interface TasksSummary {
  total: number;
  pending_count: number;
  in_progress_count: number;
  completed_count: number;
  cancelled_count: number;
  overdue_count: number;
  high_priority_count: number;
}

// SQL expressions by which tasks can be sorted. In descending order, tasks without a due date come last.
const SORT: Record<(typeof TASK_SORTS)[number], SortKey> = {
  created_at: { expression: 't.created_at', type: 'timestamptz' },
  updated_at: { expression: 't.updated_at', type: 'timestamptz' },
  due_date: { expression: `coalesce(t.due_date, '-infinity')`, type: 'timestamptz' },
  priority: { expression: 't.priority_rank', type: 'integer' },
  title: { expression: `lower(t.title) collate "C"`, type: 'text' },
};

const LIST = 'crm.tasks';

/**
 * Lists tasks, newest first. Later pages take no longer than the first one.
 * @throws AppError invalid_filter, bad_request for the cursor of another list or other filters
 */
export async function listTasks(
  ctx: Ctx,
  page: PageRequest,
  narrow: {
    contact_id?: string | undefined;
    deal_id?: string | undefined;
    assigned_to?: string | undefined;
    status?: TaskStatus | undefined;
  },
): Promise<Page<TaskRow>> {
  const { status, ...ids } = narrow;
  assertIds(ids, 'query');
  const bound = [narrow.contact_id ?? null, narrow.deal_id ?? null, narrow.assigned_to ?? null, status ?? null];
  const after = decodeIdCursor(LIST, bound, page.cursor);
  const where = compileTaskFilters(
    {
      contact_id: narrow.contact_id,
      deal_id: narrow.deal_id,
      assigned_to: narrow.assigned_to === undefined ? [] : [narrow.assigned_to],
      statuses: status ? [status] : [],
    },
    ctx.clock.now(),
  );
  if (after) where.add(`t.id < ${where.bind(after, 'uuid')}`);
  const rows = await reader(ctx).sql<TaskRow>(
    `select t.* from crm_tasks t where t.organization_id = :org and ${where.all()} order by t.id desc limit :limit`,
    { ...where.bindings, limit: page.limit + 1 },
  );
  return pageOf(rows, page.limit, (last) => encodeCursor(LIST, bound, [last.id]));
}

/**
 * Searches tasks, with the exact number of matches.
 * @throws AppError invalid_filter, bad_request for the cursor of another search
 */
export async function searchTasks(ctx: Ctx, page: PageRequest, search: TaskSearch): Promise<Page<TaskRow>> {
  const { sort_by = 'created_at', reverse = false, ...filters } = search;
  assertTaskFilters(filters, 'body');
  const now = ctx.clock.now();
  const org = reader(ctx);
  const where = compileTaskFilters(filters, now);
  const counted = org.sql<{ total: number }>(
    isFaceted(filters)
      ? `select coalesce(sum(t.tasks), 0)::bigint as total from crm_task_counts t where t.organization_id = :org and ${where.all()}`
      : `select count(*) as total from crm_tasks t where t.organization_id = :org and ${where.all()}`,
    where.bindings,
  );
  const [found, [count]] = await Promise.all([
    searchPage<TaskRow>(org, page, {
      list: 'crm.tasks.search',
      bound: [filters, sort_by, reverse],
      sort: SORT[sort_by],
      ascending: reverse,
      where,
      from: 'crm_tasks t',
      columns: 'p.*',
      joins: '',
    }),
    counted,
  ]);
  return { ...found, total: Number(count!.total) };
}

/** Counts the matching tasks by status. @throws AppError invalid_filter */
export async function summarizeTasks(ctx: Ctx, filters: TaskFilters): Promise<TasksSummary> {
  assertTaskFilters(filters, 'body');
  const now = ctx.clock.now();
  const where = compileTaskFilters(filters, now);
  const [one, table] = isFaceted(filters) ? ['t.tasks', 'crm_task_counts'] : ['1', 'crm_tasks'];
  const late = new Conditions('o');
  const org = reader(ctx);
  const [[sums], [overdue]] = await Promise.all([
    org.sql<Record<string, number>>(
      `select coalesce(sum(${one}), 0)::bigint as total,
         coalesce(sum(${one}) filter (where t.status = 'pending'), 0)::bigint as pending_count,
         coalesce(sum(${one}) filter (where t.status = 'in_progress'), 0)::bigint as in_progress_count,
         coalesce(sum(${one}) filter (where t.status = 'completed'), 0)::bigint as completed_count,
         coalesce(sum(${one}) filter (where t.status = 'cancelled'), 0)::bigint as cancelled_count,
         coalesce(sum(${one}) filter (where t.priority in ('high', 'urgent')), 0)::bigint as high_priority_count
       from ${table} t where t.organization_id = :org and ${where.all()}`,
      where.bindings,
    ),
    org.sql<{ overdue_count: number }>(
      `select count(*) as overdue_count from crm_tasks t
       where t.organization_id = :org and ${where.all()} and ${overdueSql(late.bind(now, 'timestamptz'))}`,
      { ...where.bindings, ...late.bindings },
    ),
  ]);
  return { ...(sums as unknown as Omit<TasksSummary, 'overdue_count'>), overdue_count: overdue!.overdue_count };
}
