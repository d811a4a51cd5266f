import { z } from 'zod';
import { pageQuery, resource, timestamp, uuid } from '../http/schemas.ts';

/** States of an approval. */
const status = z.enum(['pending', 'approved', 'denied', 'expired', 'executed']);

export const approvalQuery = z.object({
  ...pageQuery(200, 50),
  status: status.optional().meta({ description: 'Only approvals in this state' }),
});

export const decisionBody = z.strictObject({
  decision: z.enum(['approved', 'denied']),
  reason: z.string().trim().max(2000).optional().meta({ description: 'For the record, and for who asked' }),
});

/** Why an action waits for a person: a sentence each. */
const reasons = z.array(z.string());

export const approval = resource('Approval', {
  id: uuid,
  run_id: uuid.nullable().meta({ description: 'The run that waits; null where another subject does' }),
  subject_type: z.enum(['run', 'campaign', 'campaign_leads', 'direct_send', 'mailbox_order']),
  subject_id: uuid,
  action_type: z.enum(['campaign.launch', 'email.compose', 'inbox.reply', 'mailbox.provision']),
  status: status.meta({ description: '`executed`: approved and carried out' }),
  requested_by: z.strictObject({
    api_key_id: uuid.nullable(),
    oauth_grant_id: uuid.nullable(),
    name: z.string().meta({ description: 'Of the key or application, when it asked' }),
  }),
  title: z.string().meta({ description: 'The action in one line' }),
  reasons,
  payload: z.looseObject({}).meta({
    description:
      'What will happen, frozen: `title` (the code of a sentence and its values), `recipients`, `senders`, `schedule`, `steps` (the whole template) and up to three `samples` as their recipients would see them',
  }),
  payload_hash: z
    .string()
    .meta({ description: 'SHA-256 of `payload` with sorted keys; compared when it is carried out' }),
  preflight: z.looseObject({}).nullable().meta({ description: 'What the checks found when it was asked for' }),
  approval_url: z.string().meta({ format: 'uri', description: 'Where a person sees it and decides' }),
  created_at: timestamp,
  expires_at: timestamp,
  decided_by: uuid.nullable(),
  decided_at: timestamp.nullable(),
  reason: z.string().nullable().meta({ description: 'Of the person who decided, or why it ended without a decision' }),
  executed_at: timestamp.nullable(),
});
