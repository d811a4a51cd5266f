import type { OrgScope } from '../../../db/tenancy.ts';

/** The email of ours an incoming message is about. */
export interface MatchedSend {
  id: string;
  message_id: string;
  campaign_id: string | null;
  contact_id: string | null;
  recipient: string;
  /** Message-ID the conversation began with. */
  root: string | null;
  /** The contact's timezone field, as people write it. */
  timezone: string | null;
}

/**
 * The email among the candidates that stands first in their order (best first); undefined when none is ours. Message-IDs
 * are looked for in this organization alone.
 */
export async function matchSend(org: OrgScope, threadIds: readonly string[]): Promise<MatchedSend | undefined> {
  if (threadIds.length === 0) return undefined;
  const [send] = await org.sql<MatchedSend>(
    `select s.id, s.message_id, s.campaign_id, s.contact_id, s.recipient, s.conversation -> 'messageIds' ->> 0 as root, c.custom_fields ->> 'timezone' as timezone
     from unnest(cast(:ids as text[])) with ordinality as t(id, place)
     join sends s on s.organization_id = :org and s.message_id = t.id
     left join contacts c on c.id = s.contact_id
     order by t.place limit 1`,
    { ids: threadIds },
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
