import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { AppError, refuseProblems } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { assertNotReferenced } from '../references.ts';
import { addLeads, type HeldLeads } from '../leads/add.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { suppressedAmong } from '../../directory/suppression-check.ts';
import { announceUpdates } from '../../directory/announce-contact.ts';
import { cleanText, customFieldsFitSql, CUSTOM_FIELD_LIMITS } from '../../directory/contact-fields.ts';
import { assertKnown, leaveCampaigns, type NamedRecords } from '../../sending/leads/membership.ts';
import { resolveSelection, type Selection } from './selection.ts';
import { addToCategories, removeFromCategories } from './upsert.ts';
import { scheduleVerification } from '../verification/schedule.ts';
import { viewContacts, type ContactView } from '../../directory/contact-view.ts';

/**
 * One change of a custom field for a selection of contacts. ADD sets the field where it is missing, EDIT where it
 * exists. DELETE removes the field, RENAME moves its value to the key in `value`.
 */
interface FieldOperation {
  type: 'ADD' | 'EDIT' | 'DELETE' | 'RENAME';
  key: string;
  value?: string | undefined;
}

interface BulkEdit extends Selection {
  add_campaigns?: readonly string[] | undefined;
  remove_campaigns?: readonly string[] | undefined;
  add_categories?: readonly string[] | undefined;
  remove_categories?: readonly string[] | undefined;
  fields?: readonly FieldOperation[] | undefined;
  subscribe?: boolean | undefined;
  /** Schedules verification of addresses that have no verdict yet. */
  verify?: true | undefined;
}

/** Fields that change the contacts themselves. */
const EDITS = [
  'add_campaigns',
  'remove_campaigns',
  'add_categories',
  'remove_categories',
  'fields',
  'subscribe',
] as const;

/** SQL for custom_fields, computed from :key and :value. Rows that would not change are not written. */
const FIELD_SQL: Record<FieldOperation['type'], string> = {
  ADD: `jsonb_build_object(cast(:key as text), cast(:value as text)) || custom_fields`,
  EDIT: `case when jsonb_exists(custom_fields, :key)
    then custom_fields || jsonb_build_object(cast(:key as text), cast(:value as text)) else custom_fields end`,
  DELETE: `custom_fields - cast(:key as text)`,
  RENAME: `case when jsonb_exists(custom_fields, :key)
    then (custom_fields - cast(:key as text)) || jsonb_build_object(cast(:value as text), custom_fields -> cast(:key as text))
    else custom_fields end`,
};

/**
 * Applies one edit to a selection of contacts. Suppressed addresses stay unsubscribed. contact.updated is emitted once,
 * with `bulk` and `count` in its metadata. If the edit only verifies addresses, the event is emitted with each verdict
 * instead. Returns the updated contacts.
 * @throws AppError too_many_contacts, selection_too_large (also if the contacts' custom fields are too large for one
 * response)
 * @throws AppError bad_request (nothing selected, unknown category or campaign, too many custom fields for a contact,
 * verification is off)
 * @throws AppError conflict (a field used by a condition is deleted or renamed, or a rename would overwrite a contact's
 * field)
 */
export async function updateContacts(ctx: Ctx, edit: BulkEdit, { onHeld }: HeldLeads = {}): Promise<ContactView[]> {
  if (edit.verify) assertVerificationOn(ctx);
  return transact(ctx, async (tx) => {
    await assertKnown(tx.org, recordsOfBulkEdit(edit));
    const ids = await resolveSelection(tx.org, edit, tx.now);
    if (edit.verify) {
      await scheduleVerification(tx, ids);
      tx.audit({ action: 'verify', entityType: 'contact', metadata: { bulk: true, count: ids.length } });
      if (EDITS.every((name) => edit[name] === undefined)) {
        await assertAnswerable(tx.org, ids);
        return viewContacts(tx.org, ids);
      }
    }
    for (const [index, operation] of (edit.fields ?? []).entries()) await changeField(tx, ids, operation, index);
    await setSubscribed(tx, ids, edit.subscribe);
    await addToCategories(tx.org, ids, edit.add_categories ?? []);
    await removeFromCategories(tx.org, ids, (edit.remove_categories ?? []).filter(isUuid));
    const leave = (edit.remove_campaigns ?? []).filter(isUuid);
    if (leave.length > 0) await leaveCampaigns(tx, ids, leave, message('ended.removed'));
    for (const campaignId of edit.add_campaigns ?? []) {
      const { held } = await addLeads(tx, ctx.config, campaignId, ids);
      if (held) onHeld?.(held);
    }
    await tx.org.sql(
      'update contacts set updated_at = :now where organization_id = :org and id = any(cast(:ids as uuid[]))',
      { ids, now: tx.now },
    );
    announceUpdates(tx, ids.length);
    tx.audit({ action: 'update', entityType: 'contact', metadata: { bulk: true, count: ids.length } });
    await assertAnswerable(tx.org, ids);
    return viewContacts(tx.org, ids);
  });
}

/**
 * Checks that this installation verifies addresses.
 * @throws AppError bad_request
 */
export function assertVerificationOn({ config }: Pick<Ctx, 'config'>): void {
  if (config.EMAIL_VERIFICATION === 'off')
    throw new AppError('bad_request', message('audience.no_verification'), {
      fix: message('audience.no_verification.fix'),
    });
}

/** Lists the categories and campaigns named by a bulk edit. */
export function recordsOfBulkEdit(edit: BulkEdit): NamedRecords {
  return {
    categories: [{ path: 'body.add_categories', ids: edit.add_categories ?? [] }],
    campaigns: [{ path: 'body.add_campaigns', ids: edit.add_campaigns ?? [] }],
  };
}

async function changeField(tx: Tx, ids: readonly string[], operation: FieldOperation, index: number): Promise<void> {
  const bindings = { ids, key: cleanText(operation.key), value: cleanText(operation.value ?? '') };
  if (operation.type === 'DELETE' || operation.type === 'RENAME')
    await assertNotReferenced(tx, { field: bindings.key });
  if (operation.type === 'RENAME') await refuseOverwriting(tx, bindings, index);
  const changed = FIELD_SQL[operation.type];
  const chosen = 'organization_id = :org and id = any(cast(:ids as uuid[]))' as const;
  const [full] =
    operation.type === 'DELETE'
      ? []
      : await tx.org.sql<{ contacts: number }>(
          `select count(*)::int as contacts from contacts where ${chosen} and not ${customFieldsFitSql('custom_fields', `(${changed})`)}`,
          bindings,
        );
  if (full && full.contacts > 0)
    refuseProblems([
      {
        path: `body.fields.${index}`,
        message: message('directory.contacts_too_many_fields', { contacts: full.contacts, ...CUSTOM_FIELD_LIMITS }),
      },
    ]);
  await tx.org.sql(`update contacts set custom_fields = ${changed} where ${chosen}`, bindings);
}

/**
 * Refuses a rename that would overwrite a value.
 * @throws AppError conflict when a selected contact has a value under the new name, which would be lost
 */
async function refuseOverwriting(
  tx: Tx,
  bindings: { ids: readonly string[]; key: string; value: string },
  index: number,
): Promise<void> {
  const [row] = await tx.org.sql<{ contacts: number }>(
    `select count(*)::int as contacts from contacts
     where organization_id = :org and id = any(cast(:ids as uuid[])) and cast(:key as text) <> cast(:value as text)
       and jsonb_exists(custom_fields, :key) and jsonb_exists(custom_fields, :value)`,
    bindings,
  );
  if (row!.contacts === 0) return;
  throw new AppError('conflict', message('contacts.field_exists', { field: bindings.value }), {
    problems: [
      { path: `body.fields.${index}.value`, message: message('contacts.field_exists.count', { count: row!.contacts }) },
    ],
    fix: message('contacts.field_exists.fix'),
  });
}

/** Maximum total size (bytes) of the custom fields in one response. A response is in memory several times. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/**
 * Checks that the contacts fit into one answer.
 * @throws AppError selection_too_large when their custom fields exceed it
 */
async function assertAnswerable(org: OrgScope, ids: readonly string[]): Promise<void> {
  const [row] = await org.sql<{ bytes: number }>(
    `select coalesce(sum(octet_length(custom_fields::text)), 0)::float8 as bytes from contacts
     where organization_id = :org and id = any(cast(:ids as uuid[]))`,
    { ids },
  );
  if (row!.bytes <= MAX_ANSWER_BYTES) return;
  throw new AppError('selection_too_large', message('audience.answer_too_large'), {
    fix: message('audience.answer_too_large.fix'),
  });
}

async function setSubscribed(tx: Tx, ids: readonly string[], subscribe: boolean | undefined): Promise<void> {
  if (subscribe === undefined) return;
  let chosen = ids;
  if (subscribe) {
    const rows = await tx.org.sql<Columns<'contacts', 'id' | 'email'>>(
      'select id, email from contacts where organization_id = :org and id = any(cast(:ids as uuid[])) and not subscribed',
      { ids },
    );
    const suppressed = await suppressedAmong(
      tx.org,
      rows.map((row) => row.email),
      tx.now,
    );
    chosen = rows.filter((row) => !suppressed.has(row.email)).map((row) => row.id);
  }
  await tx.org.sql(
    'update contacts set subscribed = :subscribe, unsubscribed_by = null where organization_id = :org and id = any(cast(:ids as uuid[]))',
    { ids: chosen, subscribe },
  );
}
