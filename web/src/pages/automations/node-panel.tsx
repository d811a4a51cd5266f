import {
  Autocomplete,
  Button,
  Code,
  Group,
  JsonInput,
  MultiSelect,
  Select,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import { ActionInput } from '../../components/action-field.tsx';
import { OPERATORS } from '../../components/operators.ts';
import { toTriggerChoice } from '../../components/trigger-names.ts';
import { TRIGGERS } from '../../components/triggers.ts';
import { textOf, useText } from '../../text/index.ts';
import { ACTIONS, fieldsOf } from './actions.ts';
import type { Choices } from './choices.ts';
import {
  insertAfter,
  connectOutput,
  remove,
  targets,
  outputsOf,
  type Draft,
  type FlowNode,
  type Result,
} from './flow.ts';
import { shown, summaryOf } from './summary.ts';

const INTENTS = ['positive', 'question', 'neutral', 'negative', 'out_of_office', 'automated'];
/** Common fields for conditions. People can type any other field of the event. */
const KEYS = [
  'intent',
  'contact.email',
  'contact.first_name',
  'contact.last_name',
  'contact.company',
  'contact.phone',
  'contact.subscribed',
];

/** Panel of one node: its action, its next node and its result. */
export function NodePanel({
  draft,
  choices,
  node,
  result,
  onChange,
  choose,
}: {
  draft: Draft;
  choices: Choices;
  node: FlowNode;
  result: Result | undefined;
  /** Called with the changed automation. Without it, the panel is read-only. */
  onChange: ((draft: Draft) => void) | undefined;
  choose: (id: string) => void;
}) {
  const t = useText();
  const { graph } = draft;
  const change = (changed: Partial<FlowNode>) =>
    onChange?.({
      ...draft,
      graph: { ...graph, nodes: graph.nodes.map((one) => (one.id === node.id ? { ...one, ...changed } : one)) },
    });
  return (
    <Stack gap="sm">
      {result ? <Outcome result={result} /> : null}
      {node.type === 'trigger' ? (
        <TriggerFields draft={draft} campaigns={choices.campaign} onChange={onChange} />
      ) : null}
      {node.type === 'condition' ? <ConditionFields node={node} change={change} isFixed={!onChange} /> : null}
      {node.type === 'action' ? (
        <ActionFields key={node.action} node={node} choices={choices} change={change} isFixed={!onChange} />
      ) : null}
      {outputsOf(node).map((when) => (
        <Stack key={when} gap={6}>
          <MultiSelect
            label={when ? t(`automations.next.${when}`) : t('automations.next')}
            data={graph.nodes
              .filter(({ id, type }) => id !== node.id && type !== 'trigger')
              .map((one) => {
                const { title, said } = summaryOf(draft, one, choices);
                return { value: one.id, label: [title, said].filter(Boolean).join(': ').slice(0, 80) };
              })}
            value={targets(graph, node.id, when)}
            onChange={(ids) => onChange?.({ ...draft, graph: connectOutput(graph, node.id, when, ids) })}
            placeholder={targets(graph, node.id, when).length === 0 ? t('automations.next.none') : ''}
            readOnly={!onChange}
            {...(when ? { maxValues: 1 } : {})}
          />
          {onChange ? (
            <Group gap="xs">
              {(['action', 'condition'] as const).map((type) => (
                <Button
                  key={type}
                  size="compact-xs"
                  variant="default"
                  onClick={() => {
                    const [next, id] = insertAfter(graph, node.id, when, type);
                    onChange({ ...draft, graph: next });
                    choose(id);
                  }}
                >
                  {t(`automations.add.${type}`)}
                </Button>
              ))}
            </Group>
          ) : null}
        </Stack>
      ))}
      {onChange && node.type !== 'trigger' ? (
        <Group>
          <Button
            size="xs"
            variant="default"
            c="red"
            onClick={() => {
              onChange({ ...draft, graph: remove(graph, node.id) });
              choose('trigger');
            }}
          >
            {t('automations.remove')}
          </Button>
        </Group>
      ) : null}
    </Stack>
  );
}

function Outcome({ result }: { result: Result }) {
  return (
    <Stack gap={4} role="status">
      <Text size="sm" fw={600}>
        {textOf('automations.result', result.status)}
      </Text>
      {result.error ? (
        <Text size="sm" c="red" className="wrap-anywhere">
          {result.error}
        </Text>
      ) : null}
      {result.preview && Object.keys(result.preview).length > 0 ? (
        <Code block className="wrap-anywhere">
          {JSON.stringify(result.preview, null, 2)}
        </Code>
      ) : null}
    </Stack>
  );
}

function TriggerFields({
  draft,
  campaigns,
  onChange,
}: {
  draft: Draft;
  campaigns: Choices['campaign'];
  onChange: ((draft: Draft) => void) | undefined;
}) {
  const t = useText();
  const { trigger_event: trigger, filter } = draft;
  const hasIntent = trigger === 'email.replied' || trigger === 'email.received';
  const narrow = (name: 'intents' | 'campaign_ids', values: string[]) => {
    const { [name]: _, ...rest } = filter;
    onChange?.({ ...draft, filter: values.length > 0 ? { ...rest, [name]: values } : rest });
  };
  return (
    <>
      <Select
        label={t('automations.when')}
        data={[{ value: 'automation.called', label: t('automations.called') }, ...TRIGGERS.map(toTriggerChoice)]}
        value={trigger}
        // A filter belongs to its trigger, so changing the trigger clears it.
        onChange={(value) => onChange?.({ ...draft, trigger_event: value ?? trigger, filter: {} })}
        searchable
        allowDeselect={false}
        readOnly={!onChange}
      />
      {hasIntent ? (
        <MultiSelect
          label={t('automations.intents')}
          data={[...new Set([...INTENTS, ...(filter.intents ?? [])])].map((value) => ({
            value,
            label: textOf('automations.intent', value),
          }))}
          value={filter.intents ?? []}
          onChange={(values) => narrow('intents', values)}
          placeholder={filter.intents ? '' : t('automations.any')}
          readOnly={!onChange}
        />
      ) : null}
      {trigger.startsWith('email.') ? (
        <MultiSelect
          label={t('automations.campaigns')}
          data={campaigns ?? []}
          value={filter.campaign_ids ?? []}
          onChange={(values) => narrow('campaign_ids', values)}
          placeholder={filter.campaign_ids ? '' : t('automations.any')}
          searchable
          readOnly={!onChange}
        />
      ) : null}
    </>
  );
}

interface FieldsOf {
  node: FlowNode;
  change: (changed: Partial<FlowNode>) => void;
  isFixed: boolean;
}

function ConditionFields({ node, change, isFixed }: FieldsOf) {
  const t = useText();
  const condition = node.condition ?? { field: 'field' as const };
  const set = (changed: Partial<typeof condition>) => change({ condition: { ...condition, ...changed } });
  const isBare = condition.operator === 'exists' || condition.operator === 'not_exists';
  return (
    <>
      <Select
        label={t('automations.condition.kind')}
        data={(['field', 'expression'] as const).map((value) => ({
          value,
          label: t(`automations.condition.${value}`),
        }))}
        value={condition.field}
        onChange={(field) =>
          change({
            condition:
              field === 'expression'
                ? { field, expression: '' }
                : { field: 'field', key: '', operator: 'eq', value: '' },
          })
        }
        allowDeselect={false}
        readOnly={isFixed}
      />
      {condition.field === 'expression' ? (
        <Textarea
          label={t('automations.condition.expression')}
          description={t('automations.condition.expression.why')}
          autosize
          value={condition.expression ?? ''}
          onChange={(event) => set({ expression: event.currentTarget.value })}
          readOnly={isFixed}
        />
      ) : (
        <>
          <Autocomplete
            label={t('automations.condition.key')}
            description={t('automations.condition.key.why')}
            data={KEYS}
            renderOption={({ option: { value } }) => (
              <Text size="sm">
                {textOf('automations.key', value)}{' '}
                <Text span inherit c="dimmed">
                  {value}
                </Text>
              </Text>
            )}
            // Shows all options, regardless of the typed text.
            filter={({ options }) => options}
            value={condition.key ?? ''}
            onChange={(key) => set({ key })}
            readOnly={isFixed}
          />
          <Select
            label={t('automations.condition.operator')}
            data={OPERATORS.map((value) => ({ value, label: t(`operator.${value}`) }))}
            value={condition.operator ?? 'eq'}
            onChange={(operator) => {
              const { value: _, ...rest } = condition;
              const needsNone = operator === 'exists' || operator === 'not_exists';
              change({ condition: { ...(needsNone ? rest : condition), operator: operator ?? 'eq' } });
            }}
            allowDeselect={false}
            readOnly={isFixed}
          />
          {isBare ? null : (
            <TextInput
              label={t('automations.condition.value')}
              value={shown(condition.value)}
              onChange={(event) => set({ value: toValue(event.currentTarget.value, condition.operator) })}
              readOnly={isFixed}
            />
          )}
        </>
      )}
    </>
  );
}

/** Converts text to the value type of an operator: list, number, boolean or text. */
function toValue(written: string, operator: string | undefined): unknown {
  if (operator === 'in' || operator === 'not_in') return written.split(',').map((one) => one.trim());
  if (written === 'true' || written === 'false') return written === 'true';
  const number = Number(written);
  return written.trim() !== '' && Number.isFinite(number) && String(number) === written ? number : written;
}

function ActionFields({ node, choices, change, isFixed }: FieldsOf & { choices: Choices }) {
  const t = useText();
  const action = node.action ?? '';
  const [json, setJson] = useState(() => JSON.stringify(node.config ?? {}, null, 2));
  const provider = action.startsWith('sendsets.') ? '' : action.split('.')[0]!;
  const fields = fieldsOf(action);
  return (
    <>
      <Select
        label={t('automations.action')}
        data={[...new Set([...Object.keys(ACTIONS), ...choices.actions, action])].map((value) => ({
          value,
          label: textOf('automations.action', value),
        }))}
        value={action}
        onChange={(value) =>
          value && value !== action ? change({ action: value, config: {}, connection_id: null }) : undefined
        }
        searchable
        allowDeselect={false}
        readOnly={isFixed}
      />
      {provider ? (
        <Select
          label={t('automations.connection')}
          data={choices.connections.filter((one) => one.provider === provider)}
          value={node.connection_id ?? null}
          onChange={(connection_id) => change({ connection_id })}
          readOnly={isFixed}
        />
      ) : null}
      {fields ? (
        fields.map((field) => (
          <ActionInput
            key={field.name}
            field={field}
            choices={choices}
            why={t('automations.template.why')}
            values={node.config ?? {}}
            set={(changes) =>
              change({
                config: Object.fromEntries(
                  Object.entries({ ...node.config, ...changes }).filter(
                    ([, value]) => value !== undefined && value !== '',
                  ),
                ),
              })
            }
            isFixed={isFixed}
          />
        ))
      ) : (
        <JsonInput
          label={t('automations.config')}
          validationError={t('automations.config.bad')}
          autosize
          minRows={3}
          value={json}
          onChange={(written) => {
            setJson(written);
            try {
              change({ config: JSON.parse(written) as Record<string, unknown> });
            } catch {
              // Incomplete JSON stays in the field, and the field shows an error.
            }
          }}
          readOnly={isFixed}
        />
      )}
    </>
  );
}
