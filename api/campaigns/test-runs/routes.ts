import { z } from 'zod';
import { cancelTestRun } from '../../../domain/campaigns/test-runs/cancel.ts';
import { getTestRun, listTestRuns, type TestRunView } from '../../../domain/campaigns/test-runs/read.ts';
import { startCampaignTest } from '../../../domain/campaigns/test-runs/start.ts';
import type { TestStepRow } from '../../../domain/sending/control/test-runs.ts';
import { stepUpdateSchema } from '../../../domain/campaigns/input.ts';
import { route } from '../../http/route.ts';
import {
  emailAddress,
  idParams,
  iso,
  pageQuery,
  paged,
  presentPage,
  resource,
  runFields,
  timestamp,
  uuid,
} from '../../http/schemas.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import type { Language } from '../../../messages/index.ts';
import { issue, presentIssue, reasonIn } from '../../http/stored-message.ts';

const testStep = resource('TestStep', {
  step_id: uuid,
  name: z.string(),
  kind: z.string(),
  state: z.enum(['running', 'waiting', 'completed', 'skipped', 'failed']),
  outcome: z.string().optional(),
  detail: z.string().optional(),
  step_run_id: uuid,
  output_key: z.string().optional(),
  output: z.record(z.string(), z.unknown()).optional(),
  event_name: z.string().optional(),
  started_at: timestamp,
  completed_at: timestamp.optional(),
  error: issue.optional(),
});

const testRun = resource('TestRun', {
  id: uuid,
  organization_id: uuid,
  campaign_id: uuid,
  contact_id: uuid,
  email_account_id: uuid.optional(),
  prospect_email: z.email(),
  state: z.enum(['running', 'waiting_for_event', 'completed', 'failed', 'cancelled']),
  current_step_id: uuid.optional(),
  steps: z.array(testStep).meta({ description: 'Steps in the order in which the prospect reached them' }),
  app_variables: z.record(z.string(), z.unknown()),
  step_count: z.int().meta({ description: 'Current number of steps of the campaign' }),
  error: issue.optional(),
  waiting_event: z.string().optional(),
  waiting_until: timestamp.optional(),
  blocked_reason: runFields.blocked_reason,
  created_at: timestamp,
  updated_at: timestamp,
  completed_at: timestamp.optional(),
});

const startBody = z
  .strictObject({
    prospect_email: emailAddress
      .optional()
      .meta({ description: "Address that receives the emails. Default: the contact's own" }),
    contact_id: uuid.optional().meta({
      description: 'Contact whose fields fill the copy. Default: the contact with the address, created if needed',
    }),
    mailbox_id: uuid.optional().meta({ description: "Sending mailbox. Default: the first of the campaign's pool" }),
    step: z
      .strictObject({
        id: uuid,
        subject: stepUpdateSchema.shape.subject,
        body_plain: stepUpdateSchema.shape.body_plain,
        body_html: stepUpdateSchema.shape.body_html,
      })
      .optional()
      .meta({
        description:
          'Sends this email alone, at once, and without its variants. Given parts replace the stored ones, so that an email can be tested while it is written',
      }),
    max_wait_seconds: z
      .int()
      .min(1)
      .max(30 * 86_400)
      .optional()
      .meta({
        description: 'Maximum duration (seconds) of each wait of the test. Default: the duration in the step',
      }),
  })
  .prefault({});

const area = 'test-runs';
const read = { area, scope: ['READ_CAMPAIGNS'], permission: 'view_campaigns' } as const;
const send = { area, scope: ['SEND_CAMPAIGNS'], permission: 'send_campaigns' } as const;
const runParams = z.object({ id: z.string(), runId: z.string() });

/** Routes of campaign tests with one prospect. */
export const testRunRoutes = [
  route({
    ...send,
    operationId: 'campaigns.test',
    method: 'post',
    path: '/campaigns/:id/test',
    summary: 'Test a campaign with one prospect',
    description:
      'Sends real email to the prospect and really calls apps, marked `run_mode: test`, with the same code as for leads. Nothing counts for the campaign, and no address is suppressed. The emails are sent without the minimum gap of the mailbox, and count towards its daily limit. Steps that change records are skipped. It works for a campaign in any status; `prospect_email` or `contact_id` is required. A key or application needs no policy for it. It may start 50 tests per UTC day together with keys it created, unless the installation changes the limit (`CREDENTIAL_TESTS_PER_DAY`).',
    params: idParams,
    body: startBody,
    success: { status: 202, body: testRun },
    errors: ['not_found', 'campaign_invalid', 'campaign_no_mailbox', 'conflict', 'rate_limit_exceeded'],
    handler: async (ctx, { params, body }) =>
      present(
        await startCampaignTest(ctx, params.id, {
          prospectEmail: body.prospect_email,
          contactId: body.contact_id,
          mailboxId: body.mailbox_id,
          maxWaitSeconds: body.max_wait_seconds,
          step: body.step,
        }),
        ctx,
      ),
  }),
  route({
    ...read,
    operationId: 'campaigns.listTestRuns',
    method: 'get',
    path: '/campaigns/:id/test-runs',
    summary: 'Test runs of a campaign, newest first',
    params: idParams,
    query: z.object(pageQuery(100)),
    success: { status: 200, body: paged(testRun) },
    errors: ['not_found'],
    handler: async (ctx, { params, query }) =>
      presentPage(await listTestRuns(ctx, params.id, query), (run) => present(run, ctx)),
  }),
  route({
    ...read,
    operationId: 'campaigns.getTestRun',
    method: 'get',
    path: '/campaigns/:id/test-runs/:runId',
    summary: 'One test run',
    description: 'Includes the steps that the prospect has reached with their results, and the current wait.',
    params: runParams,
    success: { status: 200, body: testRun },
    errors: ['event_run_not_found'],
    handler: async (ctx, { params }) => present(await getTestRun(ctx, params.id, params.runId), ctx),
  }),
  route({
    ...send,
    operationId: 'campaigns.cancelTestRun',
    method: 'post',
    path: '/campaigns/:id/test-runs/:runId/cancel',
    summary: 'Cancel a test run',
    description: 'An email that is being sent at this moment is still sent.',
    params: runParams,
    stops: true,
    success: { status: 200, body: testRun },
    errors: ['event_run_not_found', 'conflict'],
    handler: async (ctx, { params }) => present(await cancelTestRun(ctx, params.id, params.runId), ctx),
  }),
];

function present(run: TestRunView, { language }: Pick<Ctx, 'language'>): z.input<typeof testRun> {
  const waitsForEvent = run.state === 'waiting_for_event';
  return {
    id: run.id,
    organization_id: run.organization_id,
    campaign_id: run.campaign_id,
    contact_id: run.contact_id,
    prospect_email: run.prospect_email,
    state: run.state,
    steps: run.steps.map((step) => presentStep(step, language)),
    app_variables: run.app_values,
    step_count: run.step_count,
    created_at: iso(run.created_at),
    updated_at: iso(run.updated_at),
    ...known({
      email_account_id: run.mailbox_id,
      current_step_id: run.current_step_id,
      error: run.error && presentIssue(run.error, language),
      waiting_event: waitsForEvent ? run.waiting_for : null,
      waiting_until: iso(run.waiting_until),
      blocked_reason: reasonIn(run.blocked_reason, language),
      completed_at: iso(run.completed_at),
    }),
  };
}

function presentStep(step: TestStepRow, language: Language | undefined): z.input<typeof testStep> {
  return {
    step_id: step.step_id,
    name: step.name,
    kind: step.kind,
    state: step.state,
    step_run_id: step.id,
    started_at: iso(step.started_at),
    ...known({
      outcome: step.outcome,
      detail: reasonIn(step.detail, language),
      output_key: step.output_key,
      output: step.output,
      event_name: step.event_name,
      completed_at: iso(step.completed_at),
      error: step.error && presentIssue(step.error, language),
    }),
  };
}

/** Returns the object without its null fields. */
function known<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
