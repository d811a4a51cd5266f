import { z } from 'zod';
import type { CopyRow } from '../../../db/catalogue/writer.ts';
import { sha256 } from '../../../lib/crypto.ts';
import { issueMessage, ruleMessage } from '../../../lib/issue-message.ts';
import { message } from '../../../messages/index.ts';
import { addressKey, isAddress } from '../../../lib/address.ts';
import { render } from '../../../messages/render.ts';

/** Maximum number of bytes of one text in the catalogue, and of a filter for it. */
export const MAX_TEXT_BYTES = 200;
const MAX_LINK_CHARS = 500;
const MAX_VALUES = 100;
const MAX_EMPLOYEES = 2_147_483_647;

/** Trims a text, and replaces each run of space and control characters by one space. */
function cleanText(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

/** Normalizes a text for searches. */
export function searchKey(text: string): string {
  return cleanText(text).toLowerCase();
}

/** Normalizes a domain for storage and searches: lower case, without a leading `www.`. */
export function domainKey(text: string): string {
  return searchKey(text).replace(/^www\./, '');
}

/**
 * Functions that build the tags for exact values in the column `tags`. One index on `tags` serves all exact filters.
 */
export const tagOf = {
  industry: (value: string) => `i:${value}`,
  technology: (value: string) => `t:${value}`,
  country: (value: string) => `c:${value}`,
  state: (value: string) => `r:${value}`,
  city: (value: string) => `g:${value}`,
  seniority: (value: string) => `s:${value}`,
  department: (value: string) => `d:${value}`,
} as const;

/** Format of catalogue ids. */
export const CATALOGUE_ID = /^[0-9a-z]{24}$/;

/** Returns true if a value has the format of a catalogue id. */
export const isCatalogueId = (value: unknown): value is string => typeof value === 'string' && CATALOGUE_ID.test(value);

/**
 * Returns the id of a record. This is the source's id if it has the catalogue's format. Otherwise it is a digest of
 * that id, which is the same at every load.
 */
function catalogueId(kind: 'person' | 'company', sourceId: string): string {
  return CATALOGUE_ID.test(sourceId) ? sourceId : sha256(`${kind}:${sourceId}`).slice(0, 24);
}

const text = (max: number) =>
  z
    .union([z.string(), z.number().transform(String)])
    .nullish()
    .transform((value) => cleanText(value ?? ''))
    .refine((value) => Buffer.byteLength(value) <= max, ruleMessage('audience.too_many_bytes', { max }))
    .refine((value) => !/\p{Surrogate}/u.test(value), ruleMessage('audience.half_character'));
const short = text(MAX_TEXT_BYTES);
const whole = (min: number, max: number) =>
  z
    .union([z.number(), z.string()])
    .nullish()
    .transform((value) => (value === undefined || value === null || value === '' ? null : Number(value)))
    .refine((value) => value === null || (Number.isInteger(value) && value >= min && value <= max), {
      message: ruleMessage('audience.not_whole', { min, max }),
    });
/** Schema of several values: a list, or a text with `;` between the values. */
const values = z
  .union([z.array(z.string()), z.string()])
  .nullish()
  .transform((value) => {
    const parts = typeof value === 'string' ? value.split(';') : (value ?? []);
    return [...new Set(parts.map(searchKey).filter(Boolean))].sort();
  })
  .refine((list) => list.length <= MAX_VALUES, ruleMessage('field.list_longer', { max: MAX_VALUES }))
  .refine((list) => list.every((value) => Buffer.byteLength(value) <= MAX_TEXT_BYTES), {
    message: ruleMessage('audience.value_too_many_bytes', { max: MAX_TEXT_BYTES }),
  });
const id = text(MAX_TEXT_BYTES).refine((value) => value !== '', ruleMessage('field.required'));
const moment = short.transform((value, context) => {
  if (value === '') return '';
  const at = new Date(/^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T00:00:00Z` : value);
  if (Number.isNaN(at.getTime())) {
    context.addIssue(ruleMessage('field.format', { format: message('form.date') }));
    return z.NEVER;
  }
  return at.toISOString();
});

const place = { country: short, state: short, city: short };
const companySchema = z.object({
  id,
  name: short,
  domain: text(253),
  industries: values,
  technologies: values,
  employees: whole(0, MAX_EMPLOYEES),
  ...place,
  website: text(MAX_LINK_CHARS),
  linkedin_url: text(MAX_LINK_CHARS),
  phone: text(60),
  founded_year: whole(1, 9999),
  updated_at: moment,
});
const personSchema = z.object({
  id,
  first_name: short,
  last_name: short,
  email: text(320),
  email_status: text(60),
  phone: text(60),
  title: short,
  seniority: short,
  department: short,
  ...place,
  linkedin_url: text(MAX_LINK_CHARS),
  company_id: text(MAX_TEXT_BYTES),
  updated_at: moment,
});

/** Columns of a company's {@link CopyRow}, in order. */
export const COMPANY_COLUMNS = [
  'id',
  'name',
  'domain',
  'industries',
  'technologies',
  'employees',
  'country',
  'state',
  'city',
  'website',
  'linkedin_url',
  'phone',
  'founded_year',
  'source_updated_at',
  'country_key',
  'state_key',
  'city_key',
  'search_key',
  'employees_order',
  'tags',
] as const;

/** Columns of a person's {@link CopyRow}, in order. */
export const PERSON_COLUMNS = [
  'id',
  'first_name',
  'last_name',
  'email',
  'email_state',
  'email_status',
  'phone',
  'title',
  'seniority',
  'department',
  'country',
  'state',
  'city',
  'linkedin_url',
  'company_id',
  'source_updated_at',
  'country_key',
  'state_key',
  'city_key',
  'name_key',
  'title_key',
  'own_tags',
] as const;

/** The record in one line of a file, or all its faults. */
type ReadRecord = { kind: 'person' | 'company'; id: string; row: CopyRow } | { kind: 'refused'; faults: string[] };

/** Reads the fields of one line. Unknown fields are ignored, so that a file may contain more than the catalogue. */
export function readRecord(fields: unknown): ReadRecord {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    return { kind: 'refused', faults: ['is no object'] };
  const type = (fields as { type?: unknown }).type ?? '';
  if (type === 'company') return read(companySchema, fields, companyRow);
  if (type === 'person' || type === '') return read(personSchema, fields, personRow);
  return { kind: 'refused', faults: ['type is neither person nor company'] };
}

function read<S extends z.ZodType>(schema: S, fields: object, rowOf: (record: z.output<S>) => ReadRecord): ReadRecord {
  const parsed = schema.safeParse(fields);
  if (parsed.success) return rowOf(parsed.data);
  return {
    kind: 'refused',
    faults: parsed.error.issues.map((issue) => `${issue.path.join('.')} ${render(issueMessage(issue))}`),
  };
}

function companyRow(company: z.output<typeof companySchema>): ReadRecord {
  const companyId = catalogueId('company', company.id);
  const keys = placeKeys(company);
  const domain = domainKey(company.domain);
  return {
    kind: 'company',
    id: companyId,
    row: [
      companyId,
      company.name,
      domain,
      company.industries,
      company.technologies,
      company.employees,
      company.country,
      company.state,
      company.city,
      company.website,
      company.linkedin_url,
      company.phone,
      company.founded_year,
      company.updated_at,
      keys.country,
      keys.state,
      keys.city,
      // Joins the two values with a line break. No filter contains one, so none matches across both values.
      `${searchKey(company.name)}\n${domain}`,
      company.employees ?? 0,
      [...placeTags(keys), ...company.industries.map(tagOf.industry), ...company.technologies.map(tagOf.technology)],
    ],
  };
}

function personRow(person: z.output<typeof personSchema>): ReadRecord {
  const personId = catalogueId('person', person.id);
  const keys = placeKeys(person);
  const email = addressKey(person.email);
  const seniority = searchKey(person.seniority);
  const department = searchKey(person.department);
  return {
    kind: 'person',
    id: personId,
    row: [
      personId,
      person.first_name,
      person.last_name,
      email,
      email === '' ? 0 : isAddress(email) ? 2 : 1,
      person.email_status,
      person.phone,
      person.title,
      seniority,
      department,
      person.country,
      person.state,
      person.city,
      person.linkedin_url,
      person.company_id === '' ? null : catalogueId('company', person.company_id),
      person.updated_at,
      keys.country,
      keys.state,
      keys.city,
      searchKey(`${person.first_name} ${person.last_name}`),
      searchKey(person.title),
      [
        ...placeTags(keys),
        ...(seniority ? [tagOf.seniority(seniority)] : []),
        ...(department ? [tagOf.department(department)] : []),
      ],
    ],
  };
}

interface Place {
  country: string;
  state: string;
  city: string;
}

function placeKeys({ country, state, city }: Place): Place {
  return { country: searchKey(country), state: searchKey(state), city: searchKey(city) };
}

function placeTags({ country, state, city }: Place): string[] {
  return [
    ...(country ? [tagOf.country(country)] : []),
    ...(state ? [tagOf.state(state)] : []),
    ...(city ? [tagOf.city(city)] : []),
  ];
}
