import { EVENT_PAYLOADS } from '../../domain/platform/kernel/event-payloads.ts';
import { EVENT_TYPES, scopeOf, type EventType } from '../../domain/platform/kernel/events.ts';
import { message } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';
import { fieldLines } from './fields.ts';
import { MADE, wrap } from './markdown.ts';

const HEAD = `# Events

For developers who receive webhooks, or read the event stream. At the end you know every event, its fields, and the
scope that a credential needs to see it.

${MADE}

- Every event has \`id\`, \`event_type\`, \`organization_id\`, \`created_at\` and \`data\`. The fields below are those of
  \`data\`.
- An endpoint or socket without a list of types gets every event except those marked *firehose*. It gets these when it
  lists them by name.
- A change of many rows at once is one event of \`contact.updated\` or \`crm.task_updated\`. Its \`data.metadata\` has
  \`bulk\` and \`count\` instead of the fields below.
- [Webhooks](../guides/webhooks.md) and [The event stream](realtime.md) describe how events reach you.
`;

/** Returns the text of docs/reference/events.md: every event to which one can subscribe, by its family. */
export function eventsPage(): string {
  const types = Object.keys(EVENT_TYPES) as EventType[];
  const families = [...new Set(types.map(familyOf))];
  const sections = families.map((family) =>
    [`## ${family}`, '', ...types.filter((type) => familyOf(type) === family).flatMap(eventLines)].join('\n'),
  );
  return `${HEAD}\n${sections.join('\n')}`;
}

function eventLines(type: EventType): string[] {
  const firehose = EVENT_TYPES[type].firehose ? ' *Firehose.*' : '';
  return [
    `### ${type}`,
    '',
    wrap(`${render(message(`event.${type}`))} Scope \`${scopeOf(type)}\`.${firehose}`),
    '',
    ...fieldLines(EVENT_PAYLOADS[type]),
    '',
  ];
}

function familyOf(type: EventType): string {
  return type.slice(0, type.indexOf('.'));
}
