import { across } from '../../../db/across.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { recordSendUnsubscribe } from '../../sending/outcomes/effects.ts';
import { readTrackingToken, TRACKING_TOKEN_LENGTH } from '../../mail/messages/tracking-token.ts';

/** The send and contact of an unsubscribe link. */
interface OptOutLink {
  sendId: string;
  organizationId: string;
  organizationName: string;
  recipient: string;
  /** True if the contact has opted out and has not subscribed again since. */
  done: boolean;
}

/**
 * Finds the opt-out link of a token; undefined if the token is invalid or its email is no longer stored.
 * @param path the token, possibly followed by text that a mail program added to the link
 */
export async function findOptOut(deps: Deps, path: string): Promise<OptOutLink | undefined> {
  const token = path.slice(0, TRACKING_TOKEN_LENGTH);
  const sendId = readTrackingToken(deps.keyring.tracking.accepted, 'unsubscribe', token);
  if (!sendId) return undefined;
  const [link] = await across(deps.db, 'credential').sql<OptOutLink>(
    `select s.id as "sendId", s.organization_id as "organizationId", o.name as "organizationName", s.recipient,
       s.unsubscribed_at is not null and c.subscribed is not true as done
     from sends s join organizations o on o.id = s.organization_id left join contacts c on c.id = s.contact_id
     where s.id = :sendId`,
    { sendId },
  );
  return link;
}

/**
 * Unsubscribes the recipient of an email. Repeated calls change nothing.
 * @param source `one_click` for a mail program's RFC 8058 request, `link` for the page's own button
 */
export async function optOut(
  deps: Deps,
  link: OptOutLink,
  source: 'one_click' | 'link',
  requestId: string,
): Promise<void> {
  await transact(systemCtx(deps, link.organizationId, requestId), (tx) =>
    recordSendUnsubscribe(tx, { sendId: link.sendId, email: link.recipient }, source),
  );
}
