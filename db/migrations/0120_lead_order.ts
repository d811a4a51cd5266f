import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    campaigns: 'AccessExclusiveLock',
    contacts: 'ShareRowExclusiveLock',
    enrollments: 'AccessExclusiveLock',
  },
  secondsAtMillionRows: 1,
};

/**
 * Leads of a campaign that orders them by a field of the contact keep what they are ordered by, so that the next of them are the end of an index and not
 * the result of sorting all who wait. Leads have it from their entry on; a trigger changes it when the contact is edited, and the launcher gives it to all leads
 * of a campaign whose order is changed (`campaigns.leads_ordered_from`).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table enrollments add column order_key text;
    -- Leads from this id on have their key: the launcher goes through them from the last to the first. Null: it has not begun; the lowest id: all have it.
    alter table campaigns add column leads_ordered_from uuid;
    create index enrollments_ordered on enrollments (campaign_id, order_key, entered_at, id)
      where state = 'pending' and launch_after = 'epoch' and order_key is not null;

    -- What a campaign orders its leads by, of one contact; empty where the contact has nothing there, null where the campaign orders by something else. An
    -- index entry has room for so many characters.
    create function heron_lead_order(order_by text, field text, contact contacts) returns text language sql immutable as $$
      select left(coalesce(case order_by
        when 'email' then contact.email when 'first_name' then contact.first_name when 'last_name' then contact.last_name when 'company' then contact.company
        when 'custom_field' then contact.custom_fields ->> field end, ''), 300)
      where order_by in ('email', 'first_name', 'last_name', 'company') or (order_by = 'custom_field' and field <> '')
    $$;

    -- A lead whose row somebody else holds is being launched, moved or removed; an edit of the contact does not wait for that, and its old place will do.
    create function heron_reorder_leads() returns trigger language plpgsql as $$
    begin
      update enrollments e set order_key = heron_lead_order(k.contact_order_by, k.contact_order_field, new)
      from campaigns k
      where k.id = e.campaign_id and e.id = any(array(
        select id from enrollments where contact_id = new.id and state = 'pending' and order_key is not null for update skip locked));
      return null;
    end $$;
    create trigger contacts_lead_order after update of email, first_name, last_name, company, custom_fields on contacts
      for each row when ((old.email, old.first_name, old.last_name, old.company, old.custom_fields)
        is distinct from (new.email, new.first_name, new.last_name, new.company, new.custom_fields))
      execute function heron_reorder_leads();

    create function heron_forget_lead_order() returns trigger language plpgsql as $$
    begin
      new.leads_ordered_from := null;
      return new;
    end $$;
    create trigger campaigns_lead_order before update of contact_order_by, contact_order_field on campaigns
      for each row when ((old.contact_order_by, old.contact_order_field) is distinct from (new.contact_order_by, new.contact_order_field))
      execute function heron_forget_lead_order();
  `);
}
