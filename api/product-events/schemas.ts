import { z } from 'zod';
import { besideFaults, emailAddress, inputTimestamp, pageQuery, timestamp, uuid } from '../http/schemas.ts';

const eventName = z
  .string()
  .max(120)
  .regex(/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/, 'must be dot-separated segments of a-z, 0-9, _ and -');

export const publishBody = z
  .strictObject({
    name: eventName,
    email: emailAddress.optional(),
    contact_id: uuid.optional(),
    occurred_at: inputTimestamp.optional(),
    data: z.record(z.string(), z.unknown()).default({}),
  })
  .superRefine((body, context) => {
    if ((body.email === undefined) !== (body.contact_id === undefined)) return;
    const message = 'exactly one of email and contact_id must be given';
    context.addIssue({ code: 'custom', path: ['email'], message });
    context.addIssue({ code: 'custom', path: ['contact_id'], message });
  }, besideFaults);

export const listQuery = z.strictObject({
  ...pageQuery(200),
  name: z.string().max(120).optional(),
  email: emailAddress.optional(),
  contact_id: uuid.optional(),
  since: inputTimestamp.optional(),
});

export const productEvent = z.strictObject({
  id: uuid,
  organization_id: uuid,
  contact_id: uuid,
  name: z.string(),
  data: z.record(z.string(), z.unknown()),
  occurred_at: timestamp,
  received_at: timestamp,
});

export const accepted = z.strictObject({
  event_id: uuid,
  contact_id: uuid,
  name: z.string(),
  received_at: timestamp,
  matched_waits: z.int(),
  matched_runs: z.array(
    z.strictObject({
      run_id: uuid,
      campaign_id: uuid,
      step_id: uuid,
      contact_id: uuid,
      state: z.literal('resumed'),
      mode: z.enum(['live', 'test']).meta({ description: 'Of a lead, or of a test run of the campaign' }),
    }),
  ),
});
