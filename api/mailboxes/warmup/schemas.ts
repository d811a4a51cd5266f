import { z } from 'zod';
import { MATCH_TYPES, PROVIDER_BUCKETS } from '../../../domain/mailboxes/warmup/routing.ts';
import { resource, timestamp, uuid } from '../../http/schemas.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';

const matchType = z.enum(MATCH_TYPES);
const matchValue = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .default('')
  .meta({ description: `Domain, TLD, or one of ${PROVIDER_BUCKETS.join(', ')}; unused if the type is any` });

/** Body of POST and PATCH /warmup/routing. */
export const ruleInput = z
  .strictObject({
    name: z.string().trim().min(1).max(200),
    priority: z
      .int()
      .min(-1_000_000)
      .max(1_000_000)
      .default(0)
      .meta({ description: 'Rules with a lower number are tried first' }),
    sender_match_type: matchType,
    sender_match_value: matchValue,
    recipient_match_type: matchType,
    recipient_match_value: matchValue,
    weight: z
      .number()
      .min(0)
      .max(1_000)
      .default(1)
      .meta({ description: 'Above 1 prefers the pair, below 1 avoids it; 0 excludes it, including replies' }),
    enabled: z.boolean().default(true),
  })
  .superRefine((rule, context) => {
    for (const side of ['sender', 'recipient'] as const) {
      const [type, value] = [rule[`${side}_match_type`], rule[`${side}_match_value`]];
      const fault = faultOf(type, value);
      if (fault) context.addIssue({ code: 'custom', path: [`${side}_match_value`], message: fault });
    }
  })
  .transform((rule) => ({
    ...rule,
    sender_match_value: rule.sender_match_type === 'any' ? '' : rule.sender_match_value,
    recipient_match_value: rule.recipient_match_type === 'any' ? '' : rule.recipient_match_value,
  }));

function faultOf(type: (typeof MATCH_TYPES)[number], value: string): string | undefined {
  if (type === 'any') return undefined;
  if (value === '') return ruleMessage('warmup.value_required');
  if (type === 'provider')
    return (PROVIDER_BUCKETS as readonly string[]).includes(value)
      ? undefined
      : ruleMessage('field.choice', { choices: PROVIDER_BUCKETS });
  if (type === 'domain') return /^[^\s@.]+(\.[^\s@.]+)+$/.test(value) ? undefined : ruleMessage('warmup.not_a_domain');
  return /^\.?[^\s@.]+(\.[^\s@.]+)*$/.test(value) ? undefined : ruleMessage('warmup.not_a_tld');
}

export const rule = resource('WarmupRule', {
  id: uuid,
  organization_id: uuid,
  name: z.string(),
  priority: z.int(),
  sender_match_type: matchType,
  sender_match_value: z.string(),
  recipient_match_type: matchType,
  recipient_match_value: z.string(),
  weight: z.number(),
  enabled: z.boolean(),
  created_at: timestamp,
  updated_at: timestamp,
});

export const ruleList = z.strictObject({ rules: z.array(rule) });

export const standing = resource('WarmupStanding', {
  email_account_id: uuid,
  enabled: z.boolean(),
  status: z.enum(['warming', 'paused', 'stopped', 'blocked']),
  started_at: timestamp.optional().meta({ description: 'Start of the ramp; pauses move it' }),
  paused_at: timestamp.optional(),
  pool: z.string(),
  daily_target: z.int().meta({ description: "Number of warmup emails today, as far as the mailbox's cap allows" }),
  base: z.int(),
  max: z.int(),
  increase: z.int(),
  reply_rate: z.int().meta({ description: 'Percent of received warmup emails that the mailbox replies to' }),
  health_state: z.enum(['healthy', 'watch', 'throttled', 'quarantined', 'blocked']),
  blocked_until: timestamp.optional(),
  blocked_reason: z.string().optional(),
});

export const banStatus = resource('MailboxWarmupBanStatus', {
  email_account_id: uuid,
  blocked: z.boolean().meta({ description: 'True while quarantined or blocked' }),
  health_state: standing.shape.health_state,
  reason: z.string().optional(),
  blocked_at: timestamp.optional(),
  blocked_until: timestamp.optional().meta({ description: 'Time at which the mailbox takes part again' }),
  can_appeal: z.boolean().meta({ description: 'Always false' }),
  pending_appeal: z.boolean().meta({ description: 'Always false' }),
});
