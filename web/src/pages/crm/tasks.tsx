import { Button, Group, SegmentedControl, Select } from '@mantine/core';
import IconChecklist from 'tabler:checklist';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useMembers } from '../../components/choices.ts';
import { useFilter } from '../../components/filter.ts';
import { Empty } from '../../components/states.tsx';
import { useSelection } from '../../hooks/selection.ts';
import { useText } from '../../text/index.ts';
import type { TaskFilters } from './deals.ts';
import { NewTask } from './new-task.tsx';
import { CrmPage } from './pages.tsx';
import { TaskList } from './task-list.tsx';

const OPEN = ['pending', 'in_progress'] as const;
const SHOWN = ['today', 'open', 'done'] as const;

/** Page of tasks: due today or overdue, all open, and completed. */
export default function TasksPage() {
  const t = useText();
  const mayWrite = useCan('manage_contacts');
  const [filter, setShown] = useFilter('show');
  const [assigned, setAssigned] = useFilter('assigned');
  const members = useMembers();
  const [isChoosing, setChoosing] = useState(false);
  const shown = SHOWN.find((one) => one === filter) ?? 'today';
  const of = assigned ? { assigned_to: [assigned] } : {};
  const endOfDay = useMemo(() => new Date(new Date().setHours(24, 0, 0, 0)).toISOString(), []);
  const filters: TaskFilters =
    shown === 'done'
      ? { statuses: ['completed', 'cancelled'], sort_by: 'updated_at', ...of }
      : {
          statuses: [...OPEN],
          sort_by: 'due_date',
          reverse: true,
          ...(shown === 'today' ? { due_before: endOfDay } : {}),
          ...of,
        };
  const selection = useSelection(`${shown} ${assigned} ${isChoosing}`);
  const summary = useQuery({
    queryKey: ['tasks', 'summary', assigned],
    queryFn: () => dataOf(heron.POST('/v1/crm/tasks/summary', { body: { statuses: [...OPEN], ...of } })),
  });
  return (
    <CrmPage
      title={t('nav.tasks')}
      lead={
        summary.data && summary.data.total > 0
          ? [
              t('tasks.count', { count: summary.data.total }),
              summary.data.overdue_count > 0 ? t('tasks.count.overdue', { count: summary.data.overdue_count }) : '',
            ]
              .filter(Boolean)
              .join(', ')
          : t('tasks.lead')
      }
      actions={mayWrite ? <NewTask /> : null}
    >
      <Group gap="xs">
        <SegmentedControl
          value={shown}
          onChange={(value) => setShown(value === 'today' ? '' : value)}
          data={SHOWN.map((value) => ({ value, label: t(`tasks.show.${value}`) }))}
          aria-label={t('tasks.show')}
        />
        <Select
          value={assigned || null}
          onChange={(value) => setAssigned(value ?? '')}
          data={members.data ?? []}
          placeholder={t('crm.anyone')}
          aria-label={t('crm.anyone')}
          clearable
          w={200}
        />
        {mayWrite ? (
          <Button
            variant={isChoosing ? 'light' : 'default'}
            aria-pressed={isChoosing}
            onClick={() => setChoosing(!isChoosing)}
          >
            {t('tasks.choose')}
          </Button>
        ) : null}
      </Group>
      <TaskList
        key={shown}
        filters={filters}
        selection={isChoosing ? selection : undefined}
        none={
          <Empty icon={IconChecklist} title={t(`tasks.none.${shown}`)}>
            {t('tasks.none.why')}
          </Empty>
        }
      />
    </CrmPage>
  );
}
