import { json } from '../../../db/connection.ts';
import type { CampaignStepRow } from '../../../db/models/campaign-step.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { signalControl, type EnrollmentRun } from './signals.ts';
import type { CampaignView } from '../campaign/campaign-view.ts';

/**
 * Next action of a waiting enrollment workflow, derived by the column `enrollments.next_act`. The first five wait for a
 * slot, a mailbox, a free day, the start of the first email, and the choice of a branch. `other` waits for a timer, an
 * event or a person.
 */
type NextAct = 'slot' | 'mailbox' | 'schedule' | 'entry' | 'outcome' | 'other';

const ALL: readonly NextAct[] = ['slot', 'mailbox', 'schedule', 'entry', 'outcome', 'other'];

/**
 * Enrollments whose workflows must decide again after a change of their campaign: those whose next action is one of
 * `acts`. They are at the given step, or at any step if `step` is null.
 */
interface Recheck {
  step: string | null;
  acts: readonly NextAct[];
}

/** Recheck after a resume: enrollments whose slots were released by the pause, or whose workflows woke during it. */
export const RESUMED: readonly Recheck[] = [{ step: null, acts: ['slot'] }];
/** Recheck of a paused campaign after a change of a mailbox in its pool: enrollments that wait for a mailbox. */
export const POOL_CHANGED: readonly Recheck[] = [{ step: null, acts: ['mailbox'] }];
/**
 * Recheck after a change of the schedule or pool: enrollments whose slots were released or that may get earlier ones.
 */
const RESCHEDULED: Recheck = { step: null, acts: ['slot', 'mailbox', 'schedule'] };
/**
 * Recheck after a change that includes the entry delay. Adds the enrollments that wait for the start of their first
 * email.
 */
const ENTRY_DELAYED: Recheck = { step: null, acts: ['slot', 'mailbox', 'schedule', 'entry'] };

/** Maximum number of different rechecks stored with a campaign. More are merged into one for all its enrollments. */
const MAX_RECHECKS = 200;
/** Maximum number of workflows signalled in one iteration of the launcher. */
const PAGE = 500;
/**
 * Period (ms) after a change in which the launcher searches again, because a workflow's decision that began before the
 * change may commit after a search.
 */
const SETTLED_MS = 30_000;

/**
 * SQL assignment of `campaigns.rechecks`, for a statement that also sets `control_epoch = control_epoch + 1`. Needs the
 * bindings `:rechecks` and `:now`.
 */
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
 * Raises the control epoch of a campaign, and stores which of its workflows must decide again. The campaign's launcher
 * signals them; for a paused campaign, after it resumes.
 */
export async function addRechecks(tx: Tx, campaignId: string, rechecks: readonly Recheck[]): Promise<void> {
  if (rechecks.length === 0) return;
  await tx.org.sql(
    `update campaigns set control_epoch = control_epoch + 1, ${ADD_RECHECKS} where organization_id = :org and id = :id` as `${string}:org${string}`,
    { id: campaignId, now: tx.now, rechecks: json(rechecks) },
  );
}

/** Returns the rechecks needed after an edit of the schedule, the pool or the sending settings. */
export function rescheduled({ entryDelay = false } = {}): readonly Recheck[] {
  return [entryDelay ? ENTRY_DELAYED : RESCHEDULED];
}

type Step = Pick<CampaignStepRow, 'id' | 'kind' | 'wait_after' | 'action' | 'conditions'>;

/**
 * Returns the rechecks needed after an edit of the steps. All workflows at a step decide again if the step was removed
 * or its kind, action or wait changed. Those that wait to choose a branch decide again if the branches or their target
 * steps changed.
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

/**
 * Result of {@link signalRechecked}: `left` is true if more workflows are to be signalled. `until` is the time at which
 * the launcher searches again.
 */
interface Rechecked {
  signalled: number;
  left: boolean;
  until: Date | null;
}

/**
 * Signals a page of the workflows that must decide again. Skips locked enrollments, because the transaction that locks
 * one may wait for the campaign that this transaction has locked.
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
