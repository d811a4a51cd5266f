import { z } from 'zod';
import { isPlaceholderId } from '../../../domain/audience/product-events/placeholder-id.ts';
import {
  besideFaults,
  emailAddress,
  inputTimestamp,
  pageQuery,
  resource,
  timestamp,
  uuid,
} from '../../http/schemas.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';

const eventName = z
  .string()
  .max(120)
  .regex(/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/, ruleMessage('directory.event_name'));

/**
 * Identifier of a person, stored unchanged: case and inner spaces are significant. Placeholders that clients send for
 * an unknown id are refused, because they would merge different people.
 */
const identifier = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .refine((text) => text === '' || !isPlaceholderId(text), ruleMessage('events.nobody'));

export const publishBody = z
  .strictObject({
    name: eventName,
    email: emailAddress.optional(),
    contact_id: uuid.optional(),
    user_id: identifier.optional().meta({
      description:
        'Id of an account in your product. It is linked to the person of the event. With it, `email` may be an address without a contact',
    }),
    anonymous_id: identifier.optional().meta({
      description: 'Id of a browser or device. It is linked like `user_id`, but does not identify the person',
    }),
    occurred_at: inputTimestamp.optional(),
    data: z.record(z.string(), z.unknown()).default({}),
  })
  .superRefine((body, context) => {
    if ((body.email === undefined) !== (body.contact_id === undefined)) return;
    const fault = ruleMessage('audience.event_owner');
    context.addIssue({ code: 'custom', path: ['email'], message: fault });
    context.addIssue({ code: 'custom', path: ['contact_id'], message: fault });
  }, besideFaults);

export const listQuery = z.object({
  ...pageQuery(200),
  name: z.string().max(120).optional().meta({ description: 'Only events of this name' }),
  email: emailAddress.optional().meta({ description: 'Only events of the contact with this address' }),
  contact_id: uuid.optional().meta({ description: 'Only events of this contact' }),
  since: inputTimestamp.optional().meta({ description: 'Only events received after this time' }),
});

export const productEvent = resource('ProductEvent', {
  id: uuid,
  organization_id: uuid,
  contact_id: uuid.nullable().meta({ description: 'Null for a person without a contact' }),
  person_id: uuid.nullable().meta({ description: 'Null only for old events, from before people were recorded' }),
  name: z.string(),
  data: z.record(z.string(), z.unknown()),
  occurred_at: timestamp,
  received_at: timestamp,
});

export const accepted = resource('AcceptedEvent', {
  event_id: uuid,
  contact_id: uuid.nullable().meta({ description: 'Null for a person without a contact' }),
  person_id: uuid.nullable(),
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
      mode: z.enum(['live', 'test']).meta({ description: 'Event of a real lead, or of a test run of the campaign' }),
    }),
  ),
});
