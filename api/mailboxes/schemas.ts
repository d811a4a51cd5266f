import { z } from 'zod';
import { minuteOfDay } from '../../domain/platform/scheduling/windows.ts';
import { standing } from './warmup/schemas.ts';
import { emailAddress, paged, resource, timestamp, uuid } from '../http/schemas.ts';
import { ruleMessage } from '../../lib/issue-message.ts';
import { MAX_CONNECTS } from '../../domain/mailboxes/connect-many.ts';
import { issue } from '../http/stored-message.ts';

/** Text for a mail header: no line breaks or control characters. */
const headerLine = z
  .string()
  .trim()
  .max(200)
  .refine((text) => !/\p{Cc}/u.test(text), ruleMessage('mailboxes.control_characters'));
const body = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => !text.includes('\0') && !/\p{Surrogate}/u.test(text), ruleMessage('mailboxes.unstorable'));

const mailService = z
  .strictObject({
    host: z.string().trim().toLowerCase().min(1).max(253),
    port: z.int().min(1).max(65_535),
    username: z
      .string()
      .min(1)
      .max(320)
      .refine((text) => !/\p{Cc}/u.test(text), ruleMessage('mailboxes.control_characters')),
    password: z
      .string()
      .min(1)
      .max(1000)
      .refine((text) => !/[\r\n\0]/.test(text), ruleMessage('mailboxes.line_break')),
    security: z
      .enum(['tls', 'starttls', 'none'])
      .meta({ description: 'tls: encrypted from the first byte. starttls: required. none: unencrypted' }),
  })
  .meta({
    id: 'MailServerInput',
    description: 'Includes the password: servers are never changed without testing them',
  });

const limits = {
  campaign_limit: z
    .int()
    .min(0)
    .max(100)
    .optional()
    .meta({ description: 'Campaign emails per UTC day, over all campaigns; default 50' }),
  min_wait_time: z.int().min(0).max(86_400).optional().meta({ description: 'Seconds between two emails; default 600' }),
};

const connectSmtp = z.strictObject({
  provider: z.literal('smtp_imap'),
  email: emailAddress,
  name: headerLine,
  smtp: mailService,
  imap: mailService,
  ...limits,
});

/**
 * Body of POST /emails. The schema accepts other providers only so that the route can answer that they are connected
 * differently.
 */
export const connectMailbox = z.discriminatedUnion('provider', [
  connectSmtp,
  z
    .looseObject({ provider: z.enum(['gmail', 'google', 'outlook', 'microsoft']) })
    .meta({ description: 'Refused with mailbox_provider_requires_oauth' }),
]);

export const connectMailboxes = z.strictObject({ mailboxes: z.array(connectSmtp).min(1).max(MAX_CONNECTS) });

const perDay = (description: string) => z.int().min(0).max(100).optional().meta({ description });
const timeOfDay = (description: string) =>
  z
    .string()
    .refine((time) => minuteOfDay(time) !== undefined, ruleMessage('field.time_of_day'))
    .optional()
    .meta({ description: `HH:MM. ${description}` });

export const updateMailbox = z.strictObject({
  name: headerLine.optional(),
  status: z.enum(['active', 'inactive', 'revoked']).optional().meta({ description: 'active also releases a hold' }),
  ...limits,
  reply_to: z.union([z.literal(''), emailAddress]).optional(),
  save_to_sent: z.boolean().optional().meta({ description: 'Keep a copy of campaign emails in the Sent folder' }),
  send_as_email: z
    .union([z.literal(''), emailAddress])
    .optional()
    .meta({ description: 'Send-as address verified by Gmail for the mailbox; empty for its own' }),
  signature_plain: body(10_000).optional(),
  signature_html: body(100_000).optional(),
  signature_sync: z.boolean().optional(),
  signature_code: z.boolean().optional(),
  warmup: z
    .boolean()
    .optional()
    .meta({ description: 'true starts its warmup or resumes a paused one; false stops it and resets the ramp' }),
  warmup_base: perDay('Warmup emails on the first day of the ramp'),
  warmup_max: perDay('Warmup emails a day at most'),
  warmup_increase: perDay('Warmup emails more on every further day'),
  warmup_reply_rate: z
    .int()
    .min(0)
    .max(100)
    .optional()
    .meta({ description: 'Percent of received warmup emails that the mailbox replies to' }),
  warmup_tag: headerLine.optional(),
  warmup_start_time: timeOfDay('Warmup emails leave from this time on, in the time zone of the mailbox'),
  warmup_end_time: timeOfDay('They leave before this time; equal times are the whole day'),
  warmup_days: z
    .int()
    .min(0)
    .max(127)
    .optional()
    .meta({ description: 'Sending weekdays as bits: Monday 1, Tuesday 2, Wednesday 4, to Sunday 64' }),
  tags: z.array(z.string()).max(100).optional().meta({ description: 'Replaces all tags' }),
  smtp: mailService.optional(),
  imap: mailService.optional(),
});

const storedService = resource('MailServer', {
  host: z.string(),
  port: z.int(),
  username: z.string(),
  security: z.enum(['tls', 'starttls', 'none']),
});

const mailboxFields = {
  id: uuid,
  user_id: uuid.nullable(),
  organization_id: uuid,
  email: z.string(),
  name: z.string(),
  provider: z.enum(['gmail', 'outlook', 'smtp_imap']),
  status: z.enum(['active', 'inactive', 'revoked']),
  smtp: storedService,
  imap: storedService.nullable(),
  hold: z
    .strictObject({
      code: z.string(),
      title: z.string().meta({ description: 'Text of the code' }),
      reason: z.string().meta({ description: 'Words of the mail server or of the provider, if it gave any' }),
      until: timestamp.nullable(),
      fix: z.string(),
    })
    .nullable()
    .meta({
      description:
        'Set while an active mailbox must not send. `order_unpaid` and `domain_lapsed` last until the order is paid or the domain renewed',
    }),
  signature_plain: z.string(),
  signature_html: z.string(),
  signature_sync: z.boolean(),
  signature_code: z.boolean(),
  send_as_email: z.string(),
  last_synced_at: timestamp.nullable(),
  last_id: z.int().meta({ description: 'Highest IMAP UID read in the INBOX' }),
  campaign_limit: z.int(),
  min_wait_time: z.int(),
  reply_to: z.string(),
  save_to_sent: z.boolean(),
  tracking_domain: z.string(),
  tracking_domain_verified: z.boolean(),
  tracking_domain_verified_at: timestamp.nullable(),
  warmup: timestamp.nullable(),
  warmup_paused_at: timestamp.nullable(),
  warmup_base: z.int(),
  warmup_max: z.int(),
  warmup_increase: z.int(),
  warmup_reply_rate: z.int(),
  warmup_tag: z.string(),
  warmup_pool_type: z.string(),
  warmup_start_time: z.string(),
  warmup_end_time: z.string(),
  warmup_days: z.int(),
  timezone: z.string(),
  tags: z.array(uuid),
  created_at: timestamp,
  updated_at: timestamp,
};

const sendingCampaign = resource('SendingCampaign', { id: uuid, name: z.string(), status: z.string() });
const mailboxError = resource('MailboxError', {
  id: uuid,
  error_code: z.string(),
  severity: z.enum(['warning', 'error']),
  title: z.string(),
  message: z.string(),
  created_at: timestamp,
  resolved_at: timestamp.nullable(),
});

export const mailbox = resource('Mailbox', mailboxFields);
export const mailboxDetail = resource('MailboxDetail', {
  ...mailboxFields,
  campaigns: z.array(sendingCampaign),
  recent_errors: z.array(mailboxError),
});
export const mailboxPage = paged(mailbox);

export const mailboxConnections = resource('MailboxConnections', {
  results: z
    .array(
      z.strictObject({
        email: z.string(),
        mailbox: mailbox.nullable().meta({ description: 'Null for a refused mailbox' }),
        error: z
          .strictObject({
            code: z.string(),
            message: z.string(),
            fix: z.string().nullable(),
            problems: z.array(z.strictObject({ path: z.string(), message: z.string() })),
          })
          .nullable()
          .meta({ description: 'Problems that POST /emails would return' }),
      }),
    )
    .meta({ description: 'One row per mailbox, in the order sent' }),
});

export const allowance = resource('MailboxAllowance', {
  remaining: z.int().nullable().meta({ description: 'Null if there is no limit' }),
  limit: z.int().nullable(),
  used: z.int(),
  pending_request: z.null().meta({ description: 'Always null: a self-hosted installation has no requests for more' }),
});

export const liveCheck = resource('MailboxCheck', {
  email_account_id: uuid,
  email: z.string(),
  provider: z.string(),
  smtp: z.boolean(),
  imap: z.boolean(),
  auth: z.boolean(),
  healthy: z.boolean(),
  sending_status: z.string(),
  status: z.string(),
  daily_limit: z.int(),
  min_delay_seconds: z.int(),
  warmup: standing,
  campaigns: z.array(sendingCampaign),
  recent_errors: z.array(mailboxError),
  error: issue.optional(),
});

export const authCheck = resource('DomainAuthentication', {
  domain: z.string(),
  spf_found: z.boolean(),
  spf_record: z.string().optional(),
  dkim_found: z.boolean(),
  dkim_selectors: z.array(z.string()).optional(),
  dmarc_found: z.boolean(),
  dmarc_policy: z.string().optional(),
  all_aligned: z.boolean(),
  summary: z.string(),
});

/** Body of POST /emails/onboarding/oauth/cli-start. */
export const startConsent = z.strictObject({ provider: z.enum(['gmail', 'outlook']) });

export const startedConsent = z.strictObject({
  url: z.url().meta({ description: 'Consent page of the provider' }),
  session: z.string().meta({ description: 'Secret id of the consent, for polling its result' }),
  expires_in: z.int().meta({ description: 'Seconds' }),
});

export const consentParams = z.object({ session: z.string().max(200) });

export const consentResult = resource('ConsentResult', {
  status: z.enum(['pending', 'done', 'failed']),
  provider: z.enum(['gmail', 'outlook']),
  account: mailboxDetail
    .optional()
    .meta({ description: 'The mailbox, if the consent is done and it was not removed since' }),
  error: issue.optional(),
});
