import type { Tx } from '../../platform/kernel/transact.ts';

/** Verdict that is stored for each action by which a person marks addresses. */
const MARKS = {
  mark_deliverable: { status: 'valid', reason: 'marked_deliverable' },
  mark_undeliverable: { status: 'invalid', reason: 'marked_undeliverable' },
} as const;

export type Mark = keyof typeof MARKS;

/** A contact whose verdict a person has set, and its previous verdict. */
interface Marked {
  contact_id: string;
  former_verdict: Record<string, unknown>;
}

/**
 * Stores a person's verdict for locked contacts, and cancels their scheduled verifications. Contacts that already have
 * this verdict stay unchanged.
 * @returns the changed contacts
 */
export function markAddresses(tx: Tx, contactIds: readonly string[], mark: Mark): Promise<Marked[]> {
  return tx.org.sql<Marked>(
    `with former as materialized (
       select c.id, jsonb_build_object('status', c.verification_status, 'reason', c.verification_reason,
         'is_catch_all', c.is_catch_all, 'checked_at', c.verification_checked_at, 'is_scheduled', v.contact_id is not null) as verdict
       from contacts c left join contact_verifications v on v.contact_id = c.id
       where c.organization_id = :org and c.id = any(cast(:ids as uuid[]))
         and (c.verification_status <> :status or v.contact_id is not null)
     ), unscheduled as (
       delete from contact_verifications v using former f where v.organization_id = :org and v.contact_id = f.id
     ), marked as (
       update contacts c set verification_status = :status, verification_reason = :reason, is_catch_all = false,
         verification_checked_at = :now, updated_at = :now
       from former f where c.organization_id = :org and c.id = f.id
     )
     select id as contact_id, verdict as former_verdict from former order by id`,
    { ids: contactIds, now: tx.now, ...MARKS[mark] },
  );
}

/**
 * Restores the verdicts that an edit of {@link markAddresses} has replaced, unless the verdicts were changed since.
 * @param edit.at time of the edit
 */
export async function restoreVerdicts(tx: Tx, edit: { id: string; at: Date; mark: Mark }): Promise<void> {
  await tx.org.sql(
    `with former as materialized (
       select c.id, r.* from bulk_edit_contacts b join contacts c on c.id = b.contact_id
       cross join lateral jsonb_to_record(b.former_verdict)
         as r(status text, reason text, is_catch_all boolean, checked_at timestamptz, is_scheduled boolean)
       where b.organization_id = :org and b.edit_id = :edit and c.verification_checked_at = :at and c.verification_reason = :mark
       order by c.id for update of c
     ), restored as (
       update contacts c set verification_status = f.status, verification_reason = f.reason, is_catch_all = f.is_catch_all,
         verification_checked_at = f.checked_at, updated_at = :now
       from former f where c.organization_id = :org and c.id = f.id
     )
     insert into contact_verifications (contact_id, organization_id, due_at, created_at)
     select id, :org, :now, :now from former where is_scheduled order by id on conflict (contact_id) do nothing`,
    { edit: edit.id, at: edit.at, mark: MARKS[edit.mark].reason, now: tx.now },
  );
}
