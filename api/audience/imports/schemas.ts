import { z } from 'zod';
import { DELIMITERS } from '../../../domain/audience/imports/dialect.ts';
import { CONTACT_LIMITS, isCustomKey, LOST_NAME } from '../../../domain/directory/contact-fields.ts';
import { paged, resource, runFields, timestamp, uuid } from '../../http/schemas.ts';

/** The uploaded file of a multipart body; it reaches the handler on disk, outside the body. */
const file = z.any().optional().meta({ type: 'string', format: 'binary', description: 'CSV file' });

const BUILT_IN = [
  'ignore',
  'email',
  'first_name',
  'last_name',
  'company',
  'phone',
  'subscribed',
  'categories',
] as const;

/** One column: `custom:<key>`, or `custom` with the key in custom_key. */
const columnMapping = z
  .strictObject({
    index: z.int().min(0).meta({ description: 'Zero-based' }),
    target: z.string().meta({
      description: 'ignore, email, first_name, last_name, company, phone, subscribed, categories or custom:<key>',
    }),
    custom_key: z.string().trim().optional(),
  })
  .transform(({ index, target, custom_key }, ctx) => {
    const full = target === 'custom' || target === 'custom:' ? `custom:${custom_key ?? ''}` : target;
    const key = full.startsWith('custom:') ? full.slice(7).trim() : undefined;
    const known = key === undefined ? (BUILT_IN as readonly string[]).includes(full) : isCustomKey(key);
    if (!known)
      ctx.addIssue({
        code: 'custom',
        path: ['target'],
        message: `One of ${BUILT_IN.join(', ')} or custom:<key>, whose key has at most ${CONTACT_LIMITS.customKey} characters and is not ${LOST_NAME}`,
      });
    return { index, target: key === undefined ? full : `custom:${key}` };
  });

const importOptions = z.strictObject({
  mapping: z.array(columnMapping).max(500).optional(),
  categories: z.array(z.string()).max(100).optional(),
  campaign_id: z.string().optional(),
  update_existing: z.boolean().optional(),
  has_header: z.boolean().optional(),
  delimiter: z.enum(DELIMITERS).optional(),
});

/** `options` travels as JSON text in its own part. */
const optionsText = z
  .string()
  .transform((text, ctx): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      ctx.addIssue({ code: 'custom', message: 'Not valid JSON' });
      return z.NEVER;
    }
  })
  .pipe(importOptions);

export const importBody = z.strictObject({
  file,
  options: optionsText.optional().meta({
    description:
      'JSON: mapping [{index, target}], categories, campaign_id, update_existing (default true), has_header, delimiter. ' +
      'What is left out is detected.',
  }),
});

export const previewBody = z.strictObject({ file });

export const importPreview = resource('ImportPreview', {
  filename: z.string(),
  format: z.literal('csv'),
  encoding: z.string(),
  delimiter: z.string(),
  total_rows: z.int(),
  columns: z.array(z.string()),
  has_header: z.boolean(),
  sample_rows: z.array(z.array(z.string())),
  suggested_mapping: z.array(z.strictObject({ index: z.int(), target: z.string(), custom_key: z.string().optional() })),
});

export const contactImport = resource('ContactImport', {
  id: uuid,
  status: z.enum(['queued', 'running', 'completed', 'failed', 'cancelled']),
  filename: z.string(),
  total_bytes: z.int(),
  read_bytes: z.int(),
  progress: z.number().meta({ description: 'Share of the file that has been applied, 0 to 1' }),
  total: z.int().meta({ description: 'Rows read so far: imported + updated + skipped + failed' }),
  imported: z.int(),
  updated: z.int(),
  skipped: z
    .int()
    .meta({ description: 'Duplicates, suppressed addresses, and known ones when update_existing is off' }),
  failed: z.int(),
  error: z.string().nullable(),
  mapping: z.array(z.strictObject({ index: z.int(), target: z.string() })),
  categories: z.array(z.string()),
  campaign_id: z.string().nullable(),
  update_existing: z.boolean(),
  created_at: timestamp,
  started_at: timestamp.nullable(),
  ended_at: timestamp.nullable(),
  ...runFields,
});

export const importPage = paged(contactImport);
export const problemPage = paged(
  resource('ImportProblem', { line: z.int(), email: z.string(), values: z.array(z.string()), reason: z.string() }),
);
