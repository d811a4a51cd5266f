import { Alert, Button, Checkbox, Group, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { dataOf, heron, queryClient, type AnswerOf, type BodyOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { DraftForm } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import { CURRENCIES, toMoneyOfMinor } from '../../components/money.ts';
import { ErrorNote } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';
import { GoalConditions, conditionText, toDraft, toPredicate, type ConditionDraft } from './goal-conditions.tsx';

export type Goal = AnswerOf<'/v1/goals'>['data'][number];
type Detail = AnswerOf<'/v1/goals/{id}'>;
type Definition = BodyOf<'/v1/goals', 'post'>['definition'];
const KINDS = ['signup', 'activation', 'paid', 'revenue', 'retention', 'custom'] as const;
const UNITS = ['minor', 'major'] as const;

/** Goal while it is edited. Its definition is composed of these fields and sent as a whole. */
interface Edited extends Pick<Goal, 'name' | 'kind' | 'is_primary' | 'updated_at'> {
  event: string;
  conditions: ConditionDraft[];
  /** Location of the amount in the event's data; null if the event has no amount. */
  value: { path: string; unit: (typeof UNITS)[number]; currencyPath: string; currency: string | null } | null;
}
const NO_VALUE = { path: '', unit: 'minor', currencyPath: '', currency: null } as const;
const NEW: Edited = {
  name: '',
  kind: 'signup',
  is_primary: true,
  event: '',
  conditions: [],
  value: null,
  updated_at: '',
};

function editedOf({ name, kind, is_primary, updated_at, definition }: Goal): Edited {
  const { event_name: event, predicates, value_path: path, value_unit: unit } = definition;
  return {
    name,
    kind,
    is_primary,
    updated_at,
    event,
    conditions: predicates.map(toDraft),
    value:
      typeof path === 'string'
        ? { path, unit, currencyPath: definition.currency_path ?? '', currency: definition.default_currency }
        : null,
  };
}

function definitionOf({ event, conditions, value }: Edited): Definition {
  return {
    event_name: event,
    predicates: conditions.map(toPredicate),
    ...(value
      ? {
          value_path: value.path,
          value_unit: value.unit,
          currency_path: value.currencyPath === '' ? null : value.currencyPath,
          default_currency: value.currency,
        }
      : {}),
  };
}

/** Form that defines or changes a goal: event, conditions on its data, and amount. */
export function GoalForm({ goal, onDone }: { goal?: Goal; onDone: () => void }) {
  const t = useText();
  const keep = (stored: Goal) => {
    queryClient.setQueryData<Detail>(['goals', stored.id], (before) => before && { ...before, ...stored });
    return editedOf(stored);
  };
  const draft = useDraft<Edited>({
    stored: goal ? editedOf(goal) : NEW,
    write: async (changes, seen) => {
      const next = { ...seen, ...changes };
      const { name, kind, updated_at: expected_updated_at } = next;
      const definition = definitionOf(next);
      const is_primary = kind !== 'custom' && next.is_primary;
      if (!goal) return dataOf(heron.POST('/v1/goals', { body: { name, kind, is_primary, definition } }));
      const body = { name, is_primary, definition, expected_updated_at };
      return keep(await dataOf(heron.PATCH('/v1/goals/{id}', { params: { path: { id: goal.id } }, body })));
    },
    readAgain: async () => keep(await dataOf(heron.GET('/v1/goals/{id}', { params: { path: { id: goal!.id } } }))),
    stale: [['goals'], ['reports']],
    done: t(goal ? 'saved' : 'goals.saved'),
    onDone,
  });
  const { change } = draft;
  const { name, kind, event, conditions, value, is_primary } = draft.value;
  return (
    <DraftForm
      draft={draft}
      submit={goal ? undefined : t('goals.create')}
      names={{
        name: t('goals.name'),
        is_primary: t('goals.primary.why'),
        event: t('goals.event'),
        conditions: t('goals.conditions'),
        value: t('goals.amount'),
      }}
      say={{
        conditions: (rows) => rows.map((row) => conditionText(toPredicate(row))).join('\n'),
        value: (amount) =>
          amount ? t('goals.amount.of', { path: amount.path, unit: t(`goals.unit.${amount.unit}`) }) : '',
      }}
    >
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput
          label={t('goals.name')}
          value={name}
          onChange={({ currentTarget }) => change({ name: currentTarget.value })}
          required
          data-autofocus
        />
        <Select
          label={t('goals.stage')}
          value={kind}
          onChange={(chosen) => change({ kind: (chosen ?? kind) as typeof kind })}
          data={KINDS.map((one) => ({ value: one, label: t(`goals.kind.${one}`) }))}
          allowDeselect={false}
          disabled={goal !== undefined}
        />
      </SimpleGrid>
      <TextInput
        label={t('goals.event')}
        description={t('goals.event.why')}
        value={event}
        onChange={({ currentTarget }) => change({ event: currentTarget.value })}
        placeholder="user.signed_up"
        required
      />
      <GoalConditions value={conditions} onChange={(rows) => change({ conditions: rows })} />
      <Checkbox
        label={t('goals.value')}
        description={t('goals.value.why')}
        checked={value !== null}
        onChange={({ currentTarget }) => change({ value: currentTarget.checked ? NO_VALUE : null })}
      />
      {value ? (
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextInput
            label={t('goals.value.path')}
            placeholder="order.total"
            value={value.path}
            onChange={({ currentTarget }) => change({ value: { ...value, path: currentTarget.value } })}
            required
          />
          <Select
            label={t('goals.value.unit')}
            value={value.unit}
            onChange={(unit) => change({ value: { ...value, unit: (unit ?? 'minor') as typeof value.unit } })}
            data={UNITS.map((unit) => ({ value: unit, label: t(`goals.unit.${unit}`) }))}
            allowDeselect={false}
          />
          <TextInput
            label={t('goals.currency.path')}
            placeholder="order.currency"
            value={value.currencyPath}
            onChange={({ currentTarget }) => change({ value: { ...value, currencyPath: currentTarget.value } })}
          />
          <Select
            label={t('goals.currency.otherwise')}
            value={value.currency}
            onChange={(currency) => change({ value: { ...value, currency } })}
            data={CURRENCIES}
            searchable
            clearable
          />
        </SimpleGrid>
      ) : null}
      {kind === 'custom' ? null : (
        <Checkbox
          label={t('goals.primary.why')}
          checked={is_primary}
          onChange={({ currentTarget }) => change({ is_primary: currentTarget.checked })}
        />
      )}
      {goal ? (
        <Text size="sm" c="dimmed">
          {t('goals.revision.why')}
        </Text>
      ) : null}
      <Preview definition={definitionOf(draft.value)} />
    </DraftForm>
  );
}

/** Shows the matches of the definition in the last 30 days. */
function Preview({ definition }: { definition: Definition }) {
  const t = useText();
  const preview = useAction(() => dataOf(heron.POST('/v1/goals/preview', { body: { definition, days: 30 } })), {
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
