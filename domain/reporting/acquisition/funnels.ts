import type { OrgScope } from '../../../db/tenancy.ts';
import type { Bindings } from '../../../db/statement.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import type { Page, PageRequest } from '../../../lib/cursor.ts';
import { refuseProblems, type Problem } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import type { Predicate } from '../../directory/predicates/predicate.ts';
import { eventCondition } from './occurrences.ts';
import { readPeople, type CountedPerson } from './counted-people.ts';

/** A step of a funnel: an action of a person, or an email to them. */
export type FunnelStep =
  | { kind: 'event'; eventName: string; predicates: readonly Predicate[] }
  | { kind: 'goal'; goalId: string }
  | { kind: 'confirmed_send' | 'positive_reply'; campaignId?: string | undefined };

interface Funnel {
  steps: readonly FunnelStep[];
  /** Start of the range of the first step, inclusive. `to` is exclusive. */
  from: Date;
  to: Date;
  /** Number of 24-hour days after the first step in which the other steps must be taken. The end is exclusive. */
  windowDays: number;
}

/**
 * Counts the people who took the steps of a funnel in order (POST /acquisition/funnels). A step is taken by the
 * earliest unused occurrence at or after the previous step, within the window of the first step. A person with several
 * possible starts is counted with the start that reaches the most steps.
 * @returns the number of people per step
 * @throws AppError bad_request naming steps whose goal or campaign is unknown
 */
export async function readFunnel(ctx: Ctx, funnel: Funnel): Promise<number[]> {
  const org = reader(ctx);
  refuseProblems(await stepProblems(org, funnel.steps));
  const { ctes, bindings } = await chainsOf(org, funnel);
  const counts = funnel.steps.map((_, index) => `(select count(distinct who) from ${chainName(index)})::int`);
  const [row] = await org.sql<{ people: number[] }>(
    `with ${ctes} select array[${counts.join(', ')}] as people where :org::uuid is not null`,
    bindings,
  );
  return row!.people;
}

const LIST = 'acquisition.funnel-people';

/**
 * Lists the people of one step of a funnel (POST /acquisition/funnels/people). Each row has the earliest time at which
 * the person can reach the step. The number of rows equals the number that the funnel shows.
 * @param of.step number of the step, from 1
 * @param of.lost lists the people who took the previous step but not this one, with the time of the previous step
 * @throws AppError bad_request naming steps whose goal or campaign is unknown, a step that the funnel lacks, or a bad
 * cursor
 */
export async function listFunnelPeople(
  ctx: Ctx,
  funnel: Funnel,
  { step, lost }: { step: number; lost: boolean },
  page: PageRequest,
): Promise<Page<CountedPerson>> {
  const org = reader(ctx);
  refuseProblems([...(await stepProblems(org, funnel.steps)), ...placeProblems(funnel.steps, step, lost)]);
  const { ctes, bindings } = await chainsOf(org, { ...funnel, steps: funnel.steps.slice(0, step) });
  const counted = lost
    ? `${chainName(step - 2)} w where not exists (select from ${chainName(step - 1)} n where n.who = w.who)`
    : `${chainName(step - 1)} w`;
  return readPeople(
    org,
    `with ${ctes}, counted as (select w.who, min(w.at) as at from ${counted} group by 1)
     select w.who as id, k.id as contact_id, w.at from counted w
       left join contacts k on k.organization_id = :org and k.id = w.who`,
    bindings,
    { list: LIST, named: [funnel.steps, funnel.windowDays, step, lost], page },
  );
}

/**
 * Returns the name of the CTE with the people of a step. For the first step, it contains everybody who took the step.
 */
function chainName(index: number): string {
  return index === 0 ? 'taken0' : `chain${index}`;
}

/** Builds the CTEs with the people of each step. */
async function chainsOf(org: OrgScope, funnel: Funnel): Promise<{ ctes: string; bindings: Bindings }> {
  const until = new Date(funnel.to.getTime() + funnel.windowDays * DAY_MS);
  const bindings: Bindings = funnel.steps.length > 1 ? { window: funnel.windowDays * (DAY_MS / 1000) } : {};
  const ctes: string[] = [];
  for (const [index, step] of funnel.steps.entries()) {
    const range = { from: funnel.from, to: index === 0 ? funnel.to : until };
    const found = await occurrencesOf(org, step, `s${index}`, range);
    ctes.push(`taken${index} as materialized (${found.sql})`);
    Object.assign(bindings, found.bindings);
  }
  // Restricts further queries to people who take the second step. For the others the time of the first step is enough.
  if (funnel.steps.length > 1)
    ctes.push(
      `chain0 as (select who, id as entry, at as entered, at, array[id] as ids from taken0 where who in (select who from taken1))`,
    );
  for (let index = 1; index < funnel.steps.length; index += 1)
    ctes.push(
      `chain${index} as materialized (
         select distinct on (c.who, c.entry) c.who, c.entry, c.entered, t.at, c.ids || t.id as ids
         from chain${index - 1} c join taken${index} t on t.who = c.who and t.at >= c.at
           and t.at < c.entered + make_interval(secs => :window) and t.id <> all(c.ids)
         order by c.who, c.entry, t.at, t.id
       )`,
    );
  return { ctes: ctes.join(', '), bindings };
}

/**
 * Returns the index of the step that loses the most people compared with the previous one. If several steps lose
 * equally many, returns the first. Null if no step loses people.
 */
export function largestDropOff(people: readonly number[]): number | null {
  const losses = people.map((count, index) => (index === 0 ? 0 : people[index - 1]! - count));
  const largest = Math.max(...losses);
  return largest > 0 ? losses.indexOf(largest) : null;
}

interface Occurrences {
  /**
   * SQL that selects rows of `who`, `id` and `at`. An email and its reply are two occurrences; so are an event and its
   * conversion.
   */
  sql: string;
  bindings: Bindings;
}

/**
 * SQL for the id of a person. It is the contact's id if there is one, so that emails and events of one person have the
 * same id.
 */
const WHO = 'coalesce(p.contact_id, p.id)';

async function occurrencesOf(
  org: OrgScope,
  step: FunnelStep,
  prefix: string,
  { from, to }: { from: Date; to: Date },
): Promise<Occurrences> {
  const [begin, end, id] = [`${prefix}begin`, `${prefix}end`, `${prefix}id`];
  const range = { [begin]: from, [end]: to };
  switch (step.kind) {
    case 'event': {
      const { sql, bindings } = await eventCondition(
        org,
        { name: step.eventName, predicates: step.predicates, from, to },
        prefix,
      );
      return {
        sql: `select coalesce(${WHO}, e.contact_id) as who, e.id::text as id, e.occurred_at as at
           from product_events e left join people p on p.id = e.person_id where ${sql}`,
        bindings,
      };
    }
    case 'goal':
      return {
        sql: `select ${WHO} as who, c.id::text as id, c.occurred_at as at from conversions c join people p on p.id = c.person_id
           where c.organization_id = :org and c.goal_id = :${id} and c.occurred_at >= :${begin} and c.occurred_at < :${end}`,
        bindings: { ...range, [id]: step.goalId },
      };
    default: {
      const at = step.kind === 'confirmed_send' ? 'f.sent_at' : 'f.positive_at';
      return {
        sql: `select f.contact_id as who, '${step.kind}/' || f.send_id as id, ${at} as at from send_facts f
           where f.organization_id = :org and f.contact_id is not null and f.sent_at is not null and ${at} >= :${begin} and ${at} < :${end}
             ${step.campaignId ? `and f.campaign_id = :${id}` : ''}`,
        bindings: { ...range, ...(step.campaignId ? { [id]: step.campaignId } : {}) },
      };
    }
  }
}

/** Returns all problems of a funnel and of the step whose people are requested. */
export async function funnelProblems(
  ctx: Ctx,
  { steps, step, lost }: { steps: readonly FunnelStep[]; step?: number | undefined; lost?: boolean | undefined },
): Promise<Problem[]> {
  return [...(await stepProblems(reader(ctx), steps)), ...placeProblems(steps, step, lost)];
}

function placeProblems(steps: readonly FunnelStep[], step = steps.length, lost = false): Problem[] {
  if (step > steps.length) return [{ path: 'body.step', message: message('reporting.no_such_step') }];
  return lost && step === 1 ? [{ path: 'body.step', message: message('reporting.no_step_before') }] : [];
}

async function stepProblems(org: OrgScope, steps: readonly FunnelStep[]): Promise<Problem[]> {
  const of = async (table: 'goals' | 'campaigns', ids: (string | undefined)[]): Promise<string[]> => {
    const asked = ids.filter((id) => id !== undefined).filter(isUuid);
    return asked.length === 0 ? [] : org.table(table).whereIn('id', asked).pluck('id');
  };
  const goalIdOf = (step: FunnelStep) => (step.kind === 'goal' ? step.goalId : undefined);
  const campaignIdOf = (step: FunnelStep) => ('campaignId' in step ? step.campaignId : undefined);
  const [goals, campaigns] = await Promise.all([
    of('goals', steps.map(goalIdOf)),
    of('campaigns', steps.map(campaignIdOf)),
  ]);
  return steps.flatMap((step, index): Problem[] => {
    const [goal, campaign] = [goalIdOf(step)?.toLowerCase(), campaignIdOf(step)?.toLowerCase()];
    if (goal !== undefined && !goals.includes(goal))
      return [{ path: `body.steps.${index}.goal_id`, message: message('directory.unknown_goal') }];
    if (campaign !== undefined && !campaigns.includes(campaign))
      return [{ path: `body.steps.${index}.campaign_id`, message: message('directory.unknown_campaign') }];
    return [];
  });
}
