import { z } from 'zod';
import { toSchema } from '../../api/http/openapi-schema.ts';
import { isWrite, type AnyRoute } from '../../api/http/route.ts';
import { newId } from '../../lib/ids.ts';

/** JSON Schema of an input, with the limits that a largest value is made from. */
interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  pattern?: string;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
  maxProperties?: number;
}

/**
 * Size of a value relative to its limits: the share of each list's items, and the number of characters of each text.
 */
interface Size {
  share: number;
  characters: number;
}

/** Sizes in descending order. The first size that a route accepts is the largest that it allows. */
const SIZES: readonly Size[] = [
  { share: 1, characters: Infinity },
  ...[1, 0.13, 0.02].map((share) => ({ share, characters: 36 })),
];
/** Number of items of a list, keys of an object and characters of a text whose schema has no maximum. */
const UNBOUNDED = { items: 50_000, keys: 100, characters: 2_000 };
/** Number of values after which a value is larger than any body. */
const MOST_VALUES = 300_000;
/** Maximum nesting depth of the objects generated for fields that accept any JSON. */
const DEEPEST = 8;
/** Maximum length of a query in the path. */
const QUERY_CHARACTERS = 7_000;

/** Kind of the row to which a field refers, by the name of the field or of the list around it. */
const KINDS: [RegExp, string][] = [
  [/^(contact_ids?|contacts|exclude)$/, 'contact'],
  [/^((add|remove)_)?(campaigns|campaign_ids?|ids)$/, 'campaign'],
  [/^((add|remove)_)?(categories|category_ids?)$/, 'category'],
  [/^(mailbox_ids?|email_account_id|allowed_email_accounts)$/, 'mailbox'],
  [/^(email_tags|email_tag_ids|tag_ids|tags)$/, 'tag'],
  [/^(folders?|folder_ids)$/, 'folder'],
  [/^segment_ids?$/, 'segment'],
  [/^tasks$/, 'task'],
  [/^email_ids$/, 'message'],
  [/^pipeline_ids?$/, 'pipeline'],
  [/^stage_ids?$/, 'stage'],
  [/^assigned_to$/, 'member'],
];
/** Functions that create texts with a format that their schema does not state, by field. */
const WORDS: Record<string, (n: number) => string> = {
  email: (n) => `largest${n}@large.test`,
  lead_status: () => 'replied',
  engagement: () => 'opened',
  sort_by: () => 'created_at',
  color: () => '#0ea5e9',
};

/** Input of a request. */
export interface LargeInput {
  body: unknown;
  query: Record<string, string>;
}

/** Value of a part, with the size (bytes) of its JSON. */
interface Tried {
  value: unknown;
  bytes: number;
}

/**
 * Creates the largest inputs of a route from its schemas.
 * @param ids existing ids by the kind of row
 */
export class Largest {
  readonly #ids: Readonly<Record<string, readonly string[]>>;
  /** Number of texts created so far, which makes each text unique. */
  #made = 0;
  readonly #tries = new Map<string, Tried | undefined>();
  /** Number of values created so far for the current field. */
  #values = 0;

  constructor(ids: Readonly<Record<string, readonly string[]>>) {
    this.#ids = ids;
  }

  /** Returns the parts of an input for which a size was accepted. */
  grown(sizes: ReadonlyMap<string, number>): string[] {
    return [...sizes].filter(([, size]) => size < SIZES.length).map(([part]) => part);
  }

  /** Returns true if a part is a list or contains one. */
  isList(spec: AnyRoute, part: string): boolean {
    const [place, name] = part.split('.') as [string, string | undefined];
    if (!name) return true;
    if (place === 'query') return name.endsWith('ids');
    return bodiesOf(spec).some(({ properties }) => properties?.[name] && hasList(properties[name]));
  }

  /**
   * Returns the parts of a route's input that can grow, such as `body.conditions` and `query.q`; `body` for a body that
   * is a list. Texts are included only for reads, in which they filter. Each list contains parts that may occur
   * together in one request.
   */
  shapes(spec: AnyRoute): string[][] {
    const filters = Object.entries(queryOf(spec))
      .filter(([name, part]) => name === 'limit' || name.endsWith('ids') || grows(part, name))
      .map(([name]) => `query.${name}`);
    const bodies = bodiesOf(spec).map((schema) =>
      schema.properties
        ? Object.entries(schema.properties)
            .filter(([name, part]) => (isWrite(spec) ? hasList(part) : grows(part, name)))
            .map(([name]) => `body.${name}`)
        : ['body'],
    );
    return bodies.length === 0 ? [filters] : bodies.map((parts) => [...parts, ...filters]);
  }

  /**
   * Returns the largest input that a route's schemas and its body limit accept. `sizes` contains the first size to try
   * for each part, and is set to the size that was used. If no size fits, the part stays as in `base`.
   */
  input(spec: AnyRoute, sizes: Map<string, number>, base: LargeInput, maxBytes: number): LargeInput {
    const made: LargeInput = { body: base.body, query: { ...base.query } };
    let bytes = byteLength(base.body);
    for (const [part, first] of sizes) {
      const [place, name] = part.split('.') as [string, string | undefined];
      const fits = SIZES.findIndex((_size, n) => {
        // A text either has its maximum length or stays as it is.
        if (n < first || (n > 0 && !this.isList(spec, part))) return false;
        const tried = this.#tried(spec, part, n);
        if (!tried) return false;
        if (place === 'query') {
          const query = { ...made.query, [name!]: tried.value as string };
          if (new URLSearchParams(query).toString().length > QUERY_CHARACTERS) return false;
          made.query = query;
          return true;
        }
        if (name && bytes + tried.bytes > maxBytes) return false;
        if (!name && tried.bytes > maxBytes) return false;
        const body = name ? { ...(made.body as object), [name]: tried.value } : tried.value;
        if (!spec.body!.safeParse(body).success) return false;
        made.body = body;
        bytes += tried.bytes;
        return true;
      });
      sizes.set(part, fits < 0 ? SIZES.length : fits);
    }
    return made;
  }

  /** Returns a part at a size; undefined if its own schema refuses the value, or the value is larger than any body. */
  #tried(spec: AnyRoute, part: string, n: number): Tried | undefined {
    const key = `${spec.operationId} ${part} ${n}`;
    if (!this.#tries.has(key)) this.#tries.set(key, this.#try(spec, part, SIZES[n]!));
    return this.#tries.get(key);
  }

  #try(spec: AnyRoute, part: string, size: Size): Tried | undefined {
    const [place, name] = part.split('.') as [string, string | undefined];
    this.#values = 0;
    if (place === 'query') {
      const value = this.#parameter(queryOf(spec)[name!]!, name!, size);
      return (spec.query as z.ZodObject).shape[name!]!.safeParse(value).success ? { value, bytes: 0 } : undefined;
    }
    const schemas = bodiesOf(spec);
    const list = spec.path.split('/').findLast((word) => word && !word.startsWith(':'))!;
    const schema = name
      ? schemas.find(({ properties }) => properties?.[name])!.properties![name]!
      : schemas.find(({ properties }) => !properties)!;
    const value = this.#value(schema, name ?? list, size, 0, 0);
    if (this.#values > MOST_VALUES) return undefined;
    const own = name && spec.body instanceof z.ZodObject ? (spec.body.shape[name] as z.ZodType) : undefined;
    if (own && !own.safeParse(value).success) return undefined;
    return { value, bytes: byteLength(value) };
  }

  #parameter(schema: Schema, name: string, size: Size): string {
    const known = this.#known(name === 'email_ids' ? 'mailbox_ids' : name);
    if (known && name.endsWith('ids'))
      return known.slice(0, Math.max(1, Math.floor(known.length * size.share))).join(',');
    return String(this.#value(schema, name, size, 0, 0));
  }

  #value(schema: Schema, name: string, size: Size, index: number, depth: number): unknown {
    this.#values += 1;
    if (this.#values > MOST_VALUES) return undefined;
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return schema.enum[index % schema.enum.length];
    const alternatives = schema.anyOf ?? schema.oneOf;
    if (alternatives) return this.#value(widest(alternatives), name, size, index, depth);
    if (schema.allOf)
      return Object.assign({}, ...schema.allOf.map((part) => this.#value(part, name, size, index, depth)));
    switch (typeOf(schema)) {
      case 'object':
        return this.#object(schema, size, index, depth);
      case 'array':
        return this.#list(schema, name, size, depth);
      case 'string':
        return this.#text(schema, name, size, index);
      case 'integer':
      case 'number':
        return Math.min(schema.maximum ?? 1_000, 1_000_000);
      case 'null':
        return null;
      default:
        return true;
    }
  }

  #object(schema: Schema, size: Size, index: number, depth: number): unknown {
    if (schema.properties?.operator && schema.properties.values) return this.#condition(size, index);
    const named = Object.entries(schema.properties ?? {})
      .filter(([name]) => name !== 'updated_at')
      .map(([name, part]): [string, unknown] => [name, this.#value(part, name, size, index, depth + 1)]);
    const open = schema.additionalProperties;
    if (!open || depth > DEEPEST) return Object.fromEntries(named);
    const keys = Math.max(1, Math.floor((schema.maxProperties ?? UNBOUNDED.keys) * size.share));
    const part = open === true || !open.type ? { type: 'string' } : open;
    const more = Array.from({ length: keys }, (_, n): [string, unknown] => [
      `key_${n}`,
      this.#value(part, 'value', size, n, depth + 1),
    ]);
    return Object.fromEntries([...more, ...named]);
  }

  /** Returns a condition of a segment. Half of them compare the most values, the others read the most other tables. */
  #condition({ share }: Size, index: number): unknown {
    const count = Math.max(1, Math.floor(1_000 * share));
    this.#values += count;
    const categories = this.#ids.category ?? [];
    return index % 2 === 0
      ? { field: 'company', operator: 'contains', values: Array.from({ length: count }, (_, n) => `a${index}b${n}`) }
      : { field: 'category', operator: 'in', values: categories.slice(0, count) };
  }

  #list(schema: Schema, name: string, size: Size, depth: number): unknown[] {
    const items = schema.items ?? { type: 'string' };
    const most = Math.min(
      schema.maxItems ?? UNBOUNDED.items,
      items.enum?.length ?? Infinity,
      typeOf(items) === 'string' ? (this.#known(name)?.length ?? Infinity) : Infinity,
    );
    const count = Math.max(1, Math.floor(most * size.share));
    const made: unknown[] = [];
    for (let n = 0; n < count && this.#values <= MOST_VALUES; n += 1)
      made.push(this.#value(items, name, size, n, depth + 1));
    return made;
  }

  #text(schema: Schema, name: string, size: Size, index: number): string {
    const known = this.#known(name);
    if (known) return known[index % known.length]!;
    const word = WORDS[name];
    if (word) return word(index);
    this.#made += 1;
    switch (schema.format) {
      case 'email':
        return `largest${this.#made}@large.test`;
      case 'uuid':
        return newId();
      case 'date-time':
        return '2026-01-31T00:00:00Z';
      case 'date':
        return '2026-01-31';
      case 'uri':
        return `https://app.example.com/${this.#made}`;
      default:
    }
    const most = schema.maxLength ?? UNBOUNDED.characters;
    return `a${this.#made}`.padEnd(Math.min(most, size.characters), 'x').slice(0, most);
  }

  #known(name: string): readonly string[] | undefined {
    const kind = KINDS.find(([pattern]) => pattern.test(name))?.[1];
    return kind ? this.#ids[kind] : undefined;
  }
}

function typeOf(schema: Schema): string | undefined {
  return Array.isArray(schema.type) ? schema.type.find((type) => type !== 'null') : schema.type;
}

/** Returns the alternatives of a route's JSON body. */
function bodiesOf(spec: AnyRoute): Schema[] {
  if (!spec.body || (spec.consumes ?? 'json') !== 'json') return [];
  const schema = toSchema(spec.body, 'input') as Schema;
  return schema.anyOf ?? schema.oneOf ?? [schema];
}

function queryOf(spec: AnyRoute): Record<string, Schema> {
  return spec.query instanceof z.ZodObject ? ((toSchema(spec.query, 'input') as Schema).properties ?? {}) : {};
}

/**
 * Returns true for a list, an object that contains one, an object with arbitrary content, or a text that may be long.
 */
function grows(schema: Schema, name: string): boolean {
  const alternatives = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (alternatives) return alternatives.some((one) => grows(one, name));
  if (schema.enum || schema.const !== undefined) return false;
  if (typeOf(schema) === 'array' || schema.additionalProperties) return true;
  if (schema.properties) return Object.entries(schema.properties).some(([inner, part]) => grows(part, inner));
  return typeOf(schema) === 'string' && !schema.format && !schema.pattern && !/(_id|cursor|password)$/.test(name);
}

function hasList(schema: Schema): boolean {
  const parts = [...(schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []), ...Object.values(schema.properties ?? {})];
  return typeOf(schema) === 'array' || Boolean(schema.additionalProperties) || parts.some(hasList);
}

function byteLength(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}

/** Returns the alternative with the most content. */
function widest(alternatives: readonly Schema[]): Schema {
  const weight = (schema: Schema): number => {
    const inner = schema.anyOf ?? schema.oneOf;
    if (inner) return weight(widest(inner));
    if (schema.type === 'array') return 1_000 * (schema.maxItems ?? 100);
    if (schema.type === 'object') return 100 * (1 + Object.keys(schema.properties ?? {}).length);
    return schema.type === 'string' ? 10 : Number(schema.type !== 'null');
  };
  return alternatives.reduce((best, one) => (weight(one) > weight(best) ? one : best));
}
