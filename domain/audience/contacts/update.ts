import { Contacts } from '../../../db/models/contact.ts';
import { AppError, notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import type { ApprovalRow } from '../../../db/models/approval.ts';
import { addLeads, type HeldLeads } from '../leads/add.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { identifyPerson } from '../people/identify.ts';
import { assertUnchanged } from '../../platform/assert-unchanged.ts';
import { soleCause, suppressedAmong } from '../../directory/suppression-check.ts';
import { cleanCustomFields, cleanText } from '../../directory/contact-fields.ts';
import { assertKnown, leaveCampaigns, type NamedRecords } from '../../sending/leads/membership.ts';
import { addToCategories } from './upsert.ts';
import { contactUpdate, viewContacts, type ContactView } from '../../directory/contact-view.ts';

/** An edit of one contact; absent fields stay unchanged. */
interface ContactEdit {
  first_name?: string | undefined;
  last_name?: string | undefined;
  /** Address in lower case. */
  email?: string | undefined;
  company?: string | undefined;
  phone?: string | undefined;
  custom_fields?: Readonly<Record<string, string>> | undefined;
  subscribed?: boolean | undefined;
  campaigns?: readonly string[] | undefined;
  categories?: readonly string[] | undefined;
  add_categories?: readonly string[] | undefined;
  remove_categories?: readonly string[] | undefined;
}

/**
 * Changes the given fields of a contact. `custom_fields`, `campaigns` and `categories` replace the stored values. A new
 * address resets the verification verdict; product events still find the contact by the old address.
 * @throws AppError not_found, contact_email_taken, bad_request (unknown category or campaign), conflict (subscribing a
 * suppressed address, or a changed `updated_at`)
 * @param options.expectedUpdatedAt the `updated_at` that the caller has seen
 */
export async function updateContact(
  ctx: Ctx,
  id: string,
  edit: ContactEdit,
  { expectedUpdatedAt, onHeld }: HeldLeads & { expectedUpdatedAt?: Date | undefined } = {},
): Promise<ContactView> {
  if (!isUuid(id)) throw notFound('contact');
  return transact(ctx, async (tx) => {
    const before = await tx.org.query(Contacts).findById(id).forUpdate();
    if (!before) throw notFound('contact');
    assertUnchanged('contact', before.updated_at, expectedUpdatedAt);
    await assertKnown(tx.org, recordsOfEdit(edit));
    const columns = changedColumns(edit, before.email);
    const email = edit.email ?? before.email;
    if (edit.email !== undefined || edit.subscribed) {
      const suppressed = (await suppressedAmong(tx.org, [email], tx.now)).get(email);
      if (suppressed && edit.subscribed) {
        throw new AppError('conflict', message('audience.suppressed'), {
          fix: message('audience.suppressed.fix'),
        });
      }
      if (suppressed && before.subscribed && edit.subscribed === undefined)
        Object.assign(columns, { subscribed: false, unsubscribed_by: soleCause(suppressed) });
    }
    await tx.org
      .query(Contacts)
      .findById(id)
      .patch({ ...columns, updated_at: tx.now });
    if (email !== before.email) await identifyPerson(tx, { contactId: id, formerEmail: before.email });
    await updateCategories(tx, id, edit);
    if (edit.campaigns) for (const held of await setCampaigns(ctx, tx, id, edit.campaigns)) onHeld?.(held);

    const [after] = await viewContacts(tx.org, [id]);
    tx.emit('contact.updated', contactUpdate(after!));
    const fields = Object.keys(edit).filter((key) => edit[key as keyof ContactEdit] !== undefined);
    tx.audit({ action: 'update', entityType: 'contact', entityId: id, metadata: { fields } });
    return after!;
  });
}

/** Lists the categories and campaigns named by an edit of a contact. */
export function recordsOfEdit(edit: ContactEdit): NamedRecords {
  return {
    categories: [
      { path: 'body.categories', ids: edit.categories ?? [] },
      { path: 'body.add_categories', ids: edit.categories ? [] : (edit.add_categories ?? []) },
    ],
    campaigns: [{ path: 'body.campaigns', ids: edit.campaigns ?? [] }],
  };
}

function changedColumns(edit: ContactEdit, oldEmail: string): Record<string, unknown> {
  const columns: Record<string, unknown> = {};
  for (const field of ['first_name', 'last_name', 'company', 'phone'] as const) {
    if (edit[field] !== undefined) columns[field] = cleanText(edit[field]);
  }
  if (edit.custom_fields) columns.custom_fields = cleanCustomFields(edit.custom_fields, { keepEmpty: true });
  if (edit.subscribed !== undefined) Object.assign(columns, { subscribed: edit.subscribed, unsubscribed_by: null });
  if (edit.email !== undefined && edit.email !== oldEmail) {
    Object.assign(columns, {
      email: edit.email,
      verification_status: 'unknown',
      verification_reason: '',
      is_catch_all: false,
      verification_checked_at: null,
      esp_provider: '',
      esp_resolved_at: null,
    });
  }
  return columns;
}

async function updateCategories(tx: Tx, id: string, edit: ContactEdit): Promise<void> {
  const filed = tx.org.table('contact_categories').where({ contact_id: id });
  if (edit.categories) {
    await filed.delete();
    await addToCategories(tx.org, [id], edit.categories);
    return;
  }
  const remove = (edit.remove_categories ?? []).filter(isUuid);
  if (remove.length > 0) await filed.whereIn('label_id', remove).delete();
  await addToCategories(tx.org, [id], edit.add_categories ?? []);
}

/** @returns the approvals that the contact waits for as a lead */
async function setCampaigns(
  { config }: Ctx,
  tx: Tx,
  contactId: string,
  campaigns: readonly string[],
): Promise<ApprovalRow[]> {
  const wanted = new Set(campaigns.map((id) => id.toLowerCase()));
  const before = await tx.org.table('enrollments').where({ contact_id: contactId }).pluck('campaign_id');
  const gone = before.filter((id) => !wanted.has(id));
  if (gone.length > 0) await leaveCampaigns(tx, [contactId], gone, message('ended.removed'));
  const present = new Set(before);
  const approvals: ApprovalRow[] = [];
  for (const campaignId of wanted) {
    if (present.has(campaignId)) continue;
    const { held } = await addLeads(tx, config, campaignId, [contactId]);
    if (held) approvals.push(held);
  }
  return approvals;
}
