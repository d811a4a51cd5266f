import type { Columns } from '../../../db/rows.ts';
import { htmlToText } from '../../mail/messages/to-text.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { readContents } from '../control/sent-content.ts';

/** Maximum number of emails of a conversation to compare with, newest first. */
const MAX_EMAILS = 10;

/**
 * Returns our sent texts of an email's conversation: subjects and bodies with signature and footer. Texts that are no
 * longer stored are missing, and the reply is classified without them.
 */
export async function sentTexts(tx: Tx, sendId: string): Promise<string[]> {
  const contents = await readContents(
    tx.org,
    `any(array(
       select s.id from sends t join sends s on s.organization_id = t.organization_id and (s.id = t.id or s.enrollment_id = t.enrollment_id)
       where t.organization_id = :org and t.id = :send and s.state in ('sending', 'sent', 'uncertain', 'bounced')
       order by s.sent_at desc nulls first limit ${MAX_EMAILS}))`,
    { send: sendId },
  );
  const direct = await tx.org.sql<Columns<'direct_sends', 'subject' | 'body_plain'>>(
    `select subject, body_plain from direct_sends
     where organization_id = :org and (id = :send or about_send_id = :send) and state in ('queued', 'sent', 'uncertain', 'bounced')
     order by id desc limit ${MAX_EMAILS}`,
    { send: sendId },
  );
  const ofCampaign = [...contents.values()].flatMap(({ written }) =>
    written ? [written.subject, written.text, htmlToText(written.html ?? '')] : [],
  );
  const ofPeople = direct.flatMap(({ subject, body_plain: body }) => [subject, body]);
  return [...ofCampaign, ...ofPeople].filter((text) => text !== '');
}
