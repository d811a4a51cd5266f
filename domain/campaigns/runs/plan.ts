import type { CampaignRow } from '../../../db/models/campaign.ts';
import { Campaigns } from '../../../db/models/campaign.ts';
import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { AppError, refuseProblems, type Problem } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { audienceProblems } from '../../audience/leads/add.ts';
import { scheduleProblems } from '../../platform/scheduling/problems.ts';
import { HOLDS_END } from '../../sending/campaign/sender-pool.ts';
import { labelProblems, mailboxProblems } from '../checks.ts';
import type { CreateRun } from './input.ts';
import { planSteps, type PlannedSteps } from './steps.ts';
import { message } from '../../../messages/index.ts';

/** Path of the selection of senders in a request. */
const SENDERS = 'body.senders';

/** A run request whose names were resolved to ids, with the problems found. */
export interface RunPlan {
  /** The existing campaign of the run; undefined if the run builds one. */
  campaign: CampaignRow | undefined;
  senderIds: string[];
  steps: PlannedSteps;
  problems: Problem[];
  /** Errors with a code of their own. Such an error is thrown if it is the only problem. */
  refusals: AppError[];
}

/** Lists every problem in the well-formed fields of a run request. */
export async function runProblems(ctx: Ctx, input: Partial<CreateRun>): Promise<Problem[]> {
  return allProblems(await readPlan(ctx, input));
}

/**
 * Variant of {@link planRun} that reads the existing campaign of the run.
 * @throws AppError forbidden when the caller's key may not use a named mailbox
 */
export async function readPlan(ctx: Ctx, input: Partial<CreateRun>): Promise<RunPlan> {
  const org = reader(ctx);
  const { campaign_id: id } = input;
  const campaign = id !== undefined && isUuid(id) ? await org.query(Campaigns).findById(id) : undefined;
  return planRun(org, ctx.actor, input, campaign);
}

/**
 * Resolves a run request, and finds every problem beyond the format of its fields. Checks only the given fields.
 * Changes no data.
 * @param campaign existing campaign that the request names; undefined if it names none or an unknown one
 * @throws AppError forbidden when the caller's key may not use a named mailbox
 */
export async function planRun(
  org: OrgScope,
  actor: Actor,
  input: Partial<CreateRun>,
  campaign: CampaignRow | undefined,
): Promise<RunPlan> {
  const { contact_ids: contactIds = [], segment_ids: segmentIds = [] } = input;
  const problems = targetProblems(input, campaign);
  const senders = input.senders
    ? await chooseSenders(org, actor, input.senders)
    : { mailboxIds: [], problems: [], isEmpty: false };
  problems.push(...senders.problems, ...timingProblems(input.schedule));
  const steps = await planSteps(org, input.steps ?? []);
  problems.push(...steps.problems, ...(await audienceProblems(org, { contactIds, segmentIds })));
  const refusals: AppError[] = [];
  if (steps.connectionProblems.length > 0)
    refusals.push(
      new AppError('app_connection_not_found', message('runs.no_connection'), {
        problems: steps.connectionProblems,
        fix: message('runs.no_connection.fix'),
      }),
    );
  if (senders.isEmpty)
    refusals.push(
      new AppError('campaign_no_mailbox', message('runs.no_mailbox'), {
        problems: [{ path: SENDERS, message: message('runs.no_mailbox.problem') }],
        fix: message('runs.no_mailbox.fix'),
      }),
    );
  return { campaign, senderIds: senders.mailboxIds, steps, problems, refusals };
}

/** Lists every problem of a plan, including those with their own code. */
function allProblems({ problems, refusals }: Pick<RunPlan, 'problems' | 'refusals'>): Problem[] {
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

/** The mailboxes that a run's selection currently matches. */
interface ChosenSenders {
  mailboxIds: string[];
  problems: Problem[];
  /** True if the selection is well-formed and none of its mailboxes may send. */
  isEmpty: boolean;
}

/**
 * Resolves the selection of senders to mailbox ids. `auto` and `tags` choose active mailboxes that the caller's key may
 * use, without a hold that only a person can end. `explicit` uses the named mailboxes.
 * @throws AppError forbidden when the caller's key may not use a named mailbox
 */
async function chooseSenders(org: OrgScope, actor: Actor, senders: CreateRun['senders']): Promise<ChosenSenders> {
  const { mode, mailbox_ids: mailboxIds = [], tag_ids: tagIds = [] } = senders;
  const problems = [
    ...modeProblems(senders),
    ...(await mailboxProblems(org, actor, mailboxIds, (index) => `${SENDERS}.mailbox_ids.${index}`)),
    ...(await labelProblems(org, 'tag', tagIds, `${SENDERS}.tag_ids`)),
  ];
  if (problems.length > 0) return { mailboxIds: [], problems, isEmpty: false };
  const chosen = await sendable(org, { mode, mailboxIds, tagIds, allowed: actor.allowedMailboxes });
  const named = mailboxIds.map((id) => id.toLowerCase()).sort();
  return { mailboxIds: mode === 'explicit' ? named : chosen, problems, isEmpty: chosen.length === 0 };
}

/** Checks that only the list of the given mode is present and that it is not empty; `auto` has no list. */
function modeProblems({ mode, mailbox_ids: mailboxIds, tag_ids: tagIds }: CreateRun['senders']): Problem[] {
  const lists = [
    { field: 'mailbox_ids', owner: 'explicit', ids: mailboxIds },
    { field: 'tag_ids', owner: 'tags', ids: tagIds },
  ] as const;
  return lists.flatMap(({ field, owner, ids }) => {
    const path = `${SENDERS}.${field}`;
    if (mode === owner)
      return ids && ids.length > 0 ? [] : [{ path, message: message('runs.required_with_mode', { mode: owner }) }];
    return ids && ids.length > 0 ? [{ path, message: message('runs.only_with_mode', { mode: owner }) }] : [];
  });
}

async function sendable(
  org: OrgScope,
  chosen: { mode: string; mailboxIds: readonly string[]; tagIds: readonly string[]; allowed: readonly string[] | null },
): Promise<string[]> {
  const rows = await org.sql<Columns<'mailboxes', 'id'>>(
    `select m.id from mailboxes m
     where m.organization_id = :org and m.status = 'active' and ${HOLDS_END}
       and (cast(:allowed as uuid[]) is null or m.id = any(cast(:allowed as uuid[])))
       and (:mode <> 'explicit' or m.id = any(cast(:mailboxes as uuid[])))
       and (:mode <> 'tags' or exists (select 1 from mailbox_tags t where t.mailbox_id = m.id and t.label_id = any(cast(:tags as uuid[]))))
     order by m.id`,
    { mode: chosen.mode, mailboxes: chosen.mailboxIds, tags: chosen.tagIds, allowed: chosen.allowed },
  );
  return rows.map(({ id }) => id);
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
