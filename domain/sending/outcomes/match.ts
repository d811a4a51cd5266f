import type { OrgScope } from '../../../db/tenancy.ts';
import { DAY_MS, MINUTE_MS } from '../../../lib/clock.ts';
import { storableText } from '../../platform/storable-text.ts';

/** A sent email that an incoming message refers to. */
export interface MatchedSend {
  id: string;
  message_id: string;
  campaign_id: string | null;
  contact_id: string | null;
  recipient: string;
  /** To, Cc and Bcc addresses of a direct send; the recipient of a campaign email. */
  recipients: string[];
  /** Id of the campaign email to which the conversation of a direct send belongs. */
  about_id: string | null;
  /** Message-ID of the first email in the conversation. */
  root: string | null;
  /** Subject with which the email was sent. */
  subject: string;
  /** Value of the contact's `timezone` field, as a person entered it. */
  timezone: string | null;
}

const COLUMNS = `s.id, s.message_id, s.campaign_id, s.contact_id, s.recipient, d.about_send_id as about_id,
  coalesce(d.to_emails || d.cc_emails || d.bcc_emails, array[s.recipient]) as recipients, s.conversation -> 'messageIds' ->> 0 as root, s.subject, c.custom_fields ->> 'timezone' as timezone`;
/** Time (ms) after an email during which a message from its recipient is taken as a reply to it. */
const ANSWERED_WITHIN_MS = 60 * DAY_MS;
/** Time (ms) after an email during which a report without our Message-ID is matched by the reported address. */
const REPORTED_WITHIN_MS = 7 * DAY_MS;

/**
 * Returns the email of the first matching candidate (candidates are sorted, best first), or undefined. A candidate is
 * our Message-ID, or the id that a relay replaced it with. Searches this organization only.
 */
export async function matchSend(org: OrgScope, threadIds: readonly string[]): Promise<MatchedSend | undefined> {
  if (threadIds.length === 0) return undefined;
  const [send] = await org.sql<MatchedSend>(
    `select ${COLUMNS}
     from unnest(cast(:ids as text[])) with ordinality as t(id, place)
     join lateral (
       select * from sends where organization_id = :org and message_id = t.id
       union all
       select * from sends where organization_id = :org and assigned_id = t.id
     ) s on true
     left join direct_sends d on d.id = s.id
     left join contacts c on c.id = s.contact_id
     order by t.place limit 1`,
    { ids: threadIds },
  );
  return send;
}

/**
 * Returns the campaign email for which a reply to a direct send is counted, or the direct send itself if there is none.
 */
export async function matchAnswered(org: OrgScope, send: MatchedSend): Promise<MatchedSend> {
  if (send.about_id === null) return send;
  const [about] = await org.sql<MatchedSend>(
    `select ${COLUMNS} from sends s left join direct_sends d on d.id = s.id left join contacts c on c.id = s.contact_id
     where s.organization_id = :org and s.id = :id and s.message_id is not null`,
    { id: send.about_id },
  );
  return about ?? send;
}

/** A received message without the Message-ID of one of our emails. It is matched by an address in the message. */
interface Unnamed {
  addresses: readonly string[];
  mailboxId: string;
  receivedAt: Date;
}

/**
 * Returns the latest email to a message's authors, sent from the same mailbox in the sixty days before. Used for
 * replies without our Message-ID, which some mail programs and relays produce.
 */
export function matchBySender(org: OrgScope, message: Unnamed): Promise<MatchedSend | undefined> {
  return matchByAddress(org, message, ANSWERED_WITHIN_MS);
}

/**
 * Variant of {@link matchBySender} for a report without our Message-ID: matches the recipients that it names, within a
 * week.
 */
export function matchByReport(org: OrgScope, report: Unnamed): Promise<MatchedSend | undefined> {
  return matchByAddress(org, report, REPORTED_WITHIN_MS);
}

async function matchByAddress(
  org: OrgScope,
  { addresses, mailboxId, receivedAt }: Unnamed,
  withinMs: number,
): Promise<MatchedSend | undefined> {
  if (addresses.length === 0) return undefined;
  const [send] = await org.sql<MatchedSend>(
    `select ${COLUMNS}
     from contacts c join sends s on s.contact_id = c.id left join direct_sends d on d.id = s.id
     where c.organization_id = :org and c.email = any(cast(:addresses as text[])) and s.organization_id = :org and s.mailbox_id = :mailbox
       and s.recipient = c.email and s.state in ('sending', 'sent', 'uncertain', 'bounced')
       and coalesce(s.sent_at, s.claimed_at) between :since and :until
     order by coalesce(s.sent_at, s.claimed_at) desc limit 1`,
    {
      addresses: addresses.map((address) => storableText(address, 320)),
      mailbox: mailboxId,
      since: new Date(receivedAt.getTime() - withinMs),
      // One minute of tolerance, because clocks differ.
      until: new Date(receivedAt.getTime() + MINUTE_MS),
    },
  );
  return send;
}

/**
 * Returns true if the workspace itself wrote the message: a campaign email delivered to one of our mailboxes, or a
 * colleague's message. Mail from a lead whose address is one of our mailboxes is not own mail.
 */
export async function isOwnMail(
  org: OrgScope,
  message: { messageId: string | null; from: string | null },
  recipient: string | undefined,
): Promise<boolean> {
  const [row] = await org.sql<{ own: boolean }>(
    `select exists (select 1 from sends where organization_id = :org and message_id = :messageId)
       or (cast(:from as text) is distinct from cast(:recipient as text) and exists (select 1 from mailboxes where organization_id = :org and email = :from)) as own`,
    { messageId: message.messageId, from: message.from, recipient: recipient ?? null },
  );
  return row!.own;
}
