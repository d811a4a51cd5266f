import { DAY_MS, MINUTE_MS } from '../../../lib/clock.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { CampaignView } from '../campaign/campaign-view.ts';
import { firstStep, normalSuccessor } from '../campaign/graph.ts';
import { poolCapacity } from '../campaign/sender-pool.ts';
import { entryDelayEnds } from '../../platform/scheduling/slots.ts';
import type { EngineStep, Graph } from './snapshot.ts';

/** What the leads of a campaign wait for before they need a run. */
export interface Entry {
  /** How long (ms) a lead waits as a row: the waits the campaign begins with, and the days of a first email after them. */
  waitMs: number;
  /** The email that comes next; its slot is reserved before the run is opened. Null where something else comes first. */
  email: EngineStep | null;
  /** Days that contacts normally spend in runs before their first email. */
  daysInRun: number;
}

/** Steps followed at most; saving a campaign refuses circles. */
const MAX_HOPS = 100;
/** Runs without a slot that a campaign may have open, as a multiple of what it can send meanwhile. */
const AHEAD = 2;
const FEWEST_OPEN = 10;
/** The most runs without a slot that a campaign may have open, those that wait for an event included. */
const MOST_OPEN = 10_000;

/** How the leads of a campaign begin. */
export function entryOf(graph: Pick<Graph, 'steps'>): Entry {
  let waitMs = 0;
  let step = firstStep(graph.steps);
  for (let hops = 0; step?.action?.type === 'wait' && hops < MAX_HOPS; hops += 1) {
    waitMs += step.action.wait_minutes * MINUTE_MS;
    const [link] = step.conditions.branches;
    // Where the way on depends on the contact, its run finds out.
    if (!link || (link.when ?? []).length > 0) return { waitMs, email: null, daysInRun: daysToEmail(graph, step) };
    step = graph.steps.find(({ id }) => id === link.to) ?? null;
  }
  if (step?.kind === 'email') return { waitMs: waitMs + step.wait_after * DAY_MS, email: step, daysInRun: 0 };
  return { waitMs, email: null, daysInRun: step ? daysToEmail(graph, step) : 0 };
}

/** Days (whole, rounded up) that a contact normally spends from a step on until its first email is due. */
function daysToEmail(graph: Pick<Graph, 'steps'>, from: EngineStep): number {
  let ms = 0;
  let step: EngineStep | undefined = from;
  for (let hops = 0; step && hops < MAX_HOPS; hops += 1) {
    if (step.kind === 'email') return Math.ceil((ms + step.wait_after * DAY_MS) / DAY_MS);
    if (step !== from && step.action?.type === 'wait') ms += step.action.wait_minutes * MINUTE_MS;
    const to: string | null = normalSuccessor(step);
    step = graph.steps.find(({ id }) => id === to);
  }
  return Math.ceil(ms / DAY_MS);
}

/** When a lead's way begins: it has entered, its entry delay is over, and the campaign has been started. */
export function leadStartsAt(
  campaign: Pick<CampaignView, 'created_at' | 'started_at' | 'entry_delay_minutes'>,
  enteredAt: Date,
): Date {
  const entered = entryDelayEnds(enteredAt, campaign.created_at, campaign.entry_delay_minutes);
  return campaign.started_at && campaign.started_at > entered ? campaign.started_at : entered;
}

/**
 * How many more runs a campaign may open that begins with something else than an email: runs that have had no slot
 * yet, beside those that wait for an event, stand still or are blocked, are at most twice what it can send in the days
 * until they need one. The other leads stay rows.
 * @returns the room, and whether some runs have not yet looked for the first time
 */
export async function roomForRuns(
  tx: Tx,
  campaign: CampaignView,
  graph: Graph,
  { daysInRun }: Entry,
): Promise<{ room: number; fresh: boolean }> {
  const [row] = await tx.org.sql<{ wanting: number; open: number; fresh: number }>(
    `select count(*) filter (where not blocked and hold_since is null and (current_step_id is null or not current_step_id = any(:events::uuid[])))::int as wanting,
       count(*) filter (where current_step_id is null)::int as fresh, count(*)::int as open
     from enrollments where organization_id = :org and campaign_id = :campaign and state = 'active' and mailbox_id is null`,
    {
      campaign: campaign.id,
      events: graph.steps.filter(({ action }) => action?.type === 'wait_for_event').map(({ id }) => id),
    },
  );
  const { wanting, open, fresh } = row!;
  const aDay = Math.min(
    campaign.daily_limit,
    campaign.max_new_leads_per_day || Infinity,
    await poolCapacity(tx.org, campaign, campaign.daily_limit),
  );
  const most = Math.max(FEWEST_OPEN, AHEAD * aDay * (1 + daysInRun));
  return { room: Math.min(most - wanting, MOST_OPEN - open), fresh: fresh > 0 };
}
