import { ActionIcon, Button, Group, Paper, Select, Stack, Text, TextInput } from '@mantine/core';
import IconPlus from 'tabler:plus';
import IconTrash from 'tabler:trash';
import { textOf, useText } from '../../text/index.ts';
import { branchesOf, typeOf, type Branch, type Condition, type Step } from './flow.ts';

const OPERATORS = ['equals', 'not_equals', 'contains', 'exists', 'not_exists', 'gt', 'lt'] as const;
const OUTCOMES: Record<string, readonly string[]> = {
  email: ['sent', 'skipped', 'uncertain'],
  wait: ['elapsed'],
  wait_for_event: ['event', 'timeout'],
  app_action: ['success', 'error'],
};
const outcomesOf = (type: string) => OUTCOMES[type] ?? ['done'];
const NOWHERE = 'end';
const CONTACT_FIELDS = ['email', 'first_name', 'last_name', 'company', 'phone'] as const;

/**
 * Editor of a step's links to the next steps. The workflow checks the links from the top and takes the first whose
 * conditions are all met.
 */
export function Branches({
  step,
  steps,
  mayWrite,
  change,
}: {
  step: Step;
  steps: readonly Step[];
  mayWrite: boolean;
  change: (branches: Branch[]) => void;
}) {
  const t = useText();
  const type = typeOf(step);
  if (type === 'end' || type === 'unsubscribe') return null;
  const branches = branchesOf(step);
  const targets = [
    ...steps
      .filter((one) => one.id !== step.id)
      .map((one) => ({ value: one.id, label: one.name.trim() || textOf('step.kind', typeOf(one)) })),
    { value: NOWHERE, label: t('sequence.end') },
  ];
  const replace = (at: number, branch: Branch) => change(branches.with(at, branch));
  return (
    <Stack gap="xs" component="section" aria-label={t('ways.title')}>
      <Text size="sm" fw={600}>
        {t('ways.title')}
      </Text>
      {branches.length > 1 ? (
        <Text size="xs" c="dimmed">
          {t('ways.why')}
        </Text>
      ) : null}
      {branches.map((branch, at) => (
        <Paper key={at} withBorder p="xs" radius="md">
          <Stack gap={6}>
            {(branch.when ?? []).map((condition, index) => (
              <ConditionFields
                key={index}
                condition={condition}
                outcomes={outcomesOf(type)}
                isEmail={type === 'email'}
                mayWrite={mayWrite}
                change={(next) => replace(at, { ...branch, when: branch.when!.with(index, next) })}
                remove={() => replace(at, { ...branch, when: branch.when!.toSpliced(index, 1) })}
              />
            ))}
            <Group gap="xs" wrap="nowrap">
              <Select
                aria-label={t('ways.to')}
                leftSection="→"
                flex={1}
                data={targets}
                value={branch.to ?? NOWHERE}
                onChange={(value) => replace(at, { ...branch, to: value === NOWHERE ? null : value })}
                allowDeselect={false}
                disabled={!mayWrite}
              />
              {mayWrite ? (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={t('ways.remove')}
                  onClick={() => change(branches.toSpliced(at, 1))}
                >
                  <IconTrash size={15} />
                </ActionIcon>
              ) : null}
            </Group>
            {mayWrite ? (
              <Group>
                <Button
                  size="compact-xs"
                  variant="subtle"
                  onClick={() =>
                    replace(at, {
                      ...branch,
                      when: [...(branch.when ?? []), firstCondition(type)],
                    })
                  }
                >
                  {t('ways.condition')}
                </Button>
              </Group>
            ) : null}
          </Stack>
        </Paper>
      ))}
      {branches.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('ways.none')}
        </Text>
      ) : null}
      {mayWrite ? (
        <Group>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconPlus size={14} />}
            onClick={() => change(withBranch(branches, firstCondition(type)))}
          >
            {t('ways.add')}
          </Button>
        </Group>
      ) : null}
    </Stack>
  );
}

function ConditionFields({
  condition,
  outcomes,
  isEmail,
  mayWrite,
  change,
  remove,
}: {
  condition: Condition;
  outcomes: readonly string[];
  isEmail: boolean;
  mayWrite: boolean;
  change: (condition: Condition) => void;
  remove: () => void;
}) {
  const t = useText();
  const { field, operator, value } = condition;
  const ofStep = isEmail
    ? ['opened', 'clicked', 'replied', 'node_outcome']
    : ['node_outcome', 'opened', 'clicked', 'replied'];
  const known = [...ofStep, ...CONTACT_FIELDS.map((name) => `contact.${name}`)];
  const isKnown = known.includes(field);
  const isReaction = field === 'opened' || field === 'clicked' || field === 'replied';
  const needsValue = operator !== 'exists' && operator !== 'not_exists';
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      <Group gap={6} flex={1} align="flex-start">
        <Select
          aria-label={t('ways.condition.field')}
          data={[
            ...known.map((name) => ({ value: name, label: textOf('ways.condition', name) })),
            { value: '', label: t('ways.condition.other') },
          ]}
          value={isKnown ? field : ''}
          onChange={(name) => change(toCondition(name ?? '', outcomes))}
          allowDeselect={false}
          disabled={!mayWrite}
          flex="1 1 200px"
          maw={260}
        />
        {isKnown ? null : (
          <TextInput
            aria-label={t('ways.condition.path')}
            placeholder={t('ways.condition.path.example')}
            value={field}
            onChange={(event) => change({ ...condition, field: event.currentTarget.value })}
            disabled={!mayWrite}
            w={170}
          />
        )}
        {isReaction ? (
          <Select
            aria-label={t('ways.condition.value')}
            data={[
              { value: 'true', label: t('ways.condition.yes') },
              { value: 'false', label: t('ways.condition.no') },
            ]}
            value={String(value) === 'false' ? 'false' : 'true'}
            onChange={(chosen) => change({ ...condition, operator: 'equals', value: chosen === 'true' })}
            allowDeselect={false}
            disabled={!mayWrite}
            flex="1 1 110px"
            maw={170}
          />
        ) : field === 'node_outcome' ? (
          <Select
            aria-label={t('ways.condition.value')}
            data={outcomes.map((one) => ({ value: one, label: textOf('sequence.outcome', one) }))}
            value={String(value)}
            onChange={(chosen) => change({ ...condition, operator: 'equals', value: chosen ?? '' })}
            allowDeselect={false}
            disabled={!mayWrite}
            flex="1 1 150px"
            maw={220}
          />
        ) : (
          <>
            <Select
              aria-label={t('ways.condition.operator')}
              data={OPERATORS.map((one) => ({ value: one, label: textOf('ways.operator', one) }))}
              value={operator}
              onChange={(chosen) => change({ ...condition, operator: chosen ?? 'equals' })}
              allowDeselect={false}
              disabled={!mayWrite}
              w={130}
            />
            {needsValue ? (
              <TextInput
                aria-label={t('ways.condition.value')}
                value={String(value ?? '')}
                onChange={(event) => change({ ...condition, value: event.currentTarget.value })}
                disabled={!mayWrite}
                w={130}
              />
            ) : null}
          </>
        )}
      </Group>
      {mayWrite ? (
        <ActionIcon variant="subtle" color="gray" mt={4} aria-label={t('ways.condition.remove')} onClick={remove}>
          <IconTrash size={14} />
        </ActionIcon>
      ) : null}
    </Group>
  );
}

function toCondition(field: string, outcomes: readonly string[]): Condition {
  if (field === 'node_outcome') return { field, operator: 'equals', value: outcomes[0]! };
  if (field === 'opened' || field === 'clicked' || field === 'replied')
    return { field, operator: 'equals', value: true };
  return { field, operator: 'equals', value: '' };
}

/** Initial condition of a new branch: the recipient's reaction for an email step, the outcome for any other step. */
const firstCondition = (type: string): Condition =>
  toCondition(type === 'email' ? 'opened' : 'node_outcome', outcomesOf(type));

/** A new branch is inserted before the unconditional link, because links after that one are never checked. */
function withBranch(branches: readonly Branch[], condition: Condition): Branch[] {
  if (branches.length === 0) return [{ to: null }];
  const plain = branches.findIndex(({ when = [] }) => when.length === 0);
  const at = plain === -1 ? branches.length : plain;
  return branches.toSpliced(at, 0, { to: null, when: [condition] });
}
