import { z } from 'zod';
import {
  createPipeline,
  deletePipeline,
  listPipelines,
  readPipeline,
  renamePipeline,
} from '../../domain/crm/pipelines.ts';
import { appendStage, deleteStage, updateStage } from '../../domain/crm/stages.ts';
import { route } from '../http/route.ts';
import { idParams } from '../http/schemas.ts';
import { presentPipeline, presentStage } from './present.ts';
import { pipeline, pipelineCreate, pipelineUpdate, stage, stageCreate, stageUpdate } from './schemas.ts';

const area = 'crm';
const read = { area, scope: ['READ_CRM'], permission: 'view_contacts' } as const;
const write = { area, scope: ['WRITE_CRM'], permission: 'manage_contacts' } as const;
const stageParams = z.object({ id: z.string(), stageId: z.string() });

/** Routes of pipelines and their stages. */
export const pipelineRoutes = [
  route({
    ...read,
    operationId: 'crm.listPipelines',
    method: 'get',
    path: '/crm/pipelines',
    summary: 'List pipelines with their stages',
    description: 'In their order, each stage with its number of deals.',
    success: { status: 200, body: z.array(pipeline) },
    handler: async (ctx) => (await listPipelines(ctx)).map(presentPipeline),
  }),
  route({
    ...write,
    operationId: 'crm.createPipeline',
    method: 'post',
    path: '/crm/pipelines',
    summary: 'Create a pipeline',
    description: 'It is added at the end of the list, with its stages in the given order.',
    body: pipelineCreate,
    success: { status: 201, body: pipeline },
    handler: async (ctx, { body }) => presentPipeline(await createPipeline(ctx, body.name, body.stages)),
  }),
  route({
    ...read,
    operationId: 'crm.getPipeline',
    method: 'get',
    path: '/crm/pipelines/:id',
    summary: 'One pipeline',
    description: 'Includes its stages with their numbers of deals.',
    params: idParams,
    success: { status: 200, body: pipeline },
    handler: async (ctx, { params }) => presentPipeline(await readPipeline(ctx, params.id)),
  }),
  route({
    ...write,
    operationId: 'crm.updatePipeline',
    method: 'patch',
    path: '/crm/pipelines/:id',
    summary: 'Rename a pipeline',
    description: 'Change its stages individually.',
    params: idParams,
    body: pipelineUpdate,
    success: { status: 200, body: pipeline },
    handler: async (ctx, { params, body }) => presentPipeline(await renamePipeline(ctx, params.id, body.name)),
  }),
  route({
    ...write,
    operationId: 'crm.deletePipeline',
    method: 'delete',
    path: '/crm/pipelines/:id',
    summary: 'Delete a pipeline with its stages',
    description: 'Refused while it contains deals.',
    params: idParams,
    errors: ['conflict'],
    success: { status: 204 },
    handler: (ctx, { params }) => deletePipeline(ctx, params.id),
  }),
  route({
    ...write,
    operationId: 'crm.createStage',
    method: 'post',
    path: '/crm/pipelines/:id/stages',
    summary: 'Append a stage',
    description: 'It becomes the last stage of its pipeline.',
    params: idParams,
    body: stageCreate,
    success: { status: 201, body: stage },
    handler: async (ctx, { params, body }) => presentStage(await appendStage(ctx, params.id, body)),
  }),
  route({
    ...write,
    operationId: 'crm.updateStage',
    method: 'patch',
    path: '/crm/pipelines/:id/stages/:stageId',
    summary: 'Rename, recolour or move a stage',
    description:
      'Setting a position shifts the other stages: positions run from 1 without gaps, even with concurrent moves.',
    params: stageParams,
    body: stageUpdate,
    success: { status: 200, body: stage },
    handler: async (ctx, { params, body }) => presentStage(await updateStage(ctx, params.id, params.stageId, body)),
  }),
  route({
    ...write,
    operationId: 'crm.deleteStage',
    method: 'delete',
    path: '/crm/pipelines/:id/stages/:stageId',
    summary: 'Delete a stage',
    description: 'Refused while it contains deals. The following stages move up.',
    params: stageParams,
    errors: ['conflict'],
    success: { status: 204 },
    handler: (ctx, { params }) => deleteStage(ctx, params.id, params.stageId),
  }),
];
