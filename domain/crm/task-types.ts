import { changed, created, deleted } from '../platform/changes.ts';
import type { Row } from '../../db/rows.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { notFound } from '../../lib/errors.ts';
import { isUuid, newId } from '../../lib/ids.ts';
import { message } from '../../messages/index.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../platform/kernel/transact.ts';
import { FIRST_TASK_TYPES, isTaskTypeNamed } from '../sending/campaign/crm-actions.ts';
import { assertNotFull } from '../platform/full-list.ts';
import { movedTo, storePositions } from '../platform/positions.ts';

export type TaskTypeRow = Row<'crm_task_types'>;

const NEUTRAL = '#94a3b8';
const MAX_TYPES = 100;

/** Editable fields of a task type. Positions are counted from 1. */
interface TaskTypeEdit {
  name?: string | undefined;
  color?: string | undefined;
  position?: number | undefined;
}

/** Lists all task types in order. A workspace without a stored list gets the default types. */
export async function listTaskTypes(ctx: Ctx): Promise<TaskTypeRow[]> {
  const org = reader(ctx);
  if (await isSeeded(org)) return orderedTypes(org);
  return transact(ctx, lockTaskTypes);
}

/** Appends a task type. */
export async function createTaskType(
  ctx: Ctx,
  { name, color }: { name: string; color?: string | undefined },
): Promise<TaskTypeRow> {
  return transact(ctx, async (tx) => {
    const types = await lockTaskTypes(tx);
    assertNotFull(types.length, { most: MAX_TYPES, what: message('crm.task_types') });
    const times = { created_at: tx.now, updated_at: tx.now };
    const [type] = await tx.org
      .insert('crm_task_types', { id: newId(), name, color: color ?? NEUTRAL, position: types.length + 1, ...times })
      .returning('*');
    tx.audit({ action: 'create', entityType: 'crm_task_type', entityId: type!.id, changes: created({ name }) });
    return type!;
  });
}

/**
 * Renames, recolours or moves a task type. The positions of the other types are adjusted, so that there is no gap. A
 * position after the last one means the last. Tasks keep the old name.
 * @throws AppError not_found, conflict for the name of another type
 */
export async function updateTaskType(ctx: Ctx, id: string, edit: TaskTypeEdit): Promise<TaskTypeRow> {
  return transact(ctx, async (tx) => {
    const types = await lockTaskTypes(tx);
    const before = findType(types, id);
    const changes = Object.fromEntries(
      Object.entries(edit).filter(
        ([field, value]) => value !== undefined && value !== before[field as keyof TaskTypeEdit],
      ),
    );
    if (Object.keys(changes).length === 0) return before;
    const { position, ...looks } = changes as TaskTypeEdit;
    await tx.org
      .table('crm_task_types')
      .where({ id: before.id })
      .update({ ...(looks as Partial<Pick<TaskTypeRow, 'name' | 'color'>>), updated_at: tx.now });
    if (position !== undefined) {
      const order = types.map((type) => type.id);
      await storePositions(tx, 'crm_task_types', movedTo(order, before.id, position - 1));
    }
    tx.audit({ action: 'update', entityType: 'crm_task_type', entityId: before.id, changes: changed(before, changes) });
    return (await tx.org.table('crm_task_types').where({ id: before.id }).first())!;
  });
}

/**
 * Deletes a task type. Positions of later types decrease by one, and tasks of the deleted type keep its name. @throws
 * AppError not_found
 */
export async function deleteTaskType(ctx: Ctx, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const types = await lockTaskTypes(tx);
    const type = findType(types, id);
    await tx.org.table('crm_task_types').where({ id: type.id }).delete();
    await storePositions(
      tx,
      'crm_task_types',
      types.flatMap((other) => (other.id === type.id ? [] : [other.id])),
    );
    tx.audit({
      action: 'delete',
      entityType: 'crm_task_type',
      entityId: type.id,
      changes: deleted({ name: type.name }),
    });
  });
}

/** Returns the name of a task type as it is stored, or undefined for an unknown type. */
export function taskTypeNamed(types: readonly { name: string }[], name: string): string | undefined {
  return types.find((type) => isTaskTypeNamed(type, name))?.name;
}

/** Returns the default type of a task, which is the first of the list. */
export function usualTaskType(types: readonly { name: string }[]): string {
  return types[0]?.name ?? FIRST_TASK_TYPES[0].name;
}

/**
 * Locks and returns the types in order, so that changes of the list are executed one after the other. Creates the
 * default types if the workspace has no stored list.
 */
async function lockTaskTypes(tx: Tx): Promise<TaskTypeRow[]> {
  await tx.org.lock(`crm-task-types/${tx.org.organizationId}`);
  if (!(await isSeeded(tx.org))) {
    const times = { created_at: tx.now, updated_at: tx.now };
    await tx.org.insert('crm_seeds', { created_at: tx.now });
    await tx.org.insert(
      'crm_task_types',
      FIRST_TASK_TYPES.map((type, index) => ({ id: newId(), ...type, position: index + 1, ...times })),
    );
  }
  return orderedTypes(tx.org);
}

async function isSeeded(org: OrgScope): Promise<boolean> {
  return (await org.sql('select 1 from crm_seeds where organization_id = :org')).length > 0;
}

function orderedTypes(org: OrgScope): Promise<TaskTypeRow[]> {
  return org.sql<TaskTypeRow>('select * from crm_task_types where organization_id = :org order by position, id');
}

function findType(types: readonly TaskTypeRow[], id: string): TaskTypeRow {
  const type = isUuid(id) ? types.find((row) => row.id === id.toLowerCase()) : undefined;
  if (!type) throw notFound('task_type');
  return type;
}
