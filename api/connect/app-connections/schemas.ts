import { z } from 'zod';
import { outboundUrl, resource, timestamp, uuid } from '../../http/schemas.ts';

const name = z.string().trim().min(1).max(100);
const baseUrl = outboundUrl('HTTPS; query and fragment are dropped');

export const createBody = z.strictObject({ name, base_url: baseUrl });
export const updateBody = z.strictObject({ name: name.optional(), base_url: baseUrl.optional() });

export const appConnection = resource('AppConnection', {
  id: uuid,
  organization_id: uuid,
  name: z.string(),
  base_url: z.string(),
  created_by: uuid
    .nullable()
    .meta({ description: 'Member who created it, or took it over. Null if the account was deleted' }),
  created_at: timestamp,
  updated_at: timestamp,
});

export const secret = z.string().meta({ description: 'Signs every request to the app; shown once' });

export const connectionTest = resource('AppConnectionTest', {
  dns: z.boolean(),
  tls: z.boolean(),
  connection: z.boolean(),
  authentication: z.boolean().meta({ description: 'The app answered 2xx to a signed app.ping' }),
  status: z.int().meta({ description: 'HTTP status of the answer; 0 when there was none' }),
  latency_ms: z.int(),
  error: z.strictObject({ code: z.literal('app_connection_failed'), message: z.string(), fix: z.string() }).optional(),
});
