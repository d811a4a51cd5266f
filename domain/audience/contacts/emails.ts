import type { Columns } from '../../../db/rows.ts';
import { badRequest } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import { assertContact } from '../../crm/activities.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';

/** An email to a contact that was sent or attempted, with the names of its mailbox, campaign and step. */
export interface ContactEmail extends Columns<
  'sends',
  | 'id'
  | 'state'
  | 'subject'
  | 'campaign_id'
  | 'step_id'
  | 'opened_at'
  | 'clicked_at'
  | 'replied_at'
  | 'bounced_at'
  | 'created_at'
> {
  mailbox_id: string | null;
  message_id: string | null;
  sent_at: Date | null;
  mailbox_email: string | null;
  mailbox_name: string | null;
  campaign_name: string | null;
  step_name: string | null;
}

/** Position at which a page starts: after the email with this time and id. */
interface Before {
  at?: Date | undefined;
  id?: string | undefined;
}

/**
 * Lists the emails to a contact that were sent or attempted, newest first. A key restricted to mailboxes sees only
 * emails of these mailboxes.
 * @throws AppError not_found; bad_request for a position with only a time or only an id
 */
export async function listContactEmails(
  ctx: Ctx,
  contactId: string,
  { limit, before }: { limit: number; before: Before },
): Promise<{ rows: ContactEmail[]; hasMore: boolean }> {
  const org = reader(ctx);
  await assertContact(org, contactId);
  if ((before.at === undefined) !== (before.id === undefined)) {
    const path = before.at === undefined ? 'query.before_at' : 'query.before_id';
    throw badRequest(message('audience.before_together'), [{ path, message: message('field.required') }]);
  }
  const rows = await org.sql<ContactEmail>(
    `select s.id, s.state, s.subject, s.message_id, s.mailbox_id, s.campaign_id, s.step_id, s.sent_at, s.opened_at, s.clicked_at,
       s.replied_at, s.bounced_at, s.created_at, m.email as mailbox_email, m.name as mailbox_name, c.name as campaign_name, t.name as step_name
     from sends s left join mailboxes m on m.id = s.mailbox_id left join campaigns c on c.id = s.campaign_id
       left join campaign_steps t on t.id = s.step_id
     where s.organization_id = :org and s.contact_id = :contact and s.state in ('sent', 'uncertain', 'bounced', 'failed')
       and (cast(:mailboxes as uuid[]) is null or s.mailbox_id = any(cast(:mailboxes as uuid[])))
       ${before.id === undefined ? '' : "and (date_trunc('milliseconds', s.created_at), s.id) < (cast(:at as timestamptz), cast(:id as uuid))"}
     order by date_trunc('milliseconds', s.created_at) desc, s.id desc limit :limit` as `${string}:org${string}`,
    {
      contact: contactId,
      mailboxes: ctx.actor.allowedMailboxes,
      limit: limit + 1,
      ...(before.id === undefined ? {} : { at: before.at, id: before.id }),
    },
  );
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}
