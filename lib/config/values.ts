import { z } from 'zod';

export const flag = z.enum(['true', 'false', '1', '0', '']).transform((v) => v === 'true' || v === '1');
export const port = z.coerce.number().int().min(0).max(65535);
export const count = z.coerce.number().int().min(0);
export const list = z.string().transform((v) =>
  v
    .split(',')
    .map((s) => s.trim())
    .filter(Boolean),
);
/** Pattern of 32 bytes in base64. */
export const MASTER_KEY = /^[A-Za-z0-9+/]{43}=$/;
/** Keys of 256 bits, comma separated. */
export const hexKeys = list.refine(
  (keys) => keys.every((key) => /^[0-9a-f]{64}$/i.test(key)),
  'each needs exactly 64 hex characters',
);
export const dbUrl = z.string().regex(/^postgres(ql)?:\/\//, 'needs a postgres:// URL');
/** Pattern of one CODEC_KEYS entry: the key's id, which payloads contain, and the key. */
export const CODEC_KEY = /^[a-z0-9][a-z0-9_.-]{0,62}:[0-9a-f]{64}$/i;
export const url = z.url().transform((v) => v.replace(/\/+$/, ''));

const mailServer = z.strictObject({
  host: z.string().min(1),
  port: z.int().min(1).max(65_535),
  security: z.enum(['tls', 'starttls', 'none']),
});
/** Replaces addresses of a mail provider, as JSON. Omitted addresses keep their default. */
export const endpoints = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue('needs JSON');
      return z.NEVER;
    }
  })
  .pipe(
    z
      .strictObject({ authorize: url, token: url, sendAs: url, revoke: url, smtp: mailServer, imap: mailServer })
      .partial(),
  );

/** Replaces addresses of integration providers, as JSON. */
export const providerEndpoints = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue('needs JSON');
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), z.strictObject({ api: url, authorize: url, token: url, revoke: url }).partial()));
