import type { Columns } from '../../../db/rows.ts';
import { isSamePerson, type WrittenBy } from '../../mail/inbound/same-person.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { logCampaign } from '../campaign/log.ts';
import { finishEnrollment } from '../control/finish.ts';
import { recordUnsubscribe } from './effects.ts';
import { askAboutOptOut, type AskingMessage } from './opt-out-question.ts';
import { storableText } from '../../platform/storable-text.ts';
import type { Subject } from './subject.ts';
import { message } from '../../../messages/index.ts';

/** Author of a reply. */
export interface Writer {
  /** Addresses of the authors. Empty if the message names none. */
  addresses: readonly string[];
  /** True when the author is the recipient of our email. */
  isRecipient: boolean;
}

/** Returns the author of a message, and if the author is the recipient of the email that it answers. */
export async function findWriter(
  tx: Tx,
  { contactId, email }: Subject,
  message: WrittenBy,
  words: string,
): Promise<Writer> {
  const addresses = message.authors.map((address) => storableText(address, 320));
  if (addresses.every((address) => address === email)) return { addresses, isRecipient: true };
  const [contact] = await tx.org.sql<Columns<'contacts', 'first_name' | 'last_name'>>(
    'select first_name, last_name from contacts where organization_id = :org and (id = :id or email = :email) order by id = :id desc limit 1',
    { id: contactId, email },
  );
  const recipient = { email, firstName: contact?.first_name ?? '', lastName: contact?.last_name ?? '' };
  return { addresses, isRecipient: isSamePerson(recipient, message, words) };
}

/**
 * Unsubscribes the author of a message. If the author is the recipient of our email, the recipient is unsubscribed too.
 * Otherwise the recipient leaves this campaign, and a person must decide.
 * @param received the stored message; null when a client of the API reports the opt-out
 */
export async function recordOptOutByMail(
  tx: Tx,
  subject: Subject,
  writer: Writer,
  received: AskingMessage | null,
): Promise<void> {
  const { email, campaignId, enrollmentId, contactId } = subject;
  if (writer.isRecipient) await recordUnsubscribe(tx, subject, 'reply', received?.id);
  for (const address of writer.addresses) {
    if (address === email) continue;
    await recordUnsubscribe(tx, otherThan(subject, address), 'reply', received?.id);
  }
  if (writer.isRecipient) return;
  if (received) await askAboutOptOut(tx, received, [email]);
  if (!enrollmentId || !campaignId) return;
  await logCampaign(tx, campaignId, 'opt_out_doubtful', message('log.other_opted_out'), {
    contact_id: contactId,
  });
  await finishEnrollment(tx, enrollmentId, 'replied', {
    reason: message('ended.other_opted_out'),
  });
}

/** Returns a subject for an author who is not the recipient. Only the author's address is known. */
export function otherThan({ isDirect, campaignId }: Subject, email: string): Subject {
  return { send: null, isDirect, campaignId, enrollmentId: null, contactId: null, email };
}
