import { NumberInput, Select, Textarea, TextInput } from '@mantine/core';
import { textOf, useText } from '../text/index.ts';
import type { Choice } from './choices.ts';

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

/** A field of what an automation or a step of a campaign does. */
export interface ActionField {
  name: string;
  kind: FieldKind;
  isNeeded?: boolean;
}

/** What is asked for a task, a deal, and where a deal moves to. */
export const CRM_FIELDS = {
  create_task: [
    { name: 'title', kind: 'text', isNeeded: true },
    { name: 'description', kind: 'long' },
    { name: 'priority', kind: 'priority' },
    { name: 'due_in_days', kind: 'number' },
    { name: 'assigned_to', kind: 'member' },
  ],
  create_deal: [
    { name: 'name', kind: 'text', isNeeded: true },
    { name: 'pipeline_id', kind: 'pipeline', isNeeded: true },
    { name: 'stage_id', kind: 'stage', isNeeded: true },
    { name: 'value', kind: 'number' },
    { name: 'currency', kind: 'text' },
    { name: 'assigned_to', kind: 'member' },
  ],
  move_deal_stage: [{ name: 'stage_id', kind: 'stage', isNeeded: true }],
} as const satisfies Record<string, readonly ActionField[]>;

const PRIORITIES = ['low', 'medium', 'high', 'urgent'];

/** One field of an action. */
export function ActionInput({
  field: { name, kind, isNeeded },
  choices,
  why,
  value,
  set,
  isFixed,
}: {
  field: ActionField;
  /** What can be named, by the kind of the field. */
  choices: Partial<Record<FieldKind, Choice[]>>;
  /** What a long text may use. */
  why: string;
  value: unknown;
  set: (value: unknown) => void;
  isFixed: boolean;
}) {
  useText();
  const shared = { label: textOf('action.field', name), required: isNeeded ?? false, readOnly: isFixed };
  const written = typeof value === 'string' ? value : '';
  if (kind === 'number')
    return (
      <NumberInput
        {...shared}
        min={0}
        placeholder={textOf('action.without', name, '')}
        value={typeof value === 'number' ? value : ''}
        onChange={(number) => set(number === '' ? undefined : Number(number))}
      />
    );
  if (kind === 'text')
    return <TextInput {...shared} value={written} onChange={(event) => set(event.currentTarget.value)} />;
  if (kind === 'long')
    return (
      <Textarea
        {...shared}
        description={why}
        autosize
        minRows={2}
        value={written}
        onChange={(event) => set(event.currentTarget.value)}
      />
    );
  const data =
    kind === 'priority'
      ? PRIORITIES.map((one) => ({ value: one, label: textOf('action.priority', one) }))
      : (choices[kind] ?? []);
  return (
    <Select
      {...shared}
      data={data}
      placeholder={textOf('action.without', name, '')}
      value={written || null}
      onChange={(id) => set(id ?? undefined)}
      searchable
      clearable={!isNeeded}
    />
  );
}
