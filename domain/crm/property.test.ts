import test from 'ava';
import fc from 'fast-check';
import { createPipeline as createPipelineOverHttp } from '../../test/harness/crm.ts';
import { rawDb } from '../../test/harness/database.ts';
import { createWorld, type World } from '../../test/harness/world.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { deleteTasks, updateTasks } from './bulk-tasks.ts';
import { searchDeals, summarizeDeals } from './deal-search.ts';
import { createDeal, deleteDeal, updateDeal, type DealStatus } from './deals.ts';
import { createPipeline, deletePipeline, listPipelines } from './pipelines.ts';
import { appendStage, deleteStage, updateStage } from './stages.ts';
import { createTaskType, deleteTaskType, listTaskTypes, updateTaskType } from './task-types.ts';
import { searchTasks, summarizeTasks } from './task-search.ts';
import { createTask, deleteTask, updateTask, type TaskPriority, type TaskStatus } from './tasks.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

interface ModelDeal {
  pipeline: string;
  stage: string;
  status: DealStatus;
  cents: number | null;
  stamp: boolean;
}
interface ModelTask {
  status: TaskStatus;
  priority: TaskPriority;
  deal: string | null;
}
/** Reference model of a workspace, made of plain lists and maps. */
interface Model {
  pipelines: { id: string; stages: string[] }[];
  deals: Map<string, ModelDeal>;
  tasks: Map<string, ModelTask>;
}

const pick = fc.nat(1_000);
const status = fc.constantFrom<DealStatus>('open', 'won', 'lost');
const taskStatus = fc.constantFrom<TaskStatus>('pending', 'in_progress', 'completed', 'cancelled');
const priority = fc.constantFrom<TaskPriority>('low', 'medium', 'high', 'urgent');
const cents = fc.option(fc.nat(1_000_000));
const color = '#0ea5e9';

type Step = [name: string, ...args: unknown[]];
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.constant('pipeline'), fc.nat(3)),
  fc.tuple(fc.constant('dropPipeline'), pick),
  fc.tuple(fc.constant('stage'), pick),
  fc.tuple(fc.constant('moveStage'), pick, pick, fc.integer({ min: 1, max: 6 })),
  fc.tuple(fc.constant('dropStage'), pick, pick),
  ...Array.from({ length: 3 }, () => fc.tuple(fc.constant('deal'), pick, pick, cents)),
  fc.tuple(fc.constant('moveDeal'), pick, pick),
  fc.tuple(fc.constant('closeDeal'), pick, status),
  fc.tuple(fc.constant('priceDeal'), pick, cents),
  fc.tuple(fc.constant('dropDeal'), pick),
  ...Array.from({ length: 2 }, () => fc.tuple(fc.constant('task'), pick, priority)),
  fc.tuple(fc.constant('setTask'), pick, taskStatus, priority),
  fc.tuple(fc.constant('dropTask'), pick),
  fc.tuple(fc.constant('bulk'), fc.option(taskStatus), priority),
  fc.tuple(fc.constant('bulkDrop'), priority),
  fc.constant<Step>(['fold']),
) as unknown as fc.Arbitrary<Step>;

const nth = <T>(all: readonly T[], n: number): T | undefined => (all.length === 0 ? undefined : all[n % all.length]);
const isConflict = (error: unknown): boolean => error instanceof AppError && error.code === 'conflict';

/** Applies a step to the workspace and to the model. */
async function apply(ctx: Ctx, model: Model, [name, ...args]: Step): Promise<void> {
  const pipeline = nth(model.pipelines, args[0] as number);
  const stage = pipeline && nth(pipeline.stages, args[1] as number);
  const dealId = nth([...model.deals.keys()], args[0] as number);
  const taskId = nth([...model.tasks.keys()], args[0] as number);
  switch (name) {
    case 'pipeline': {
      const stages = Array.from({ length: args[0] as number }, (_, n) => ({ name: `S${n}`, color }));
      const made = await createPipeline(ctx, 'P', stages);
      model.pipelines.push({ id: made.id, stages: made.stages.map(({ id }) => id) });
      return;
    }
    case 'dropPipeline': {
      if (!pipeline) return;
      const full = [...model.deals.values()].some((deal) => deal.pipeline === pipeline.id);
      await deletePipeline(ctx, pipeline.id).then(
        () => {
          if (full) throw new Error('a pipeline with deals was deleted');
          model.pipelines = model.pipelines.filter((other) => other !== pipeline);
        },
        (error) => {
          if (!full || !isConflict(error)) throw error;
        },
      );
      return;
    }
    case 'stage':
      if (pipeline) pipeline.stages.push((await appendStage(ctx, pipeline.id, { name: 'S', color })).id);
      return;
    case 'moveStage': {
      if (!stage) return;
      const place = args[2] as number;
      await updateStage(ctx, pipeline.id, stage, { position: place });
      pipeline.stages = pipeline.stages.filter((other) => other !== stage);
      pipeline.stages.splice(place - 1, 0, stage);
      return;
    }
    case 'dropStage': {
      if (!stage) return;
      const full = [...model.deals.values()].some((deal) => deal.stage === stage);
      await deleteStage(ctx, pipeline.id, stage).then(
        () => {
          if (full) throw new Error('a stage with deals was deleted');
          pipeline.stages = pipeline.stages.filter((other) => other !== stage);
        },
        (error) => {
          if (!full || !isConflict(error)) throw error;
        },
      );
      return;
    }
    case 'deal': {
      if (!stage) return;
      const amount = args[2] as number | null;
      const { id } = await createDeal(ctx, {
        pipeline_id: pipeline.id,
        stage_id: stage,
        name: 'Deal',
        value: amount === null ? null : amount / 100,
      });
      model.deals.set(id, { pipeline: pipeline.id, stage, status: 'open', cents: amount, stamp: false });
      return;
    }
    case 'moveDeal': {
      const deal = dealId && model.deals.get(dealId);
      const target = deal && nth(model.pipelines.find(({ id }) => id === deal.pipeline)!.stages, args[1] as number);
      if (!target) return;
      await updateDeal(ctx, dealId, { stage_id: target });
      deal.stage = target;
      return;
    }
    case 'closeDeal': {
      if (!dealId) return;
      const row = await updateDeal(ctx, dealId, { status: args[1] as DealStatus });
      const deal = model.deals.get(dealId)!;
      deal.status = args[1] as DealStatus;
      deal.stamp = row.won_at !== null || row.lost_at !== null;
      return;
    }
    case 'priceDeal': {
      if (!dealId) return;
      const amount = args[1] as number | null;
      await updateDeal(ctx, dealId, { value: amount === null ? null : amount / 100 });
      model.deals.get(dealId)!.cents = amount;
      return;
    }
    case 'dropDeal':
      if (!dealId) return;
      await deleteDeal(ctx, dealId);
      model.deals.delete(dealId);
      for (const task of model.tasks.values()) if (task.deal === dealId) task.deal = null;
      return;
    case 'task': {
      const { id } = await createTask(ctx, { title: 'T', priority: args[1] as TaskPriority, deal_id: dealId });
      model.tasks.set(id, { status: 'pending', priority: args[1] as TaskPriority, deal: dealId ?? null });
      return;
    }
    case 'setTask': {
      if (!taskId) return;
      const edit = { status: args[1] as TaskStatus, priority: args[2] as TaskPriority };
      await updateTask(ctx, taskId, edit);
      Object.assign(model.tasks.get(taskId)!, edit);
      return;
    }
    case 'dropTask':
      if (!taskId) return;
      await deleteTask(ctx, taskId);
      model.tasks.delete(taskId);
      return;
    case 'bulk': {
      const [to, of] = args as [TaskStatus | null, TaskPriority];
      const edit = to === null ? { priority: 'low' as const } : { status: to };
      const count = await updateTasks(ctx, { all: true, filters: { priorities: [of] } }, edit);
      const hit = [...model.tasks.values()].filter((task) => task.priority === of);
      if (count !== hit.length) throw new Error(`${count} tasks instead of ${hit.length}`);
      for (const task of hit) Object.assign(task, edit);
      return;
    }
    case 'bulkDrop':
      await deleteTasks(ctx, { all: true, filters: { priorities: [args[0] as TaskPriority] } });
      for (const [id, task] of model.tasks) if (task.priority === args[0]) model.tasks.delete(id);
      return;
    default: {
      const org = ctx.actor.organizationId!;
      await rawDb(world.deps.db).raw('select crm_fold_deal_counts(?), crm_fold_task_counts(?)', [org, org]);
    }
  }
}

const sumOf = (deals: ModelDeal[], of: DealStatus): number =>
  deals.filter((deal) => deal.status === of).reduce((sum, deal) => sum + (deal.cents ?? 0), 0) / 100;

test('pipelines, stages, deals and tasks are what a plain model says, whatever is done to them', async (t) => {
  t.timeout(120_000);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }), async (steps) => {
      const { organizationId } = await world.tenant();
      const ctx = world.system(organizationId);
      const model: Model = { pipelines: [], deals: new Map(), tasks: new Map() };
      for (const each of steps) await apply(ctx, model, each);

      const pipelines = await listPipelines(ctx);
      const deals = [...model.deals.values()];
      t.deepEqual(
        pipelines.map(({ id, position, stages }) => [
          id,
          position,
          stages.map((s) => [s.id, s.position, s.deal_count]),
        ]),
        model.pipelines.map(({ id, stages }, index) => [
          id,
          index + 1,
          stages.map((s, place) => [s, place + 1, deals.filter((deal) => deal.stage === s).length]),
        ]),
      );
      const found = await searchDeals(ctx, { limit: 200 }, {});
      t.is(found.total, deals.length);
      t.deepEqual(
        Object.fromEntries(found.rows.map((row) => [row.id, [row.stage_id, row.status, row.value_minor]])),
        Object.fromEntries([...model.deals].map(([id, deal]) => [id, [deal.stage, deal.status, deal.cents]])),
      );
      for (const deal of deals) t.is(deal.stamp, deal.status !== 'open');
      // Without a filter the stored counts are used; with a filter, the deals are counted.
      for (const filters of [{}, { created_after: new Date(0) }])
        t.like(await summarizeDeals(ctx, filters), {
          total: deals.length,
          open_value: sumOf(deals, 'open'),
          won_value: sumOf(deals, 'won'),
          lost_value: sumOf(deals, 'lost'),
        });
      const tasks = [...model.tasks.values()];
      const listed = await searchTasks(ctx, { limit: 200 }, {});
      t.deepEqual(
        Object.fromEntries(
          listed.rows.map((row) => [row.id, [row.status, row.priority, row.deal_id, row.completed_at !== null]]),
        ),
        Object.fromEntries(
          [...model.tasks].map(([id, task]) => [
            id,
            [task.status, task.priority, task.deal, task.status === 'completed'],
          ]),
        ),
      );
      for (const filters of [{}, { due_before: undefined, query: 't' }])
        t.like(await summarizeTasks(ctx, filters), {
          total: tasks.length,
          completed_count: tasks.filter((task) => task.status === 'completed').length,
          high_priority_count: tasks.filter((task) => ['high', 'urgent'].includes(task.priority)).length,
        });
    }),
    { numRuns: Number(process.env.HERON_CRM_RUNS ?? 12), seed: 11, verbose: 1 },
  );
});

test('people who move, add and delete stages and task types at once leave no gap and lose nothing', async (t) => {
  t.timeout(120_000);
  const act = fc.record({
    what: fc.constantFrom('move', 'move', 'add', 'drop'),
    n: pick,
    to: fc.integer({ min: 1, max: 9 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 6, maxLength: 12 }), async (acts) => {
      const tenant = await world.tenant();
      const ctx = world.system(tenant.organizationId);
      const { id, stageIds } = await createPipelineOverHttp(world, tenant, ['A', 'B', 'C', 'D', 'E']);
      const typeIds = (await listTaskTypes(ctx)).map((type) => type.id);
      const added: string[] = [];
      const dropped = new Set<string>();
      const gone = (error: unknown) => {
        if (!(error instanceof AppError && error.code === 'not_found')) throw error;
      };
      await Promise.all(
        acts.map(async ({ what, n, to }) => {
          const stageId = nth(stageIds, n)!;
          const typeId = nth(typeIds, n)!;
          if (what === 'add') {
            added.push((await appendStage(ctx, id, { name: 'N', color })).id);
            added.push((await createTaskType(ctx, { name: newId() })).id);
          } else if (what === 'drop') {
            dropped.add(stageId).add(typeId);
            await Promise.all(
              [deleteStage(ctx, id, stageId), deleteTaskType(ctx, typeId)].map((work) => work.catch(gone)),
            );
          } else {
            await updateStage(ctx, id, stageId, { position: to }).catch(gone);
            await updateTaskType(ctx, typeId, { position: to }).catch(gone);
          }
        }),
      );
      const [pipeline] = await listPipelines(ctx);
      const types = await listTaskTypes(ctx);
      for (const list of [pipeline!.stages, types])
        t.deepEqual(
          list.map(({ position }) => position),
          list.map((_, index) => index + 1),
        );
      t.deepEqual(
        [...pipeline!.stages, ...types].map((row) => row.id).sort(),
        [...stageIds, ...typeIds, ...added].filter((each) => !dropped.has(each)).sort(),
      );
    }),
    { numRuns: 8, seed: 12, verbose: 1 },
  );
});

test('a stage is never deleted under a deal that comes into it', async (t) => {
  for (let round = 0; round < 10; round += 1) {
    const tenant = await world.tenant();
    const ctx = world.system(tenant.organizationId);
    const { id, stageIds } = await createPipelineOverHttp(world, tenant, ['A', 'B']);
    const [first, second] = stageIds as [string, string];
    const deal = await createDeal(ctx, { pipeline_id: id, stage_id: first, name: 'Deal' });
    const [moved, deleted] = await Promise.allSettled([
      updateDeal(ctx, deal.id, { stage_id: second }),
      deleteStage(ctx, id, second),
    ]);
    t.is(moved.status === 'fulfilled', deleted.status === 'rejected');
    if (moved.status === 'rejected') t.is((moved.reason as AppError).code, 'bad_request');
    if (deleted.status === 'rejected') t.true(isConflict(deleted.reason));
  }
});
