import type { Columns } from '../../db/rows.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { eraseFiles } from '../platform/erase-files.ts';
import { ADDRESSES, SAMPLE_TO, THEIRS } from './person-rows.ts';
import { message } from '../../messages/index.ts';

/**
 * Erases data about contacts in other tables: texts of their messages and of emails to them, and reports of servers and
 * browsers. Rows that reports count, or that prevent a message from being stored again, are kept without this data.
 * Call it before deleting the contacts, because afterwards nothing links the data to them. Rows that reference a
 * contact are deleted with it. `person-rows.ts` lists these tables.
 *
 * The caller must first cancel unsent emails of people and agents (`cancelUnsent`). An email that a worker is currently
 * sending keeps its text. Sent emails keep the address, because a late bounce, complaint or opt-out must suppress it.
 */
export async function eraseTraces(tx: Tx, contactIds: readonly string[]): Promise<void> {
  const bindings = { contacts: [...contactIds] };
  await eraseFiles(tx, contactIds);
  await tx.org.sql(
    `update crm_tasks set status = 'completed', completed_at = :now, updated_at = :now
     where organization_id = :org and ${THEIRS} and source like 'erasure/%' and status in ('pending', 'in_progress')`,
    { ...bindings, now: tx.now },
  );
  await eraseSent(tx, bindings);
  await eraseReceived(tx, bindings);
  for (const statement of STATEMENTS) await tx.org.sql(statement, bindings);
}

/** Empties the messages that the contacts wrote. Emits inbox.email_deleted for each. */
async function eraseReceived(tx: Tx, bindings: { contacts: string[] }): Promise<void> {
  const emptied = await tx.org.sql<Columns<'inbound_messages', 'id' | 'mailbox_id'>>(
    `with theirs as materialized (
       select id from inbound_messages where organization_id = :org and ${THEIRS}
     ), words as (
       delete from message_words w using theirs t where w.organization_id = :org and w.message_id = t.id
     )
     update inbound_messages m set from_email = '', from_name = '', to_emails = '{}', cc_emails = '{}', reply_to_emails = '{}', subject = '', body_plain = '', words = null, error = null, answer = null,
       seen = true, filed = 'trash'
     from theirs where m.organization_id = :org and m.id = theirs.id returning m.id, m.mailbox_id`,
    bindings,
  );
  for (const { id, mailbox_id: mailboxId } of emptied)
    tx.emit('inbox.email_deleted', { email_id: id, email_account_id: mailboxId });
}

/** Erases the contents of emails to the contacts, and the shared copies that no other content uses. */
async function eraseSent(tx: Tx, bindings: { contacts: string[] }): Promise<void> {
  // Skips copies that another transaction has locked, because it uses them for another email.
  const copies = await tx.org.sql<{ name: string }>(
    `with sent as materialized (
       select id from sends where organization_id = :org and ${THEIRS} order by id for update
     ), contents as (
       delete from sent_contents e using sent s where e.organization_id = :org and e.send_id = s.id returning e.copy_name
     ), letters as (
       delete from dead_letters d using sent s where d.organization_id = :org and d.task_id = s.id
     ), emptied as (
       update sends s set subject = '', smtp_response = null, error_detail = null,
         conversation = case when s.conversation is null then null else jsonb_set(s.conversation, '{subject}', '""') end
       from sent where s.organization_id = :org and s.id = sent.id
     )
     select name from sent_copies where organization_id = :org and name in (select copy_name from contents) for update skip locked`,
    bindings,
  );
  if (copies.length > 0)
    await tx.org.sql(
      `delete from sent_copies c where organization_id = :org and name = any(cast(:names as text[]))
         and not exists (select from sent_contents e where e.organization_id = :org and e.copy_name = c.name)`,
      { names: copies.map(({ name }) => name) },
    );
}

/** Title that replaces the title of an approval whose email and recipients were erased. */
const ERASED = message('approval.erased_email');

const STATEMENTS = [
  `update direct_sends set to_emails = '{}', cc_emails = '{}', bcc_emails = '{}', subject = '', body_plain = '', body_html = null, error_detail = null
   where organization_id = :org and ${THEIRS} and finished_at is not null`,
  // Keeps the decision about the approval, but removes the email and its recipients.
  `update approvals a set payload = (a.payload #- '{recipients,addresses}') || jsonb_build_object('title', jsonb_build_object('code', '${ERASED.code}', 'values', '{}'::jsonb), 'steps', '[]'::jsonb,
       'samples', '[]'::jsonb, 'details', '{}'::jsonb)
   from direct_sends d where d.organization_id = :org and a.organization_id = :org and a.subject_type = 'direct_send' and a.subject_id = d.id and d.${THEIRS}`,
  `update approvals t set payload = jsonb_set(t.payload, '{samples}', coalesce((
       select jsonb_agg(s) from jsonb_array_elements(t.payload -> 'samples') s where not (${SAMPLE_TO})), '[]'))
   where t.organization_id = :org and jsonb_typeof(t.payload -> 'samples') = 'array'
     and exists (select from jsonb_array_elements(t.payload -> 'samples') s where ${SAMPLE_TO})`,
  `update crm_deals set name = 'Deleted contact', lost_reason = null where organization_id = :org and ${THEIRS}`,
  `update crm_tasks set title = 'Deleted contact', description = null where organization_id = :org and ${THEIRS}`,
  `with theirs as (
     delete from email_drafts where organization_id = :org and to_emails && array(${ADDRESSES}) returning attachments
   )
   delete from blobs b using (select (file ->> 'blob_id')::uuid as id from theirs, jsonb_array_elements(attachments) file) f
   where b.organization_id = :org and b.id = f.id`,
  `update engagement_events set contact_id = null, user_agent = '', detail = coalesce(
     (select jsonb_object_agg(key, value) from jsonb_each(detail) where key in ('intent', 'bounce_type')), '{}')
   where organization_id = :org and ${THEIRS}`,
  `update deliverability_events set contact_id = null, recipient_email = '', reason = '', metadata = '{}'
   where organization_id = :org and (${THEIRS} or recipient_email in (${ADDRESSES}))`,
  // Keeps the address suppressed, but deletes the text of the mail server about it.
  `update suppressions set reason = null, metadata = '{}'
   where organization_id = :org and kind = 'email' and source in ('bounce', 'complaint', 'unsubscribe') and email in (${ADDRESSES})`,
  `update automation_runs set data = '{}' where organization_id = :org and ${THEIRS}`,
  `delete from contact_import_problems where organization_id = :org and email in (${ADDRESSES})`,
] as const;
