import { DAY_MS, MINUTE_MS } from '../../../lib/clock.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { CampaignView } from '../campaign/campaign-view.ts';
import { firstStep, normalSuccessor } from '../campaign/graph.ts';
import { poolCapacity } from '../campaign/sender-pool.ts';
import { entryDelayEnd } from '../../platform/scheduling/slots.ts';
import type { EngineStep, Graph } from './snapshot.ts';

/** Time for which leads wait at the beginning of a campaign without a workflow, and the step that follows. */
export interface Entry {
  /**
   * Time (ms) for which a lead waits without a workflow: the wait steps at the campaign's start, plus the wait days of
   * a first email after them.
   */
  waitMs: number;
  /**
   * The first email step, whose slot is reserved before the workflow starts. Null when another kind of step comes
   * first.
   */
  email: EngineStep | null;
  /** Number of days that contacts normally spend in their workflows before their first email. */
  daysInRun: number;
}

/** Maximum number of steps followed. Saving a campaign refuses cycles. */
const MAX_HOPS = 100;
/** Maximum number of open workflows without a slot, as a multiple of the emails that can be sent in the meantime. */
const AHEAD = 2;
const MIN_OPEN = 10;
/** Maximum number of open workflows without a slot per campaign, including workflows that wait for an event. */
const MAX_OPEN = 10_000;

/** Returns the time for which a campaign's leads wait without a workflow, and the first email that follows. */
export function entryOf(graph: Pick<Graph, 'steps'>): Entry {
  let waitMs = 0;
  let step = firstStep(graph.steps);
  for (let hops = 0; step?.action?.type === 'wait' && hops < MAX_HOPS; hops += 1) {
    waitMs += step.action.wait_minutes * MINUTE_MS;
    const [link] = step.conditions.branches;
    // If the next step depends on the contact, the workflow chooses it.
    if (!link || (link.when ?? []).length > 0) return { waitMs, email: null, daysInRun: daysToEmail(graph, step) };
    step = graph.steps.find(({ id }) => id === link.to) ?? null;
  }
  if (step?.kind === 'email') return { waitMs: waitMs + step.wait_after * DAY_MS, email: step, daysInRun: 0 };
  return { waitMs, email: null, daysInRun: step ? daysToEmail(graph, step) : 0 };
}

/** Returns the days (rounded up) that a contact normally needs from a step to its first email. */
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

/**
 * Returns the time from which a lead is shown as being at its first step. A wait step begins at the lead's start,
 * because the lead spends the wait in the launcher's queue.
 */
export function firstStepStart(
  campaign: Pick<CampaignView, 'created_at' | 'started_at' | 'entry_delay_minutes'>,
  step: EngineStep,
  enteredAt: Date,
  now: Date,
): Date {
  const waits = step.action?.type === 'wait' || (step.kind === 'email' && step.wait_after > 0);
  const began = leadStart(campaign, enteredAt);
  return waits && began < now ? began : now;
}

/** Returns when a lead starts: after its entry, its entry delay and the start of the campaign. */
function leadStart(
  campaign: Pick<CampaignView, 'created_at' | 'started_at' | 'entry_delay_minutes'>,
  enteredAt: Date,
): Date {
  const entered = entryDelayEnd(enteredAt, campaign.created_at, campaign.entry_delay_minutes);
  return campaign.started_at && campaign.started_at > entered ? campaign.started_at : entered;
}

/**
 * Returns the number of further workflows that may be opened for a campaign that does not begin with an email. Counts
 * enrollments without a slot that are not held, blocked or waiting for an event. The maximum is twice the number of
 * emails that can be sent before these workflows need a slot. The other leads stay in the launcher's queue.
 * @returns `room`, the number; `fresh` is true if some workflows have not made their first decision
 */
export async function freeRunCount(
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
  const most = Math.max(MIN_OPEN, AHEAD * aDay * (1 + daysInRun));
  return { room: Math.min(most - wanting, MAX_OPEN - open), fresh: fresh > 0 };
}
