import {
  ActionIcon,
  Button,
  Group,
  MultiSelect,
  SegmentedControl,
  Select,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import IconX from 'tabler:x';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCampaigns } from '../../components/choices.ts';
import { textOf, useText } from '../../text/index.ts';
import { TagsInput as ChooseTags } from './tags.tsx';

/** Conditions of a segment or of a search in the lead database. */
export interface Audience {
  match: 'all' | 'any';
  conditions: { field: string; operator: string; values: string[] }[];
}
type Condition = Audience['conditions'][number];
type Field = AnswerOf<'/v1/segments/fields'>['fields'][number];

/** Operators that need no value. The operators in `MANY` accept several values. */
const BARE = new Set(['exists', 'not_exists']);
const MANY = new Set(['in', 'not_in']);

/** Returns only complete conditions: those with a value if their operator needs one. */
export function complete({ match, conditions }: Audience): Audience {
  return {
    match,
    conditions: conditions.filter(({ operator, values }) => BARE.has(operator) || values.some((value) => value !== '')),
  };
}

/** Editor of conditions: field, operator and values. */
export function Conditions({
  value,
  onChange,
  readOnly = false,
}: {
  value: Audience;
  onChange: (audience: Audience) => void;
  readOnly?: boolean;
}) {
  const t = useText();
  const fields = useQuery({
    queryKey: ['segments', 'fields'],
    queryFn: () => dataOf(heron.GET('/v1/segments/fields')),
  });
  const known = fields.data?.fields ?? [];
  const change = (at: number, condition: Condition) =>
    onChange({ ...value, conditions: value.conditions.map((before, index) => (index === at ? condition : before)) });
  return (
    <Stack gap="sm">
      {value.conditions.length > 1 ? (
        <Group gap="xs">
          <Text size="sm">{t('leads.match')}</Text>
          <SegmentedControl
            size="xs"
            value={value.match}
            onChange={(match) => onChange({ ...value, match: match as Audience['match'] })}
            data={(['all', 'any'] as const).map((one) => ({ value: one, label: t(`leads.match.${one}`) }))}
            aria-label={t('leads.match')}
            readOnly={readOnly}
          />
        </Group>
      ) : null}
      {value.conditions.map((condition, at) => {
        const field = known.find(({ name }) => name === condition.field);
        return (
          <Group
            key={at}
            gap="xs"
            align="flex-start"
            role="group"
            aria-label={t('leads.condition', { number: at + 1 })}
          >
            <Select
              aria-label={t('leads.condition.field')}
              data={known.map(({ name, label }) => ({ value: name, label: textOf('leads.field', name, label) }))}
              value={condition.field}
              onChange={(name) => change(at, starting(known.find((one) => one.name === name)))}
              allowDeselect={false}
              searchable
              readOnly={readOnly}
              w={{ base: '100%', xs: 190 }}
            />
            <Select
              aria-label={t('leads.condition.operator')}
              data={(field?.operators ?? [condition.operator]).map((one) => ({
                value: one,
                label: textOf('leads.operator', one),
              }))}
              value={condition.operator}
              onChange={(operator) => change(at, { ...condition, operator: operator ?? condition.operator })}
              allowDeselect={false}
              readOnly={readOnly}
              // Leaves space for the remove button next to an operator without a value field.
              w={{ base: BARE.has(condition.operator) ? 'calc(100% - 2.75rem)' : '100%', xs: 170 }}
            />
            <Values condition={condition} field={field} onChange={(values) => change(at, { ...condition, values })} />
            {readOnly ? null : (
              <ActionIcon
                variant="subtle"
                color="gray"
                mt={4}
                ml="auto"
                aria-label={t('leads.condition.remove', { number: at + 1 })}
                onClick={() => onChange({ ...value, conditions: value.conditions.filter((_, index) => index !== at) })}
              >
                <IconX size={16} />
              </ActionIcon>
            )}
          </Group>
        );
      })}
      {readOnly ? null : (
        <Group>
          <Button
            size="xs"
            variant="default"
            disabled={known.length === 0}
            onClick={() =>
              onChange({
                ...value,
                conditions: [...value.conditions, starting(known.find((one) => one.name === 'company'))],
              })
            }
          >
            {t('leads.condition.add')}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

/** Returns the initial condition when a field is chosen. */
function starting(field: Field | undefined): Condition {
  return { field: field?.name ?? 'email', operator: field?.operators[0] ?? 'equal', values: [] };
}

function Values({
  condition: { operator, values },
  field,
  onChange,
}: {
  condition: Condition;
  field: Field | undefined;
  onChange: (values: string[]) => void;
}) {
  const t = useText();
  const campaigns = useCampaigns(field?.type === 'campaign');
  const shared = { 'aria-label': t('leads.condition.value'), flex: '1 1 12rem', miw: 160 } as const;
  if (BARE.has(operator)) return null;
  if (field?.type === 'label') return <ChooseTags {...shared} value={values} onChange={onChange} />;
  if (field?.type === 'campaign' || field?.values) {
    const data =
      field.type === 'campaign'
        ? (campaigns.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))
        : field.values!.map((one) => ({ value: one, label: textOf('leads.value', one) }));
    // Several values are alternatives. A flag has only one value.
    return field.type === 'flag' ? (
      <Select {...shared} data={data} value={values[0] ?? null} onChange={(one) => onChange(one ? [one] : [])} />
    ) : (
      <MultiSelect {...shared} data={data} value={values} onChange={onChange} searchable />
    );
  }
  if (field?.type === 'time')
    return (
      <TextInput
        {...shared}
        type="date"
        value={values[0]?.slice(0, 10) ?? ''}
        onChange={(event) => onChange([event.currentTarget.value])}
      />
    );
  if (MANY.has(operator))
    return <TagsInput {...shared} value={values} onChange={onChange} placeholder={t('leads.condition.many')} />;
  return <TextInput {...shared} value={values[0] ?? ''} onChange={(event) => onChange([event.currentTarget.value])} />;
}
