import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { payments: 'AccessExclusiveLock' },
  secondsAtMillionRows: 2,
};

/**
 * Every month that an order is paid for is a payment of its own, which can be given back by itself. The index of open payments is built anew
 * under a lock: about a second per million payments.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table payments
      drop constraint payments_subject_check,
      -- order_month: a later month of an order, which the provider has charged by itself.
      add constraint payments_subject_check check (subject in ('order', 'renewal', 'order_month')),
      -- Until when what was paid is delivered; null: a month from the payment on, or as long as the renewed registration.
      add column period_end timestamptz,
      -- When the subscription that began with this payment was ended, by us or by the provider.
      add column subscription_ended_at timestamptz;
    drop index payments_subject;
    create unique index payments_subject on payments (subject, subject_id) where state in ('open', 'paid') and subject <> 'order_month';
    -- An invoice is one month, however often the provider says so.
    create unique index payments_month on payments (provider_invoice_id) where subject = 'order_month';
  `);
}
