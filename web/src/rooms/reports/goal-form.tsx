import { Alert, Button, Checkbox, Group, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf, type BodyOf } from '../../app/api.ts';
import { useAct } from '../../parts/act.ts';
import { Form } from '../../parts/form.tsx';
import { CURRENCIES, toMoneyOfMinor } from '../../parts/money.ts';
import { ErrorNote } from '../../parts/states.tsx';
import { useText } from '../../text/index.ts';
import { GoalConditions, toDraft, toPredicate } from './goal-conditions.tsx';

export type Goal = AnswerOf<'/v1/goals'>['data'][number];
type Definition = BodyOf<'/v1/goals', 'post'>['definition'];
const KINDS = ['signup', 'activation', 'paid', 'revenue', 'retention', 'custom'] as const;
const UNITS = ['minor', 'major'] as const;

/** Defines a goal, or changes one: its event, the conditions on its data, and the amount that it carries. */
export function GoalForm({ goal, onDone }: { goal?: Goal; onDone: () => void }) {
  const t = useText();
  const before = goal?.definition;
  const [name, setName] = useState(goal?.name ?? '');
  const [kind, setKind] = useState<(typeof KINDS)[number]>(goal?.kind ?? 'signup');
  const [event, setEvent] = useState(before?.event_name ?? '');
  const [isPrimary, setPrimary] = useState(goal?.is_primary ?? true);
  const [conditions, setConditions] = useState(() => (before?.predicates ?? []).map(toDraft));
  const [hasValue, setHasValue] = useState(typeof before?.value_path === 'string');
  const [valuePath, setValuePath] = useState(before?.value_path ?? '');
  const [unit, setUnit] = useState<(typeof UNITS)[number]>(before?.value_unit ?? 'minor');
  const [currencyPath, setCurrencyPath] = useState(before?.currency_path ?? '');
  const [currency, setCurrency] = useState<string | null>(before?.default_currency ?? null);
  const definition: Definition = {
    event_name: event,
    predicates: conditions.map(toPredicate),
    ...(hasValue
      ? {
          value_path: valuePath,
          value_unit: unit,
          currency_path: currencyPath === '' ? null : currencyPath,
          default_currency: currency,
        }
      : {}),
  };
  const fields = { name, definition, is_primary: kind !== 'custom' && isPrimary };
  const save = useAct(
    (): Promise<unknown> =>
      goal
        ? dataOf(heron.PATCH('/v1/goals/{id}', { params: { path: { id: goal.id } }, body: fields }))
        : dataOf(heron.POST('/v1/goals', { body: { ...fields, kind } })),
    { stale: [['goals'], ['reports']], isShown: true, done: t(goal ? 'saved' : 'goals.saved'), onDone },
  );
  return (
    <Form act={save} submit={t(goal ? 'save' : 'goals.create')}>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput
          label={t('goals.name')}
          value={name}
          onChange={(change) => setName(change.currentTarget.value)}
          required
          data-autofocus
        />
        <Select
          label={t('goals.stage')}
          value={kind}
          onChange={(value) => setKind((value ?? 'signup') as typeof kind)}
          data={KINDS.map((value) => ({ value, label: t(`goals.kind.${value}`) }))}
          allowDeselect={false}
          disabled={goal !== undefined}
        />
      </SimpleGrid>
      <TextInput
        label={t('goals.event')}
        description={t('goals.event.why')}
        value={event}
        onChange={(change) => setEvent(change.currentTarget.value)}
        placeholder="user.signed_up"
        required
      />
      <GoalConditions value={conditions} onChange={setConditions} />
      <Checkbox
        label={t('goals.value')}
        description={t('goals.value.why')}
        checked={hasValue}
        onChange={(change) => setHasValue(change.currentTarget.checked)}
      />
      {hasValue ? (
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextInput
            label={t('goals.value.path')}
            placeholder="order.total"
            value={valuePath}
            onChange={(change) => setValuePath(change.currentTarget.value)}
            required
          />
          <Select
            label={t('goals.value.unit')}
            value={unit}
            onChange={(value) => setUnit((value ?? 'minor') as typeof unit)}
            data={UNITS.map((value) => ({ value, label: t(`goals.unit.${value}`) }))}
            allowDeselect={false}
          />
          <TextInput
            label={t('goals.currency.path')}
            placeholder="order.currency"
            value={currencyPath}
            onChange={(change) => setCurrencyPath(change.currentTarget.value)}
          />
          <Select
            label={t('goals.currency.otherwise')}
            value={currency}
            onChange={setCurrency}
            data={CURRENCIES}
            searchable
            clearable
          />
        </SimpleGrid>
      ) : null}
      {kind === 'custom' ? null : (
        <Checkbox
          label={t('goals.primary.why')}
          checked={isPrimary}
          onChange={(change) => setPrimary(change.currentTarget.checked)}
        />
      )}
      {goal ? (
        <Text size="sm" c="dimmed">
          {t('goals.revision.why')}
        </Text>
      ) : null}
      <Preview definition={definition} />
    </Form>
  );
}

/** What the definition would have counted in the last 30 days. */
function Preview({ definition }: { definition: Definition }) {
  const t = useText();
  const preview = useAct(() => dataOf(heron.POST('/v1/goals/preview', { body: { definition, days: 30 } })), {
    isShown: true,
  });
  const values = preview.data?.values ?? [];
  return (
    <Stack gap="xs">
      <Group>
        <Button
          size="xs"
          variant="default"
          disabled={definition.event_name === ''}
          onClick={() => preview.mutate()}
          loading={preview.isPending}
        >
          {t('goals.preview')}
        </Button>
      </Group>
      {preview.data ? (
        <Alert color="blue" variant="light" role="status">
          <Text size="sm">
            {t('goals.previewed', { count: preview.data.matched, people: preview.data.people })}
            {preview.data.scanned > preview.data.matched
              ? ` ${t('goals.previewed.scanned', { count: preview.data.scanned })}`
              : ''}
          </Text>
          {values.map(({ currency, amount_minor: minor, conversions }) => (
            <Text size="sm" key={currency}>
              {t('goals.previewed.value', {
                amount: minor === null ? t('goals.tooLarge', { currency }) : toMoneyOfMinor(minor, currency),
                count: conversions,
              })}
            </Text>
          ))}
        </Alert>
      ) : null}
      <ErrorNote error={preview.error} />
    </Stack>
  );
}
