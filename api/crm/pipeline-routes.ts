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
    summary: 'Pipelines with their stages',
    description: 'All of them in their order, each stage with how many deals stand in it.',
    success: { status: 200, body: z.array(pipeline) },
    handler: async (ctx) => (await listPipelines(ctx)).map(presentPipeline),
  }),
  route({
    ...write,
    operationId: 'crm.createPipeline',
    method: 'post',
    path: '/crm/pipelines',
    summary: 'Create a pipeline',
    description: 'At the end of the list, with its stages in the order in which they are named.',
    body: pipelineCreate,
    success: { status: 201, body: pipeline },
    handler: async (ctx, { body }) => presentPipeline(await createPipeline(ctx, body.name, body.stages)),
  }),
  route({
    ...read,
    operationId: 'crm.readPipeline',
    method: 'get',
    path: '/crm/pipelines/:id',
    summary: 'One pipeline',
    description: 'With its stages, and how many deals stand in each.',
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
    description: 'Its stages are changed one by one.',
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
    description: 'Refused while deals stand in it.',
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
    description: 'It is the last one of its pipeline.',
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
      'With a position the others make room: positions run from 1 without gaps, whoever else moves one at the same time.',
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
    description: 'Refused while deals stand in it. Those behind it move up.',
    params: stageParams,
    errors: ['conflict'],
    success: { status: 204 },
    handler: (ctx, { params }) => deleteStage(ctx, params.id, params.stageId),
  }),
];
