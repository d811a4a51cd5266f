import type { OrgScope } from '../../../db/tenancy.ts';
import { DAY_MS, MINUTE_MS } from '../../../lib/clock.ts';
import { storableText } from './storable.ts';

/** The email of ours an incoming message is about. */
export interface MatchedSend {
  id: string;
  message_id: string;
  campaign_id: string | null;
  contact_id: string | null;
  recipient: string;
  /** Everybody it went to. */
  recipients: string[];
  /** The campaign email that the conversation of a direct send is about. */
  about_id: string | null;
  /** Message-ID the conversation began with. */
  root: string | null;
  /** The subject that it left with. */
  subject: string;
  /** The contact's timezone field, as people write it. */
  timezone: string | null;
}

const COLUMNS = `s.id, s.message_id, s.campaign_id, s.contact_id, s.recipient, d.about_send_id as about_id,
  coalesce(d.to_emails || d.cc_emails || d.bcc_emails, array[s.recipient]) as recipients, s.conversation -> 'messageIds' ->> 0 as root, s.subject, c.custom_fields ->> 'timezone' as timezone`;
/** A message of a contact we have mailed counts as an answer for this long (ms). */
const ANSWERED_WITHIN_MS = 60 * DAY_MS;
/** A report without our Message-ID counts for an address that was mailed within this time (ms). */
const REPORTED_WITHIN_MS = 7 * DAY_MS;

/**
 * The email among the candidates that stands first in their order (best first); undefined when none is ours. A candidate is
 * our Message-ID, or the one that a relay put in its place. They are looked for in this organization alone.
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

/** The campaign email that an answer to a direct send counts for; the direct send itself where there is none. */
export async function matchAnswered(org: OrgScope, send: MatchedSend): Promise<MatchedSend> {
  if (send.about_id === null) return send;
  const [about] = await org.sql<MatchedSend>(
    `select ${COLUMNS} from sends s left join direct_sends d on d.id = s.id left join contacts c on c.id = s.contact_id
     where s.organization_id = :org and s.id = :id and s.message_id is not null`,
    { id: send.about_id },
  );
  return about ?? send;
}

/** Mail that names no email of ours, by an address in it. */
interface Unnamed {
  addresses: readonly string[];
  mailboxId: string;
  receivedAt: Date;
}

/**
 * The latest email to the authors of a message from the mailbox that it came to, when it left in the sixty days before: for
 * an answer that names no email of ours, as some mail programs and relays have it.
 */
export function matchBySender(org: OrgScope, message: Unnamed): Promise<MatchedSend | undefined> {
  return matchByAddress(org, message, ANSWERED_WITHIN_MS);
}

/** The same for a report without our Message-ID, by the recipients that it names, within a week. */
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
      // Clocks differ.
      until: new Date(receivedAt.getTime() + MINUTE_MS),
    },
  );
  return send;
}

/**
 * Whether a message was written by the workspace itself: a campaign email that came to a mailbox of ours, or a
 * colleague's. A lead whose address is one of our mailboxes stays a lead.
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
