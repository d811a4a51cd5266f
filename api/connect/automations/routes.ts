import type { z } from 'zod';
import {
  createAutomation,
  deleteAutomation,
  getAutomation,
  listAutomations,
  replaceAutomation,
  type AutomationRow,
} from '../../../domain/connect/automations/automations.ts';
import { dryRun } from '../../../domain/connect/automations/dry-run.ts';
import { listAutomationRuns, type AutomationRun } from '../../../domain/connect/automations/runs.ts';
import { automationProblems, type AutomationWrite } from '../../../domain/connect/automations/validate.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { reader } from '../../../domain/platform/kernel/transact.ts';
import { runUrl } from '../../../domain/platform/run-url.ts';
import { automationWorkflow } from '../../../workflows/automation/contract.ts';
import type { AutomationNodeResult } from '../../../domain/connect/automations/graph.ts';
import type { Language } from '../../../messages/index.ts';
import { presentBlocked, reasonIn } from '../../http/stored-message.ts';
import { route } from '../../http/route.ts';
import { expectedVersion, idParams, iso } from '../../http/schemas.ts';
import * as schemas from './schemas.ts';
import { render } from '../../../messages/render.ts';

const automations = {
  area: 'automations',
  scope: ['INTEGRATIONS'],
  permission: { anyOf: ['manage_settings', 'use_integrations'] },
} as const;
const write = { ...automations, needsPaidPlan: true, everyMailbox: true } as const;

const WORDS =
  'The graph has one trigger, with the id `trigger`. Every node must be reachable from it, without cycles, and a condition has one edge for `true` and one for `false`. An error names every problem with its node. Enabling it requires the rights for all its actions, and for those of the automations that it starts; a 403 names the missing rights.';

/** Routes of automations (flows started by triggers) and their runs. */
export const automationRoutes = [
  route({
    ...automations,
    operationId: 'automations.list',
    method: 'get',
    path: '/automations',
    summary: 'Automations, newest first',
    description: 'Returns all of them, each with its graph.',
    success: { status: 200, body: schemas.automations },
    handler: async (ctx) => ({ automations: (await listAutomations(ctx)).map(present) }),
  }),
  route({
    ...write,
    operationId: 'automations.create',
    method: 'post',
    path: '/automations',
    summary: 'Create an automation',
    description: `It handles events from now on, unless it is disabled. ${WORDS}`,
    body: schemas.automationBody,
    furtherProblems: (ctx, body) => automationProblems(reader(ctx), body as Partial<AutomationWrite>),
    success: { status: 201, body: schemas.automation },
    handler: async (ctx, { body }) => ({ automation: present(await createAutomation(ctx, body)) }),
  }),
  route({
    ...automations,
    operationId: 'automations.get',
    method: 'get',
    path: '/automations/:id',
    summary: 'One automation, with its graph',
    description:
      'Send its `updated_at` as `expected_updated_at` with a change, so that a concurrent change is not overwritten.',
    params: idParams,
    success: { status: 200, body: schemas.automation },
    handler: async (ctx, { params }) => ({ automation: present(await getAutomation(ctx, params.id)) }),
  }),
  route({
    ...write,
    operationId: 'automations.replace',
    method: 'patch',
    path: '/automations/:id',
    summary: 'Replace an automation',
    description: `Replaces everything: omitted fields get their defaults, so an automation without \`enabled\` is switched on. Open runs continue with the graph that they started with; switching it off ends them. With \`expected_updated_at\`, a concurrent change is not overwritten: the answer is 409. ${WORDS}`,
    params: idParams,
    body: schemas.automationBody.extend(expectedVersion),
    furtherProblems: (ctx, { expected_updated_at: _seen, ...body }, { id }) =>
      automationProblems(reader(ctx), body as Partial<AutomationWrite>, id),
    stops: ({ enabled }) => !enabled,
    success: { status: 200, body: schemas.automation },
    errors: ['conflict'],
    handler: async (ctx, { params, body: { expected_updated_at: expectedUpdatedAt, ...body } }) => ({
      automation: present(await replaceAutomation(ctx, params.id, body, { expectedUpdatedAt })),
    }),
  }),
  route({
    ...write,
    operationId: 'automations.delete',
    method: 'delete',
    path: '/automations/:id',
    summary: 'Delete an automation with its runs',
    description:
      'Refused while campaign steps or other automations run it; the answer names them. Open runs end; their effects are kept.',
    params: idParams,
    stops: true,
    success: { status: 200, body: schemas.deleted },
    errors: ['conflict'],
    handler: async (ctx, { params }) => {
      await deleteAutomation(ctx, params.id);
      return { deleted: true as const };
    },
  }),
  route({
    ...write,
    operationId: 'automations.test',
    method: 'post',
    path: '/automations/:id/test',
    readOnly: true,
    summary: 'Dry-run an automation',
    description:
      'Runs the graph with your own data or a sample of the trigger, without any effect: conditions are evaluated, and `preview` shows the result of an action with its texts filled in. Waits are skipped. A trigger with `skipped` was rejected by the filter.',
    params: idParams,
    body: schemas.testBody,
    success: { status: 200, body: schemas.dryRun },
    handler: async (ctx, { params, body }) => {
      const { trace, data } = await dryRun(ctx, params.id, body.data);
      return { data, trace: trace.map(({ preview, ...node }) => ({ ...presentResult(node, ctx.language), preview })) };
    },
  }),
  route({
    ...automations,
    operationId: 'automations.listRuns',
    method: 'get',
    path: '/automations/:id/runs',
    summary: 'List the latest runs of an automation',
    description:
      'Includes the result of every node. A run that waits or calls another system is `running`; nodes that it has not reached are not listed yet.',
    params: idParams,
    query: schemas.runsQuery,
    success: { status: 200, body: schemas.runs },
    handler: async (ctx, { params, query }) => ({
      runs: (await listAutomationRuns(ctx, params.id, query.limit)).map((run) => presentRun(ctx, run)),
    }),
  }),
];

function present(row: AutomationRow): z.input<typeof schemas.automation>['automation'] {
  const { id, organization_id, name, enabled, trigger_event, filter, graph } = row;
  return {
    id,
    organization_id,
    name,
    enabled,
    trigger_event,
    filter,
    graph,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

function presentRun({ config, language }: Ctx, run: AutomationRun): z.input<typeof schemas.runs>['runs'][number] {
  const { id, organization_id, automation_id, trigger_event, status, node_results, error_detail } = run;
  return {
    id,
    organization_id,
    automation_id,
    trigger_event,
    status,
    node_results: node_results.map((result) => presentResult(result, language)),
    error_detail: reasonIn(error_detail, language) ?? '',
    started_at: iso(run.started_at),
    finished_at: iso(run.finished_at),
    ...presentBlocked(run, language),
    ...(status === 'running' ? runUrl(config, automationWorkflow, { runId: id }) : {}),
  };
}

/** Returns the result of a node with texts in the language of the request. */
function presentResult({ label, error, ...result }: AutomationNodeResult, language: Language | undefined) {
  return { ...result, label: render(label, language), error: error ? render(error, language) : '' };
}
