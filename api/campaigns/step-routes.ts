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
import { expectedVersion, idParams } from '../http/schemas.ts';
import { presentFlow, presentPool, presentStep, presentVariant, presentWarnings } from './present.ts';
import {
  flow,
  stepPosition,
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

/** Routes of a campaign's steps, A/B variants and explicit senders. */
export const campaignStepRoutes = [
  route({
    ...read,
    operationId: 'campaigns.listSteps',
    method: 'get',
    path: '/campaigns/:id/steps',
    summary: 'List the steps of a campaign in order, as a bare array',
    params: idParams,
    success: { status: 200, body: z.array(step) },
    handler: async (ctx, { params }) => (await listSteps(ctx, params.id)).map(presentStep),
  }),
  route({
    ...write,
    operationId: 'campaigns.createStep',
    method: 'post',
    path: '/campaigns/:id/steps',
    summary: 'Append a step, or insert it behind another one; without a body, an empty email is added',
    description: 'Contacts who have not reached this position yet get the new step.',
    bodyLimit: COPY_LIMIT,
    params: idParams,
    body: stepUpdateSchema.extend(stepPosition),
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
    summary: 'Change a step: copy, spacing, kind, action, branches, position',
    description:
      'Contacts who have not passed the step follow the changed one. With `expected_updated_at`, a concurrent change is not overwritten: the answer is 409. Branches with a condition use `when`: a list of field, operator and value that must all match.',
    bodyLimit: COPY_LIMIT,
    params: stepParams,
    body: stepUpdateSchema.extend({ ...expectedVersion, ...stepPosition }),
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
    summary: 'Remove a step; links to it continue to the step after it',
    description: 'Contacts at this step continue with the next one.',
    params: stepParams,
    success: { status: 200, description: 'Removed; no body' },
    handler: (ctx, { params }) => deleteStep(ctx, params.id, params.sid),
  }),
  route({
    ...read,
    operationId: 'campaigns.getFlow',
    method: 'get',
    path: '/campaigns/:id/flow',
    summary: "Count a campaign's leads by step and by link",
    description:
      'Includes the outcomes of the emails of each A/B variant. Leads that replied or ended for another reason count as `ended` at their last step.',
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
      'Omitted fields keep their values. With `expected_updated_at`, a concurrent change is not overwritten: the answer is 409.',
    bodyLimit: COPY_LIMIT,
    params: variantParams,
    body: variantUpdateSchema.extend(expectedVersion),
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
    summary: 'List the explicit sender pool',
    description: 'Lists the mailboxes with their weights.',
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
      'Send the whole list; mailboxes not in it leave the pool. An empty pool pauses a running campaign. With `expected_updated_at`, a concurrent change is not overwritten: the answer is 409.',
    params: idParams,
    body: sendersBody.extend(expectedVersion),
    furtherProblems: (ctx, { senders = [] }) => senderProblems(reader(ctx), ctx.actor, senders),
    success: { status: 200, body: senderList },
    errors: ['conflict'],
    handler: async (ctx, { params, body: { senders, expected_updated_at: expectedUpdatedAt } }) =>
      presentPool(await replaceSenders(ctx, params.id, senders, { expectedUpdatedAt })),
  }),
];
