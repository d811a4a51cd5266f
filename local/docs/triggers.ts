import { sampleData, TRIGGER_NAMES, triggerOf, triggerSchema } from '../../domain/connect/triggers/vocabulary.ts';
import { message } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';
import { fieldLines } from './fields.ts';
import { MADE } from './markdown.ts';

const HEAD = `# Triggers

For people who build automations, or subscriptions of an integration. At the end you know what can start a flow, and
the data of each trigger.

${MADE}

- Triggers have names of their own. The events of webhooks have other names ([Events](events.md)).
- The data of a trigger are the fields that conditions and templates read: \`intent\`, or \`data.plan\` for a field of a
  field.
- One event can be several triggers. A deal that is won is \`deal.updated\` and \`deal.won\`.
- A change of many rows at once, such as an import or a bulk edit, triggers nothing.
`;

/** Returns the text of docs/reference/triggers.md: every trigger with its fields and sample data. */
export function triggersPage(): string {
  const sections = TRIGGER_NAMES.map((name) =>
    [
      `## ${name}`,
      '',
      `${render(message(`trigger.${name}`))} From the event \`${triggerOf(name).event}\`.`,
      '',
      ...fieldLines(triggerSchema(name)),
      '',
      '```json',
      JSON.stringify(sampleData(name), null, 2),
      '```',
      '',
    ].join('\n'),
  );
  return `${HEAD}\n${sections.join('\n')}`;
}
