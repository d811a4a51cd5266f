import { isDeepStrictEqual } from 'node:util';
import { json } from '../../db/connection.ts';
import type { Language, Message } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';
import { created, deleted } from '../platform/changes.ts';
import type { Changes, Row } from '../../db/rows.ts';
import { notFound, refuseProblems, type Problem } from '../../lib/errors.ts';
import { isUuid, newId } from '../../lib/ids.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import type { EventData } from '../platform/kernel/event-payloads.ts';
import { reader, transact, type Tx } from '../platform/kernel/transact.ts';
import { assertUnchanged } from '../platform/assert-unchanged.ts';
import { recordActivities, type Activity } from './activities.ts';
import {
  readTaskTypes,
  taskTypeProblems,
  unknownTaskTypes,
  type TASK_PRIORITIES,
} from '../sending/campaign/crm-actions.ts';
import { referenceProblems, type References } from './references.ts';
import { taskTypeNamed, usualTaskType } from './task-types.ts';

/** A task without the columns that only Heron needs. */
export type TaskRow = Omit<Row<'crm_tasks'>, 'source' | 'priority_rank'>;
export const TASK_STATUSES = ['pending', 'in_progress', 'completed', 'cancelled'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];
export type TaskPriority = (typeof TASK_PRIORITIES)[number];
const MAX_TITLE = 255;

/** Codes of texts that Heron wrote. Null if a person wrote the text. */
interface TaskMessages {
  title_message?: Message | null | undefined;
  description_message?: Message | null | undefined;
}

/** Editable fields of a task. Undefined leaves a field unchanged, null clears it. */
interface TaskEdit extends TaskMessages {
  title?: string | undefined;
  assigned_to?: string | null | undefined;
  assigned_team_id?: string | null | undefined;
  description?: string | null | undefined;
  due_date?: Date | null | undefined;
  priority?: TaskPriority | undefined;
  /** Name of a task type. Upper and lower case do not matter. */
  type?: string | undefined;
  status?: TaskStatus | undefined;
}

/** Fields of a new task. By default, the task is pending and has medium priority. */
export interface NewTask extends Omit<TaskEdit, 'status'> {
  title: string;
  contact_id?: string | null | undefined;
  deal_id?: string | null | undefined;
}

/** Returns the text columns of a task that Heron creates. The English texts are stored too, for search and sorting. */
export function taskTexts(title: Message, description: Message | null = null): TaskMessages & { title: string } {
  return {
    title: titleIn(title, 'en'),
    title_message: title,
    ...(description && { description: render(description), description_message: description }),
  };
}

/** Returns title and description of a task in a language. The title is shortened to its maximum length. */
export function textsIn(task: TaskRow, language: Language | undefined): Pick<TaskRow, 'title' | 'description'> {
  return {
    title: task.title_message ? titleIn(task.title_message, language) : task.title,
    description: task.description_message ? render(task.description_message, language) : task.description,
  };
}

function titleIn(title: Message, language: Language | undefined): string {
  return render(title, language).slice(0, MAX_TITLE);
}

/** Returns one task. @throws AppError not_found */
export async function readTask(ctx: Ctx, id: string): Promise<TaskRow> {
  const task = isUuid(id) ? await reader(ctx).table('crm_tasks').where({ id }).first() : undefined;
  if (!task) throw notFound('task');
  return task;
}

/** Lists problems of a task or of an edit that its schema cannot detect: unknown ids and an unknown type. */
export async function taskProblems(ctx: Ctx, task: References & Pick<TaskEdit, 'type'>): Promise<Problem[]> {
  const org = reader(ctx);
  return [...(await referenceProblems(org, task)), ...(await taskTypeProblems(org, namedType(task)))];
}

function namedType({ type }: Pick<TaskEdit, 'type'>): { path: string; name: string }[] {
  return type === undefined ? [] : [{ path: 'body.type', name: type }];
}

/**
 * Stores a task. Emits crm.task_created and adds an entry to the contact's log.
 * @throws AppError bad_request as found by {@link taskProblems}
 */
export async function createTask(ctx: Ctx, input: NewTask): Promise<TaskRow> {
  return transact(ctx, async (tx) => {
    const references = await referenceProblems(tx.org, input, { lock: true });
    const types = await readTaskTypes(tx.org);
    refuseProblems([...references, ...unknownTaskTypes(types, namedType(input))]);
    const type = (input.type === undefined ? undefined : taskTypeNamed(types, input.type)) ?? usualTaskType(types);
    return (await insertTask(tx, { ...input, type }, null))!;
  });
}

/**
 * Stores a task whose ids and type have been checked.
 * @param source origin of a task that Heron creates; for each source at most one task exists
 * @returns undefined if a task with this source exists
 */
export async function insertTask(
  tx: Tx,
  input: NewTask & { type: string },
  source: string | null,
): Promise<TaskRow | undefined> {
  const [task] = await tx.org
    .insert('crm_tasks', {
      id: newId(),
      contact_id: input.contact_id ?? null,
      deal_id: input.deal_id ?? null,
      assigned_to: input.assigned_to ?? null,
      assigned_team_id: input.assigned_team_id ?? null,
      created_by: tx.actor.userId,
      title: input.title,
      title_message: input.title_message ? json(input.title_message) : null,
      description: input.description ?? null,
      description_message: input.description_message ? json(input.description_message) : null,
      due_date: input.due_date ?? null,
      priority: input.priority ?? 'medium',
      type: input.type,
      source,
      created_at: tx.now,
      updated_at: tx.now,
    })
    .onConflict()
    .ignore()
    .returning('*');
  if (!task) return undefined;
  await recordActivities(tx, [taskActivity(task, 'task_created')]);
  tx.emit('crm.task_created', taskPayload(task));
  const title = loggedTitle(task);
  tx.audit({ action: 'create', entityType: 'crm_task', entityId: task.id, changes: created({ title }) });
  return task;
}

/**
 * Changes a task. The time of completion is stored, and reopening the task clears it. Emits crm.task_updated if any
 * field changed.
 * @param options.expectedUpdatedAt the `updated_at` that the caller has seen
 * @throws AppError not_found, bad_request as found by {@link taskProblems}, conflict if `updated_at` has changed
 */
export async function updateTask(
  ctx: Ctx,
  id: string,
  edit: TaskEdit,
  { expectedUpdatedAt }: { expectedUpdatedAt?: Date | undefined } = {},
): Promise<TaskRow> {
  return transact(ctx, async (tx) => {
    const references = await referenceProblems(tx.org, edit, { lock: true });
    const before = await lockTask(tx, id);
    assertUnchanged('task', before.updated_at, expectedUpdatedAt);
    const types = edit.type === undefined ? [] : await readTaskTypes(tx.org);
    refuseProblems([...references, ...unknownTaskTypes(types, namedType(edit))]);
    const type = edit.type === undefined ? undefined : taskTypeNamed(types, edit.type);
    return changeTask(tx, before, { ...withoutShown(edit, before, ctx.language), type });
  });
}

/**
 * Returns an edit in which new texts of a person replace Heron's messages. A text that equals the displayed message is
 * treated as unchanged.
 */
function withoutShown(edit: TaskEdit, task: TaskRow, language: Language | undefined): TaskEdit {
  const { title, description, ...others } = edit;
  const shown = textsIn(task, language);
  return {
    ...others,
    ...(title === undefined || title === shown.title ? {} : { title, title_message: null }),
    ...(description === undefined || description === shown.description
      ? {}
      : { description, description_message: null }),
  };
}

/**
 * Stores the change of a locked task, whose ids and type must already be checked. Emits crm.task_updated if any field
 * changed.
 */
export async function changeTask(tx: Tx, before: TaskRow, edit: TaskEdit): Promise<TaskRow> {
  const changes = differing(before, edit);
  const fields = Object.keys(changes).filter((field) => !field.endsWith('_message'));
  if (fields.length === 0) return before;
  const [task] = await tx.org
    .table('crm_tasks')
    .where({ id: before.id })
    .update({ ...columnsOf(changes), ...completion(edit.status, before, tx.now), updated_at: tx.now })
    .returning('*');
  if (before.status !== 'completed' && task!.status === 'completed')
    await recordActivities(tx, [taskActivity(task!, 'task_completed')]);
  tx.emit('crm.task_updated', { ...taskPayload(task!), fields });
  tx.audit({
    action: 'update',
    entityType: 'crm_task',
    entityId: before.id,
    changes: Object.fromEntries(
      fields.map((field) => [field, { from: logged(before, field), to: logged(task!, field) }]),
    ),
  });
  return task!;
}

/** Deletes a task. @throws AppError not_found */
export async function deleteTask(ctx: Ctx, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const task = await lockTask(tx, id);
    await tx.org.table('crm_tasks').where({ id: task.id }).delete();
    const title = loggedTitle(task);
    tx.audit({ action: 'delete', entityType: 'crm_task', entityId: task.id, changes: deleted({ title }) });
  });
}

/** Returns the entry about a task for its contact's log. */
export function taskActivity(
  task: Pick<TaskRow, 'id' | 'contact_id' | 'deal_id' | 'type'>,
  type: 'task_created' | 'task_completed',
): Activity {
  const { id, contact_id, deal_id } = task;
  return {
    type,
    contactId: contact_id,
    dealId: deal_id,
    taskId: id,
    metadata: { task_id: id, deal_id, type: task.type },
  };
}

async function lockTask(tx: Tx, id: string): Promise<TaskRow> {
  const task = isUuid(id) ? await tx.org.table('crm_tasks').where({ id }).forNoKeyUpdate().first() : undefined;
  if (!task) throw notFound('task');
  return task;
}

function completion(status: TaskStatus | undefined, before: TaskRow, now: Date): Changes<'crm_tasks'> {
  if (status === undefined || status === before.status) return {};
  return { completed_at: status === 'completed' ? now : null };
}

function differing(task: TaskRow, edit: TaskEdit): TaskEdit {
  return Object.fromEntries(
    Object.entries(edit).filter(
      ([field, value]) => value !== undefined && !isDeepStrictEqual(value, task[field as keyof TaskRow]),
    ),
  );
}

function columnsOf({
  title_message: title,
  description_message: description,
  ...others
}: TaskEdit): Changes<'crm_tasks'> {
  return {
    ...(others as Changes<'crm_tasks'>),
    ...(title === undefined ? {} : { title_message: title && json(title) }),
    ...(description === undefined ? {} : { description_message: description && json(description) }),
  };
}

/** Returns a field's value for the audit log. For a text written by Heron, this is its message code. */
function logged(task: TaskRow, field: string): unknown {
  if (field === 'title') return loggedTitle(task);
  if (field === 'description') return task.description_message?.code ?? task.description;
  return task[field as keyof TaskRow];
}

function loggedTitle({ title, title_message: own }: TaskRow): string {
  return own?.code ?? title;
}

function taskPayload(task: TaskRow): EventData<'crm.task_created'> {
  const { id, title, contact_id, deal_id, assigned_to, assigned_team_id, due_date, priority, type, status } = task;
  return {
    entity_id: id,
    task_id: id,
    title,
    title_code: task.title_message?.code ?? null,
    title_values: task.title_message?.values ?? null,
    contact_id,
    deal_id,
    assigned_to,
    assigned_team_id,
    due_date: due_date?.toISOString() ?? null,
    priority,
    type,
    status,
    updated_at: task.updated_at.toISOString(),
  };
}
