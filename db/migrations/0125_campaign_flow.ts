import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    enrollments: 'ShareRowExclusiveLock',
    step_runs: 'ShareRowExclusiveLock',
    organizations: 'ShareRowExclusiveLock',
  },
  secondsAtMillionRows: 8,
};

/**
 * Where the leads of each campaign stand and which ways they went, counted. A row is a difference, as in the counts of the CRM: the sum over the rows of
 * a key is the number, in every snapshot. Writers only add rows, so none waits for another; now and then one of them folds those of its workspace together.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table campaign_flow_counts (
      organization_id uuid not null references organizations on delete cascade,
      -- No foreign key: it would lock the campaign whenever one of its leads moves.
      campaign_id uuid not null,
      -- Null for leads that have met no step.
      step_id uuid,
      -- Of leads whose last step this is; null in rows that count how often the step was entered.
      state text,
      -- The step from which it was entered; null for the first one of a lead.
      from_step_id uuid,
      leads integer not null,
      is_folded boolean not null default false
    );
    create index campaign_flow_counts_campaign on campaign_flow_counts (campaign_id);
    create index campaign_flow_counts_new on campaign_flow_counts (organization_id) where not is_folded;
    call heron_guard_rows('campaign_flow_counts');

    -- One statement, so that what is taken and what is added are of one moment.
    create function heron_fold_campaign_flow(workspace uuid) returns void language plpgsql as $$
    begin
      if random() > 0.01 then return; end if;
      if (select count(*) from (select from campaign_flow_counts where organization_id = workspace and not is_folded limit 2000) new) < 2000 then return; end if;
      if not pg_try_advisory_xact_lock(hashtextextended('campaign-flow/' || workspace, 0)) then return; end if;
      with changed as (
        select distinct campaign_id from campaign_flow_counts where organization_id = workspace and not is_folded
      ), taken as (
        delete from campaign_flow_counts c using changed d where c.organization_id = workspace and c.campaign_id = d.campaign_id returning c.*
      )
      insert into campaign_flow_counts (organization_id, campaign_id, step_id, state, from_step_id, leads, is_folded)
      select organization_id, campaign_id, step_id, state, from_step_id, sum(leads), true from taken
      group by 1, 2, 3, 4, 5 having sum(leads) <> 0;
    end $$;

    -- Many leads come and go in one statement. Rows of a workspace that is being deleted count for nothing: its own row is gone already.
    create function heron_count_leads_at_steps() returns trigger language plpgsql as $$
    declare sign integer := case tg_op when 'INSERT' then 1 else -1 end;
    begin
      insert into campaign_flow_counts (organization_id, campaign_id, step_id, state, leads)
      select l.organization_id, l.campaign_id, l.current_step_id, l.state, sign * count(*)::int from changed l
      where exists (select from organizations g where g.id = l.organization_id) group by 1, 2, 3, 4;
      perform heron_fold_campaign_flow((select organization_id from changed limit 1));
      return null;
    end $$;
    create trigger enrollments_flow_added after insert on enrollments referencing new table as changed
      for each statement execute function heron_count_leads_at_steps();
    create trigger enrollments_flow_removed after delete on enrollments referencing old table as changed
      for each statement execute function heron_count_leads_at_steps();

    -- One lead moves at a time, and most of its updates do not move it.
    create function heron_move_lead_at_step() returns trigger language plpgsql as $$
    begin
      insert into campaign_flow_counts (organization_id, campaign_id, step_id, state, leads)
      values (old.organization_id, old.campaign_id, old.current_step_id, old.state, -1),
        (new.organization_id, new.campaign_id, new.current_step_id, new.state, 1);
      perform heron_fold_campaign_flow(new.organization_id);
      return null;
    end $$;
    create trigger enrollments_flow_moved after update of current_step_id, state on enrollments for each row
      when ((old.current_step_id, old.state) is distinct from (new.current_step_id, new.state)) execute function heron_move_lead_at_step();

    create function heron_count_entered_steps() returns trigger language plpgsql as $$
    begin
      insert into campaign_flow_counts (organization_id, campaign_id, step_id, from_step_id, leads)
      select r.organization_id, r.campaign_id, r.step_id, b.step_id, count(*)::int
      from added r left join step_runs b on b.enrollment_id = r.enrollment_id and b.seq = r.seq - 1 group by 1, 2, 3, 4;
      return null;
    end $$;
    create trigger step_runs_flow_added after insert on step_runs referencing new table as added
      for each statement execute function heron_count_entered_steps();

    -- The steps of a lead go together, so the one before is among those that went.
    create function heron_discount_entered_steps() returns trigger language plpgsql as $$
    begin
      insert into campaign_flow_counts (organization_id, campaign_id, step_id, from_step_id, leads)
      select r.organization_id, r.campaign_id, r.step_id, b.step_id, -count(*)::int
      from removed r left join removed b on b.enrollment_id = r.enrollment_id and b.seq = r.seq - 1
      where exists (select from organizations g where g.id = r.organization_id) group by 1, 2, 3, 4;
      return null;
    end $$;
    create trigger step_runs_flow_removed after delete on step_runs referencing old table as removed
      for each statement execute function heron_discount_entered_steps();

    insert into campaign_flow_counts (organization_id, campaign_id, step_id, state, leads, is_folded)
    select organization_id, campaign_id, current_step_id, state, count(*), true from enrollments group by 1, 2, 3, 4;
    insert into campaign_flow_counts (organization_id, campaign_id, step_id, from_step_id, leads, is_folded)
    select organization_id, campaign_id, step_id, from_step_id, count(*), true from (
      select organization_id, campaign_id, step_id, case when seq > 1 then lag(step_id) over (partition by enrollment_id order by seq) end as from_step_id
      from step_runs
    ) entered group by 1, 2, 3, 4;
  `);
}
