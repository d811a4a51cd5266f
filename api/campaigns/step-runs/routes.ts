import { z } from 'zod';
import { listBlockedRuns, retryStepRun, type StepRunView } from '../../../domain/campaigns/step-runs/step-runs.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { idParams, iso, pageQuery, paged, presentPage, resource, timestamp, uuid } from '../../http/schemas.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { issue, presentIssue, reasonIn } from '../../http/stored-message.ts';

const stepRun = resource('StepRun', {
  id: uuid,
  campaign_id: uuid,
  contact_id: uuid,
  step_id: uuid,
  step_name: z.string().nullable(),
  kind: z.string(),
  state: z.enum(['running', 'waiting', 'completed', 'skipped', 'failed', 'blocked']),
  outcome: z.string().nullable(),
  detail: z.string().nullable(),
  attempts: z.int(),
  error: issue.nullable(),
  started_at: timestamp,
  completed_at: timestamp.nullable(),
});

/** Routes of step runs that wait for a person's decision. */
export const stepRunsRoutes: readonly AnyRoute[] = [
  route({
    area: 'step-runs',
    scope: ['READ_CAMPAIGNS'],
    permission: 'view_campaigns',
    operationId: 'stepRuns.list',
    method: 'get',
    path: '/campaigns/:id/step-runs',
    summary: 'List blocked step runs of a campaign, newest first',
    description: 'Lists calls of app_action steps that failed after all attempts; their contacts wait.',
    params: idParams,
    query: z.object({
      ...pageQuery(),
      state: z.enum(['blocked']).default('blocked').meta({ description: '`blocked` is the only allowed state' }),
    }),
    success: { status: 200, body: paged(stepRun) },
    handler: async (ctx, { params, query }) =>
      presentPage(await listBlockedRuns(ctx, params.id, query), (run) => present(run, ctx)),
  }),
  route({
    area: 'step-runs',
    scope: ['SEND_CAMPAIGNS'],
    permission: 'send_campaigns',
    operationId: 'stepRuns.retry',
    method: 'post',
    path: '/campaigns/:id/step-runs/:runId/retry',
    summary: 'Retry a blocked step run',
    description: 'Repeats the call with all its attempts. The contact continues with its answer.',
    params: z.object({ id: z.string(), runId: z.string() }),
    success: { status: 200, body: stepRun },
    errors: ['conflict'],
    handler: async (ctx, { params }) => present(await retryStepRun(ctx, params.id, params.runId), ctx),
  }),
];

function present(
  { enrollment_id: _, ...run }: StepRunView,
  { language }: Pick<Ctx, 'language'>,
): z.input<typeof stepRun> {
  return {
    ...run,
    detail: reasonIn(run.detail, language),
    error: run.error && presentIssue(run.error, language),
    state: run.state as z.input<typeof stepRun>['state'],
    started_at: iso(run.started_at),
    completed_at: iso(run.completed_at),
  };
}
