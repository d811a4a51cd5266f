import { z } from 'zod';
import { addressKey } from '../../lib/address.ts';
import { isWritable } from '../../lib/clock.ts';
import type { Page } from '../../lib/cursor.ts';
import { ruleMessage } from '../../lib/issue-message.ts';

/**
 * Option for a rule about several fields of an object. The rule also runs when a field is invalid or unknown, so that
 * one answer names all problems. Fields may then be missing or of another type.
 */
export const besideFaults = { when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null };

/** RFC 3339 time in UTC, for answers. */
export const timestamp = z.iso.datetime({ offset: true });
const YEARS = ruleMessage('field.years');
/** RFC 3339 time from clients, parsed to a Date. Its UTC year must be one that answers and cursors can represent. */
export const inputTimestamp = z.iso
  .datetime({ offset: true, local: false })
  .transform((value) => new Date(value))
  .refine(isWritable, YEARS);
/** Day from clients, `YYYY-MM-DD`. */
export const inputDay = z.iso.date().refine((day) => !day.startsWith('0000'), YEARS);

/** Field that makes a change fail if somebody else changed the record meanwhile. */
export const expectedVersion = {
  expected_updated_at: inputTimestamp.optional().meta({
    description:
      'The `updated_at` that you have read. If it has changed since, the answer is 409 and nothing is changed',
  }),
};
/** Like {@link expectedVersion}, for a record that may not exist yet. */
export const expectedVersionIfAny = {
  expected_updated_at: inputTimestamp.nullable().optional().meta({
    description:
      'The `updated_at` that you have read, which may be null. If it has changed since, the answer is 409 and nothing is changed',
  }),
};
export const uuid = z.uuid();
/** Id of a request, as a client sent it or the server made it. */
export const requestId = z.string().min(1).max(128);
/**
 * URL that Heron will call. Checks rules that need neither DNS nor the settings; the verb checks the rest.
 */
export function outboundUrl(description: string) {
  return z
    .string()
    .trim()
    .max(2048)
    .superRefine((value, context) => {
      if (!URL.canParse(value)) context.addIssue({ code: 'custom', message: ruleMessage('field.url') });
      else if (new URL(value).username || new URL(value).password)
        context.addIssue({ code: 'custom', message: ruleMessage('field.url_credentials') });
    })
    .meta({ format: 'uri', description });
}
/** Fields of a record with a workflow run. Absent if there is nothing to show. */
export const runFields = {
  blocked_reason: z
    .string()
    .optional()
    .meta({ description: 'Reason why the run is blocked after repeated failures; absent if it is not blocked' }),
  temporal_url: z
    .string()
    .optional()
    .meta({ description: 'Run in the Temporal UI; absent without TEMPORAL_UI_URL or without a run' }),
};
/** Path ids are plain strings, so that a malformed id gives the same 404 as an unknown one. */
export const idParams = z.object({ id: z.string() });

/**
 * Names a schema among the components of the OpenAPI document, where every use becomes a reference. A schema derived
 * from a named one has no name. Two schemas of one name make the document fail.
 */
export function named<T extends z.ZodType>(name: string, schema: T): T {
  z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), id: name });
  return schema;
}

/** Creates a closed object schema with a name in the OpenAPI document; see {@link named}. */
export function resource<Shape extends z.core.$ZodLooseShape>(
  name: string,
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  return named(name, z.strictObject(shape));
}

const pagination = resource('Pagination', {
  total: z.int().nullable().meta({ description: 'Number of rows on all pages; null in lists that do not count' }),
  next_cursor: z
    .string()
    .nullable()
    .meta({ description: 'Send it as `cursor` for the next page; null on the last page' }),
  has_more: z.boolean().meta({ description: 'True if there is another page' }),
});

const pageOf = <T extends z.ZodType>(row: T) => z.strictObject({ data: z.array(row), pagination });
const pages = new WeakMap<z.ZodType, ReturnType<typeof pageOf>>();

/** Returns the envelope of a paged list, one per row schema. Its name is the rows' name with the suffix Page. */
export function paged<T extends z.ZodType>(row: T): ReturnType<typeof pageOf<T>> {
  const known = pages.get(row);
  const page = known ?? pageOf(row);
  if (!known) {
    const name = z.globalRegistry.get(row)?.id;
    if (name !== undefined) named(`${name}Page`, page);
    pages.set(row, page);
  }
  return page as ReturnType<typeof pageOf<T>>;
}

/** Converts a verb's page to the paged envelope. */
export function presentPage<Row, Out>(
  page: Page<Row>,
  present: (row: Row) => Out,
): { data: Out[]; pagination: { total: number | null; next_cursor: string | null; has_more: boolean } } {
  return {
    data: page.rows.map(present),
    pagination: { total: page.total ?? null, next_cursor: page.nextCursor, has_more: page.nextCursor !== null },
  };
}

/** Descriptions of `limit` and `cursor`, the same in every list. */
export const pageDescriptions = {
  limit: 'Maximum number of rows of a page',
  cursor: '`pagination.next_cursor` of the previous page, with the same filters; omit for the first page',
};

/** Returns the `limit` and `cursor` parameters of a list that answers 400 to a limit out of range. */
export function pageQuery(max = 100, fallback = 50, min = 1) {
  return {
    limit: z.coerce.number().int().min(min).max(max).default(fallback).meta({ description: pageDescriptions.limit }),
    cursor: z.string().optional().meta({ description: pageDescriptions.cursor }),
  };
}

/**
 * Email address in canonical form (lib/address.ts). Refuses addresses that mail servers could interpret differently.
 */
export const emailAddress = z
  .string()
  .overwrite(addressKey)
  .pipe(z.email().max(254))
  .meta({ format: 'email', maxLength: 254 });

/** Formats a row's Date for answers. */
export function iso(date: Date): string;
export function iso(date: Date | null): string | null;
export function iso(date: Date | null): string | null {
  return date ? date.toISOString() : null;
}
