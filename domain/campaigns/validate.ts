import type { CampaignRow } from '../../db/models/campaign.ts';
import { CampaignSteps, type CampaignStepRow } from '../../db/models/campaign-step.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import type { AppError } from '../../lib/errors.ts';
import type { Ctx } from '../kernel/context.ts';
import { reader } from '../kernel/transact.ts';
import { formatMessageError } from '../mail/messages/preview.ts';
import { inspectSource } from '../mail/messages/render-source.ts';
import { mergeValues, SAMPLE_CONTACT } from '../mail/messages/values.ts';
import { toGraphStep } from './build-steps.ts';
import { stepProblems } from './checks.ts';
import { firstStep, graphProblems, matchingBranch, type GraphStep, type Outcome } from '../engine/campaign/graph.ts';
import { launchRefusals } from '../engine/campaign/launch-checks.ts';
import { findCampaign } from '../engine/campaign/find.ts';

/** One finding; an error prevents a start or makes a step fail, a warning does not. */
export interface CampaignProblem {
  code: string;
  severity: 'error' | 'warning';
  message: string;
  fix: string;
  stepId: string | null;
}

export interface CampaignValidation {
  campaignId: string;
  /** Whether there is no error among the problems. */
  valid: boolean;
  problems: CampaignProblem[];
}

const STEP_FIX = 'Change the step with PATCH /v1/campaigns/:id/steps/:sid.';
const COPY = ['subject', 'body_plain', 'body_html'] as const;

/**
 * Everything that would prevent a start, and every fault of the steps, at once. Stores nothing.
 * @throws AppError not_found
 */
export async function validateCampaign(ctx: Ctx, campaignId: string): Promise<CampaignValidation> {
  const org = reader(ctx);
  const campaign = await findCampaign(org, campaignId);
  const steps = await org.query(CampaignSteps).where({ campaign_id: campaign.id }).orderBy('position');
  const problems = [
    ...(await launchRefusals(org, campaign, ctx.clock.now())).flatMap(fromRefusal),
    ...(await shapeProblems(org, steps)),
    ...(await copyProblems(org, campaign, steps)),
  ];
  return { campaignId: campaign.id, valid: problems.every(({ severity }) => severity !== 'error'), problems };
}

/** A refused start as findings: one per step it names, or one for the campaign. */
function fromRefusal(refusal: AppError): CampaignProblem[] {
  const common = {
    code: refusal.code === 'no_leads' ? 'campaign_no_contacts' : refusal.code,
    severity: 'error' as const,
    fix: refusal.fix ?? '',
  };
  const steps = (refusal.problems ?? [])
    .map(({ path }) => /^steps\.([^.]+)\./.exec(path)?.[1])
    .filter((id) => id !== undefined);
  return (steps.length > 0 ? steps : [null]).map((stepId) => ({ ...common, message: refusal.message, stepId }));
}

async function shapeProblems(org: OrgScope, rows: readonly CampaignStepRow[]): Promise<CampaignProblem[]> {
  const steps = rows.map(toGraphStep);
  const problems: CampaignProblem[] = [];
  const find = (stepId: string, code: string, severity: CampaignProblem['severity'], message: string, fix: string) =>
    problems.push({ code, severity, message, fix, stepId });
  const references = await stepProblems(
    org,
    steps.map(({ kind, action, id }) => ({ kind, action, path: id })),
  );
  for (const { path, message } of references) {
    const noConnection = path.endsWith('.app_connection_id');
    find(
      path.split('.')[0]!,
      noConnection ? 'step_no_connection' : 'campaign_invalid',
      'error',
      `The step's ${path.slice(path.indexOf('.') + 1)} ${message}`,
      STEP_FIX,
    );
  }
  for (const { path, message } of graphProblems(steps, ({ id }) => id)) {
    find(path.split('.')[0]!, 'campaign_invalid', 'error', `A branch of the step ${message}`, STEP_FIX);
  }
  const first = firstStep(steps);
  const reached = first ? new Set([first.id, ...behind(first, steps)]) : new Set<string>();
  for (const step of steps) {
    if (!reached.has(step.id))
      find(step.id, 'step_unreachable', 'warning', 'No branch leads to the step', 'Link a step to it, or delete it.');
    if (step.action?.type !== 'wait_for_event') continue;
    if (step.action.timeout_minutes === null) {
      find(
        step.id,
        'wait_unbounded',
        'warning',
        'The step waits for its event without an end',
        'Set timeout_minutes in its action.',
      );
    } else if (step.action.on_timeout === 'continue' && !taken(step, 'timeout')) {
      find(
        step.id,
        'wait_timeout_unrouted',
        'warning',
        "No branch of the step takes a timeout: the contact's flow ends there",
        'Add a branch for node_outcome timeout, or set on_timeout to stop.',
      );
    }
  }
  return problems;
}

/** Whether a branch may be taken after an outcome; conditions on anything else count as true. */
function taken(step: GraphStep, outcome: Outcome): boolean {
  const open = step.conditions.branches.map((branch) => ({
    ...branch,
    when: (branch.when ?? []).filter(({ field }) => field === 'node_outcome'),
  }));
  const facts = {
    outcome,
    opened: false,
    clicked: false,
    replied: false,
    contact: { custom_fields: {} },
    app: {},
    event: null,
  };
  return matchingBranch({ ...step, conditions: { branches: open } }, facts) !== null;
}

/** Ids of the steps that can follow a step, directly or later. */
function behind(step: GraphStep, steps: readonly GraphStep[], found = new Set<string>()): Set<string> {
  for (const { to } of step.conditions.branches) {
    const next = to === null || found.has(to) ? undefined : steps.find(({ id }) => id === to);
    if (!next) continue;
    found.add(next.id);
    behind(next, steps, found);
  }
  return found;
}

async function copyProblems(
  org: OrgScope,
  campaign: CampaignRow,
  rows: readonly CampaignStepRow[],
): Promise<CampaignProblem[]> {
  const problems: CampaignProblem[] = [];
  const steps = rows.map(toGraphStep);
  const builtIn = new Set(Object.keys(mergeValues({ ...SAMPLE_CONTACT, custom_fields: {} }, {})));
  const wanted: { key: string; stepId: string }[] = [];
  const miss = (stepId: string, severity: CampaignProblem['severity'], message: string, fix: string) =>
    problems.push({ code: 'campaign_variable_missing', severity, message, fix, stepId });
  for (const row of rows.filter(({ kind }) => kind === 'email')) {
    const produced = new Set(
      steps.flatMap((step) =>
        behind(step, steps).has(row.id) && step.action && 'output_key' in step.action ? [step.action.output_key] : [],
      ),
    );
    const told = new Set<string>();
    for (const field of COPY) {
      const { errors, references } = inspectSource(field, row[field]);
      for (const error of errors) miss(row.id, 'error', formatMessageError({ field, ...error }), STEP_FIX);
      for (const {
        path: [root, key],
        hasDefault,
      } of references) {
        const name = root === 'App' ? `App.${key}` : root!;
        if (hasDefault || told.has(name) || (root !== 'App' && builtIn.has(root!))) continue;
        told.add(name);
        if (root !== 'App') wanted.push({ key: root!, stepId: row.id });
        else if (key === undefined || !produced.has(key))
          miss(
            row.id,
            'error',
            `{{.${name}}} is not produced by any step before this one`,
            'Add the step that produces it, or give a default.',
          );
      }
    }
  }
  const absent = await keysNoLeadHas(org, campaign.id, [...new Set(wanted.map(({ key }) => key))]);
  for (const { key, stepId } of wanted) {
    if (absent.has(key))
      miss(
        stepId,
        'warning',
        `No lead of the campaign has the field ${key}`,
        "Correct the field's name, fill it in, or give a default.",
      );
  }
  return problems;
}

/** The custom fields that no lead of a campaign has; empty for a campaign without leads. */
async function keysNoLeadHas(org: OrgScope, campaignId: string, keys: readonly string[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const rows = await org.sql<{ key: string }>(
    `select k.key from unnest(cast(:keys as text[])) as k(key)
     where exists (select 1 from enrollments where organization_id = :org and campaign_id = :id)
       and not exists (select 1 from enrollments e join contacts c on c.id = e.contact_id
         where e.organization_id = :org and e.campaign_id = :id and jsonb_exists(c.custom_fields, k.key))`,
    { id: campaignId, keys },
  );
  return new Set(rows.map(({ key }) => key));
}
