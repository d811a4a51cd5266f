import { changed, created, deleted } from '../platform/changes.ts';
import { notFound } from '../../lib/errors.ts';
import { isUuid, newId } from '../../lib/ids.ts';
import { message } from '../../messages/index.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { transact, type Tx } from '../platform/kernel/transact.ts';
import { assertNotFull } from '../platform/full-list.ts';
import { movedTo, storePositions } from '../platform/positions.ts';
import { inUseError, lockStages, MAX_STAGES, type NewStage, type StageRow } from './pipelines.ts';

/** Editable fields of a stage. Positions are counted from 1. */
interface StageEdit {
  name?: string | undefined;
  color?: string | undefined;
  position?: number | undefined;
}

/** Appends a stage to a pipeline. @throws AppError not_found, bad_request at the pipeline's limit of stages */
export async function appendStage(ctx: Ctx, pipelineId: string, { name, color }: NewStage): Promise<StageRow> {
  return transact(ctx, async (tx) => {
    const stages = await lockPipelineStages(tx, pipelineId);
    assertNotFull(stages.length, { most: MAX_STAGES, what: message('crm.stages') });
    const [stage] = await tx.org
      .insert('crm_stages', {
        id: newId(),
        pipeline_id: pipelineId,
        name,
        color,
        position: stages.length + 1,
        created_at: tx.now,
        updated_at: tx.now,
      })
      .returning('*');
    tx.audit({
      action: 'create',
      entityType: 'crm_stage',
      entityId: stage!.id,
      changes: created({ name, pipeline_id: pipelineId }),
    });
    return stage!;
  });
}

/**
 * Renames, recolours or moves a stage. The positions of the other stages are adjusted, so that there is no gap. A
 * position after the last one means the last.
 * @throws AppError not_found
 */
export async function updateStage(ctx: Ctx, pipelineId: string, stageId: string, edit: StageEdit): Promise<StageRow> {
  return transact(ctx, async (tx) => {
    const stages = await lockPipelineStages(tx, pipelineId);
    const before = findStage(stages, stageId);
    const changes = Object.fromEntries(
      Object.entries(edit).filter(
        ([field, value]) => value !== undefined && value !== before[field as keyof StageEdit],
      ),
    );
    if (Object.keys(changes).length === 0) return before;
    const { position, ...looks } = changes as StageEdit;
    await tx.org
      .table('crm_stages')
      .where({ id: before.id })
      .update({ ...(looks as Partial<NewStage>), updated_at: tx.now });
    if (position !== undefined) {
      const order = stages.map(({ id }) => id);
      await storePositions(tx, 'crm_stages', movedTo(order, before.id, position - 1));
    }
    tx.audit({ action: 'update', entityType: 'crm_stage', entityId: before.id, changes: changed(before, changes) });
    return (await tx.org.table('crm_stages').where({ id: before.id }).first())!;
  });
}

/**
 * Deletes a stage; the positions of later stages decrease by one. @throws AppError not_found; conflict while it
 * contains deals
 */
export async function deleteStage(ctx: Ctx, pipelineId: string, stageId: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const stages = await lockPipelineStages(tx, pipelineId);
    const stage = findStage(stages, stageId);
    const [deal] = await tx.org.sql('select 1 from crm_deals where organization_id = :org and stage_id = :id limit 1', {
      id: stage.id,
    });
    if (deal) throw inUseError('stage');
    await tx.org.table('crm_stages').where({ id: stage.id }).delete();
    await storePositions(
      tx,
      'crm_stages',
      stages.flatMap(({ id }) => (id === stage.id ? [] : [id])),
    );
    tx.audit({
      action: 'delete',
      entityType: 'crm_stage',
      entityId: stage.id,
      changes: deleted({ name: stage.name, pipeline_id: pipelineId }),
    });
  });
}

/**
 * Locks and returns the stages of a pipeline. Locks them before the pipeline's row, as the deletion of a pipeline does.
 */
async function lockPipelineStages(tx: Tx, pipelineId: string): Promise<StageRow[]> {
  if (!isUuid(pipelineId)) throw notFound('pipeline');
  const stages = await lockStages(tx, pipelineId.toLowerCase());
  const [pipeline] = await tx.org.sql(
    'select 1 from crm_pipelines where organization_id = :org and id = :id for key share',
    { id: pipelineId },
  );
  if (!pipeline) throw notFound('pipeline');
  return stages;
}

function findStage(stages: readonly StageRow[], id: string): StageRow {
  const stage = stages.find((row) => row.id === id.toLowerCase());
  if (!stage) throw notFound('stage');
  return stage;
}
