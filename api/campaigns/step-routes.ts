import { stepUpdateSchema, variantInputSchema, variantUpdateSchema } from '../../domain/campaigns/input.ts';
import { senderProblems } from '../../domain/campaigns/checks.ts';
import { readCampaignFlow } from '../../domain/campaigns/flow.ts';
import { listSenders, replaceSenders } from '../../domain/campaigns/senders.ts';
import {
  appendStep,
  deleteStep,
  listSteps,
  newStepProblems,
  stepEditProblems,
  updateStep,
} from '../../domain/campaigns/steps.ts';
import { createVariant, deleteVariant, listVariants, updateVariant } from '../../domain/campaigns/variants.ts';
import { reader } from '../../domain/platform/kernel/transact.ts';
import { z } from 'zod';
import { route } from '../http/route.ts';
import { asSeen, idParams } from '../http/schemas.ts';
import { presentFlow, presentPool, presentStep, presentVariant, presentWarnings } from './present.ts';
import {
  flow,
  placed,
  senderList,
  sendersBody,
  step,
  stepParams,
  variantList,
  variantParams,
  writtenStep,
  writtenVariant,
} from './schemas.ts';

const area = 'campaigns';
const COPY_LIMIT = 2 * 1024 * 1024;
const read = { area, scope: ['READ_CAMPAIGNS'], permission: 'view_campaigns' } as const;
const write = { area, scope: ['WRITE_CAMPAIGNS'], permission: 'manage_campaigns' } as const;
const tune = { area, scope: ['WRITE_CAMPAIGNS'], permission: 'manage_settings' } as const;

/** What a campaign sends and from where: steps, A/B variants, explicit senders. */
export const campaignStepRoutes = [
  route({
    ...read,
    operationId: 'campaigns.listSteps',
    method: 'get',
    path: '/campaigns/:id/steps',
    summary: 'Steps of a campaign in order; a bare array',
    params: idParams,
    success: { status: 200, body: z.array(step) },
    handler: async (ctx, { params }) => (await listSteps(ctx, params.id)).map(presentStep),
  }),
  route({
    ...write,
    operationId: 'campaigns.createStep',
    method: 'post',
    path: '/campaigns/:id/steps',
    summary: 'Append a step, or put it behind another one; without a body, an empty email to edit by PATCH',
    description: 'Contacts who have not come to this place yet meet the new step.',
    bodyLimit: COPY_LIMIT,
    params: idParams,
    body: stepUpdateSchema.extend(placed),
    furtherProblems: (ctx, { place, ...body }, { id }) => newStepProblems(ctx, id!, body, place),
    success: { status: 201, body: writtenStep },
    handler: async (ctx, { params, body: { place, ...body } }) => {
      const { step: row, warnings } = await appendStep(ctx, params.id, body, place);
      return { ...presentStep(row), ...presentWarnings(warnings, ctx.language) };
    },
  }),
  route({
    ...write,
    operationId: 'campaigns.updateStep',
    method: 'patch',
    path: '/campaigns/:id/steps/:sid',
    summary: 'Change a step: copy, spacing, kind, action, branches, place',
    description:
      'Contacts who have not passed the step follow the new one. With `expected_updated_at` nobody else’s change is overwritten. Branches with a condition use `when`: a list of field, operator and value that must all hold.',
    bodyLimit: COPY_LIMIT,
    params: stepParams,
    body: stepUpdateSchema.extend({ ...asSeen, ...placed }),
    furtherProblems: (ctx, { expected_updated_at: _seen, place, ...body }, { id, sid }) =>
      stepEditProblems(ctx, id!, sid!, body, place),
    success: { status: 200, body: writtenStep },
    errors: ['conflict'],
    handler: async (ctx, { params, body: { expected_updated_at: expectedUpdatedAt, place, ...body } }) => {
      const { step: row, warnings } = await updateStep(ctx, params.id, params.sid, body, { expectedUpdatedAt, place });
      return { ...presentStep(row), ...presentWarnings(warnings, ctx.language) };
    },
  }),
  route({
    ...write,
    operationId: 'campaigns.deleteStep',
    method: 'delete',
    path: '/campaigns/:id/steps/:sid',
    summary: 'Remove a step; links to it lead on to where it went',
    description: 'Who stands at it goes on to the step it led to.',
    params: stepParams,
    success: { status: 200, description: 'Removed; no body' },
    handler: (ctx, { params }) => deleteStep(ctx, params.id, params.sid),
  }),
  route({
    ...read,
    operationId: 'campaigns.flow',
    method: 'get',
    path: '/campaigns/:id/flow',
    summary: 'Where the leads of a campaign stand, and which ways they went',
    description:
      'Counts by step and by link between steps, and what became of the emails of each A/B variant. Who has replied or left for another reason counts as `ended` where they stood.',
    params: idParams,
    success: { status: 200, body: flow },
    handler: async (ctx, { params }) => presentFlow(await readCampaignFlow(ctx, params.id)),
  }),
  route({
    ...read,
    operationId: 'campaigns.listAbVariants',
    method: 'get',
    path: '/campaigns/:id/ab-variants',
    summary: 'A/B variants of a campaign',
    params: idParams,
    success: { status: 200, body: variantList },
    handler: async (ctx, { params }) => ({ data: (await listVariants(ctx, params.id)).map(presentVariant) }),
  }),
  route({
    ...tune,
    operationId: 'campaigns.createAbVariant',
    method: 'post',
    path: '/campaigns/:id/ab-variants',
    summary: 'Add an A/B variant to a campaign or one of its steps',
    bodyLimit: COPY_LIMIT,
    params: idParams,
    body: variantInputSchema,
    success: { status: 201, body: writtenVariant },
    handler: async (ctx, { params, body }) => {
      const { variant, warnings } = await createVariant(ctx, params.id, body);
      return { ...presentVariant(variant), ...presentWarnings(warnings, ctx.language) };
    },
  }),
  route({
    ...tune,
    operationId: 'campaigns.updateAbVariant',
    method: 'patch',
    path: '/campaigns/:id/ab-variants/:variantId',
    summary: 'Change an A/B variant',
    description:
      'Fields that are left out stay as they are. With `expected_updated_at` nobody else’s change is overwritten.',
    bodyLimit: COPY_LIMIT,
    params: variantParams,
    body: variantUpdateSchema.extend(asSeen),
    success: { status: 200, body: writtenVariant },
    errors: ['conflict'],
    handler: async (ctx, { params, body: { expected_updated_at: expectedUpdatedAt, ...edit } }) => {
      const { variant, warnings } = await updateVariant(ctx, params.id, params.variantId, edit, { expectedUpdatedAt });
      return { ...presentVariant(variant), ...presentWarnings(warnings, ctx.language) };
    },
  }),
  route({
    ...tune,
    operationId: 'campaigns.deleteAbVariant',
    method: 'delete',
    path: '/campaigns/:id/ab-variants/:variantId',
    summary: 'Remove an A/B variant',
    params: variantParams,
    success: { status: 204 },
    handler: (ctx, { params }) => deleteVariant(ctx, params.id, params.variantId),
  }),
  route({
    ...read,
    operationId: 'campaigns.listSenders',
    method: 'get',
    path: '/campaigns/:id/senders',
    summary: 'The explicit sender pool',
    description: 'The mailboxes of the pool, with their weights.',
    params: idParams,
    success: { status: 200, body: senderList },
    handler: async (ctx, { params }) => presentPool(await listSenders(ctx, params.id)),
  }),
  route({
    ...write,
    operationId: 'campaigns.replaceSenders',
    method: 'put',
    path: '/campaigns/:id/senders',
    summary: 'Replace the explicit sender pool',
    description:
      'The whole list; mailboxes that are not named leave the pool. An empty pool pauses a running campaign. With `expected_updated_at` nobody else’s change is overwritten.',
    params: idParams,
    body: sendersBody.extend(asSeen),
    furtherProblems: (ctx, { senders = [] }) => senderProblems(reader(ctx), ctx.actor, senders, 'body.senders'),
    success: { status: 200, body: senderList },
    errors: ['conflict'],
    handler: async (ctx, { params, body: { senders, expected_updated_at: expectedUpdatedAt } }) =>
      presentPool(await replaceSenders(ctx, params.id, senders, { expectedUpdatedAt })),
  }),
];
