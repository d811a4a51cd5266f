import { z } from 'zod';

type Io = 'input' | 'output';
type JsonSchema = Record<string, unknown>;

/** Metadata of schemas without their names. With it, every use of a schema contains the whole schema. */
const NAMELESS = z.registry<Record<string, unknown>>();
NAMELESS.get = (schema) => {
  const { id: _name, ...meta } = z.globalRegistry.get(schema) ?? {};
  return meta;
};

/**
 * Returns the JSON Schema of a zod schema without `$schema`. It refers to no other document.
 * @param change edits each part in place
 */
export function toSchema(schema: z.ZodType, io: Io, change?: (part: JsonSchema) => void): object {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
    metadata: NAMELESS,
    override: ({ jsonSchema }) => change?.(jsonSchema as JsonSchema),
  }) as JsonSchema;
  return rest;
}

/** Schemas of a document: its components by name, and a lookup for root schemas. */
export interface DocumentSchemas {
  components: Record<string, JsonSchema>;
  /** Returns the schema of a root, with references to components. */
  of(schema: z.ZodType, io: Io): JsonSchema;
}

/**
 * Builds the JSON Schemas of a document. Each named schema (`named` in schemas.ts) becomes a component. A schema whose
 * request and answer forms differ, for example by defaults, becomes two: the request form has the suffix Input.
 * @throws Error when two schemas have one name
 */
export function documentSchemas(roots: Record<Io, readonly z.ZodType[]>): DocumentSchemas {
  const output = convert(roots.output, 'output');
  const input = convert(roots.input, 'input');
  const twofold = differing(input.named, output.named);
  const nameOf = (io: Io, name: string): string => (io === 'input' && twofold.has(name) ? `${name}Input` : name);
  const link = (io: Io, text: string): string =>
    text.replace(DEFINITION, (_, name: string) => `"#/components/schemas/${nameOf(io, name)}"`);
  const components = new Map<string, string>();
  for (const [io, { named }] of [['output', output] as const, ['input', input] as const])
    for (const [name, text] of named) {
      const own = nameOf(io, name);
      const linked = link(io, text);
      if ((components.get(own) ?? linked) !== linked) throw new Error(`Two schemas have the name ${own}`);
      components.set(own, linked);
    }
  return {
    components: Object.fromEntries(
      [...components]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, text]) => [name, JSON.parse(text) as JsonSchema]),
    ),
    of(schema, io) {
      const text = (io === 'input' ? input : output).roots.get(schema);
      if (text === undefined) throw new Error('The schema is no root of the document');
      return JSON.parse(link(io, text)) as JsonSchema;
    },
  };
}

const DEFINITION = /"#\/\$defs\/([^"]+)"/g;

/** JSON Schemas as text. References to named schemas point to $defs. */
interface Converted {
  named: Map<string, string>;
  roots: Map<z.ZodType, string>;
}

/** Converts all roots at once, so that each named schema is converted only once. */
function convert(list: readonly z.ZodType[], io: Io): Converted {
  const roots = [...new Set(list)];
  const registry = z.registry<{ id: string }>();
  // The lazy wrapper makes a named root schema a definition, like any other named schema.
  for (const [index, root] of roots.entries())
    registry.add(
      z.lazy(() => root),
      { id: String(index) },
    );
  const { schemas } = z.toJSONSchema(registry, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
    uri: () => '',
    override: ({ jsonSchema }) => shorten(jsonSchema as JsonSchema),
  }) as { schemas: Record<string, JsonSchema & { $defs?: Record<string, JsonSchema> }> };
  return {
    named: new Map(
      Object.entries(schemas.__shared?.$defs ?? {}).map(([name, schema]) => [name, JSON.stringify(schema)]),
    ),
    roots: new Map(
      roots.map((root, index) => {
        const { $schema: _dialect, $id: _id, ...schema } = schemas[index]!;
        return [root, JSON.stringify(schema)];
      }),
    ),
  };
}

/** Formats that make their `pattern` redundant. */
const FORMATS: ReadonlySet<unknown> = new Set(['date', 'date-time', 'email', 'uuid']);

/** Removes keywords that are the same in every field of a type and give a client no information. */
export function shorten(schema: JsonSchema): void {
  if (FORMATS.has(schema.format)) delete schema.pattern;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  // Client generators refuse objects as defaults. A list or null as default gives no information, because the field is
  // optional anyway.
  if (typeof schema.default === 'object') delete schema.default;
  const [value, nothing, ...others] = (schema.anyOf ?? []) as JsonSchema[];
  const isNullable = nothing?.type === 'null' && others.length === 0;
  if (!isNullable || !SCALARS.has(value?.type) || 'enum' in value! || 'const' in value!) return;
  const { anyOf: _options, ...own } = schema;
  Object.assign(schema, value, own, { type: [value!.type, 'null'] });
  delete schema.anyOf;
}
const SCALARS: ReadonlySet<unknown> = new Set(['boolean', 'integer', 'number', 'string']);

/** Returns the names whose schema, or a part of it, differs between requests and answers. */
function differing(input: Converted['named'], output: Converted['named']): ReadonlySet<string> {
  const found = new Set([...input.keys()].filter((name) => output.has(name) && output.get(name) !== input.get(name)));
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const [name, text] of input)
      if (output.has(name) && [...text.matchAll(DEFINITION)].some(([, part]) => found.has(part!))) found.add(name);
  }
  return found;
}
