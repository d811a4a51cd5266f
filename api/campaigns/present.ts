import type { z } from 'zod';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import { runUrl } from '../../domain/platform/run-url.ts';
import type { LeadHoldResult } from '../../domain/sending/leads/hold.ts';
import type { StorySend } from '../../domain/sending/enrollment/story.ts';
import type { LeadRow } from '../../domain/sending/leads/list.ts';
import type { LeadDetail } from '../../domain/sending/leads/detail.ts';
import type { TemplatePreview } from '../../domain/campaigns/preview.ts';
import type { CampaignLogRow } from '../../domain/campaigns/activity.ts';
import { ratesOf } from '../../domain/reporting/analytics/rates.ts';
import type { CampaignFlow } from '../../domain/campaigns/flow.ts';
import type { CampaignRow } from '../../domain/campaigns/read.ts';
import type { SenderPool } from '../../domain/campaigns/senders.ts';
import type { CampaignStepRow } from '../../domain/campaigns/steps.ts';
import type { CampaignVariantRow } from '../../domain/campaigns/variants.ts';
import { faultWithPlace, type MessageError } from '../../domain/mail/messages/render-source.ts';
import type { Language } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';
import { campaignWorkflow } from '../../workflows/campaign/contract.ts';
import { enrollmentWorkflow } from '../../workflows/enrollment/contract.ts';
import { presentHoldOf } from '../audience/contacts/present.ts';
import { iso } from '../http/schemas.ts';
import type {
  campaign,
  flow,
  heldLead,
  leadPage,
  leadDetail,
  logPage,
  preview,
  senderList,
  step,
  variantList,
} from './schemas.ts';
import { presentBlocked, presentMessage, reasonIn } from '../http/stored-message.ts';

type Item<List> = List extends z.ZodType<unknown, { data: (infer Row)[] }> ? Row : never;

/**
 * Returns a campaign with all its settings. The link to its Temporal workflow is present once the workflow was started.
 */
export function presentCampaign(
  row: CampaignRow,
  { config, language }: Pick<Ctx, 'config' | 'language'>,
): z.input<typeof campaign> {
  return {
    id: row.id,
    user_id: row.user_id,
    organization_id: row.organization_id,
    name: row.name,
    description: row.description,
    status: row.status,
    archived: row.archived,
    kind: row.kind,
    stop_on_reply: row.stop_on_reply,
    stop_on_company_reply: row.stop_on_company_reply,
    open_tracking: row.open_tracking,
    link_tracking: row.link_tracking,
    text_only: row.text_only,
    daily_limit: row.daily_limit,
    unsubscribe_header: row.unsubscribe_header,
    unsubscribe_mode: row.unsubscribe_mode,
    risky_emails: row.risky_emails,
    cc: row.cc,
    bcc: row.bcc,
    start_date: iso(row.start_date),
    end_date: iso(row.end_date),
    timezone: row.timezone,
    days: row.days,
    start_time: row.start_time,
    end_time: row.end_time,
    schedule_windows: row.schedule_windows,
    email_tags: row.email_tags,
    folders: row.folders,
    contact_order_by: row.contact_order_by,
    contact_order_dir: row.contact_order_dir as 'asc' | 'desc',
    contact_order_field: row.contact_order_field,
    sender_strategy: row.sender_strategy,
    rotation_mode: row.rotation_mode,
    ramp_enabled: row.ramp_enabled,
    ramp_start: row.ramp_start,
    ramp_increment: row.ramp_increment,
    ramp_ceiling: row.ramp_ceiling,
    ramp_level: row.ramp_level,
    esp_match_mode: row.esp_match_mode,
    max_new_leads_per_day: row.max_new_leads_per_day,
    prioritize_new_leads: row.prioritize_new_leads,
    entry_delay_minutes: row.entry_delay_minutes,
    continuous: row.continuous,
    idle_since: iso(row.idle_since),
    tracking_domain: row.tracking_domain,
    tracking_domain_verified: row.tracking_domain_verified,
    tracking_domain_verified_at: iso(row.tracking_domain_verified_at),
    utm_tracking: row.utm_tracking,
    utm_source: row.utm_source,
    utm_medium: row.utm_medium,
    utm_campaign: row.utm_campaign,
    last_status_change_at: iso(row.last_status_change_at),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    ...presentBlocked(row, language),
    ...(row.status === 'draft' ? {} : runUrl(config, campaignWorkflow, { campaignId: row.id })),
  };
}

/** Returns the warnings of a write, to be merged into its answer. Returns an empty object if there are none. */
export function presentWarnings(warnings: readonly MessageError[], language: Language | undefined) {
  return warnings.length > 0 ? { warnings: warnings.map((fault) => presentFault(fault, language)) } : {};
}

/** Returns an email preview with its problems in a language, both as lines of text and with their positions. */
export function presentPreview(
  { errors = [], unresolved, ...email }: TemplatePreview,
  language: Language | undefined,
): z.input<typeof preview> {
  return {
    ...email,
    ...(errors.length > 0
      ? {
          errors: errors.map((fault) => render(faultWithPlace(fault), language)),
          problems: errors.map((fault) => presentFault(fault, language)),
        }
      : {}),
    ...(unresolved ? { unresolved: [...unresolved] } : {}),
  };
}

function presentFault({ message: said, ...place }: MessageError, language: Language | undefined) {
  return { ...place, ...presentMessage(said, language) };
}

/** Returns a step with its action. Its variants have their own route. */
export function presentStep(row: CampaignStepRow): z.input<typeof step> {
  return {
    id: row.id,
    name: row.name,
    subject: row.subject,
    body_plain: row.body_plain,
    body_html: row.body_html,
    body_sync: row.body_sync,
    body_code: row.body_code,
    offer: row.offer,
    angle: row.angle,
    cta: row.cta,
    wait_after: row.wait_after,
    thread_reply: row.thread_reply,
    position: row.position,
    kind: row.kind,
    conditions: row.conditions,
    action: row.action,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/**
 * Returns the lead counts at each step and on each link between two steps, and the results of each email's variants.
 */
export function presentFlow({ campaignId, pending, steps, links, wordings }: CampaignFlow): z.input<typeof flow> {
  return {
    campaign_id: campaignId,
    pending,
    steps: steps.map(({ stepId, ...counts }) => ({ step_id: stepId, ...counts })),
    links,
    wordings: wordings.map(({ stepId, variantId, counts }) => {
      const { bounce_rate: _, ...rates } = ratesOf(counts);
      return {
        step_id: stepId,
        variant_id: variantId,
        emails_sent: counts.sent,
        opens: counts.opened,
        clicks: counts.clicked,
        replies: counts.replied,
        ...rates,
      };
    }),
  };
}

/** Returns an A/B variant of a step's email. */
export function presentVariant(row: CampaignVariantRow): Item<typeof variantList> {
  return {
    id: row.id,
    campaign_id: row.campaign_id,
    step_id: row.step_id,
    name: row.name,
    weight: row.weight,
    subject: row.subject,
    body_html: row.body_html,
    body_plain: row.body_plain,
    offer: row.offer,
    angle: row.angle,
    cta: row.cta,
    is_control: row.is_control,
    is_active: row.is_active,
    metadata: row.metadata,
    promoted_at: iso(row.promoted_at),
    promotion: row.promotion as Item<typeof variantList>['promotion'],
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** Returns the mailboxes explicitly selected for a campaign, each with its weight in the rotation. */
export function presentPool({ senders, updatedAt }: SenderPool): z.input<typeof senderList> {
  return {
    data: senders.map((row) => ({
      email_account_id: row.mailbox_id,
      weight: row.weight,
      enabled: row.enabled,
      last_sent_at: iso(row.last_sent_at),
    })),
    updated_at: iso(updatedAt),
  };
}

/** Returns one line of the campaign's activity log. */
export function presentLog(row: CampaignLogRow, { language }: Pick<Ctx, 'language'>): Item<typeof logPage> {
  return { ...row, ...presentMessage(row.message, language), created_at: iso(row.created_at) };
}

/** Returns the hold of one lead, for the routes that pause, resume or read a lead. */
export function presentHold(
  { campaign_id, contact_id, hold }: LeadHoldResult,
  { language }: Pick<Ctx, 'language'>,
): z.input<typeof heldLead> {
  return {
    campaign_id,
    contact_id,
    hold: hold && {
      ...hold,
      since: iso(hold.since),
      until: iso(hold.until),
      reason: reasonIn(hold.reason, language) ?? '',
    },
  };
}

/**
 * Returns a lead of a campaign with its step, the cause of its wait, and its hold. The link to its Temporal workflow is
 * present once the workflow was started.
 */
export function presentLead(
  row: LeadRow,
  { config, language, campaignId }: Pick<Ctx, 'config' | 'language'> & { campaignId: string },
): Item<typeof leadPage> {
  return {
    contact_id: row.contact_id,
    contact: row.contact,
    status: row.status,
    current_step_id: row.current_step_id,
    current_step: row.current_step,
    waiting_for: reasonIn(row.waiting_for, language),
    waiting_until: iso(row.waiting_for === null ? null : row.waiting_until),
    blocked: row.blocked,
    failure_reason: reasonIn(row.failure_reason, language),
    hold: presentHoldOf(row, language),
    entered_at: iso(row.entered_at),
    launched_at: iso(row.launched_at),
    last_activity_at: iso(row.last_activity_at),
    finished_at: iso(row.finished_at),
    ...(row.launched_at ? runUrl(config, enrollmentWorkflow, { campaignId, contactId: row.contact_id }) : {}),
  };
}

/** Returns a lead with its completed steps, its emails and waits, and its log lines. */
export function presentLeadDetail(
  { lead, story }: LeadDetail,
  ctx: Pick<Ctx, 'config' | 'language'>,
): z.input<typeof leadDetail> {
  return {
    ...presentLead(lead, { ...ctx, campaignId: story.campaign.id }),
    campaign: story.campaign,
    steps: story.steps.map(({ send, wait, detail, started_at, completed_at, ...step }) => ({
      ...step,
      detail: reasonIn(detail, ctx.language),
      started_at: iso(started_at),
      completed_at: iso(completed_at),
      send: send && presentStorySend(send),
      wait: wait && {
        ...wait,
        opened_at: iso(wait.opened_at),
        deadline: iso(wait.deadline),
        settled_at: iso(wait.settled_at),
      },
    })),
    reserved: story.reserved && presentStorySend(story.reserved),
    log: story.log.map((line) => ({ ...line, ...presentMessage(line.message, ctx.language), at: iso(line.at) })),
  };
}

function presentStorySend({
  mailbox_id,
  slot_at,
  sent_at,
  ...send
}: StorySend): NonNullable<z.input<typeof leadDetail>['reserved']> {
  return { ...send, email_id: mailbox_id, slot_at: iso(slot_at), sent_at: iso(sent_at) };
}
