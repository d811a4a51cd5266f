import { badRequest, notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { suppressedAmong, type SuppressionHit } from '../../directory/suppression-check.ts';
import { parseAddress } from '../../../lib/address.ts';
import { CONTACT_VIEW, viewContacts, type ContactView } from '../../directory/contact-view.ts';

/** A contact's reactions to all emails so far, without machine opens and clicks. */
interface Engagement {
  total_sent: number;
  total_opened: number;
  total_clicked: number;
  total_replied: number;
  total_bounced: number;
  total_complained: number;
  last_sent_at: Date | null;
  last_opened_at: Date | null;
  last_clicked_at: Date | null;
  last_replied_at: Date | null;
  last_bounced_at: Date | null;
}

/** A contact with its engagement and the suppression that applies to it, if any. */
export interface ContactDetail {
  contact: ContactView;
  engagement: Engagement;
  suppression: SuppressionHit | null;
}

/**
 * Returns one contact with its engagement and suppression.
 * @throws AppError not_found
 */
export async function getContact(ctx: Ctx, id: string): Promise<ContactDetail> {
  if (!isUuid(id)) throw notFound('contact');
  const org = reader(ctx);
  const [contact] = await viewContacts(org, [id]);
  if (!contact) throw notFound('contact');
  const [engagement] = await org.sql<Engagement>(
    `select count(sent_at) as total_sent, count(opened_at) as total_opened, count(clicked_at) as total_clicked,
       count(replied_at) as total_replied, count(bounced_at) as total_bounced, count(complained_at) as total_complained,
       max(sent_at) as last_sent_at, max(opened_at) as last_opened_at, max(clicked_at) as last_clicked_at,
       max(replied_at) as last_replied_at, max(bounced_at) as last_bounced_at
     from sends where organization_id = :org and contact_id = :id`,
    { id },
  );
  const suppressed = await suppressedAmong(org, [contact.email], ctx.clock.now());
  return { contact, engagement: engagement!, suppression: suppressed.get(contact.email) ?? null };
}

/**
 * Finds the contact of an address, or null; accepts `Name <addr>`.
 * @throws AppError bad_request when there is no address in the text
 */
export async function lookupContact(ctx: Ctx, text: string): Promise<ContactView | null> {
  const email = parseAddress(text);
  if (!email)
    throw badRequest(message('audience.not_email'), [{ path: 'query.email', message: message('directory.not_email') }]);
  const [contact] = await reader(ctx).sql<ContactView>(
    `select ${CONTACT_VIEW} from contacts c where c.organization_id = :org and c.email = :email`,
    { email },
  );
  return contact ?? null;
}
