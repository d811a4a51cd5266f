import { Alert, Badge, Button, Checkbox, Group, Modal, Select, Stack, Table, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconPlus from '@tabler/icons-react/dist/esm/icons/IconPlus.mjs';
import IconTarget from '@tabler/icons-react/dist/esm/icons/IconTarget.mjs';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAct } from '../../parts/act.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { Form } from '../../parts/form.tsx';
import { Answered, Empty, ErrorNote, ListSkeleton } from '../../parts/states.tsx';
import { Section } from '../../parts/section.tsx';
import { Ago } from '../../parts/time.tsx';
import { useText } from '../../text/index.ts';
import { ReportPage } from './frame.tsx';

type Goal = AnswerOf<'/v1/goals'>['data'][number];
const KINDS = ['signup', 'activation', 'paid', 'revenue', 'retention', 'custom'] as const;

/** What counts as a success: events of the product that become conversions. */
export default function GoalsPage() {
  const t = useText();
  const may = useCan('manage_settings');
  const [isOpen, form] = useDisclosure();
  const goals = useQuery({ queryKey: ['goals'], queryFn: () => dataOf(heron.GET('/v1/goals')) });
  const add = may ? (
    <Button leftSection={<IconPlus size={16} />} onClick={form.open}>
      {t('goals.new')}
    </Button>
  ) : null;
  return (
    <ReportPage actions={add}>
      <Answered query={goals} skeleton={<ListSkeleton rows={3} />}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon={IconTarget} title={t('goals.none')}>
              {t('goals.none.why')}
            </Empty>
          ) : (
            <Section title={t('reports.page.goals')}>
              <Table.ScrollContainer minWidth={620}>
                <Table>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>{t('goals.name')}</Table.Th>
                      <Table.Th>{t('goals.stage')}</Table.Th>
                      <Table.Th>{t('goals.event')}</Table.Th>
                      <Table.Th>{t('goals.since')}</Table.Th>
                      {may ? <Table.Th aria-label={t('goals.archive')} /> : null}
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {data.map((goal) => (
                      <GoalRow key={goal.id} goal={goal} may={may} />
                    ))}
                  </Table.Tbody>
                </Table>
              </Table.ScrollContainer>
            </Section>
          )
        }
      </Answered>
      <Modal opened={isOpen} onClose={form.close} title={t('goals.new')}>
        <NewGoal onDone={form.close} />
      </Modal>
    </ReportPage>
  );
}

function GoalRow({ goal, may }: { goal: Goal; may: boolean }) {
  const t = useText();
  const archive = useAct(() => dataOf(heron.DELETE('/v1/goals/{id}', { params: { path: { id: goal.id } } })), {
    stale: [['goals'], ['reports']],
    isShown: true,
  });
  return (
    <Table.Tr>
      <Table.Td maw={280} className="clip" title={goal.name}>
        {goal.name}
      </Table.Td>
      <Table.Td>
        <Group gap={6} wrap="nowrap">
          {t(`goals.kind.${goal.kind}`)}
          {goal.is_primary ? (
            <Badge variant="light" tt="none">
              {t('goals.primary')}
            </Badge>
          ) : null}
        </Group>
      </Table.Td>
      <Table.Td maw={220} className="clip">
        {goal.definition.event_name}
      </Table.Td>
      <Table.Td c="dimmed">
        <Ago at={goal.created_at} />
      </Table.Td>
      {may ? (
        <Table.Td ta="right">
          <ConfirmButton size="compact-xs" act={archive} label={t('goals.archive')} title={t('goals.archive.ask')}>
            {t('goals.archive.why')}
          </ConfirmButton>
        </Table.Td>
      ) : null}
    </Table.Tr>
  );
}

function NewGoal({ onDone }: { onDone: () => void }) {
  const t = useText();
  const [name, setName] = useState('');
  const [kind, setKind] = useState<(typeof KINDS)[number]>('signup');
  const [event, setEvent] = useState('');
  const [isPrimary, setPrimary] = useState(true);
  const definition = { event_name: event };
  const save = useAct(
    () =>
      dataOf(heron.POST('/v1/goals', { body: { name, kind, definition, is_primary: kind !== 'custom' && isPrimary } })),
    { stale: [['goals'], ['reports']], isShown: true, done: t('goals.saved'), onDone },
  );
  const preview = useAct(() => dataOf(heron.POST('/v1/goals/preview', { body: { definition, days: 30 } })), {
    isShown: true,
  });
  return (
    <Form act={save} submit={t('goals.create')}>
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
      />
      <TextInput
        label={t('goals.event')}
        description={t('goals.event.why')}
        value={event}
        onChange={(change) => setEvent(change.currentTarget.value)}
        placeholder="user.signed_up"
        required
      />
      {kind === 'custom' ? null : (
        <Checkbox
          label={t('goals.primary.why')}
          checked={isPrimary}
          onChange={(change) => setPrimary(change.currentTarget.checked)}
        />
      )}
      <Stack gap="xs">
        <Group>
          <Button
            size="xs"
            variant="default"
            disabled={event === ''}
            onClick={() => preview.mutate()}
            loading={preview.isPending}
          >
            {t('goals.preview')}
          </Button>
        </Group>
        {preview.data ? (
          <Alert color="blue" variant="light" role="status">
            <Text size="sm">{t('goals.previewed', { count: preview.data.matched, people: preview.data.people })}</Text>
          </Alert>
        ) : null}
        <ErrorNote error={preview.error} />
      </Stack>
    </Form>
  );
}
