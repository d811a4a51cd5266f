import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { effectiveSettings } from '../campaign/outreach-settings.ts';
import { buildFooter } from '../../mail/messages/footer.ts';
import { renderField, spintaxSeed, type MessageField } from '../../mail/messages/render-source.ts';
import { htmlToText } from '../../mail/messages/to-text.ts';
import { mergeValues, type MessageContact } from '../../mail/messages/values.ts';
import type { Tx } from '../../platform/kernel/transact.ts';

/** Maximum number of emails of a conversation to render again, newest first. */
const MAX_EMAILS = 10;

interface SentEmail {
  id: string;
  subject: string | null;
  body_plain: string | null;
  body_html: string | null;
  app_values: Record<string, unknown> | null;
  contact: MessageContact | null;
  signature_html: string | null;
  signature_plain: string | null;
}

/** SQL: the columns from which the text of an email is rendered. `s` is its row in `sends`. */
const PARTS = `s.id, coalesce(nullif(v.subject, ''), st.subject) as subject,
       case when v.id is null then st.body_plain else v.body_plain end as body_plain,
       case when v.id is null then st.body_html else v.body_html end as body_html,
       e.app_values, to_jsonb(ct) as contact, m.signature_html, m.signature_plain`;
const SOURCES = `left join enrollments e on e.id = s.enrollment_id
     left join campaign_steps st on st.id = s.step_id
     left join campaign_variants v on v.id = s.variant_id
     left join contacts ct on ct.id = s.contact_id
     left join mailboxes m on m.id = s.mailbox_id`;

/**
 * Returns the text of campaign emails by id, for people to read: body and signature. The text is rendered again from
 * the current step, contact and variant. The opt-out line is omitted, and an email whose step is deleted has no text.
 */
export async function readSentBodies(org: OrgScope, sendIds: readonly string[]): Promise<Map<string, string>> {
  if (sendIds.length === 0) return new Map();
  const emails = await org.sql<SentEmail>(
    `select ${PARTS} from sends s ${SOURCES} where s.organization_id = :org and s.id = any(cast(:ids as uuid[]))`,
    { ids: [...sendIds] },
  );
  return new Map(
    emails.map((email) => {
      const [, plain, html, signature, htmlSignature] = textsOf(email);
      return [email.id, [plain || html, signature || htmlSignature].filter((part) => part).join('\n\n')];
    }),
  );
}

/**
 * Returns the texts we sent in an email's conversation: subject, body, signature and footer. Texts are not stored but
 * rendered again from step, contact and chosen variant. A part that was edited since is missing here, and the reply is
 * classified without it.
 */
export async function sentTexts(tx: Tx, send: { id: string; campaign_id: string | null }): Promise<string[]> {
  const emails = await tx.org.sql<SentEmail>(
    `select ${PARTS}
     from sends t join sends s on s.organization_id = t.organization_id and (s.id = t.id or s.enrollment_id = t.enrollment_id) ${SOURCES}
     where t.organization_id = :org and t.id = :send and s.state in ('sending', 'sent', 'uncertain', 'bounced')
     order by s.sent_at desc nulls first limit ${MAX_EMAILS}`,
    { send: send.id },
  );
  const direct = await tx.org.sql<Columns<'direct_sends', 'subject' | 'body_plain'>>(
    `select subject, body_plain from direct_sends
     where organization_id = :org and (id = :send or about_send_id = :send) and state in ('queued', 'sent', 'uncertain', 'bounced')
     order by id desc limit ${MAX_EMAILS}`,
    { send: send.id },
  );
  const { unsubscribe } = await effectiveSettings(tx.org, send.campaign_id);
  // The link is excluded from every comparison; only the words around it are compared.
  const footer = buildFooter(unsubscribe, 'https://unsubscribe.invalid/').text;
  const written = direct.flatMap(({ subject, body_plain: body }) => [subject, body]);
  return [footer, ...emails.flatMap(textsOf), ...written].filter((text) => text !== '');
}

function textsOf({ id, subject, body_plain, body_html, app_values, contact, ...signature }: SentEmail): string[] {
  const values = mergeValues(contact ?? { email: '' }, app_values ?? {});
  const rendered = (field: MessageField, source: string | null): string =>
    source ? renderField(field, source, values, spintaxSeed(id, field)).text : '';
  const html = rendered('body_html', body_html);
  return [
    rendered('subject', subject),
    rendered('body_plain', body_plain),
    html === '' ? '' : htmlToText(html),
    signature.signature_plain ?? '',
    signature.signature_html ? htmlToText(signature.signature_html) : '',
  ];
}
