/** States of an email that has left, as far as is known; a list for SQL. */
export const LEFT_STATES = `('sent', 'uncertain', 'bounced')`;

/** SQL: ids of our emails in the conversation `:thread`, those of campaigns and those a person or an agent wrote. */
export const OUR_EMAILS = `
  select id from sends where organization_id = :org and message_id = :thread
  union
  select s.id from sends r join sends s on s.enrollment_id = r.enrollment_id
  where r.organization_id = :org and r.message_id = :thread and s.organization_id = :org and s.conversation -> 'messageIds' ->> 0 = :thread
  union
  select send_id from inbound_messages where organization_id = :org and thread_id = :thread and send_id is not null
  union
  select id from direct_sends where organization_id = :org and thread_id = :thread`;

/** SQL: a further condition on the table `alias`, that its mailbox is one of `:mailboxes`; none where all may be read. */
export function inMailboxes(alias: string, mailboxes: readonly string[] | null): string {
  return mailboxes ? `and ${alias}.mailbox_id = any(cast(:mailboxes as uuid[]))` : '';
}
