import type { z } from 'zod';
import type { Allowance } from '../../domain/mailboxes/allowance.ts';
import type { AuthCheck } from '../../domain/mailboxes/auth-check.ts';
import type { LiveCheck } from '../../domain/mailboxes/live-check.ts';
import { fixOfHold } from '../../domain/sending/control/hold-codes.ts';
import { holdOf } from '../../domain/mailboxes/read.ts';
import type { Connected } from '../../domain/mailboxes/connect-many.ts';
import type { ConsentResult, StartedConsent } from '../../domain/mailboxes/consent.ts';
import type { MailboxDetail, MailboxError, MailboxView } from '../../domain/mailboxes/read.ts';
import type { WarmupStanding } from '../../domain/mailboxes/warmup/standing.ts';
import { iso } from '../http/schemas.ts';
import { presentStanding } from './warmup/present.ts';
import type {
  allowance,
  authCheck,
  consentResult,
  liveCheck,
  mailbox,
  mailboxConnections,
  mailboxDetail,
  startedConsent,
} from './schemas.ts';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import { mailboxErrorTitle } from '../../domain/sending/control/mailbox-hold.ts';
import { presentIssue } from '../http/stored-message.ts';
import { render } from '../../messages/render.ts';

/** Part of the context with the language of the caller. */
type Reader = Pick<Ctx, 'language'>;

/** Returns a mailbox for answers, without passwords. */
export function presentMailbox(
  { mailbox: row, tags, lastUid, lastSyncedAt }: MailboxView,
  { language }: Reader,
): z.input<typeof mailbox> {
  const hold = holdOf(row);
  return {
    id: row.id,
    user_id: row.user_id,
    organization_id: row.organization_id,
    email: row.email,
    name: row.name,
    provider: row.provider,
    status: row.status,
    smtp: row.smtp,
    imap: row.imap,
    hold: hold && {
      code: hold.code,
      title: render(mailboxErrorTitle(hold.code), language),
      reason: render(hold.reason, language),
      until: iso(hold.until),
      fix: render(fixOfHold(hold.code), language),
    },
    signature_plain: row.signature_plain,
    signature_html: row.signature_html,
    signature_sync: row.signature_sync,
    signature_code: row.signature_code,
    send_as_email: row.send_as_email,
    last_synced_at: iso(lastSyncedAt),
    last_id: lastUid,
    campaign_limit: row.campaign_limit,
    min_wait_time: row.min_wait_time,
    reply_to: row.reply_to,
    save_to_sent: row.save_to_sent,
    tracking_domain: row.tracking_domain,
    tracking_domain_verified: row.tracking_domain_verified,
    tracking_domain_verified_at: iso(row.tracking_domain_verified_at),
    warmup: iso(row.warmup),
    warmup_paused_at: iso(row.warmup_paused_at),
    warmup_base: row.warmup_base,
    warmup_max: row.warmup_max,
    warmup_increase: row.warmup_increase,
    warmup_reply_rate: row.warmup_reply_rate,
    warmup_tag: row.warmup_tag,
    warmup_pool_type: row.warmup_pool_type,
    warmup_start_time: row.warmup_start_time,
    warmup_end_time: row.warmup_end_time,
    warmup_days: row.warmup_days,
    timezone: row.timezone,
    tags,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** Returns a mailbox with the campaigns that use it and its latest errors. */
export function presentDetail(detail: MailboxDetail, reader: Reader): z.input<typeof mailboxDetail> {
  return {
    ...presentMailbox(detail, reader),
    campaigns: detail.campaigns,
    recent_errors: detail.recentErrors.map((error) => presentError(error, reader)),
  };
}

function presentError(
  error: MailboxError,
  { language }: Reader,
): z.input<typeof mailboxDetail>['recent_errors'][number] {
  return {
    ...error,
    title: render(mailboxErrorTitle(error.error_code), language),
    message: render(error.message, language),
    created_at: iso(error.created_at),
    resolved_at: iso(error.resolved_at),
  };
}

/**
 * Returns the number of mailboxes that the workspace may still connect. `pending_request` is always null, because a
 * higher limit cannot be requested.
 */
export function presentAllowance({ limit, used, remaining }: Allowance): z.input<typeof allowance> {
  return { remaining, limit, used, pending_request: null };
}

/**
 * Returns the results of a live check of sending, reading and DNS, with all other conditions under which the mailbox
 * sends.
 */
export function presentLiveCheck(check: LiveCheck, warmup: WarmupStanding, reader: Reader): z.input<typeof liveCheck> {
  const { mailbox: row } = check;
  return {
    email_account_id: row.id,
    email: row.email,
    provider: row.provider,
    smtp: check.smtp,
    imap: check.imap,
    auth: check.auth,
    healthy: check.healthy,
    sending_status: check.sendingStatus,
    status: row.status,
    daily_limit: row.campaign_limit,
    min_delay_seconds: row.min_wait_time,
    warmup: presentStanding(warmup, reader),
    campaigns: check.campaigns,
    recent_errors: check.recentErrors.map((error) => presentError(error, reader)),
    ...(check.error ? { error: presentIssue(check.error, reader.language) } : {}),
  };
}

/** Returns the SPF, DKIM and DMARC records of the sending domain. Missing records are omitted. */
export function presentAuthCheck(check: AuthCheck, { language }: Reader): z.input<typeof authCheck> {
  return {
    domain: check.domain,
    spf_found: check.spfRecord !== null,
    ...(check.spfRecord === null ? {} : { spf_record: check.spfRecord }),
    dkim_found: check.dkimSelectors.length > 0,
    ...(check.dkimSelectors.length === 0 ? {} : { dkim_selectors: check.dkimSelectors }),
    dmarc_found: check.dmarcPolicy !== null,
    ...(check.dmarcPolicy === null ? {} : { dmarc_policy: check.dmarcPolicy }),
    all_aligned: check.allAligned,
    summary: render(check.summary, language),
  };
}

/**
 * Returns the URL where a person grants access to their mailbox, and the session id to poll. `expires_in` is in
 * seconds.
 */
export function presentStartedConsent({ url, session, expiresInMs }: StartedConsent): z.input<typeof startedConsent> {
  return { url, session, expires_in: Math.round(expiresInMs / 1000) };
}

/** Returns the state of a consent: with the mailbox once it is connected, or with the error. */
export function presentConsent(
  { status, provider, mailbox: detail, error }: ConsentResult,
  reader: Reader,
): z.input<typeof consentResult> {
  return {
    status,
    provider,
    ...(detail ? { account: presentDetail(detail, reader) } : {}),
    ...(error ? { error: presentIssue(error, reader.language) } : {}),
  };
}

/** Returns a mailbox of a bulk connect: connected, or refused with its error. */
export function presentConnected(
  one: Connected,
  index: number,
  reader: Reader,
): z.input<typeof mailboxConnections>['results'][number] {
  if ('mailbox' in one) return { email: one.email, mailbox: presentMailbox(one.mailbox, reader), error: null };
  const { code, said, fix, problems = [] } = one.error;
  return {
    email: one.email,
    mailbox: null,
    error: {
      code,
      message: render(said, reader.language),
      fix: fix ? render(fix, reader.language) : null,
      problems: problems.map(({ path, message: fault }) => ({
        path: path.replace(/^body\b/, `body.mailboxes.${index}`),
        message: render(fault, reader.language),
      })),
    },
  };
}
