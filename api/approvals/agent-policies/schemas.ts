import { z } from 'zod';
import { besideFaults, inputTimestamp, resource, timestamp, uuid } from '../../http/schemas.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';
import { ownAllowance } from '../lead-allowances/schemas.ts';

/** Largest value of PostgreSQL's integer type. */
const MAX_INT = 2_147_483_647;
/** Maximum number of mailboxes in one policy. */
const MAX_MAILBOXES = 1000;

const capability = z
  .enum(['campaign.launch', 'email.compose', 'inbox.reply', 'mailbox.provision'])
  .meta({ description: 'Action that the credential may do without a person; none implies another' });
const limit = z.int().min(1).max(MAX_INT);
const cents = z.int().min(0).max(MAX_INT);

const limits = {
  max_recipients_per_run: 'People that one action may write to',
  max_recipients_per_day: 'People that all actions of a UTC day may write to',
  max_actions_per_day: 'Actions of a UTC day',
  max_monthly_mailbox_spend_cents:
    "The most that one order's monthly total may be; without it a person approves every order",
} as const;

/** Full policy: the body of POST, and of PUT, which replaces a policy. */
export const policyBody = z
  .strictObject({
    api_key_id: uuid.nullish(),
    oauth_grant_id: uuid.nullish(),
    name: z.string().trim().min(1).max(255),
    enabled: z.boolean().default(true),
    capabilities: z.array(capability),
    mailbox_ids: z.array(uuid).min(1).max(MAX_MAILBOXES),
    max_recipients_per_run: limit.meta({ description: limits.max_recipients_per_run }),
    max_recipients_per_day: limit.meta({ description: limits.max_recipients_per_day }),
    max_actions_per_day: limit.meta({ description: limits.max_actions_per_day }),
    max_monthly_mailbox_spend_cents: cents.nullish().meta({ description: limits.max_monthly_mailbox_spend_cents }),
    expires_at: inputTimestamp,
  })
  .refine(({ api_key_id: key, oauth_grant_id: grant }) => (key ?? null) === null || (grant ?? null) === null, {
    path: ['oauth_grant_id'],
    message: ruleMessage('field.key_and_grant'),
    ...besideFaults,
  })
  .refine(({ api_key_id: key, oauth_grant_id: grant }) => (key ?? null) !== null || (grant ?? null) !== null, {
    path: ['api_key_id'],
    message: ruleMessage('field.key_or_grant'),
    ...besideFaults,
  });

const shared = {
  api_key_id: uuid.nullable(),
  oauth_grant_id: uuid.nullable(),
  name: z.string(),
  enabled: z.boolean(),
  capabilities: z.array(capability),
};

export const policy = resource('AgentPolicy', {
  id: uuid,
  organization_id: uuid,
  ...shared,
  mailbox_ids: z.array(uuid),
  max_recipients_per_run: z.int(),
  max_recipients_per_day: z.int(),
  max_actions_per_day: z.int(),
  max_monthly_mailbox_spend_cents: z.int().nullable(),
  expires_at: timestamp,
  created_at: timestamp,
  updated_at: timestamp,
});

export const holders = z.strictObject({
  data: z.array(
    resource('PolicyHolder', {
      kind: z.enum(['api_key', 'oauth_grant']),
      id: uuid.meta({ description: 'The `api_key_id` or `oauth_grant_id` of its policy' }),
      name: z.string().meta({ description: 'Name of the key or the application' }),
      granted_by: z
        .string()
        .nullable()
        .meta({ description: 'Address of the person who authorized the application; null for a key' }),
      last_used_at: timestamp.nullable(),
      created_at: timestamp,
      policy_id: uuid.nullable().meta({ description: 'Policy of the credential, which has at most one' }),
    }),
  ),
});

export const effectivePolicy = resource('EffectivePolicy', {
  id: uuid.nullable(),
  source: z.enum(['policy', 'none', 'session']).meta({
    description:
      '`policy`: the policy of the calling credential. `none`: the credential has none, and a person decides on every action. `session`: a person, limited only by their role',
  }),
  autonomous: z.boolean().meta({ description: 'True if any action is allowed without a person' }),
  ...shared,
  mailbox_ids: z.array(uuid).nullable().meta({ description: 'Allowed mailboxes; null allows any' }),
  max_recipients_per_run: z.int().nullable().meta({ description: 'Null, here and below: the policy sets no limit' }),
  max_recipients_per_day: z.int().nullable(),
  max_actions_per_day: z.int().nullable(),
  max_monthly_mailbox_spend_cents: z.int().nullable(),
  expires_at: timestamp.nullable(),
  used_today: z
    .strictObject({ actions: z.int(), recipients: z.int() })
    .meta({ description: 'Use on this UTC day, without actions that a person approved' }),
  lead_allowances: z
    .array(ownAllowance)
    .meta({ description: 'Leads that the credential may add to campaigns that send, beyond its policy' }),
});
