import { z } from 'zod';
import { deleteTasks, selectionProblems, updateTasks } from '../../domain/crm/bulk-tasks.ts';
import { taskFilterProblems } from '../../domain/crm/task-filters.ts';
import { listTasks, searchTasks, summarizeTasks } from '../../domain/crm/task-search.ts';
import { createTaskType, deleteTaskType, listTaskTypes, updateTaskType } from '../../domain/crm/task-types.ts';
import { createTask, deleteTask, readTask, TASK_STATUSES, taskProblems, updateTask } from '../../domain/crm/tasks.ts';
import { route } from '../http/route.ts';
import { expectedVersion, idParams, paged, pageQuery, presentPage } from '../http/schemas.ts';
import { presentTask, presentTaskType } from './present.ts';
import {
  affected,
  task,
  taskCreate,
  tasksDelete,
  taskSearch,
  tasksSummary,
  tasksUpdate,
  taskType,
  taskTypeCreate,
  taskTypeUpdate,
  taskUpdate,
} from './schemas.ts';

const area = 'crm';
/** Maximum size (bytes) of a selection; enough for 50,000 exclusions. */
const SELECTION_BODY = 4 * 1024 * 1024;
const read = { area, scope: ['READ_CRM'], permission: 'view_contacts' } as const;
const write = { area, scope: ['WRITE_CRM'], permission: 'manage_contacts' } as const;
const bulk = { area, scope: ['BULK_CRM'], permission: 'manage_contacts' } as const;

const taskTypeRoutes = [
  route({
    ...read,
    operationId: 'crm.listTaskTypes',
    method: 'get',
    path: '/crm/task-types',
    summary: 'List task types in their order',
    description: 'A workspace starts with To-do, Call, Email, Meeting and Follow-up.',
    success: { status: 200, body: z.strictObject({ data: z.array(taskType) }) },
    handler: async (ctx) => ({ data: (await listTaskTypes(ctx)).map(presentTaskType) }),
  }),
  route({
    ...write,
    operationId: 'crm.createTaskType',
    method: 'post',
    path: '/crm/task-types',
    summary: 'Append a task type',
    description: 'Its name must be unique, ignoring case.',
    body: taskTypeCreate,
    errors: ['conflict'],
    success: { status: 201, body: taskType },
    handler: async (ctx, { body }) => presentTaskType(await createTaskType(ctx, body)),
  }),
  route({
    ...write,
    operationId: 'crm.updateTaskType',
    method: 'patch',
    path: '/crm/task-types/:id',
    summary: 'Rename, recolour or move a task type',
    description:
      'Tasks keep the old name. Setting a position shifts the other types: positions run from 1 without gaps.',
    params: idParams,
    body: taskTypeUpdate,
    errors: ['conflict'],
    success: { status: 200, body: taskType },
    handler: async (ctx, { params, body }) => presentTaskType(await updateTaskType(ctx, params.id, body)),
  }),
  route({
    ...write,
    operationId: 'crm.deleteTaskType',
    method: 'delete',
    path: '/crm/task-types/:id',
    summary: 'Delete a task type',
    description: 'Its tasks keep its name.',
    params: idParams,
    success: { status: 204 },
    handler: (ctx, { params }) => deleteTaskType(ctx, params.id),
  }),
];

const bulkRoutes = [
  route({
    ...bulk,
    operationId: 'crm.updateTasks',
    method: 'patch',
    path: '/crm/tasks',
    summary: 'Change state or priority of many tasks',
    description:
      'Select tasks with `tasks` (at most 1000 ids) or with `all` and `filters` (at most 50000 matches), minus `exclude`. Returns the number of selected tasks.',
    body: tasksUpdate,
    bodyLimit: SELECTION_BODY,
    furtherProblems: async (_ctx, body) => selectionProblems(body),
    errors: ['too_many_tasks', 'selection_too_large', 'invalid_filter'],
    success: { status: 200, body: affected },
    handler: async (ctx, { body: { status, priority, ...selection } }) => ({
      affected: await updateTasks(ctx, selection, { status, priority }),
    }),
  }),
  route({
    ...bulk,
    operationId: 'crm.deleteTasks',
    method: 'delete',
    path: '/crm/tasks',
    summary: 'Delete many tasks',
    description: 'Select tasks as in the bulk change.',
    body: tasksDelete,
    bodyLimit: SELECTION_BODY,
    furtherProblems: async (_ctx, body) => selectionProblems(body),
    errors: ['too_many_tasks', 'selection_too_large', 'invalid_filter'],
    success: { status: 200, body: affected },
    handler: async (ctx, { body }) => ({ affected: await deleteTasks(ctx, body) }),
  }),
];

/** Routes of tasks and their types. */
export const crmTaskRoutes = [
  ...taskTypeRoutes,
  ...bulkRoutes,
  route({
    ...read,
    operationId: 'crm.listTasks',
    method: 'get',
    path: '/crm/tasks',
    summary: 'Tasks, newest first',
    description: 'Use POST /crm/tasks/search for other conditions and orders.',
    query: z.object({
      contact_id: z.string().optional().meta({ description: 'Only tasks about this contact' }),
      deal_id: z.string().optional().meta({ description: 'Only tasks about this deal' }),
      assigned_to: z.string().optional().meta({ description: 'Only tasks of this person, by their `user_id`' }),
      status: z.enum(TASK_STATUSES).optional().meta({ description: 'Only tasks in this state' }),
      ...pageQuery(100),
    }),
    errors: ['invalid_filter'],
    success: { status: 200, body: paged(task) },
    handler: async (ctx, { query: { limit, cursor, ...narrow } }) =>
      presentPage(await listTasks(ctx, { limit, cursor }, narrow), (row) => presentTask(row, ctx)),
  }),
  route({
    ...write,
    operationId: 'crm.createTask',
    method: 'post',
    path: '/crm/tasks',
    summary: 'Create a task',
    description: 'Default: pending, medium priority, first task type. It remains if its contact or deal is deleted.',
    body: taskCreate,
    furtherProblems: (ctx, body) => taskProblems(ctx, body),
    success: { status: 201, body: task },
    handler: async (ctx, { body }) => presentTask(await createTask(ctx, body), ctx),
  }),
  route({
    ...read,
    operationId: 'crm.searchTasks',
    method: 'post',
    path: '/crm/tasks/search',
    readOnly: true,
    isQuestion: true,
    summary: 'Tasks that match filters',
    description: '`total` is their exact number. A cursor is valid only with the same filters and order.',
    query: z.object(pageQuery(200)),
    body: taskSearch,
    furtherProblems: async (_ctx, body) => taskFilterProblems(body, 'body'),
    errors: ['invalid_filter'],
    success: { status: 200, body: paged(task) },
    handler: async (ctx, { query: { limit, cursor }, body }) =>
      presentPage(await searchTasks(ctx, { limit, cursor }, body), (row) => presentTask(row, ctx)),
  }),
  route({
    ...read,
    operationId: 'crm.summarizeTasks',
    method: 'post',
    path: '/crm/tasks/summary',
    readOnly: true,
    isQuestion: true,
    summary: 'Count matching tasks',
    description: 'By state, with the numbers of overdue and high-priority tasks.',
    body: taskSearch,
    furtherProblems: async (_ctx, body) => taskFilterProblems(body, 'body'),
    errors: ['invalid_filter'],
    success: { status: 200, body: tasksSummary },
    handler: (ctx, { body: { sort_by: _sort, reverse: _reverse, ...filters } }) => summarizeTasks(ctx, filters),
  }),
  route({
    ...read,
    operationId: 'crm.getTask',
    method: 'get',
    path: '/crm/tasks/:id',
    summary: 'One task',
    description: 'Its type is a name; the type itself may have been deleted.',
    params: idParams,
    success: { status: 200, body: task },
    handler: async (ctx, { params }) => presentTask(await readTask(ctx, params.id), ctx),
  }),
  route({
    ...write,
    operationId: 'crm.updateTask',
    method: 'patch',
    path: '/crm/tasks/:id',
    summary: 'Change a task',
    description:
      'Omitted fields keep their values; null clears one. `completed` sets a timestamp; reopening clears it. With `expected_updated_at`, a concurrent change is not overwritten: the answer is 409.',
    params: idParams,
    body: taskUpdate.extend(expectedVersion),
    furtherProblems: (ctx, body) => taskProblems(ctx, body),
    success: { status: 200, body: task },
    errors: ['conflict'],
    handler: async (ctx, { params, body: { expected_updated_at: expectedUpdatedAt, ...edit } }) =>
      presentTask(await updateTask(ctx, params.id, edit, { expectedUpdatedAt }), ctx),
  }),
  route({
    ...write,
    operationId: 'crm.deleteTask',
    method: 'delete',
    path: '/crm/tasks/:id',
    summary: 'Delete a task',
    description: "Its entries in the contact's log are kept.",
    params: idParams,
    success: { status: 204 },
    handler: (ctx, { params }) => deleteTask(ctx, params.id),
  }),
];
