import { created, deleted } from '../platform/changes.ts';
import type { Row } from '../../db/rows.ts';
import { AppError, notFound } from '../../lib/errors.ts';
import { isUuid, newId } from '../../lib/ids.ts';
import { message } from '../../messages/index.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../platform/kernel/transact.ts';
import { assertNotFull } from '../platform/full-list.ts';
import { storePositions } from '../platform/positions.ts';

type PipelineRow = Row<'crm_pipelines'>;
/** A stage. `deal_count` is set when a pipeline is read. */
export type StageRow = Row<'crm_stages'> & { deal_count?: number };

/** A pipeline with its stages, in order. */
export interface Pipeline extends PipelineRow {
  stages: StageRow[];
}

/** Fields of a new stage. */
export interface NewStage {
  name: string;
  /** Colour as `#rrggbb`. */
  color: string;
}

/** Maximum numbers of pipelines and of stages, because the lists are not paginated. */
export const MAX_PIPELINES = 200;
export const MAX_STAGES = 100;

/** Lists all pipelines in order, each with its stages and their numbers of deals. */
export async function listPipelines(ctx: Ctx): Promise<Pipeline[]> {
  return readPipelines(ctx, null);
}

/** Returns one pipeline, as in the list. @throws AppError not_found */
export async function readPipeline(ctx: Ctx, id: string): Promise<Pipeline> {
  const [pipeline] = isUuid(id) ? await readPipelines(ctx, id) : [];
  if (!pipeline) throw notFound('pipeline');
  return pipeline;
}

/**
 * Adds a pipeline at the end of the list, with its stages in the given order.
 * @throws AppError bad_request at the workspace's limit of pipelines
 */
export async function createPipeline(ctx: Ctx, name: string, stages: readonly NewStage[]): Promise<Pipeline> {
  return transact(ctx, async (tx) => {
    const others = await lockPipelines(tx);
    assertNotFull(others.length, { most: MAX_PIPELINES, what: message('crm.pipelines') });
    const times = { created_at: tx.now, updated_at: tx.now };
    const id = newId();
    await tx.org.insert('crm_pipelines', { id, name, position: others.length + 1, ...times });
    if (stages.length > 0) {
      await tx.org.insert(
        'crm_stages',
        stages.map((stage, index) => ({
          id: newId(),
          pipeline_id: id,
          name: stage.name,
          color: stage.color,
          position: index + 1,
          ...times,
        })),
      );
    }
    tx.audit({
      action: 'create',
      entityType: 'crm_pipeline',
      entityId: id,
      changes: created({ name, stages: stages.length }),
    });
    return readPipeline({ ...ctx, trx: tx.trx }, id);
  });
}

/** Renames a pipeline. @throws AppError not_found */
export async function renamePipeline(ctx: Ctx, id: string, name: string | undefined): Promise<Pipeline> {
  return transact(ctx, async (tx) => {
    const before = await readPipeline({ ...ctx, trx: tx.trx }, id);
    if (name === undefined || name === before.name) return before;
    await tx.org.table('crm_pipelines').where({ id }).update({ name, updated_at: tx.now });
    tx.audit({
      action: 'update',
      entityType: 'crm_pipeline',
      entityId: id,
      changes: { name: { from: before.name, to: name } },
    });
    return readPipeline({ ...ctx, trx: tx.trx }, id);
  });
}

/**
 * Deletes a pipeline with its stages. The positions of later pipelines decrease by one.
 * @throws AppError not_found; conflict while it contains deals, which would be lost
 */
export async function deletePipeline(ctx: Ctx, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const pipelines = await lockPipelines(tx);
    const pipeline = pipelines.find((row) => row.id === id.toLowerCase());
    if (!pipeline) throw notFound('pipeline');
    await lockStages(tx, pipeline.id);
    const [deal] = await tx.org.sql(
      `select 1 from crm_stages s join crm_deals d on d.stage_id = s.id where s.organization_id = :org and s.pipeline_id = :id limit 1`,
      { id: pipeline.id },
    );
    if (deal) throw inUseError('pipeline');
    await tx.org.table('crm_pipelines').where({ id: pipeline.id }).delete();
    await storePositions(
      tx,
      'crm_pipelines',
      pipelines.flatMap((row) => (row.id === pipeline.id ? [] : [row.id])),
    );
    tx.audit({
      action: 'delete',
      entityType: 'crm_pipeline',
      entityId: pipeline.id,
      changes: deleted({ name: pipeline.name }),
    });
  });
}

/**
 * Locks and returns the stages of a pipeline in order. Other transactions that put a deal into a stage, or change the
 * order of the stages, wait until this one ends.
 */
export async function lockStages(tx: Tx, pipelineId: string): Promise<StageRow[]> {
  await tx.org.lock(`crm-stages/${pipelineId}`);
  return tx.org.sql<StageRow>(
    `select * from crm_stages where organization_id = :org and pipeline_id = :pipeline order by position, id for update`,
    { pipeline: pipelineId },
  );
}

/** Builds the error for deleting a pipeline or stage that contains deals. */
export function inUseError(what: 'pipeline' | 'stage'): AppError {
  return new AppError('conflict', message(`crm.${what}_has_deals`), { fix: message(`crm.${what}_has_deals.fix`) });
}

async function readPipelines(ctx: Ctx, id: string | null): Promise<Pipeline[]> {
  const rows = await reader(ctx).sql<
    PipelineRow & {
      stages: (Omit<StageRow, 'created_at' | 'updated_at'> & Record<'created_at' | 'updated_at', string>)[];
    }
  >(
    `with counts as (
       select stage_id, sum(deals)::int as deals from crm_deal_counts where organization_id = :org group by stage_id)
     select p.*, coalesce((
       select json_agg(json_build_object('id', s.id, 'organization_id', s.organization_id, 'pipeline_id', s.pipeline_id, 'name', s.name,
         'color', s.color, 'position', s.position, 'created_at', s.created_at, 'updated_at', s.updated_at,
         'deal_count', coalesce(c.deals, 0)) order by s.position, s.id)
       from crm_stages s left join counts c on c.stage_id = s.id where s.pipeline_id = p.id), '[]') as stages
     from crm_pipelines p where p.organization_id = :org and (cast(:id as uuid) is null or p.id = :id) order by p.position, p.id`,
    { id },
  );
  return rows.map((pipeline) => ({
    ...pipeline,
    stages: pipeline.stages.map((stage) => ({
      ...stage,
      created_at: new Date(stage.created_at),
      updated_at: new Date(stage.updated_at),
    })),
  }));
}

/** Locks and returns the pipelines in order, so that additions and deletions are executed one after the other. */
async function lockPipelines(tx: Tx): Promise<PipelineRow[]> {
  await tx.org.lock(`crm-pipelines/${tx.org.organizationId}`);
  return tx.org.sql<PipelineRow>('select * from crm_pipelines where organization_id = :org order by position, id');
}
