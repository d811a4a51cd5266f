import { Badge, Checkbox, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import { useInfiniteQuery, type InfiniteData } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { lazyPart } from '../../app/lazy-part.ts';
import { dataOf, heron, queryClient } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import { useCan } from '../../app/person.ts';
import { showError } from '../../components/action.ts';
import { More } from '../../components/paged.tsx';
import { SelectBox } from '../../components/select-box.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { offerUndo } from '../../components/undo.tsx';
import { useChosen, type Selection } from '../../hooks/selection.ts';
import { useText } from '../../text/index.ts';
import { isDone, type Task, type TaskFilters } from './deals.ts';
import { EditTask } from './new-task.tsx';
import classes from './tasks.module.css';

/** Bar for chosen tasks. It is loaded when tasks are chosen. */
const TaskBar = lazyPart('bulk', () => import('./task-bar.tsx'));

const COLORS = { high: 'yellow', urgent: 'red' } as const;

const ask = (filters: TaskFilters, cursor: { cursor?: string }) =>
  dataOf(heron.POST('/v1/crm/tasks/search', { params: { query: { limit: 100, ...cursor } }, body: filters }));
type Pages = InfiniteData<Awaited<ReturnType<typeof ask>>>;

/** List of the tasks that match filters. Completing and reopening are shown immediately. */
export function TaskList({
  filters,
  selection,
  none,
}: {
  filters: TaskFilters;
  /** Chosen tasks. If given, a task's checkbox chooses the task; otherwise it completes the task. */
  selection?: Selection | undefined;
  none: React.ReactNode;
}) {
  const [edited, edit] = useState<Task>();
  const queryKey = ['tasks', filters] as const;
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => ask(filters, pageParam ? { cursor: pageParam } : {}),
    initialPageParam: '',
    getNextPageParam: (last) => last.pagination.next_cursor ?? undefined,
  });
  const toggle = useToggle(queryKey);
  return (
    <>
      <Answered query={list} skeleton={<ListSkeleton rows={4} />}>
        {({ pages }) => {
          const tasks = pages.flatMap(({ data }) => data);
          if (tasks.length === 0)
            return typeof none === 'string' ? (
              <Text size="sm" c="dimmed">
                {none}
              </Text>
            ) : (
              none
            );
          if (selection) selection.order = tasks.map(({ id }) => id);
          return (
            <>
              <Stack component="ul" gap={0} p={0} m={0} className={classes.list}>
                {tasks.map((task) => (
                  <TaskRow
                    key={task.id}
                    task={task}
                    isOfDeal={Boolean(filters.deal_id)}
                    selection={selection}
                    onToggle={() => void toggle(task)}
                    onEdit={() => edit(task)}
                  />
                ))}
              </Stack>
              <More list={list} />
              {selection ? (
                <Chosen
                  selection={selection}
                  filters={filters}
                  tasks={tasks}
                  total={pages[0]?.pagination.total ?? null}
                />
              ) : null}
            </>
          );
        }}
      </Answered>
      {edited ? <EditTask key={edited.id} task={edited} onClose={() => edit(undefined)} /> : null}
    </>
  );
}

function Chosen(list: React.ComponentProps<typeof TaskBar>) {
  const { isAll, ids } = useChosen(list.selection);
  return isAll || ids.size > 0 ? (
    <Suspense>
      <TaskBar {...list} />
    </Suspense>
  ) : null;
}

/**
 * Returns a function that completes or reopens a task. The list of `queryKey` changes immediately, and reverts if the
 * API refuses. An undo is offered.
 */
function useToggle(queryKey: Key): (task: Task) => Promise<void> {
  const t = useText();
  const settle = async (task: Task, status: Task['status']) => {
    await queryClient.cancelQueries({ queryKey: ['tasks'] });
    const before = queryClient.getQueryData<Pages>(queryKey);
    queryClient.setQueryData<Pages>(
      queryKey,
      (pages) =>
        pages && {
          ...pages,
          pages: pages.pages.map((page) => ({
            ...page,
            data: page.data.map((one) => (one.id === task.id ? { ...one, status } : one)),
          })),
        },
    );
    try {
      await dataOf(heron.PATCH('/v1/crm/tasks/{id}', { params: { path: { id: task.id } }, body: { status } }));
    } catch (error) {
      queryClient.setQueryData(queryKey, before);
      throw error;
    } finally {
      void queryClient.invalidateQueries({ queryKey: ['tasks'] });
    }
  };
  return async (task) => {
    const status = isDone(task) ? 'pending' : 'completed';
    try {
      await settle(task, status);
      offerUndo(t(status === 'completed' ? 'tasks.done' : 'tasks.again', { title: task.title }), () =>
        settle(task, task.status),
      );
    } catch (error) {
      showError(error);
    }
  };
}

/** @param isOfDeal true in the list of one deal, which does not repeat deal and contact */
function TaskRow({
  task,
  isOfDeal,
  selection,
  onToggle,
  onEdit,
}: {
  task: Task;
  isOfDeal: boolean;
  selection: Selection | undefined;
  onToggle: () => void;
  onEdit: () => void;
}) {
  const t = useText();
  const mayWrite = useCan('manage_contacts');
  return (
    <li className={classes.task}>
      {selection ? (
        <SelectBox selection={selection} id={task.id} name={task.title} />
      ) : (
        <Checkbox
          mt={2}
          checked={isDone(task)}
          disabled={!mayWrite}
          onChange={onToggle}
          aria-label={t('tasks.tick', { title: task.title })}
        />
      )}
      <div className={classes.words}>
        <UnstyledButton
          className="wrap-anywhere"
          fz="sm"
          fw={500}
          td={isDone(task) ? 'line-through' : undefined}
          c={isDone(task) ? 'dimmed' : undefined}
          disabled={!mayWrite}
          aria-haspopup="dialog"
          onClick={onEdit}
        >
          {task.title}
        </UnstyledButton>
        <Group gap={8}>
          <Text size="xs" c="dimmed">
            {task.type}
          </Text>
          {task.due_date ? (
            <Text size="xs" c={isOverdue(task) ? 'red' : 'dimmed'} fw={isOverdue(task) ? 600 : undefined}>
              {isOverdue(task) ? t('tasks.overdue') : t('tasks.due')} <Ago at={task.due_date} />
            </Text>
          ) : null}
          {task.contact_id && !isOfDeal ? (
            <PageLink to={`/leads/${task.contact_id}`} size="xs" underline="always" display="inline-block" lh="24px">
              {t('crm.contact')}
            </PageLink>
          ) : null}
          {task.deal_id && !isOfDeal ? (
            <PageLink to={`/crm/deals/${task.deal_id}`} size="xs" underline="always" display="inline-block" lh="24px">
              {t('crm.deal')}
            </PageLink>
          ) : null}
        </Group>
      </div>
      {task.priority === 'high' || task.priority === 'urgent' ? (
        <Badge variant="light" color={COLORS[task.priority]} tt="none">
          {t(`tasks.priority.${task.priority}`)}
        </Badge>
      ) : null}
    </li>
  );
}

function isOverdue(task: Task): boolean {
  return !isDone(task) && task.due_date !== null && Date.parse(task.due_date) < Date.now();
}
