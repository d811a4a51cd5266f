import { z } from 'zod';
import { wrap } from './markdown.ts';

interface JsonField {
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonField[];
  items?: JsonField;
}

/** Field in the data of an event or a trigger. */
interface Field {
  key: string;
  /** Type such as `string`, `uuid`, `number or null`. */
  type: string;
  description: string;
}

/**
 * Returns the fields of an object in their order. If the schema has several alternatives, these are the fields of the
 * first one.
 */
export function fieldsOf(schema: z.ZodType): Field[] {
  const json = z.toJSONSchema(schema, { io: 'input' }) as {
    anyOf?: { properties: Record<string, JsonField> }[];
    properties?: Record<string, JsonField>;
  };
  const properties = json.properties ?? json.anyOf?.[0]?.properties ?? {};
  return Object.entries(properties).map(([key, field]) => ({
    key,
    type: typeOf(field),
    description: field.description ?? '',
  }));
}

/** Returns fields as list items. */
export function fieldLines(schema: z.ZodType): string[] {
  return fieldsOf(schema).map(({ key, type, description }) =>
    wrap(`\`${key}\` (${type})${description ? `: ${description}` : ''}`, '- '),
  );
}

function typeOf(field: JsonField): string {
  if (field.anyOf) return field.anyOf.map(typeOf).join(' or ');
  if (field.enum) return field.enum.map(String).join(', ');
  if (field.const !== undefined) return JSON.stringify(field.const);
  if (field.type === 'array') return `list of ${field.items ? typeOf(field.items) : 'values'}`;
  if (field.type === 'string' && field.format === 'uuid') return 'uuid';
  if (field.type === 'string' && field.format === 'date-time') return 'time';
  return [field.type ?? 'any value'].flat().join(' or ');
}
