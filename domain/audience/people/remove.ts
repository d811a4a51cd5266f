import { AppError, notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { announceChanged } from './announce.ts';
import { lockPeople } from './merge.ts';

/**
 * Erases a person without a contact, with its identifiers, events, conversions and conflicts.
 * @throws AppError not_found, person_has_contact (409)
 */
export async function deletePerson(ctx: Ctx, id: string): Promise<void> {
  if (!isUuid(id)) throw notFound('person');
  await transact(ctx, async (tx) => {
    const [person] = await lockPeople(tx, [id]);
    if (!person) throw notFound('person');
    if (person.contact_id !== null) {
      throw new AppError('person_has_contact', message('audience.person_has_contact'), {
        fix: message('audience.person_has_contact.fix'),
      });
    }
    await tx.org.table('people').where({ id }).delete();
    announceChanged(tx, [id]);
    tx.audit({ action: 'delete', entityType: 'person', entityId: id });
  });
}
