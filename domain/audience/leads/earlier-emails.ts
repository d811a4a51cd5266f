import type { Tx } from '../../platform/kernel/transact.ts';
import { POSSIBLY_SENT } from '../../sending/enrollment/snapshot.ts';

/** Maximum number of earlier emails read per lead. It is higher than the number of steps of any campaign. */
const MOST_EMAILS = 200;

/**
 * Assigns to newly added leads the emails that their contacts received in this campaign before they were removed.
 * Therefore steps already sent are skipped, and the next email continues the conversation from the same mailbox. A
 * reply to an earlier email also ends the new enrollment. A bounced email is assigned only if the contact still has
 * that address. A request to resend an email with unknown outcome is not restored, because the removal ended the
 * request.
 */
export async function adoptEarlierEmails(tx: Tx, campaignId: string, enrollmentIds: readonly string[]): Promise<void> {
  // Returns early if the campaign has not sent any email, which is true for most added leads.
  const [sent] = await tx.org.sql(
    'select 1 from sends where organization_id = :org and campaign_id = :campaign limit 1',
    {
      campaign: campaignId,
    },
  );
  if (!sent) return;
  await tx.org.sql(
    `with earlier as materialized (
       -- Counts a step once, even if several leads of the contact were sent it.
       select distinct on (e.id, s.step_id) e.id as enrollment_id, s.id, s.state, s.mailbox_id, s.conversation, s.sent_at
       from enrollments e join contacts c on c.id = e.contact_id
       cross join lateral (
         select id, step_id, state, mailbox_id, conversation, sent_at from sends where contact_id = e.contact_id and organization_id = :org and campaign_id = :campaign and enrollment_id is null
           and state = any(cast(:left as text[])) and (state <> 'bounced' or recipient = c.email)
         order by id desc limit ${MOST_EMAILS}) s
       where e.organization_id = :org and e.campaign_id = :campaign and e.id = any(cast(:ids as uuid[]))
       order by e.id, s.step_id, s.id desc
     ), taken as (
       update sends s set enrollment_id = earlier.enrollment_id, again = false, updated_at = :now from earlier where s.id = earlier.id
     ), latest as (
       select distinct on (enrollment_id) enrollment_id, mailbox_id, case when state = 'sent' then conversation end as conversation
       from earlier order by enrollment_id, state = 'sent' desc, sent_at desc nulls last, id desc
     )
     update enrollments e set mailbox_id = latest.mailbox_id, conversation = coalesce(latest.conversation, e.conversation)
     from latest where e.organization_id = :org and e.id = latest.enrollment_id`,
    { campaign: campaignId, ids: [...enrollmentIds], left: [...POSSIBLY_SENT], now: tx.now },
  );
}
