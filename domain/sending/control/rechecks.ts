import { json } from '../../../db/connection.ts';
import type { CampaignStepRow } from '../../../db/models/campaign-step.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { signalControl, type EnrollmentRun } from './signals.ts';
import type { CampaignView } from '../campaign/campaign-view.ts';

/**
 * Kind of a waiting run's next act, as the column `enrollments.next_act` derives it. The first five depend on a slot, a
 * mailbox, a free day, the start of the first email, and a branch. `other` waits for a timer, an event or a person.
 */
type NextAct = 'slot' | 'mailbox' | 'schedule' | 'entry' | 'outcome' | 'other';

const ALL: readonly NextAct[] = ['slot', 'mailbox', 'schedule', 'entry', 'outcome', 'other'];

/** Runs whose next act a change of their campaign may alter: those at a step, or all of them with `step` null. */
interface Recheck {
  step: string | null;
  acts: readonly NextAct[];
}

/** Runs that a resume concerns: the pause has taken their slots, or they have woken meanwhile. */
export const RESUMED: readonly Recheck[] = [{ step: null, acts: ['slot'] }];
/** Runs of a paused campaign that the return, the hold or another change of a mailbox of its pool concerns. */
export const POOL_CHANGED: readonly Recheck[] = [{ step: null, acts: ['mailbox'] }];
/** Runs that a changed schedule or pool concerns: their slots are released, and they may get earlier ones. */
const RESCHEDULED: Recheck = { step: null, acts: ['slot', 'mailbox', 'schedule'] };
/** Runs that a changed entry delay concerns besides. */
const ENTRY_DELAYED: Recheck = { step: null, acts: ['slot', 'mailbox', 'schedule', 'entry'] };

/** Maximum number of different rechecks stored with a campaign. More become one of all runs. */
const MAX_RECHECKS = 200;
/** Maximum number of runs signalled in one iteration of the launcher. */
const PAGE = 500;
/**
 * Period (ms) after a change in which the launcher looks for runs once more. A decision that began before the change
 * may commit after the launcher has looked.
 */
const SETTLED_MS = 30_000;

/** SQL assignment of `campaigns.rechecks` beside `control_epoch = control_epoch + 1`. Binds `:rechecks` and `:now`. */
export const ADD_RECHECKS = `rechecks = (
      with added as (
        select jsonb_agg(r || jsonb_build_object('epoch', control_epoch + 1, 'at', cast(:now as timestamptz))) as list
        from jsonb_array_elements(cast(:rechecks as jsonb)) r
      ), kept as (
        select coalesce(jsonb_agg(old), '[]') as list from jsonb_array_elements(rechecks) old
        where not exists (select 1 from jsonb_array_elements(cast(:rechecks as jsonb)) r where r -> 'step' = old -> 'step' and r -> 'acts' = old -> 'acts')
      )
      select case when jsonb_array_length(kept.list || added.list) <= ${MAX_RECHECKS} then kept.list || added.list
        else jsonb_build_array(added.list -> 0 || jsonb_build_object('step', null, 'acts', cast('${JSON.stringify(ALL)}' as jsonb))) end
      from kept, added)`;

/**
 * Raises the control epoch of a campaign, and stores which of its runs must ask again. Its launcher signals them. The
 * runs of a paused campaign follow when it resumes.
 */
export async function addRechecks(tx: Tx, campaignId: string, rechecks: readonly Recheck[]): Promise<void> {
  if (rechecks.length === 0) return;
  await tx.org.sql(
    `update campaigns set control_epoch = control_epoch + 1, ${ADD_RECHECKS} where organization_id = :org and id = :id` as `${string}:org${string}`,
    { id: campaignId, now: tx.now, rechecks: json(rechecks) },
  );
}

/** Returns the rechecks of an edit of the schedule, the pool or the sending settings. */
export function rescheduled({ entryDelay = false } = {}): readonly Recheck[] {
  return [entryDelay ? ENTRY_DELAYED : RESCHEDULED];
}

type Step = Pick<CampaignStepRow, 'id' | 'kind' | 'wait_after' | 'action' | 'conditions'>;

/**
 * Returns the rechecks of an edit of the steps. Every run at a step asks again that was removed, or has another kind,
 * action or wait. A run that waits to choose a branch asks again when the branches changed, or the wait of their
 * targets.
 */
export function editedSteps(before: readonly Step[], after: readonly Step[]): Recheck[] {
  const found = new Map(after.map((step) => [step.id, step]));
  const differs = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);
  const moved = before.filter((old) => {
    const now = found.get(old.id);
    return !now || old.kind !== now.kind || old.wait_after !== now.wait_after || differs(old.action, now.action);
  });
  const movedIds = new Set(moved.map(({ id }) => id));
  const branched = before.filter((old) => {
    const now = found.get(old.id);
    if (!now || movedIds.has(old.id)) return false;
    return differs(old.conditions, now.conditions) || targets(now).some((to) => to !== null && movedIds.has(to));
  });
  return [
    ...moved.map(({ id }): Recheck => ({ step: id, acts: ALL })),
    ...branched.map(({ id }): Recheck => ({ step: id, acts: ['outcome'] })),
  ];
}

function targets({ conditions }: Step): (string | null)[] {
  return (conditions as unknown as { branches: { to: string | null }[] }).branches.map(({ to }) => to);
}

/** Result of one look: `left` while more runs are to be signalled; `until` is when the launcher checks again. */
interface Rechecked {
  signalled: number;
  left: boolean;
  until: Date | null;
}

/**
 * Signals a page of the runs that must ask again. The statement reads no other runs. It skips enrollments that are
 * locked by their own decision, which may wait for the campaign that this transaction holds.
 */
export async function signalRechecked(tx: Tx, campaign: CampaignView): Promise<Rechecked> {
  const { rechecks } = campaign;
  if (rechecks.length === 0) return { signalled: 0, left: false, until: null };
  const [answer] = await tx.org.sql<{ signalled: EnrollmentRun[]; left: boolean }>(
    `with recheck as (
       select step, acts, epoch from jsonb_to_recordset(cast(:rechecks as jsonb)) as r(step uuid, acts text[], epoch int)
     ), due as (
       select e.id from recheck r cross join lateral (
         select id from enrollments
         where r.step is null and organization_id = :org and campaign_id = :campaign and state = 'active'
           and next_act = any(r.acts) and signalled_epoch < r.epoch
         union all
         select id from enrollments
         where current_step_id = r.step and organization_id = :org and campaign_id = :campaign and state = 'active'
           and next_act = any(r.acts) and signalled_epoch < r.epoch
       ) e limit :page
     ), free as (
       select id from enrollments where id = any(array(select id from due)) for update skip locked
     ), signalled as (
       update enrollments e set signalled_epoch = :epoch from free where e.id = free.id returning e.id, e.campaign_id, e.contact_id
     )
     select coalesce((select json_agg(signalled) from signalled), '[]') as signalled,
       (select count(*) from due) = :page or exists (select 1 from due where id not in (select id from signalled)) as "left"`,
    { rechecks: json(rechecks), campaign: campaign.id, epoch: campaign.control_epoch, page: PAGE },
  );
  const { signalled, left } = answer!;
  for (const run of signalled) signalControl(tx, run, 'campaign', campaign.control_epoch);
  const until = new Date(Math.max(...rechecks.map(({ at }) => Date.parse(at))) + SETTLED_MS);
  if (left || until > tx.now) return { signalled: signalled.length, left, until };
  await tx.org
    .table('campaigns')
    .where({ id: campaign.id })
    .update({ rechecks: json([]) });
  return { signalled: signalled.length, left, until: null };
}
