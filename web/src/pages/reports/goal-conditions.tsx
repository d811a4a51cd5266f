import { ActionIcon, Button, Group, Select, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import IconX from 'tabler:x';
import type { AnswerOf } from '../../app/api.ts';
import { offProps } from '../../components/focus.ts';
import { OPERATORS } from '../../components/operators.ts';
import { text, useText } from '../../text/index.ts';

type Predicate = AnswerOf<'/v1/goals'>['data'][number]['definition']['predicates'][number];
type Operator = Predicate['op'];
type Scalar = string | number | boolean;
/**
 * Types of values. The API compares by type: the number 1 differs from the text "1". Values of mixed types are edited
 * as JSON.
 */
type Kind = 'text' | 'number' | 'flag' | 'json';

/** Condition while it is edited. Its values are the typed text. */
export interface ConditionDraft {
  path: string;
  op: Operator;
  kind: Kind;
  values: string[];
}

const MOST = 20;
const LISTS = new Set<Operator>(['in', 'not_in']);
const BARE = new Set<Operator>(['exists', 'not_exists']);
const NUMERIC = new Set<Operator>(['gt', 'gte', 'lt', 'lte']);

/** Editor of conditions on event data, all of which must hold: path, comparison and values. */
export function GoalConditions({
  value,
  onChange,
}: {
  value: readonly ConditionDraft[];
  onChange: (conditions: ConditionDraft[]) => void;
}) {
  const t = useText();
  return (
    <Stack gap="xs" component="section" aria-label={t('goals.conditions')}>
      <div>
        <Text size="sm" fw={500}>
          {t('goals.conditions')}
        </Text>
        <Text size="xs" c="dimmed">
          {t('goals.conditions.why')}
        </Text>
      </div>
      {value.map((condition, at) => (
        <ConditionFields
          key={at}
          number={at + 1}
          condition={condition}
          onChange={(next) => onChange(value.with(at, next))}
          onRemove={() => onChange(value.toSpliced(at, 1))}
        />
      ))}
      <Group>
        <Button
          size="xs"
          variant="default"
          {...offProps(value.length >= MOST, () =>
            onChange([...value, { path: '', op: 'eq', kind: 'text', values: [] }]),
          )}
        >
          {t('goals.condition.add')}
        </Button>
      </Group>
    </Stack>
  );
}

function ConditionFields({
  number,
  condition,
  onChange,
  onRemove,
}: {
  number: number;
  condition: ConditionDraft;
  onChange: (condition: ConditionDraft) => void;
  onRemove: () => void;
}) {
  const t = useText();
  const { path, op, kind } = condition;
  const kinds: readonly Kind[] = kind === 'json' ? ['text', 'number', 'flag', 'json'] : ['text', 'number', 'flag'];
  return (
    <Group gap="xs" align="flex-start" role="group" aria-label={t('goals.condition', { number })}>
      <TextInput
        aria-label={t('goals.condition.path')}
        placeholder="plan.name"
        value={path}
        onChange={(event) => onChange({ ...condition, path: event.currentTarget.value })}
        required
        w={{ base: '100%', xs: 150 }}
      />
      <Select
        aria-label={t('goals.condition.operator')}
        data={OPERATORS.map((one) => ({ value: one, label: t(`operator.${one}`) }))}
        value={op}
        onChange={(chosen) => onChange(withOperator(condition, (chosen ?? op) as Operator))}
        allowDeselect={false}
        w={{ base: '100%', xs: 165 }}
      />
      {BARE.has(op) || NUMERIC.has(op) || op === 'contains' ? null : (
        <Select
          aria-label={t('goals.condition.kind')}
          data={kinds.map((one) => ({ value: one, label: t(`goals.valueKind.${one}`) }))}
          value={kind}
          onChange={(chosen) => onChange({ ...condition, kind: (chosen ?? kind) as Kind, values: [] })}
          allowDeselect={false}
          w={{ base: '100%', xs: 110 }}
        />
      )}
      <Values condition={condition} onChange={(values) => onChange({ ...condition, values })} />
      <ActionIcon
        variant="subtle"
        color="gray"
        mt={4}
        aria-label={t('goals.condition.remove', { number })}
        onClick={onRemove}
      >
        <IconX size={16} />
      </ActionIcon>
    </Group>
  );
}

function Values({
  condition: { op, kind, values },
  onChange,
}: {
  condition: ConditionDraft;
  onChange: (values: string[]) => void;
}) {
  const t = useText();
  const shared = { 'aria-label': t('goals.condition.value'), flex: '1 1 9rem', miw: 120 } as const;
  if (BARE.has(op)) return null;
  if (LISTS.has(op))
    return (
      <TagsInput
        {...shared}
        value={values}
        onChange={(next) => onChange(kind === 'number' ? next.filter(isNumeric) : next)}
        placeholder={values.length === 0 ? t('goals.condition.many') : ''}
        data={kind === 'flag' ? ['true', 'false'] : []}
      />
    );
  if (kind === 'flag')
    return (
      <Select
        {...shared}
        data={(['true', 'false'] as const).map((one) => ({ value: one, label: t(`goals.flag.${one}`) }))}
        value={values[0] ?? null}
        onChange={(one) => onChange(one ? [one] : [])}
        required
      />
    );
  return (
    <TextInput
      {...shared}
      {...(kind === 'number' ? { type: 'number', step: 'any' } : {})}
      required={kind === 'number' || op === 'contains'}
      value={values[0] ?? ''}
      onChange={(event) => onChange([event.currentTarget.value])}
    />
  );
}

/** Changes the comparison of a condition and keeps values that still fit. */
function withOperator(condition: ConditionDraft, op: Operator): ConditionDraft {
  const kind = NUMERIC.has(op) ? 'number' : op === 'contains' ? 'text' : condition.kind;
  const kept = kind === condition.kind ? condition.values : [];
  return { ...condition, op, kind, values: LISTS.has(op) ? kept : kept.slice(0, 1) };
}

function isNumeric(typed: string): boolean {
  return typed.trim() !== '' && Number.isFinite(Number(typed));
}

/** Parses the conditions in the URL; returns none if they are invalid. The API checks the conditions themselves. */
export function readPredicates(where: string | undefined): Predicate[] {
  try {
    const given: unknown = JSON.parse(where ?? '');
    return Array.isArray(given) ? (given as Predicate[]) : [];
  } catch {
    return [];
  }
}

/** Converts a condition to an editable draft. */
export function toDraft(predicate: Predicate): ConditionDraft {
  const { path, op } = predicate;
  if (!('value' in predicate)) return { path, op, kind: 'text', values: [] };
  const given = Array.isArray(predicate.value) ? predicate.value : [predicate.value];
  const kinds = new Set(given.map(kindOf));
  const kind = kinds.size === 1 ? kindOf(given[0]!) : 'json';
  return { path, op, kind, values: given.map((one) => (kind === 'json' ? JSON.stringify(one) : String(one))) };
}

/** Converts a condition to the API's form. The API reports missing parts. */
export function toPredicate({ path, op, kind, values }: ConditionDraft): Predicate {
  if (BARE.has(op)) return { path, op } as Predicate;
  const typed = values.map((one) => toScalar(one, kind));
  return { path, op, value: LISTS.has(op) ? typed : (typed[0] ?? '') } as Predicate;
}

/** Formats a condition as text. */
export function conditionText(predicate: Predicate): string {
  const { path, op } = predicate;
  const given = 'value' in predicate ? predicate.value : [];
  return `${path} ${text(`operator.${op}`)} ${[given].flat().map(valueText).join(', ')}`.trim();
}

function valueText(value: Scalar): string {
  return typeof value === 'boolean'
    ? text(`goals.flag.${value}`)
    : typeof value === 'string'
      ? text('goals.quoted', { value })
      : `${value}`;
}

function kindOf(value: Scalar): Kind {
  return typeof value === 'string' ? 'text' : typeof value === 'number' ? 'number' : 'flag';
}

function toScalar(typed: string, kind: Kind): Scalar {
  if (kind === 'number') return Number(typed);
  if (kind === 'flag') return typed === 'true';
  if (kind === 'text') return typed;
  try {
    return JSON.parse(typed) as Scalar;
  } catch {
    return typed;
  }
}
