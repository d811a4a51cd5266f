import type { CampaignRow } from '../../../db/models/campaign.ts';
import { Campaigns } from '../../../db/models/campaign.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { AppError, refuseProblems, type Problem } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import { audienceProblems } from '../../audience/leads/add.ts';
import { scheduleProblems } from '../../platform/scheduling/problems.ts';
import type { CreateRun } from './input.ts';
import { chooseSenders } from './senders.ts';
import { planSteps, type PlannedSteps } from './steps.ts';
import { message } from '../../../messages/index.ts';

/** A run request in which names are replaced by ids, and the problems found in it. */
export interface RunPlan {
  /** The existing campaign of the run; undefined if the run builds one. */
  campaign: CampaignRow | undefined;
  senderIds: string[];
  steps: PlannedSteps;
  problems: Problem[];
  /** Errors with a code of their own. Such an error is thrown if it is the only problem. */
  refusals: AppError[];
}

/**
 * Replaces names in a run request by ids, and finds every problem that the format of its fields does not show. Checks
 * only the given fields. Changes no data.
 * @throws AppError forbidden when the caller's key may not use a named mailbox
 */
export async function planRun(org: OrgScope, actor: Actor, input: Partial<CreateRun>): Promise<RunPlan> {
  const { contact_ids: contactIds = [], segment_ids: segmentIds = [] } = input;
  const campaign = await findRunCampaign(org, input.campaign_id);
  const senders = input.senders
    ? await chooseSenders(org, actor, input.senders)
    : { mailboxIds: [], problems: [], empty: false };
  const steps = await planSteps(org, input.steps ?? []);
  const problems = [
    ...targetProblems(input, campaign),
    ...senders.problems,
    ...timingProblems(input.schedule),
    ...steps.problems,
    ...(await audienceProblems(org, { contactIds, segmentIds })),
  ];
  const refusals: AppError[] = [];
  if (steps.connectionProblems.length > 0)
    refusals.push(
      new AppError('app_connection_not_found', message('runs.no_connection'), {
        problems: steps.connectionProblems,
        fix: message('runs.no_connection.fix'),
      }),
    );
  if (senders.empty)
    refusals.push(
      new AppError('campaign_no_mailbox', message('runs.no_mailbox'), {
        problems: [{ path: 'body.senders', message: message('runs.no_mailbox.problem') }],
        fix: message('runs.no_mailbox.fix'),
      }),
    );
  return { campaign, senderIds: senders.mailboxIds, steps, problems, refusals };
}

/** Lists every problem of a plan, including those of errors with a code of their own. */
export function allProblems({ problems, refusals }: Pick<RunPlan, 'problems' | 'refusals'>): Problem[] {
  return [...problems, ...refusals.flatMap((refusal) => refusal.problems ?? [])];
}

/**
 * Throws an error if a plan has problems. If all problems belong to one error with a code of its own, that error is
 * thrown.
 * @throws AppError bad_request with all problems, app_connection_not_found, campaign_no_mailbox
 */
export function refuseFaulty(plan: RunPlan): void {
  const [only, ...more] = plan.refusals;
  if (only && more.length === 0 && plan.problems.length === 0) throw only;
  refuseProblems(allProblems(plan));
}

async function findRunCampaign(org: OrgScope, id: string | undefined): Promise<CampaignRow | undefined> {
  return id !== undefined && isUuid(id) ? org.query(Campaigns).findById(id) : undefined;
}

/** Checks that a run either names an existing campaign or describes a new one. */
function targetProblems(input: Partial<CreateRun>, campaign: CampaignRow | undefined): Problem[] {
  if (input.campaign_id === undefined) return launchInputProblems(input);
  const problems: Problem[] = [];
  if (!campaign) problems.push({ path: 'body.campaign_id', message: message('directory.unknown_campaign') });
  else if (campaign.status === 'active')
    problems.push({ path: 'body.campaign_id', message: message('runs.campaign_active') });
  for (const field of ['name', 'description', 'steps'] as const) {
    if (input[field] !== undefined) problems.push({ path: `body.${field}`, message: message('runs.of_new_campaign') });
  }
  return problems;
}

/** Lists missing fields of a run that describes its campaign. */
function launchInputProblems({ name, intent, steps, ...audience }: Partial<CreateRun>): Problem[] {
  const problems: Problem[] = [];
  if (name === undefined) problems.push({ path: 'body.name', message: message('runs.required_without_campaign') });
  if (intent !== 'launch') return problems;
  if (!steps?.length) problems.push({ path: 'body.steps', message: message('runs.required_to_launch') });
  const { leads, contact_ids: contactIds, segment_ids: segmentIds } = audience;
  if (!leads?.length && !contactIds?.length && !segmentIds?.length)
    problems.push({ path: 'body.leads', message: message('runs.audience_required') });
  return problems;
}

function timingProblems(schedule: CreateRun['schedule'] | undefined): Problem[] {
  if (!schedule) return [];
  const { mode, ...fields } = schedule;
  const foreign = (['days', 'start_time', 'end_time'] as const).filter(
    (field) => mode === 'auto' && fields[field] !== undefined,
  );
  return [
    ...scheduleProblems(fields).map((problem) => ({ ...problem, path: `body.schedule.${problem.path}` })),
    ...foreign.map((field) => ({ path: `body.schedule.${field}`, message: message('runs.mode_explicit_only') })),
  ];
}
