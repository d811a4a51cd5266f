import { z } from 'zod';
import { resource, timestamp, uuid } from '../../http/schemas.ts';

/** Fields of an allowance that its own credential may read too. */
export const ownAllowance = z.strictObject({
  campaign_id: uuid,
  leads_per_day: z.int(),
  used_today: z.int().meta({ description: 'Leads added today, in the time zone of the workspace' }),
});

export const leadAllowance = resource('LeadAllowance', {
  id: uuid,
  ...ownAllowance.shape,
  campaign_name: z.string(),
  api_key_id: uuid.nullable(),
  oauth_grant_id: uuid.nullable(),
  credential_name: z.string().meta({ description: 'Name of the key or application when a person granted it' }),
  granted_by: uuid.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});
