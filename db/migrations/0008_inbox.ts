import type { Knex } from 'knex';

/** What reading conversations looks for: one kind of message, the mail of one mailbox, parts of senders and subjects. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index inbound_messages_kind on inbound_messages (organization_id, kind, id desc);
    create index inbound_messages_mailbox on inbound_messages (mailbox_id, id desc);
    create index inbound_messages_search on inbound_messages using gin ((from_email || ' ' || from_name) gin_trgm_ops, subject gin_trgm_ops);
  `);
}
