import { NumberInput, Select, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
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
  /** Of a stage: the field that names the pipeline it is of. */
  within?: string;
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
    { name: 'stage_id', kind: 'stage', isNeeded: true, within: 'pipeline_id' },
    { name: 'value', kind: 'number' },
    { name: 'currency', kind: 'text' },
    { name: 'assigned_to', kind: 'member' },
  ],
  move_deal_stage: [{ name: 'stage_id', kind: 'stage', isNeeded: true }],
} as const satisfies Record<string, readonly ActionField[]>;

const PRIORITIES = ['low', 'medium', 'high', 'urgent'];

/** One field of an action. */
export function ActionInput({
  field: { name, kind, isNeeded, within },
  choices,
  why,
  values,
  set,
  isFixed,
}: {
  field: ActionField;
  /** What can be named, by the kind of the field. */
  choices: Partial<Record<FieldKind, Choice[]>>;
  /** What a long text may use. */
  why: string;
  /** All fields of the action, as they are set. */
  values: Readonly<Record<string, unknown>>;
  /** Sets fields; undefined is what nothing was chosen for. */
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
      // A stage belongs to one pipeline.
      onChange={(id) => set({ [name]: id ?? undefined, ...(kind === 'pipeline' ? { stage_id: undefined } : {}) })}
      searchable
      clearable={!isNeeded}
    />
  );
}

/** A stage, of those of one pipeline: the one that the action names beside it, or one that is chosen here first. */
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
  /** The pipeline that the action names, empty where it names none yet; undefined where it does not name one. */
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
