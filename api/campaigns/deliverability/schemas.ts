import { z } from 'zod';
import { REPORTED_TYPES } from '../../../domain/campaigns/deliverability/report.ts';
import { emailAddress, uuid } from '../../http/schemas.ts';

export const reportedEvent = z.strictObject({
  event_type: z.enum(REPORTED_TYPES),
  recipient_email: emailAddress,
  campaign_id: uuid.optional(),
  task_id: uuid.optional().meta({ description: 'Id of the email, as in events and in the activity of a contact' }),
  message_id: z.string().min(1).max(1000).optional().meta({
    description:
      'Message-ID of the email, as sent (`mail.commonHeaders.messageId` of Amazon SES) or as a relay replaced it (`<mail.messageId@region.amazonses.com>`)',
  }),
  contact_id: uuid.optional(),
  provider: z.string().max(100).optional().meta({ description: 'System that observed it, such as ses or postmark' }),
  reason: z.string().max(2000).optional(),
  idempotency_key: z
    .string()
    .max(255)
    .optional()
    .meta({ description: 'Deduplicates retries; a later report with the same key has no effect' }),
  metadata: z.record(z.string(), z.unknown()).optional(),
});
