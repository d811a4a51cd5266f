import { z } from 'zod';
import { encodingNamed } from '../../../domain/audience/imports/encoding.ts';
import { DELIMITERS } from '../../../domain/audience/imports/layout.ts';
import { ROW_REASONS } from '../../../domain/audience/imports/rows.ts';
import { ENCODINGS } from '../../../lib/encodings.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';
import { CONTACT_LIMITS, isCustomKey, FORBIDDEN_KEY } from '../../../domain/directory/contact-fields.ts';
import { paged, resource, runFields, timestamp, uuid } from '../../http/schemas.ts';

/** Uploaded file of a multipart body. The handler receives it as a file on disk, outside the body. */
const file = z.any().optional().meta({ type: 'string', format: 'binary', description: 'CSV, XLSX or ODS file' });

const BUILT_IN = [
  'ignore',
  'email',
  'first_name',
  'last_name',
  'company',
  'phone',
  'subscribed',
  'unsubscribed',
  'bounced',
  'categories',
] as const;

/** Mapping of one column: `custom:<key>`, or `custom` with the key in custom_key. */
const columnMapping = z
  .strictObject({
    index: z.int().min(0).meta({ description: 'Zero-based' }),
    target: z.string().meta({
      description:
        'ignore, email, first_name, last_name, company, phone, categories or custom:<key>; subscribed for a column where yes permits mail, unsubscribed and bounced for columns where yes forbids it',
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
        message: ruleMessage('imports.unknown_target', {
          targets: BUILT_IN,
          max: CONTACT_LIMITS.customKey,
          reserved: FORBIDDEN_KEY,
        }),
      });
    return { index, target: key === undefined ? full : `custom:${key}` };
  });

const encoding = z.string().transform((label, ctx) => {
  const name = encodingNamed(label);
  if (name) return name;
  ctx.addIssue({ code: 'custom', message: ruleMessage('field.choice', { choices: ENCODINGS }) });
  return z.NEVER;
});

const MAX_SKIPPED = 10_000;

/** Options for reading a file. An omitted option is detected. */
const reading = {
  mapping: z.array(columnMapping).max(500).optional(),
  has_header: z.boolean().optional(),
  delimiter: z.enum(DELIMITERS).optional(),
  encoding: encoding.optional(),
  skip_rows: z.int().min(0).max(MAX_SKIPPED).optional(),
  sheet: z.string().max(200).optional(),
};

const importOptions = z.strictObject({
  ...reading,
  categories: z.array(z.string()).max(100).optional(),
  campaign_id: z.string().optional(),
  update_existing: z.boolean().optional(),
});

/** Options are sent as JSON text in their own multipart part. */
const jsonText = z.string().transform((text, ctx): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    ctx.addIssue({ code: 'custom', message: ruleMessage('field.not_json') });
    return z.NEVER;
  }
});

const READING_WORDS =
  'mapping [{index, target}], has_header, delimiter, encoding, skip_rows (lines above the header), sheet (of a workbook, by name)';

export const importBody = z.strictObject({
  file,
  options: jsonText
    .pipe(importOptions)
    .optional()
    .meta({
      description: `JSON: ${READING_WORDS}, categories, campaign_id, update_existing (default true). Omitted options are detected.`,
    }),
});

export const previewBody = z.strictObject({
  file,
  options: jsonText
    .pipe(z.strictObject(reading))
    .optional()
    .meta({ description: `JSON: ${READING_WORDS}. Omitted options are detected.` }),
});

const storedRow = z.strictObject({
  line: z.int().meta({ description: 'Line of the file, or row of the sheet' }),
  reason: z.enum(ROW_REASONS).nullable().meta({ description: 'Reason for skipping the row; null for a good row' }),
  contact: z
    .strictObject({
      email: z.string(),
      first_name: z.string(),
      last_name: z.string(),
      company: z.string(),
      phone: z.string(),
      custom_fields: z.record(z.string(), z.string()),
      categories: z.array(z.string()),
      subscribed: z.boolean(),
      suppressed_as: z.enum(['opted_out', 'bounced']).nullable().meta({
        description: 'Reason in the file for which the address will be suppressed',
      }),
    })
    .nullable()
    .meta({ description: 'Contact as it would be stored; null if the row is not imported' }),
});

export const importPreview = resource('ImportPreview', {
  filename: z.string(),
  format: z.enum(['csv', 'xlsx', 'ods']),
  encoding: z.string(),
  encoding_confidence: z.number().meta({ description: '0 to 1; 1 is certain' }),
  delimiter: z.string(),
  sheet: z.string().nullable().meta({ description: 'Name of the sheet; null for a CSV file' }),
  sheets: z.array(z.string()).meta({ description: 'Visible sheets of the workbook' }),
  skip_rows: z.int().meta({ description: 'Lines above the header, or above the first row without one' }),
  total_rows: z.int(),
  columns: z.array(z.string()),
  has_header: z.boolean(),
  sample_rows: z.array(z.array(z.string())),
  suggested_mapping: z.array(z.strictObject({ index: z.int(), target: z.string(), custom_key: z.string().optional() })),
  stored_rows: z.array(storedRow).meta({ description: 'The first rows as they would be stored' }),
  problems: z
    .array(z.strictObject({ reason: z.enum(ROW_REASONS), rows: z.int(), first_line: z.int() }))
    .meta({ description: 'Number of rows of the whole file that would be skipped or changed, by reason' }),
  unsubscribed_rows: z.int().meta({ description: 'Number of rows that would be imported as unsubscribed' }),
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
    .meta({ description: 'Duplicates, suppressed addresses, and known addresses if update_existing is off' }),
  failed: z.int(),
  unclear: z.int().meta({
    description: 'Rows imported as unsubscribed because their permission cell was not understood',
  }),
  error: z.string().nullable(),
  mapping: z.array(z.strictObject({ index: z.int(), target: z.string() })),
  categories: z.array(z.string()),
  campaign_id: z.string().nullable(),
  approval_id: uuid
    .nullable()
    .meta({ description: 'Approval that leads of the file wait for, or waited for; set when the import ends' }),
  approval_url: z.string().nullable().meta({ format: 'uri', description: 'Page where a person signs in and decides' }),
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
