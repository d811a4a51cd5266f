import { NumberInput, Select, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { textOf, useText } from '../text/index.ts';
import type { Choice } from './choices.ts';

/** Kind of input for a field of an action. */
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

/** Field of an action of an automation or campaign step. */
export interface ActionField {
  name: string;
  kind: FieldKind;
  isNeeded?: boolean;
  /** Only for a stage: name of the field that contains its pipeline. */
  within?: string;
}

/** Fields of the actions for tasks and deals. */
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
    { name: 'stage_id', kind: 'stage', isNeeded: true, within: 'pipeline_id' },
    { name: 'value', kind: 'number' },
    { name: 'currency', kind: 'text' },
    { name: 'assigned_to', kind: 'member' },
  ],
  move_deal_stage: [{ name: 'stage_id', kind: 'stage', isNeeded: true }],
} as const satisfies Record<string, readonly ActionField[]>;

const PRIORITIES = ['low', 'medium', 'high', 'urgent'];

/** Input for one field of an action. */
export function ActionInput({
  field: { name, kind, isNeeded, within },
  choices,
  why,
  values,
  set,
  isFixed,
}: {
  field: ActionField;
  /** Choices by kind of field. */
  choices: Partial<Record<FieldKind, Choice[]>>;
  /** Help text of a long text field. */
  why: string;
  /** Current values of all fields of the action. */
  values: Readonly<Record<string, unknown>>;
  /** Sets fields. Undefined clears a field. */
  set: (changes: Record<string, unknown>) => void;
  isFixed: boolean;
}) {
  useText();
  const value = values[name];
  const shared = { label: textOf('action.field', name), required: isNeeded ?? false, readOnly: isFixed };
  const wordsOf = (one: unknown) => (typeof one === 'string' ? one : '');
  const written = wordsOf(value);
  if (kind === 'number')
    return (
      <NumberInput
        {...shared}
        min={0}
        placeholder={textOf('action.without', name, '')}
        value={typeof value === 'number' ? value : ''}
        onChange={(number) => set({ [name]: number === '' ? undefined : Number(number) })}
      />
    );
  if (kind === 'text')
    return <TextInput {...shared} value={written} onChange={(event) => set({ [name]: event.currentTarget.value })} />;
  if (kind === 'long')
    return (
      <Textarea
        {...shared}
        description={why}
        autosize
        minRows={2}
        value={written}
        onChange={(event) => set({ [name]: event.currentTarget.value })}
      />
    );
  if (kind === 'stage')
    return (
      <StageInput
        label={shared.label}
        stages={choices.stage ?? []}
        pipeline={within && wordsOf(values[within])}
        value={written}
        set={(id) => set({ [name]: id })}
        isFixed={isFixed}
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
      // A stage belongs to one pipeline, so changing the pipeline clears the stage.
      onChange={(id) => set({ [name]: id ?? undefined, ...(kind === 'pipeline' ? { stage_id: undefined } : {}) })}
      searchable
      clearable={!isNeeded}
    />
  );
}

/** Input for a stage of the pipeline in the action, or of a pipeline that is chosen here first. */
function StageInput({
  label,
  stages,
  pipeline,
  value,
  set,
  isFixed,
}: {
  label: string;
  stages: readonly Choice[];
  /** Pipeline of the action; empty if not chosen yet, undefined if the action has no pipeline field. */
  pipeline: string | undefined;
  value: string;
  set: (id: string | undefined) => void;
  isFixed: boolean;
}) {
  const t = useText();
  const [chosen, choose] = useState<string>();
  const pipelines = new Map(stages.flatMap(({ at }) => (at ? [[at.pipeline, at.pipelineName] as const] : [])));
  const stored = stages.find((stage) => stage.value === value)?.at?.pipeline;
  const only = pipelines.size === 1 ? [...pipelines.keys()][0] : undefined;
  const within = pipeline ?? stored ?? chosen ?? only ?? '';
  return (
    <>
      {pipeline === undefined && pipelines.size > 1 ? (
        <Select
          label={textOf('action.field', 'pipeline_id')}
          data={[...pipelines].map(([id, name]) => ({ value: id, label: name }))}
          value={within || null}
          onChange={(id) => {
            choose(id ?? undefined);
            set(undefined);
          }}
          allowDeselect={false}
          searchable
          readOnly={isFixed}
        />
      ) : null}
      <Select
        label={label}
        required
        data={stages.flatMap(({ value: id, at }) => (at?.pipeline === within ? [{ value: id, label: at.name }] : []))}
        placeholder={within ? '' : t('action.stage.first')}
        value={value || null}
        onChange={(id) => set(id ?? undefined)}
        allowDeselect={false}
        searchable
        disabled={!within}
        readOnly={isFixed}
      />
    </>
  );
}
