/** What a field of an action is asked with. */
export type FieldKind =
  | 'text'
  | 'long'
  | 'number'
  | 'tag'
  | 'campaign'
  | 'stage'
  | 'pipeline'
  | 'member'
  | 'automation'
  | 'priority';

export interface ActionField {
  name: string;
  kind: FieldKind;
  isNeeded?: boolean;
}

const TAG: ActionField = { name: 'category_id', kind: 'tag', isNeeded: true };

/** Actions that Heron does by itself, with the fields of their config; an action without fields here is written as JSON. */
export const ACTIONS: Readonly<Record<string, readonly ActionField[] | undefined>> = {
  'sendsets.add_tag': [TAG],
  'sendsets.remove_tag': [TAG],
  'sendsets.set_category': [TAG],
  'sendsets.label_email': [TAG],
  'sendsets.create_task': [
    { name: 'title', kind: 'text', isNeeded: true },
    { name: 'description', kind: 'long' },
    { name: 'priority', kind: 'priority' },
    { name: 'due_in_days', kind: 'number' },
    { name: 'assigned_to', kind: 'member' },
  ],
  'sendsets.create_deal': [
    { name: 'name', kind: 'text', isNeeded: true },
    { name: 'pipeline_id', kind: 'pipeline', isNeeded: true },
    { name: 'stage_id', kind: 'stage', isNeeded: true },
    { name: 'value', kind: 'number' },
    { name: 'currency', kind: 'text' },
    { name: 'assigned_to', kind: 'member' },
  ],
  'sendsets.move_deal_stage': [{ name: 'stage_id', kind: 'stage', isNeeded: true }],
  'sendsets.add_to_campaign': [{ name: 'campaign_id', kind: 'campaign', isNeeded: true }],
  'sendsets.remove_from_campaign': [{ name: 'campaign_id', kind: 'campaign' }],
  'sendsets.suppress': [{ name: 'reason', kind: 'text' }],
  'sendsets.notify': [{ name: 'message', kind: 'long', isNeeded: true }],
  'sendsets.webhook': undefined,
  'sendsets.wait': [{ name: 'wait_minutes', kind: 'number', isNeeded: true }],
  'sendsets.run_automation': [{ name: 'automation_id', kind: 'automation', isNeeded: true }],
};

/** The fields of an action; undefined where its config is written as JSON. Chats are told something like the team is. */
export function fieldsOf(action: string): readonly ActionField[] | undefined {
  const isChat = action.endsWith('.notify') && !action.startsWith('slack.');
  return ACTIONS[action] ?? (isChat ? ACTIONS['sendsets.notify'] : undefined);
}
