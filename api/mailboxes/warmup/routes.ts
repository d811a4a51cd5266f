import { createRule, listRules, removeRule, replaceRule } from '../../../domain/mailboxes/warmup/routing.ts';
import {
  pauseWarmup,
  readStanding,
  resumeWarmup,
  startWarmup,
  stopWarmup,
} from '../../../domain/mailboxes/warmup/standing.ts';
import { route } from '../../http/route.ts';
import { idParams } from '../../http/schemas.ts';
import { presentMailbox } from '../present.ts';
import { mailbox } from '../schemas.ts';
import { presentBanStatus, presentRule, presentStanding } from './present.ts';
import * as schemas from './schemas.ts';

const one = { params: idParams, mailboxParam: 'id' } as const;
const change = {
  area: 'warmup',
  scope: ['WRITE_EMAILS'],
  permission: 'manage_settings',
  method: 'post',
  ...one,
} as const;
const routing = {
  area: 'warmup',
  scope: ['WARMUP_ROUTING'],
  permission: 'manage_settings',
  everyMailbox: true,
} as const;
const changed = { status: 200, body: mailbox } as const;

/** Routes of mailbox warmup and the rules that pair mailboxes. */
export const warmupRoutes = [
  route({
    ...one,
    area: 'warmup',
    scope: ['READ_EMAILS'],
    permission: 'view_campaigns',
    operationId: 'warmup.get',
    method: 'get',
    path: '/emails/:id/warmup',
    summary: 'Get the warmup state of a mailbox',
    description: "Includes its ramp, today's emails, and its health by the folders that its mail arrived in.",
    success: { status: 200, body: schemas.standing },
    handler: async (ctx, { params }) => presentStanding(await readStanding(ctx, params.id), ctx),
  }),
  route({
    ...one,
    area: 'warmup',
    scope: ['READ_EMAILS'],
    permission: 'view_campaigns',
    operationId: 'warmup.banStatus',
    method: 'get',
    path: '/emails/:id/warmup/ban-status',
    summary: 'Get whether a mailbox is excluded from warmup',
    description:
      'A mailbox whose emails arrive in spam too often sends and receives no warmup emails until `blocked_until`. It then takes part again by itself, so there is no appeal.',
    success: { status: 200, body: schemas.banStatus },
    handler: async (ctx, { params }) => presentBanStatus(await readStanding(ctx, params.id), ctx),
  }),
  route({
    ...change,
    operationId: 'warmup.start',
    path: '/emails/:id/warmup/start',
    summary: 'Start the warmup of a mailbox',
    description: 'Its ramp starts today. A paused warmup resumes.',
    success: changed,
    errors: ['warmup_enable_failed'],
    handler: async (ctx, { params }) => presentMailbox(await startWarmup(ctx, params.id), ctx),
  }),
  route({
    ...change,
    operationId: 'warmup.pause',
    path: '/emails/:id/warmup/pause',
    summary: 'Pause the warmup of a mailbox',
    description: 'The ramp is kept. Answers 409 if warmup is off.',
    stops: true,
    success: changed,
    errors: ['conflict'],
    handler: async (ctx, { params }) => presentMailbox(await pauseWarmup(ctx, params.id), ctx),
  }),
  route({
    ...change,
    operationId: 'warmup.resume',
    path: '/emails/:id/warmup/resume',
    summary: 'Resume a paused warmup',
    description: 'The start of the ramp moves by the length of the pause, so that the ramp continues where it was.',
    success: changed,
    errors: ['warmup_enable_failed'],
    handler: async (ctx, { params }) => presentMailbox(await resumeWarmup(ctx, params.id), ctx),
  }),
  route({
    ...change,
    operationId: 'warmup.stop',
    path: '/emails/:id/warmup/stop',
    summary: 'Stop the warmup of a mailbox',
    description: 'The ramp is reset: the next start begins again.',
    stops: true,
    success: changed,
    handler: async (ctx, { params }) => presentMailbox(await stopWarmup(ctx, params.id), ctx),
  }),
  route({
    ...routing,
    operationId: 'warmupRouting.list',
    method: 'get',
    path: '/warmup/routing',
    summary: 'List routing rules in the order in which they are tried',
    description:
      'Of the rules whose both sides match a pair of mailboxes, the one with the lowest priority number decides.',
    success: { status: 200, body: schemas.ruleList },
    handler: async (ctx) => ({ rules: (await listRules(ctx)).map(presentRule) }),
  }),
  route({
    ...routing,
    operationId: 'warmupRouting.create',
    method: 'post',
    path: '/warmup/routing',
    summary: 'Add a routing rule',
    description: 'Match values are trimmed and lower-cased.',
    body: schemas.ruleInput,
    success: { status: 201, body: schemas.rule },
    handler: async (ctx, { body }) => presentRule(await createRule(ctx, body)),
  }),
  route({
    ...routing,
    operationId: 'warmupRouting.replace',
    method: 'patch',
    path: '/warmup/routing/:id',
    summary: 'Replace a routing rule',
    description: 'Send the whole rule, as for adding one; nothing is merged.',
    params: idParams,
    body: schemas.ruleInput,
    success: { status: 200, body: schemas.rule },
    handler: async (ctx, { params, body }) => presentRule(await replaceRule(ctx, params.id, body)),
  }),
  route({
    ...routing,
    operationId: 'warmupRouting.delete',
    method: 'delete',
    path: '/warmup/routing/:id',
    summary: 'Remove a routing rule',
    description: 'From the next planned day on, its pairs have the normal weight.',
    params: idParams,
    success: { status: 204 },
    handler: (ctx, { params }) => removeRule(ctx, params.id),
  }),
];
