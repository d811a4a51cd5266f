import { z } from 'zod';
import { pageQuery, resource, timestamp, uuid } from '../http/schemas.ts';

const status = z.enum(['pending', 'approved', 'denied', 'expired', 'executed']);

export const approvalQuery = z.object({
  ...pageQuery(200, 50),
  status: status.optional().meta({ description: 'Only approvals in this state' }),
});

/** Largest allowance of leads for a day. */
export const MAX_LEADS_PER_DAY = 100_000;

export const decisionBody = z.strictObject({
  decision: z.enum(['approved', 'denied']),
  reason: z.string().trim().max(2000).optional().meta({ description: 'Shown in the audit log and to the requester' }),
  leads_per_day: z.int().min(1).max(MAX_LEADS_PER_DAY).optional().meta({
    description:
      'Only with approved leads (`campaign_leads`): from now on the credential may add this number of leads a day to this campaign without a person. If omitted, only these leads are approved',
  }),
});

/** Reasons why an action waits for a person's decision, one sentence each. */
const reasons = z.array(z.string());

export const approval = resource('Approval', {
  id: uuid,
  run_id: uuid.nullable().meta({ description: 'Run that waits; null for another subject' }),
  subject_type: z.enum(['run', 'campaign', 'campaign_leads', 'direct_send', 'mailbox_order']),
  subject_id: uuid,
  action_type: z.enum(['campaign.launch', 'email.compose', 'inbox.reply', 'mailbox.provision']),
  status: status.meta({ description: '`executed`: approved and carried out' }),
  requested_by: z.strictObject({
    api_key_id: uuid.nullable(),
    oauth_grant_id: uuid.nullable(),
    name: z.string().meta({ description: 'Name of the requesting key or application; null for a person' }),
  }),
  title: z.string().meta({ description: 'The action in one line' }),
  reasons,
  payload: z
    .looseObject({
      senders: z.array(
        z.looseObject({
          mailbox_id: uuid,
          email: z.string().meta({ description: 'The From address' }),
          name: z.string(),
          reply_to: z
            .string()
            .optional()
            .meta({ description: 'Address that gets the replies; empty for the From address' }),
          smtp: z.string().optional().meta({ description: 'Host and port of its mail server' }),
        }),
      ),
    })
    .meta({
      description:
        'What will happen, frozen: `title` (message code and values), `recipients`, `senders`, `schedule`, `steps` (the whole template) and up to three `samples` as their recipients would see them',
    }),
  payload_hash: z
    .string()
    .meta({ description: 'SHA-256 of `payload` with sorted keys; compared again before the action is carried out' }),
  preflight: z.looseObject({}).nullable().meta({ description: 'Findings of the checks at the time of the request' }),
  approval_url: z.string().meta({ format: 'uri', description: 'Page where a person sees the action and decides' }),
  created_at: timestamp,
  expires_at: timestamp,
  decided_by: uuid.nullable(),
  decided_at: timestamp.nullable(),
  reason: z.string().nullable().meta({
    description: 'Reason given by the person who decided, or why the approval ended without being carried out',
  }),
  executed_at: timestamp.nullable(),
});
