import { triggerName } from '../../parts/trigger-names.ts';
import { text, textOf } from '../../text/index.ts';
import type { Draft, FlowNode } from './flow.ts';

/** A node in words: what it is, and what it is set to. */
export function summaryOf(
  { trigger_event, filter }: Pick<Draft, 'trigger_event' | 'filter'>,
  node: FlowNode,
): { title: string; said: string } {
  if (node.type === 'trigger')
    return {
      title: trigger_event === 'automation.called' ? text('automations.called') : triggerName(trigger_event),
      said: filter.intents?.map((one) => textOf('automations.intent', one)).join(', ') ?? text('automations.trigger'),
    };
  if (node.type === 'condition') {
    const { condition } = node;
    const said =
      condition?.field === 'expression'
        ? (condition.expression ?? '')
        : [condition?.key, textOf('operator', condition?.operator ?? ''), shown(condition?.value)]
            .filter(Boolean)
            .join(' ');
    return { title: text('automations.condition'), said };
  }
  const { message, title, name, reason, wait_minutes: minutes } = node.config ?? {};
  const said = [message, title, name, reason].find((one) => typeof one === 'string' && one !== '');
  return {
    title: textOf('automations.action', node.action ?? ''),
    said: typeof minutes === 'number' ? text('automations.minutes', { count: minutes }) : shown(said),
  };
}

/** A value of a condition as it is written. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : Array.isArray(value) ? value.join(', ') : JSON.stringify(value);
}
