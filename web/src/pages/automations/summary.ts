import type { ActionField } from '../../components/action-field.tsx';
import { triggerName } from '../../components/trigger-names.ts';
import { text, textOf } from '../../text/index.ts';
import { fieldsOf } from './actions.ts';
import type { Choices } from './choices.ts';
import type { Draft, FlowNode } from './flow.ts';

/** Describes a node as text: its type and its settings, with the names of the records it refers to. */
export function summaryOf(
  { trigger_event, filter }: Pick<Draft, 'trigger_event' | 'filter'>,
  node: FlowNode,
  choices: Choices,
): { title: string; said: string } {
  if (node.type === 'trigger') {
    const intents = filter.intents?.map((one) => textOf('automations.intent', one)).join(', ');
    const campaigns = filter.campaign_ids?.map((id) => nameIn(choices, 'campaign', id)).filter(Boolean);
    return {
      title: trigger_event === 'automation.called' ? text('automations.called') : triggerName(trigger_event),
      said: [intents, campaigns?.join(', ')].filter(Boolean).join(' · ') || text('automations.trigger'),
    };
  }
  if (node.type === 'condition') {
    const { condition } = node;
    const said =
      condition?.field === 'expression'
        ? (condition.expression ?? '')
        : [
            textOf('automations.key', condition?.key ?? ''),
            textOf('operator', condition?.operator ?? ''),
            shown(condition?.value),
          ]
            .filter(Boolean)
            .join(' ');
    return { title: text('automations.condition'), said };
  }
  const account = choices.connections.find(({ value }) => value === node.connection_id)?.label;
  const settings = (fieldsOf(node.action ?? '') ?? []).map((field) =>
    settingOf(field, node.config?.[field.name], choices),
  );
  return {
    title: textOf('automations.action', node.action ?? ''),
    said: [account, ...settings].filter(Boolean).join(' · '),
  };
}

/** Describes the value of one field of an action, or reports that a required one is missing. */
function settingOf({ name, kind, isNeeded }: ActionField, value: unknown, choices: Choices): string {
  if (value === undefined || value === null || value === '')
    return isNeeded ? text('automations.missing', { field: textOf('action.field', name) }) : '';
  if (name === 'wait_minutes') return toSpan(Number(value));
  if (name === 'due_in_days') return text('automations.dueIn', { count: Number(value) });
  if (typeof value !== 'string' && typeof value !== 'number') return shown(value);
  if (kind === 'priority') return textOf('action.priority', `${value}`);
  // The pipeline is not described, because the name of the stage begins with it.
  if (kind === 'pipeline') return '';
  if (kind === 'text' || kind === 'long' || kind === 'number') return shown(value);
  return nameIn(choices, kind, `${value}`);
}

function nameIn(choices: Choices, kind: keyof Choices, id: string): string {
  const known = choices[kind] as readonly { value: string; label: string }[] | undefined;
  return known?.find(({ value }) => value === id)?.label ?? '';
}

/** Formats minutes in the largest whole unit. */
function toSpan(minutes: number): string {
  if (minutes > 0 && minutes % 1440 === 0) return text('automations.days', { count: minutes / 1440 });
  if (minutes > 0 && minutes % 60 === 0) return text('automations.hours', { count: minutes / 60 });
  return text('automations.minutes', { count: minutes });
}

/** Formats the value of a condition. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : Array.isArray(value) ? value.join(', ') : JSON.stringify(value);
}
