/** SQL list of the states of an email that was sent, or may have been sent. */
export const SENT_STATES = `('sent', 'uncertain', 'bounced')`;

/**
 * SQL for the ids of sent emails in the conversation `:thread`. Includes emails of campaigns and emails written by
 * people or agents.
 */
export const OUR_EMAILS = `
  select id from sends where organization_id = :org and message_id = :thread
  union
  select s.id from sends r join sends s on s.enrollment_id = r.enrollment_id
  where r.organization_id = :org and r.message_id = :thread and s.organization_id = :org and s.conversation -> 'messageIds' ->> 0 = :thread
  union
  select send_id from inbound_messages where organization_id = :org and thread_id = :thread and send_id is not null
  union
  select id from direct_sends where organization_id = :org and thread_id = :thread`;

/**
 * Returns an SQL condition that the mailbox of table `alias` is one of `:mailboxes`. Empty if all mailboxes may be
 * read.
 */
export function inMailboxes(alias: string, mailboxes: readonly string[] | null): string {
  return mailboxes ? `and ${alias}.mailbox_id = any(cast(:mailboxes as uuid[]))` : '';
}
