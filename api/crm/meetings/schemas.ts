import { z } from 'zod';
import { resource, timestamp, uuid } from '../../http/schemas.ts';

export const booking = resource('Meeting', {
  id: uuid,
  organization_id: uuid,
  source: z.string().meta({ description: 'calendly, cal_com or manual' }),
  external_event_id: z.string(),
  status: z.enum(['booked', 'rescheduled', 'canceled', 'completed', 'no_show']),
  invitee_email: z.string(),
  invitee_name: z.string(),
  event_name: z.string(),
  event_type: z.string(),
  scheduled_for: timestamp.nullable(),
  end_time: timestamp.nullable(),
  join_url: z.string(),
  location: z.string(),
  cancel_url: z.string(),
  reschedule_url: z.string(),
  canceled_reason: z.string(),
  contact_id: uuid.nullable(),
  campaign_id: uuid.nullable(),
  contact_name: z.string(),
  created_at: timestamp,
  updated_at: timestamp,
});
