import { z } from 'zod';
import { message } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';
import { TRIGGER_NAMES, sampleData, triggerOf, triggerSchema, type TriggerName } from './vocabulary.ts';

interface JsonField {
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonField[];
  items?: JsonField;
}

interface TriggerField {
  key: string;
  /** Type as shown, such as `string`, `uuid`, `number or null`. */
  type: string;
  description: string;
}

/** Lists the fields of a trigger's data, in order. */
export function triggerFields(name: TriggerName): TriggerField[] {
  const schema = z.toJSONSchema(triggerSchema(name), { io: 'input' }) as {
    anyOf?: { properties: Record<string, JsonField> }[];
    properties?: Record<string, JsonField>;
  };
  const properties = schema.properties ?? schema.anyOf?.[0]?.properties ?? {};
  return Object.entries(properties).map(([key, field]) => ({
    key,
    type: typeOf(field),
    description: field.description ?? '',
  }));
}

/** Returns the text of docs/triggers.md. */
export function triggersPage(): string {
  const sections = TRIGGER_NAMES.map((name) => {
    const { event } = triggerOf(name);
    const rows = triggerFields(name).map(({ key, type, description }) =>
      `- \`${key}\` (${type})${description ? `: ${description}` : ''}`.trimEnd(),
    );
    return [
      `## ${name}`,
      '',
      `${render(message(`trigger.${name}`))} From the event \`${event}\`.`,
      '',
      ...rows,
      '',
      '```json',
      JSON.stringify(sampleData(name), null, 2),
      '```',
      '',
    ].join('\n');
  });
  return `${HEAD}\n${sections.join('\n')}`;
}

const HEAD = `# Triggers

What an automation and an event subscription of an integration can start from. Their names are a vocabulary of their own, made for people who build
flows; the events of webhooks have other names ([webhooks](webhooks.md)). The data of a trigger are the fields that conditions and templates read:
\`intent\`, or \`data.plan\` for a field of a field. An event that tells of a change of many rows at once (a bulk edit, an import) triggers nothing for them.

An event can be several triggers: a deal that is won is \`deal.updated\` and \`deal.won\`.

Written from \`domain/connect/triggers/\` by \`npm run trigger-docs\`.
`;

function typeOf(field: JsonField): string {
  if (field.anyOf) return field.anyOf.map(typeOf).join(' or ');
  if (field.enum) return field.enum.map(String).join(', ');
  if (field.const !== undefined) return JSON.stringify(field.const);
  if (field.type === 'array') return `list of ${field.items ? typeOf(field.items) : 'values'}`;
  if (field.type === 'string' && field.format === 'uuid') return 'uuid';
  if (field.type === 'string' && field.format === 'date-time') return 'time';
  return [field.type ?? 'any value'].flat().join(' or ');
}
