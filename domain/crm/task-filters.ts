import { foldCase } from '../../lib/fold-case.ts';
import { AppError, type Problem } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { message } from '../../messages/index.ts';
import { Conditions, likeLiteral } from '../platform/conditions.ts';
import type { TaskPriority, TaskStatus } from './tasks.ts';

/** Filters of tasks. An empty list does not restrict the result. Minimum and maximum values are included. */
export interface TaskFilters {
  /** Text that the task's title must contain, ignoring case. */
  query?: string | undefined;
  statuses?: readonly TaskStatus[] | undefined;
  priorities?: readonly TaskPriority[] | undefined;
  /** Names of task types. */
  types?: readonly string[] | undefined;
  assigned_to?: readonly string[] | undefined;
  /** Ids of teams. Selects the tasks that are assigned to these teams or to their members. */
  team_ids?: readonly string[] | undefined;
  contact_id?: string | undefined;
  deal_id?: string | undefined;
  due_after?: Date | undefined;
  due_before?: Date | undefined;
  /** If true, selects overdue tasks that are neither completed nor cancelled. */
  overdue?: boolean | undefined;
}

// SQL expression by which tasks are sorted by due date. A task without a due date comes first.
const DUE = `coalesce(t.due_date, '-infinity')`;

/**
 * SQL condition for tasks `t` that are overdue at the time bound as `at`. It repeats the condition of the index
 * `crm_tasks_open_due` exactly, so that PostgreSQL can use the index.
 */
export const overdueSql = (at: string): string =>
  `t.status in ('pending', 'in_progress') and ${DUE} > '-infinity' and ${DUE} < ${at}`;

/** Lists problems of ids in task filters. @param path path of the filters in the request */
export function taskFilterProblems(filters: TaskFilters, path: string): Problem[] {
  const fault = message('directory.not_id');
  const problems: Problem[] = [];
  filters.assigned_to?.forEach((id, index) => {
    if (!isUuid(id)) problems.push({ path: `${path}.assigned_to.${index}`, message: fault });
  });
  for (const field of ['contact_id', 'deal_id'] as const) {
    const id = filters[field];
    if (id !== undefined && !isUuid(id)) problems.push({ path: `${path}.${field}`, message: fault });
  }
  return problems;
}

/** Checks the ids in task filters. @throws AppError invalid_filter naming every malformed id */
export function assertTaskFilters(filters: TaskFilters, path: string): void {
  refuseFilters(taskFilterProblems(filters, path));
}

/** Checks the given ids. @throws AppError invalid_filter naming every malformed id */
export function assertIds(ids: Readonly<Record<string, string | undefined>>, path: string): void {
  refuseFilters(
    Object.entries(ids).flatMap(([field, id]) =>
      id === undefined || isUuid(id) ? [] : [{ path: `${path}.${field}`, message: message('directory.not_id') }],
    ),
  );
}

function refuseFilters(problems: Problem[]): void {
  if (problems.length > 0) throw new AppError('invalid_filter', message('crm.filter_not_id'), { problems });
}

/**
 * Returns true if the filters can be answered from stored counts. These distinguish only statuses, priorities, types,
 * members and teams.
 */
export function isFaceted({
  statuses: _s,
  priorities: _p,
  types: _t,
  assigned_to: _a,
  team_ids: _m,
  ...others
}: TaskFilters): boolean {
  return Object.values(others).every((value) => value === undefined || value === '' || value === false);
}

/**
 * Returns SQL conditions on rows `t` of `crm_tasks`, or on the stored counts if {@link isFaceted} is true. All values
 * are bound.
 */
export function compileTaskFilters(filters: TaskFilters, now: Date): Conditions {
  const where = new Conditions('f');
  const among = (column: string, values: readonly string[] | undefined, type: 'uuid[]' | 'text[]') => {
    if (values && values.length > 0) where.add(`t.${column} = any(${where.bind(values, type)})`);
  };
  among('status', filters.statuses, 'text[]');
  among('priority', filters.priorities, 'text[]');
  among('type', filters.types, 'text[]');
  among('assigned_to', filters.assigned_to, 'uuid[]');
  if (filters.team_ids && filters.team_ids.length > 0) {
    const teams = where.bind(filters.team_ids, 'uuid[]');
    where.add(`t.assigned_team_id = any(${teams}) or t.assigned_to = any(array(
      select m.user_id from team_members m where m.organization_id = t.organization_id and m.team_id = any(${teams})))`);
  }
  if (filters.contact_id) where.add(`t.contact_id = ${where.bind(filters.contact_id, 'uuid')}`);
  if (filters.deal_id) where.add(`t.deal_id = ${where.bind(filters.deal_id, 'uuid')}`);
  if (filters.query)
    where.add(`heron_fold(t.title) like ${where.bind(`%${likeLiteral(foldCase(filters.query))}%`, 'text')}`);
  if (filters.due_after) where.add(`${DUE} >= ${where.bind(filters.due_after, 'timestamptz')}`);
  if (filters.due_before)
    where.add(`${DUE} > '-infinity' and ${DUE} <= ${where.bind(filters.due_before, 'timestamptz')}`);
  if (filters.overdue) where.add(overdueSql(where.bind(now, 'timestamptz')));
  return where;
}
