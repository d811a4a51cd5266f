/** SQL condition on rows that belong to the contacts `:contacts`. */
export const THEIRS = 'contact_id = any(cast(:contacts as uuid[]))';
/** SQL for the addresses of the contacts `:contacts`, including former ones. */
export const ADDRESSES = `select email from contacts where organization_id = :org and id = any(cast(:contacts as uuid[]))
  union select i.value from people p join person_identifiers i on i.person_id = p.id and i.kind = 'email'
    where p.organization_id = :org and p.${THEIRS}`;

/** SQL condition on a sample email `s` of an approval: one of {@link ADDRESSES} is among its recipients. */
export const SAMPLE_TO = `(string_to_array(lower(s ->> 'to'), ', ')
  || array(select lower(jsonb_array_elements_text(s -> 'cc')))) && array(${ADDRESSES})`;

const PERSONS = `select p.id from people p where p.organization_id = :org and p.${THEIRS}`;
const ENROLLMENTS = `select e.id from enrollments e where e.organization_id = :org and e.${THEIRS}`;
const SENDS = `select s.id from sends s where s.organization_id = :org and s.${THEIRS}`;
const DIRECT_SENDS = `select d.id from direct_sends d where d.organization_id = :org and d.${THEIRS}`;
const MESSAGES = `select m.id from inbound_messages m where m.organization_id = :org and m.${THEIRS}`;
const DEALS = `select d.id from crm_deals d where d.organization_id = :org and d.${THEIRS}`;

/** Rows of one table with data about a contact. */
interface PersonRows {
  /** Name of the part in a person's file. */
  part: string;
  table: string;
  /** SQL condition on the table's rows `t`. */
  where: string;
  /** SQL of further columns, such as the names of rows that are referenced by id. */
  more?: string;
  /** Columns that are left out, because they are internal or are about members or other people. */
  omit?: readonly string[];
}

const name = (table: string, id: string, as: string, column = 'name') =>
  `(select x.${column} from ${table} x where x.organization_id = :org and x.id = t.${id}) as ${as}`;
const campaign = name('campaigns', 'campaign_id', 'campaign_name');

/**
 * Tables with data about contacts, in the order of the data export for a person (`contacts.downloadData`). Deleting a contact
 * deletes or empties the same rows, by {@link eraseTraces} or a foreign key; `test/suites/erasure.test.ts` checks this.
 */
export const PERSON_ROWS: readonly PersonRows[] = [
  { part: 'contact', table: 'contacts', where: 't.id = any(cast(:contacts as uuid[]))' },
  {
    part: 'categories',
    table: 'contact_categories',
    where: `t.${THEIRS}`,
    more: name('labels', 'label_id', 'title', 'title'),
  },
  { part: 'notes', table: 'contact_notes', where: `t.${THEIRS}` },
  { part: 'verifications', table: 'contact_verifications', where: `t.${THEIRS}` },
  { part: 'outreach', table: 'contact_outreach', where: `t.${THEIRS}` },
  { part: 'bulk_edits', table: 'bulk_edit_contacts', where: `t.${THEIRS}` },
  { part: 'import_problems', table: 'contact_import_problems', where: `t.email in (${ADDRESSES})` },
  {
    part: 'suppressions',
    table: 'suppressions',
    where: `(t.kind = 'email' and t.email in (${ADDRESSES})
      or t.kind = 'domain' and t.email in (select split_part(a.email, '@', 2) from (${ADDRESSES}) a))`,
  },
  { part: 'opt_out_questions', table: 'opt_out_questions', where: `t.email in (${ADDRESSES})` },

  { part: 'people', table: 'people', where: `t.${THEIRS}` },
  { part: 'identifiers', table: 'person_identifiers', where: `t.person_id in (${PERSONS})` },
  {
    part: 'identity_conflicts',
    table: 'identity_conflicts',
    where: `(t.person_id in (${PERSONS}) or t.other_person_id in (${PERSONS}))`,
  },
  { part: 'product_events', table: 'product_events', where: `(t.${THEIRS} or t.person_id in (${PERSONS}))` },
  {
    part: 'conversions',
    table: 'conversions',
    where: `t.person_id in (${PERSONS})`,
    more: name('goals', 'goal_id', 'goal_name'),
  },
  {
    part: 'acquisition',
    table: 'acquisition_facts',
    where: `(t.${THEIRS} or t.person_id in (${PERSONS}))`,
    omit: ['colleague_send_id', 'colleague_sent_at', 'colleague_id'],
  },
  { part: 'attribution_corrections', table: 'attribution_corrections', where: `t.person_id in (${PERSONS})` },

  { part: 'campaigns', table: 'enrollments', where: `t.${THEIRS}`, more: campaign },
  { part: 'campaign_facts', table: 'prospect_facts', where: `t.${THEIRS}`, more: campaign },
  {
    part: 'campaign_steps',
    table: 'step_runs',
    where: `t.enrollment_id in (${ENROLLMENTS})`,
    more: name('campaign_steps', 'step_id', 'step_name'),
  },
  { part: 'campaign_waits', table: 'waits', where: `t.enrollment_id in (${ENROLLMENTS})` },
  { part: 'test_runs', table: 'test_runs', where: `t.${THEIRS}`, more: campaign },
  { part: 'test_run_steps', table: 'test_run_steps', where: `t.${THEIRS}` },
  { part: 'emails', table: 'sends', where: `t.${THEIRS}`, more: campaign, omit: ['claim_token', 'handover'] },
  { part: 'email_facts', table: 'send_facts', where: `t.${THEIRS}` },
  { part: 'written_emails', table: 'direct_sends', where: `t.${THEIRS}` },
  {
    part: 'drafts',
    table: 'email_drafts',
    where: `t.to_emails && array(${ADDRESSES})`,
  },
  { part: 'links', table: 'tracked_links', where: `t.send_id in (${SENDS})` },
  { part: 'opens_and_clicks', table: 'engagement_events', where: `t.${THEIRS}` },
  {
    part: 'deliverability',
    table: 'deliverability_events',
    where: `(t.${THEIRS} or t.recipient_email in (${ADDRESSES}))`,
    omit: ['idempotency_key'],
  },
  { part: 'failed_work', table: 'dead_letters', where: `t.task_id in (${SENDS})` },
  {
    part: 'approvals',
    table: 'approvals',
    where: `(t.subject_type = 'direct_send' and t.subject_id in (${DIRECT_SENDS})
      or jsonb_typeof(t.payload -> 'samples') = 'array'
        and exists (select from jsonb_array_elements(t.payload -> 'samples') s where ${SAMPLE_TO}))`,
    // Includes only the samples to this person, because the samples of a campaign's approval are emails to several
    // people.
    more: `case when t.subject_type = 'direct_send' then t.payload else jsonb_build_object('samples', (
        select jsonb_agg(s) from jsonb_array_elements(t.payload -> 'samples') s where ${SAMPLE_TO})) end as content`,
    omit: ['payload', 'payload_hash', 'binding', 'preflight'],
  },
  {
    part: 'replies',
    table: 'inbound_messages',
    where: `t.${THEIRS}`,
    more: campaign,
    omit: ['words', 'uid', 'uid_validity', 'tries', 'retry_at'],
  },
  { part: 'reply_files', table: 'inbound_attachments', where: `t.message_id in (${MESSAGES})`, omit: ['blob_id'] },

  { part: 'deals', table: 'crm_deals', where: `t.${THEIRS}`, more: name('crm_stages', 'stage_id', 'stage_name') },
  { part: 'tasks', table: 'crm_tasks', where: `(t.${THEIRS} or t.deal_id in (${DEALS}))` },
  { part: 'activities', table: 'crm_activities', where: `t.${THEIRS}` },
  { part: 'meetings', table: 'meetings', where: `(t.${THEIRS} or t.invitee_email in (${ADDRESSES}))` },

  {
    part: 'crm_links',
    table: 'integration_records',
    where: `t.${THEIRS}`,
    more: name('integration_connections', 'connection_id', 'provider', 'provider'),
    omit: ['lease', 'leased_until'],
  },
  { part: 'crm_deliveries', table: 'integration_deliveries', where: `t.${THEIRS}`, omit: ['config'] },
  {
    part: 'automation_runs',
    table: 'automation_runs',
    where: `t.${THEIRS}`,
    more: name('automations', 'automation_id', 'automation_name'),
    omit: ['graph', 'rights'],
  },
  {
    part: 'audit',
    table: 'audit_logs',
    where: 't.entity_id = any(cast(:contacts as uuid[]))',
    omit: ['ip_address', 'user_agent'],
  },
];
