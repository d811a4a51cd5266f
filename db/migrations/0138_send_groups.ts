import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    organizations: 'ShareRowExclusiveLock',
    contacts: 'ShareRowExclusiveLock',
    prospect_facts: 'AccessExclusiveLock',
    send_facts: 'ShareRowExclusiveLock',
  },
  secondsAtMillionRows: 1,
};

/**
 * Counts of confirmed sends by which distinct prospects of a range are a sum: for each group of a report, by the day of the email and the day on which its
 * contact got the next one of the same group. A contact's last email before the end of a range is the one whose next one comes after it. Workspaces that
 * have emails already are noted in `stale_groups`, and their reports count the emails themselves until `heron facts rebuild` has filled the counts.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The groups of an email, each at its place in next_days: ten that every email has, then its categories. The reports have the same keys
    -- (domain/reporting/acquisition/dimensions.ts).
    create function heron_send_groups(
      campaign_id uuid, step_id uuid, variant_id uuid, offer text, angle text, cta text, mailbox_id uuid, audience_source text, segment_id uuid, category_ids uuid[]
    ) returns table (place bigint, dimension text, key text) language sql immutable parallel safe as $$
      select g.place, g.dimension, g.key from unnest(
        array['all', 'campaign', 'step', 'variant', 'offer', 'angle', 'cta', 'mailbox', 'audience_source', 'segment']
          || array_fill('category'::text, array[greatest(cardinality(category_ids), 1)]),
        array['all', campaign_id::text, step_id::text, variant_id::text, offer, angle, cta, mailbox_id::text, audience_source, segment_id::text]
          || case when category_ids = '{}' then array[null::text] else category_ids::text[] end
      ) with ordinality g(dimension, key, place)
    $$;

    -- One row per confirmed send that is in the counts, with what they say of it.
    create table send_groups (
      send_id uuid primary key references send_facts on delete cascade,
      organization_id uuid not null references organizations on delete cascade,
      sent_at timestamptz not null,
      -- UTC; of each group the day of the contact's next email in it, infinity: none yet, -infinity: the contact is deleted.
      next_days date[] not null
    ) with (fillfactor = 85);
    create index send_groups_organization on send_groups (organization_id, sent_at);

    -- A row that is not folded is a difference, left by a transaction that deleted a contact; the reaction folds it in. The sum over rows of a key is the number.
    create table fact_groups (
      organization_id uuid not null references organizations on delete cascade,
      dimension text not null,
      -- Null: emails without one.
      key text,
      -- UTC.
      day date not null,
      next_day date not null,
      sends integer not null,
      is_folded boolean not null default false
    ) with (fillfactor = 85);
    create unique index fact_groups_folded on fact_groups (organization_id, dimension, day, key, next_day) nulls not distinct where is_folded;
    create index fact_groups_new on fact_groups (organization_id, dimension, day) where not is_folded;

    -- Workspaces whose counts are not complete.
    create table stale_groups (
      organization_id uuid primary key references organizations on delete cascade
    );

    call heron_guard_rows('send_groups');
    call heron_guard_rows('fact_groups');
    call heron_guard_rows('stale_groups');

    insert into stale_groups (organization_id)
    select o.id from organizations o where exists (select from send_facts f where f.organization_id = o.id);

    -- A contact that is deleted is no prospect any more, at once; that it was mailed still counts. It adds differences, so it waits for no reaction.
    create function heron_uncount_prospect() returns trigger language plpgsql as $$
    begin
      if not exists (select from send_facts where contact_id = old.id) or not exists (select from organizations where id = old.organization_id) then
        return old;
      end if;
      insert into fact_groups (organization_id, dimension, key, day, next_day, sends)
      select old.organization_id, g.dimension, g.key, (s.sent_at at time zone 'UTC')::date, v.next_day, sum(v.sends)
      from send_facts f join send_groups s on s.send_id = f.send_id cross join lateral heron_send_groups(f.campaign_id, f.step_id, f.variant_id, f.offer, f.angle, f.cta, f.mailbox_id, f.audience_source, f.segment_id, f.category_ids) g
      cross join lateral (values (s.next_days[g.place], -1), ('-infinity', 1)) v(next_day, sends)
      where f.contact_id = old.id group by 1, 2, 3, 4, 5;
      update send_groups s set next_days = array_fill('-infinity'::date, array[cardinality(s.next_days)])
      from send_facts f where f.contact_id = old.id and s.send_id = f.send_id;
      return old;
    end $$;
    -- Prospects were told by it.
    drop index prospect_facts_last_sent;
    create trigger contacts_uncount_prospect before delete on contacts for each row execute function heron_uncount_prospect();
  `);
}
