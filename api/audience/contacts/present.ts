import type { z } from 'zod';
import { UNDO_MS, type BulkEditView } from '../../../domain/audience/contacts/bulk-edits.ts';
import type { ContactDetail } from '../../../domain/audience/contacts/read.ts';
import type { FoundContact } from '../../../domain/audience/contacts/search.ts';
import type { LeadProgress } from '../../../domain/sending/leads/progress.ts';
import type { ContactView } from '../../../domain/directory/contact-view.ts';
import type { LeadRow } from '../../../domain/sending/leads/list.ts';
import { iso } from '../../http/schemas.ts';
import type { bulkEdit, contact, contactDetail, foundContact, leadHold, verificationRequested } from './schemas.ts';
import type { Language } from '../../../messages/index.ts';
import { presentReason, reasonIn } from '../../http/stored-message.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { render } from '../../../messages/render.ts';

/**
 * Returns a contact for the answers of writes and lists. It contains the contact's campaigns and categories, but no
 * activity.
 */
export function presentContact(view: ContactView): z.input<typeof contact> {
  return {
    id: view.id,
    first_name: view.first_name,
    last_name: view.last_name,
    email: view.email,
    company: view.company,
    phone: view.phone,
    custom_fields: view.custom_fields,
    subscribed: view.subscribed,
    campaigns: view.campaigns,
    categories: view.categories,
    verification_status: view.verification_status,
    verification_reason: view.verification_reason,
    is_catch_all: view.is_catch_all,
    verification_checked_at: iso(view.verification_checked_at),
    esp_provider: view.esp_provider,
    esp_resolved_at: iso(view.esp_resolved_at),
    created_at: iso(view.created_at),
    updated_at: iso(view.updated_at),
  };
}

/** Returns a contact of a search. If the search names one campaign, the contact has its progress in that campaign. */
export function presentFound(found: FoundContact, { language }: Pick<Ctx, 'language'>): z.input<typeof foundContact> {
  return {
    ...presentContact(found),
    ...(found.campaign_lead ? { campaign_lead: presentProgress(found.campaign_lead, language) } : {}),
  };
}

function presentProgress(
  lead: LeadProgress,
  language: Language | undefined,
): NonNullable<z.input<typeof foundContact>['campaign_lead']> {
  const hold = presentHoldOf(lead, language);
  return {
    status: lead.status,
    sent: lead.sent,
    opened: lead.opened,
    clicked: lead.clicked,
    replied: lead.replied,
    bounced: lead.bounced,
    ...(lead.current_step === null ? {} : { current_step: lead.current_step }),
    ...(lead.failure_reason === null ? {} : { failure_reason: render(lead.failure_reason, language) }),
    last_activity_at: iso(lead.last_activity_at),
    ...(hold ? { hold } : {}),
  };
}

/** Returns one contact with its engagement in all campaigns and the suppression of its address. */
export function presentDetail(
  { contact: view, engagement, suppression }: ContactDetail,
  { language }: Pick<Ctx, 'language'>,
): z.input<typeof contactDetail> {
  return {
    ...presentContact(view),
    engagement: {
      ...engagement,
      last_sent_at: iso(engagement.last_sent_at),
      last_opened_at: iso(engagement.last_opened_at),
      last_clicked_at: iso(engagement.last_clicked_at),
      last_replied_at: iso(engagement.last_replied_at),
      last_bounced_at: iso(engagement.last_bounced_at),
    },
    suppression: suppression
      ? {
          ...presentReason(suppression.reason, language),
          source: suppression.source,
          expires_at: iso(suppression.expiresAt),
          created_at: iso(suppression.createdAt),
        }
      : null,
  };
}

/** Returns the hold of a paused lead or of its contact; null for a lead that is not paused. */
export function presentHoldOf(
  lead: Pick<LeadRow, 'status' | 'hold_since' | 'hold_until' | 'hold_reason' | 'hold_source'>,
  language: Language | undefined,
): z.input<typeof leadHold> | null {
  if (lead.status !== 'paused' || lead.hold_since === null) return null;
  return {
    since: iso(lead.hold_since),
    until: iso(lead.hold_until),
    reason: reasonIn(lead.hold_reason, language) ?? '',
    source: lead.hold_source ?? 'manual',
  };
}

/** Returns a bulk edit with the time until which it can be undone. */
export function presentBulkEdit(row: BulkEditView): z.input<typeof bulkEdit> {
  return {
    id: row.id,
    action: row.action,
    target_id: row.target_id,
    selected: row.selected,
    changed: row.changed,
    pending: row.pending,
    completed_at: iso(row.completed_at),
    undo_until: iso(new Date(row.created_at.getTime() + UNDO_MS)),
    undone_at: iso(row.undone_at),
    created_at: iso(row.created_at),
  };
}

/** Returns a verification of many contacts, with its counts under the field names that similar products use. */
export function presentVerification(row: BulkEditView): z.input<typeof verificationRequested> {
  return { ...presentBulkEdit(row), affected: row.changed, queued: row.pending > 0 };
}
