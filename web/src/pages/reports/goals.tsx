import { Badge, Button, Checkbox, Group, Modal, Table } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconPlus from 'tabler:plus';
import IconTarget from 'tabler:target';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { useFilter } from '../../components/filter.ts';
import { PagedTable } from '../../components/paged.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';
import { ReportPage } from './frame.tsx';
import { GoalForm, type Goal } from './goal-form.tsx';

/** Page of goals: product events that become conversions. */
export default function GoalsPage() {
  const t = useText();
  const may = useCan('manage_settings');
  const [isOpen, form] = useDisclosure();
  const [archived, setArchived] = useFilter('archived');
  const goals = useQuery({
    queryKey: ['goals', 'list', archived],
    queryFn: () =>
      dataOf(heron.GET('/v1/goals', { params: { query: archived ? { include_archived: 'true' as const } : {} } })),
    placeholderData: keepPreviousData,
  });
  const add = may ? (
    <Button leftSection={<IconPlus size={16} />} aria-haspopup="dialog" onClick={form.open}>
      {t('goals.new')}
    </Button>
  ) : null;
  return (
    <ReportPage actions={add}>
      <Checkbox
        label={t('goals.withArchived')}
        checked={archived !== ''}
        onChange={(event) => setArchived(event.currentTarget.checked ? 'yes' : '')}
      />
      <Answered query={goals} skeleton={<ListSkeleton rows={3} />}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon={IconTarget} title={t('goals.none')}>
              {t('goals.none.why')}
            </Empty>
          ) : (
            <PagedTable
              minWidth={620}
              columns={[
                { label: t('goals.name') },
                { label: t('goals.stage') },
                { label: t('goals.event'), isExtra: true },
                { label: t('goals.since'), isExtra: true },
                ...(may ? [{ label: t('goals.archive'), isExtra: true, isHidden: true }] : []),
              ]}
            >
              {data.map((goal) => (
                <GoalRow key={goal.id} goal={goal} may={may} />
              ))}
            </PagedTable>
          )
        }
      </Answered>
      <Modal opened={isOpen} onClose={form.close} title={t('goals.new')} size="lg">
        <GoalForm onDone={form.close} />
      </Modal>
    </ReportPage>
  );
}

function GoalRow({ goal, may }: { goal: Goal; may: boolean }) {
  const t = useText();
  const archive = useAction(() => dataOf(heron.DELETE('/v1/goals/{id}', { params: { path: { id: goal.id } } })), {
    stale: [['goals'], ['reports']],
    isShown: true,
  });
  return (
    <Table.Tr>
      <Table.Td maw={{ base: 170, sm: 280 }} className="clip" title={goal.name}>
        <PageLink to={`/reports/goals/${goal.id}`} fw={600} size="sm">
          {goal.name}
        </PageLink>
      </Table.Td>
      <Table.Td>
        <Group gap={6}>
          {t(`goals.kind.${goal.kind}`)}
          {goal.is_primary ? (
            <Badge variant="light" tt="none">
              {t('goals.primary')}
            </Badge>
          ) : null}
          {goal.archived_at ? (
            <Badge variant="light" color="gray" tt="none">
              {t('goals.archived')}
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
          {goal.archived_at ? null : (
            <ConfirmButton size="compact-xs" act={archive} label={t('goals.archive')} title={t('goals.archive.ask')}>
              {t('goals.archive.why')}
            </ConfirmButton>
          )}
        </Table.Td>
      ) : null}
    </Table.Tr>
  );
}
