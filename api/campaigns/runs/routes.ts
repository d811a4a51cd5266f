import { z } from 'zod';
import { cancelRun } from '../../../domain/campaigns/runs/cancel.ts';
import { createRun } from '../../../domain/campaigns/runs/create.ts';
import { dryRun, readDryRunDns } from '../../../domain/campaigns/runs/dry-run.ts';
import { createRunSchema } from '../../../domain/campaigns/runs/input.ts';
import { runProblems } from '../../../domain/campaigns/runs/plan.ts';
import { getRun, listRuns } from '../../../domain/campaigns/runs/read.ts';
import { RUN_STATES } from '../../../domain/campaigns/runs/states.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { idParams, pageQuery, presentPage } from '../../http/schemas.ts';
import { runSchema } from './file-schema.ts';
import { presentDryRun, presentRun, presentRunEvent } from './present.ts';
import * as schemas from './schemas.ts';

const area = 'runs';
const read = { area, scope: ['READ_RUNS'], permission: 'view_campaigns' } as const;
const write = { area, scope: ['WRITE_RUNS'], permission: 'send_campaigns' } as const;

/** Routes of agent runs. */
export const runsRoutes: readonly AnyRoute[] = [
  route({
    ...write,
    operationId: 'runs.create',
    method: 'post',
    path: '/runs',
    idempotency: 'required',
    summary: 'Create a run: a campaign is built, checked and, after approval, launched',
    description:
      'Builds a campaign from steps, senders and an audience, or uses an existing one that is not active, and checks it. With intent `draft` the run ends as completed, and the campaign stays a draft. With intent `launch` (keys also need EXECUTE_RUNS) it starts the campaign at once if the policy of the credential allows it; otherwise it waits for a person until `approval_expires_at`. Senders are fixed when the run is created. The answer comes before any of this: read the run, or subscribe to `run.state_changed`. With `dry_run=true` nothing is stored: the answer is the run as it would be after its checks, with recipients, the findings of the checks (a refusal in `error_details`, the days of sending in the finding of the schedule) and, in `policy_decision`, why a person would have to decide.',
    bodyLimit: schemas.RUN_BODY_LIMIT,
    query: schemas.createQuery,
    body: createRunSchema,
    furtherProblems: (ctx, body) => runProblems(ctx, body),
    success: { status: 202, body: schemas.run },
    errors: ['app_connection_not_found', 'campaign_no_mailbox', 'selection_too_large', 'conflict'],
    prepare: async (ctx, { query, body }) => (query.dry_run === 'true' ? readDryRunDns(ctx, body) : undefined),
    handler: async (ctx, { body, prepared: dns }) =>
      dns ? presentDryRun(await dryRun(ctx, body, dns), ctx) : presentRun(await createRun(ctx, body), ctx),
  }),
  route({
    ...read,
    operationId: 'runs.list',
    method: 'get',
    path: '/runs',
    summary: 'Runs, newest first',
    description: 'The input of each run is shown without leads and steps; get one run for its steps and events.',
    query: z.object({
      ...pageQuery(100),
      state: z.enum(RUN_STATES).optional().meta({ description: 'Only runs in this state' }),
      campaign_id: z.string().optional().meta({ description: 'Only runs of this campaign' }),
    }),
    success: { status: 200, body: schemas.runPage },
    handler: async (ctx, { query: { state, campaign_id: campaignId, ...page } }) =>
      presentPage(await listRuns(ctx, { state, campaignId }, page), (row) => presentRun(row, ctx)),
  }),
  route({
    ...read,
    operationId: 'runs.get',
    method: 'get',
    path: '/runs/:id',
    summary: 'One run with its events',
    description:
      'While the run is awaiting_approval, `policy_decision.reasons` has the reasons and `approval_url` the page for the decision. `error_details` explains a failure or denial.',
    params: idParams,
    success: { status: 200, body: schemas.runDetail },
    errors: ['not_found'],
    handler: async (ctx, { params }) => {
      const { run, events } = await getRun(ctx, params.id);
      return { ...presentRun(run, ctx), events: events.map(presentRunEvent) };
    },
  }),
  route({
    ...write,
    operationId: 'runs.cancel',
    method: 'post',
    path: '/runs/:id/cancel',
    summary: 'Cancel a run',
    description:
      'Before the launch nothing is sent, and the campaign stays a draft. The campaign of an active or paused run is paused. Answers 409 if the run is completed, failed or denied. Cancelling a cancelled run changes nothing.',
    params: idParams,
    stops: true,
    success: { status: 200, body: schemas.run },
    errors: ['not_found', 'conflict'],
    handler: async (ctx, { params }) => presentRun(await cancelRun(ctx, params.id), ctx),
  }),
  route({
    area,
    scope: 'public',
    permission: null,
    organization: false,
    operationId: 'runs.getSchema',
    method: 'get',
    path: '/schemas/run.json',
    atRoot: true,
    summary: 'JSON Schema of run files',
    description: 'For editors of the YAML files of `heron run`: the body of POST /v1/runs.',
    cacheControl: 'public, max-age=300',
    success: { status: 200, body: z.record(z.string(), z.unknown()) },
    handler: async () => runSchema(),
  }),
];
