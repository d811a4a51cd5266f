import { z } from 'zod';
import { timestamp, uuid } from '../http/schemas.ts';

const name = z.string().trim().min(1).max(100);
/** Checks what does not need the installation's settings; the verb checks the rest. */
const baseUrl = z
  .string()
  .trim()
  .max(2048)
  .superRefine((value, context) => {
    if (!URL.canParse(value)) context.addIssue({ code: 'custom', message: 'The URL is not valid.' });
    else if (new URL(value).username || new URL(value).password)
      context.addIssue({ code: 'custom', message: 'The URL must not contain credentials.' });
  })
  .meta({ format: 'uri', description: 'HTTPS; query and fragment are dropped' });

export const createBody = z.strictObject({ name, base_url: baseUrl });
export const updateBody = z.strictObject({ name: name.optional(), base_url: baseUrl.optional() });

export const appConnection = z.strictObject({
  id: uuid,
  organization_id: uuid,
  name: z.string(),
  base_url: z.string(),
  created_at: timestamp,
  updated_at: timestamp,
});

export const secret = z.string().meta({ description: 'Signs every request to the app; shown once' });

export const connectionTest = z.strictObject({
  dns: z.boolean(),
  tls: z.boolean(),
  connection: z.boolean(),
  authentication: z.boolean().meta({ description: 'The app answered 2xx to a signed app.ping' }),
  status: z.int().meta({ description: 'HTTP status of the answer; 0 when there was none' }),
  latency_ms: z.int(),
  error: z.strictObject({ code: z.literal('app_connection_failed'), message: z.string(), fix: z.string() }).optional(),
});
