import { CRM_FIELDS, type ActionField } from '../../components/action-field.tsx';

const TAG: ActionField = { name: 'category_id', kind: 'tag', isNeeded: true };

/**
 * Heron's own actions with the fields of their config. The config of an action without fields here is written as JSON.
 */
export const ACTIONS: Readonly<Record<string, readonly ActionField[] | undefined>> = {
  'sendsets.add_tag': [TAG],
  'sendsets.remove_tag': [TAG],
  'sendsets.set_category': [TAG],
  'sendsets.label_email': [TAG],
  'sendsets.create_task': CRM_FIELDS.create_task,
  'sendsets.create_deal': CRM_FIELDS.create_deal,
  'sendsets.move_deal_stage': CRM_FIELDS.move_deal_stage,
  'sendsets.add_to_campaign': [{ name: 'campaign_id', kind: 'campaign', isNeeded: true }],
  'sendsets.remove_from_campaign': [{ name: 'campaign_id', kind: 'campaign' }],
  'sendsets.suppress': [{ name: 'reason', kind: 'text' }],
  'sendsets.notify': [{ name: 'message', kind: 'long', isNeeded: true }],
  'sendsets.webhook': undefined,
  'sendsets.wait': [{ name: 'wait_minutes', kind: 'number', isNeeded: true }],
  'sendsets.run_automation': [{ name: 'automation_id', kind: 'automation', isNeeded: true }],
};

/**
 * Returns the fields of an action; undefined if its config is written as JSON. Chat actions have the same fields as
 * team notifications.
 */
export function fieldsOf(action: string): readonly ActionField[] | undefined {
  const isChat = action.endsWith('.notify') && !action.startsWith('slack.');
  return ACTIONS[action] ?? (isChat ? ACTIONS['sendsets.notify'] : undefined);
}
