import { z } from 'zod';
import { REPORTED_TYPES } from '../../domain/deliverability/report.ts';
import { jsonProblem } from '../../lib/storable-json.ts';
import { emailAddress, uuid } from '../http/schemas.ts';

const line = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => jsonProblem(text) === undefined, 'Contains characters that cannot be stored');

export const reportedEvent = z.strictObject({
  event_type: z.enum(REPORTED_TYPES),
  recipient_email: emailAddress,
  campaign_id: uuid.optional(),
  task_id: uuid.optional().meta({ description: 'Id of the email, as events and the activity of a contact carry it' }),
  contact_id: uuid.optional(),
  provider: line(100).optional().meta({ description: 'Who saw it, such as ses or postmark' }),
  reason: line(2000).optional(),
  idempotency_key: line(255)
    .optional()
    .meta({ description: 'De-duplicates retries; a later report with the same key does nothing' }),
  metadata: z
    .record(z.string(), z.unknown())
    .optional()
    .superRefine((value, ctx) => {
      const problem = value && jsonProblem(value);
      if (problem) ctx.addIssue({ code: 'custom', message: `It ${problem}` });
    }),
});
