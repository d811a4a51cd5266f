import { JsonInput, NumberInput, Group, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ActionInput, CRM_FIELDS, type ActionField } from '../../components/action-field.tsx';
import { useText } from '../../text/index.ts';
import { useChoices, type Choices } from './choices.ts';
import { textIn, type Action, type FieldsProps } from './flow.ts';
import { EmailStepFields } from './email-step.tsx';

/** Initial actions of new steps, by kind. */
export const NEW_STEPS: Record<string, Action> = {
  wait: { type: 'wait', wait_minutes: 1440 },
  wait_for_event: { type: 'wait_for_event', wait_event_name: '', timeout_minutes: 4320, on_timeout: 'continue' },
  app_action: { type: 'app_action', app_connection_id: '', path: '/', output_key: 'answer', inputs: {} },
  add_tag: { type: 'add_tag', category_id: '' },
  remove_tag: { type: 'remove_tag', category_id: '' },
  notify: { type: 'notify', message: '' },
  create_task: { type: 'create_task', title: '' },
  create_deal: { type: 'create_deal', name: '', pipeline_id: '', stage_id: '' },
  move_deal_stage: { type: 'move_deal_stage', stage_id: '' },
  run_automation: { type: 'run_automation', automation_id: '' },
  unsubscribe: { type: 'unsubscribe' },
  end: { type: 'end' },
};

/** Fields of a step, depending on its kind. */
export function StepFields(props: FieldsProps) {
  const t = useText();
  const { step, mayWrite, change } = props;
  if (step.kind === 'email') return <EmailStepFields {...props} />;
  const action = (step.action ?? { type: 'end' }) as Action;
  const set = (fields: Record<string, unknown>) => change({ action: { ...action, ...fields } });
  switch (action.type) {
    case 'wait':
      return (
        <Span
          label={t('step.wait.long')}
          minutes={Number(action.wait_minutes)}
          onChange={(wait_minutes) => set({ wait_minutes })}
          disabled={!mayWrite}
        />
      );
    case 'wait_for_event':
      return <EventFields action={action} set={set} mayWrite={mayWrite} />;
    case 'app_action':
      return <AppFields action={action} set={set} mayWrite={mayWrite} />;
    case 'add_tag':
    case 'remove_tag':
      return (
        <Choice
          label={t('step.action.category')}
          nothing={t('step.action.category.none')}
          of="tags"
          value={textIn(action, 'category_id')}
          onChange={(category_id) => set({ category_id })}
          disabled={!mayWrite}
        />
      );
    case 'run_automation':
      return (
        <Choice
          label={t('step.action.automation')}
          nothing={t('step.action.automation.none')}
          of="automations"
          value={textIn(action, 'automation_id')}
          onChange={(automation_id) => set({ automation_id })}
          disabled={!mayWrite}
        />
      );
    case 'create_task':
    case 'create_deal':
    case 'move_deal_stage':
      return <CrmFields of={action.type} action={action} set={set} mayWrite={mayWrite} />;
    case 'notify':
      return (
        <Textarea
          label={t('step.action.message')}
          description={t('step.action.message.why')}
          maxLength={2000}
          autosize
          minRows={2}
          value={textIn(action, 'message')}
          onChange={(event) => set({ message: event.currentTarget.value })}
          disabled={!mayWrite}
        />
      );
    default:
      return (
        <Text size="sm" c="dimmed">
          {t(action.type === 'unsubscribe' ? 'sequence.about.unsubscribe' : 'sequence.about.end')}
        </Text>
      );
  }
}

interface ActionFields {
  action: Action;
  set: (fields: Record<string, unknown>) => void;
  mayWrite: boolean;
}

/** Fields of a task or deal action. */
function CrmFields({ of, action, set, mayWrite }: ActionFields & { of: keyof typeof CRM_FIELDS }) {
  const t = useText();
  const choices = {
    pipeline: useChoices('pipelines', of === 'create_deal').data ?? [],
    stage: useChoices('stages', of !== 'create_task').data ?? [],
    member: useChoices('members', of !== 'move_deal_stage').data ?? [],
  };
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {t(of === 'move_deal_stage' ? 'step.action.move.why' : 'step.action.fields.why')}
      </Text>
      {CRM_FIELDS[of].map((field: ActionField) => (
        <ActionInput
          key={field.name}
          field={field}
          choices={choices}
          why=""
          values={action}
          set={(changes) => set(cleaned(of, changes))}
          isFixed={!mayWrite}
        />
      ))}
    </Stack>
  );
}

/** Removes empty fields, except for required ones, which stay empty until a value is chosen. */
function cleaned(of: keyof typeof CRM_FIELDS, changes: Record<string, unknown>): Record<string, unknown> {
  const needed = (name: string) => CRM_FIELDS[of].some((field: ActionField) => field.name === name && field.isNeeded);
  return Object.fromEntries(
    Object.entries(changes).map(([name, value]) => [
      name,
      needed(name) ? (value ?? '') : value === '' ? undefined : value,
    ]),
  );
}

function EventFields({ action, set, mayWrite }: ActionFields) {
  const t = useText();
  const isEndless = action.timeout_minutes === null;
  return (
    <Stack gap="sm">
      <TextInput
        label={t('step.event.name')}
        description={t('step.event.name.why')}
        placeholder={t('step.event.name.example')}
        value={textIn(action, 'wait_event_name')}
        onChange={(event) => set({ wait_event_name: event.currentTarget.value })}
        disabled={!mayWrite}
      />
      <Select
        label={t('step.event.patience')}
        data={[
          { value: 'until', label: t('step.event.patience.until') },
          { value: 'ever', label: t('step.event.patience.ever') },
        ]}
        value={isEndless ? 'ever' : 'until'}
        onChange={(value) => set({ timeout_minutes: value === 'ever' ? null : 4320 })}
        allowDeselect={false}
        disabled={!mayWrite}
      />
      {isEndless ? null : (
        <>
          <Span
            label={t('step.wait.long')}
            minutes={Number(action.timeout_minutes)}
            onChange={(timeout_minutes) => set({ timeout_minutes })}
            disabled={!mayWrite}
          />
          <Select
            label={t('step.event.timeout')}
            data={[
              { value: 'continue', label: t('step.event.timeout.continue') },
              { value: 'stop', label: t('step.event.timeout.stop') },
            ]}
            value={textIn(action, 'on_timeout', 'continue')}
            onChange={(on_timeout) => set({ on_timeout })}
            allowDeselect={false}
            disabled={!mayWrite}
          />
        </>
      )}
      <TextInput
        label={t('step.action.outputKey')}
        description={t('step.event.outputKey.why')}
        value={textIn(action, 'output_key')}
        onChange={(event) => set({ output_key: event.currentTarget.value || undefined })}
        disabled={!mayWrite}
      />
    </Stack>
  );
}

function AppFields({ action, set, mayWrite }: ActionFields) {
  const t = useText();
  const [inputs, setInputs] = useState(() => JSON.stringify(action.inputs ?? {}, null, 2));
  return (
    <Stack gap="sm">
      <Choice
        label={t('step.app.connection')}
        nothing={t('step.app.connection.none')}
        of="apps"
        value={textIn(action, 'app_connection_id')}
        onChange={(app_connection_id) => set({ app_connection_id })}
        disabled={!mayWrite}
      />
      <TextInput
        label={t('step.app.path')}
        description={t('step.app.path.why')}
        value={textIn(action, 'path')}
        onChange={(event) => set({ path: event.currentTarget.value })}
        disabled={!mayWrite}
      />
      <TextInput
        label={t('step.action.outputKey')}
        description={t('step.app.outputKey.why')}
        value={textIn(action, 'output_key')}
        onChange={(event) => set({ output_key: event.currentTarget.value })}
        disabled={!mayWrite}
      />
      <JsonInput
        label={t('step.app.inputs')}
        description={t('step.app.inputs.why')}
        validationError={t('step.app.inputs.bad')}
        autosize
        minRows={3}
        value={inputs}
        onChange={(value) => {
          setInputs(value);
          const parsed = toObject(value);
          if (parsed) set({ inputs: parsed });
        }}
        disabled={!mayWrite}
      />
    </Stack>
  );
}

/** Select for one record of the workspace by name. */
function Choice({
  label,
  nothing,
  of,
  value,
  onChange,
  disabled,
}: {
  label: string;
  /** Text that is shown if there is nothing to choose. */
  nothing: string;
  of: Choices;
  value: string;
  onChange: (value: string) => void;
  disabled: boolean;
}) {
  const query = useChoices(of);
  return (
    <Select
      label={label}
      data={query.data ?? []}
      value={value || null}
      onChange={(chosen) => chosen && onChange(chosen)}
      searchable
      nothingFoundMessage={nothing}
      disabled={disabled}
      error={query.error ? String(query.error) : undefined}
    />
  );
}

const UNITS = { minutes: 1, hours: 60, days: 1440 } as const;
type Unit = keyof typeof UNITS;

/** Duration input: a number and its unit. */
function Span({
  label,
  minutes,
  onChange,
  disabled,
}: {
  label: string;
  minutes: number;
  onChange: (minutes: number) => void;
  disabled: boolean;
}) {
  const t = useText();
  const [unit, setUnit] = useState<Unit>(() =>
    minutes % UNITS.days === 0 ? 'days' : minutes % UNITS.hours === 0 ? 'hours' : 'minutes',
  );
  return (
    <Group gap="xs" align="flex-end" wrap="nowrap">
      <NumberInput
        label={label}
        min={1}
        allowDecimal={false}
        value={Math.max(1, Math.round(minutes / UNITS[unit]))}
        onChange={(value) => onChange(Math.max(1, Number(value)) * UNITS[unit])}
        disabled={disabled}
        w={120}
      />
      <Select
        aria-label={t('step.wait.unit')}
        data={(Object.keys(UNITS) as Unit[]).map((value) => ({ value, label: t(`step.wait.unit.${value}`) }))}
        value={unit}
        onChange={(value) => {
          const chosen = (value ?? 'days') as Unit;
          setUnit(chosen);
          onChange(Math.max(1, Math.round(minutes / UNITS[unit])) * UNITS[chosen]);
        }}
        allowDeselect={false}
        disabled={disabled}
        w={130}
      />
    </Group>
  );
}

function toObject(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json || '{}');
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
