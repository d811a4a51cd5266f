import { AppError } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import type { ContactView } from '../../directory/contact-view.ts';
import { hostOf } from '../../directory/suppression-check.ts';
import { toAnswer } from '../../inbox/threads/answer.ts';
import { readMessage } from '../../inbox/threads/message.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { createContacts } from './create.ts';

/**
 * Creates a contact for the person named in a received message, as a replacement or deputy. `source` is `referral`, and
 * `source_detail` the message. A known contact only gets its missing fields. The company is copied from the sender's
 * contact if both have the same domain.
 *
 * @throws AppError not_found for a message that the caller may not read; conflict when the message names nobody with an
 * address
 */
export async function createReferredContact(ctx: Ctx, messageId: string): Promise<ContactView> {
  const received = await readMessage(ctx, messageId);
  const person = toAnswer(received)?.person;
  if (!person?.email) throw new AppError('conflict', message('audience.no_referral'));
  const email = person.email.toLowerCase();
  const [first = '', ...rest] = (person.name ?? '').split(/\s+/u);
  const [contact] = await createContacts(
    ctx,
    [
      {
        email,
        first_name: first,
        last_name: rest.join(' '),
        company: await companyOf(ctx, received.contact_id, email),
      },
    ],
    {},
    { existing: 'fill', source: 'referral', sourceDetail: `message ${received.id}` },
  );
  return contact!;
}

async function companyOf(ctx: Ctx, contactId: string | null, email: string): Promise<string> {
  if (contactId === null) return '';
  const writer = await reader(ctx).table('contacts').where({ id: contactId }).first('email', 'company');
  return writer && hostOf(writer.email) === hostOf(email) ? writer.company : '';
}
