import { Button, Menu, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import IconCheck from 'tabler:check';
import IconFlag from 'tabler:flag';
import IconTrash from 'tabler:trash';
import { dataOf, heron, queryClient, type BodyOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { BulkBar, useCount } from '../../components/bulk/bar.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { offerUndo } from '../../components/undo.tsx';
import { useChosen, type Chosen, type Selection } from '../../hooks/selection.ts';
import { text, useText } from '../../text/index.ts';
import { isDone, PRIORITIES, type Task, type TaskFilters } from './deals.ts';

type Body = BodyOf<'/v1/crm/tasks', 'patch'>;
type Change = Pick<Body, 'status' | 'priority'>;
type Selected = Omit<Body, keyof Change>;

/** Maximum number of task ids in one request. */
const NAMED = 1_000;

interface Chosenable {
  selection: Selection;
  /** Filters of the list. If all matching tasks are chosen, the filters select them. */
  filters: TaskFilters;
  /** Number of tasks that match; null if unknown. */
  total: number | null;
}

/** Bar of the chosen tasks, with buttons to complete or reopen them, change their priority, and delete them. */
export default function TaskBar({ tasks, ...list }: Chosenable & { tasks: readonly Task[] }) {
  const t = useText();
  const { selection, filters, total } = list;
  const chosen = useChosen(selection);
  const [isDeleting, deletion] = useDisclosure();
  // A list contains either open tasks or completed ones.
  const isReopening = tasks.length > 0 && tasks.every(isDone);
  const change = useAction(
    async (to: Change) => {
      // A change of all matching tasks has no undo, because the values of tasks that are not loaded are unknown.
      const before = chosen.isAll ? undefined : restoring(tasks.filter(({ id }) => chosen.ids.has(id)));
      const affected = await apply(selectionsOf(chosen, filters), to);
      return { affected, before };
    },
    {
      stale: [['tasks']],
      onDone: ({ affected, before }) => {
        selection.clear();
        const said = text('tasks.bulk.changed', { count: affected });
        if (before) offerUndo(said, before);
        else notifications.show({ message: said, color: 'teal' });
      },
    },
  );
  return (
    <>
      <BulkBar selection={selection} total={total}>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconCheck size={14} />}
          onClick={() => change.mutate({ status: isReopening ? 'pending' : 'completed' })}
          loading={change.isPending}
        >
          {t(isReopening ? 'tasks.bulk.reopen' : 'tasks.bulk.complete')}
        </Button>
        <Menu position="top-end">
          <Menu.Target>
            <Button size="compact-sm" variant="default" leftSection={<IconFlag size={14} />}>
              {t('tasks.priority')}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {PRIORITIES.map((priority) => (
              <Menu.Item key={priority} onClick={() => change.mutate({ priority })}>
                {t(`tasks.priority.${priority}`)}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
        <Button
          size="compact-sm"
          variant="default"
          c="red"
          leftSection={<IconTrash size={14} />}
          aria-haspopup="dialog"
          onClick={deletion.open}
        >
          {t('tasks.remove')}
        </Button>
      </BulkBar>
      {isDeleting ? <DeleteTasks {...list} onClose={deletion.close} /> : null}
    </>
  );
}

function DeleteTasks({ selection, filters, total, onClose }: Chosenable & { onClose: () => void }) {
  const t = useText();
  const chosen = useChosen(selection);
  const count = useCount(selection, total) ?? 0;
  const remove = useAction(
    async () => {
      for (const body of selectionsOf(chosen, filters)) await dataOf(heron.DELETE('/v1/crm/tasks', { body }));
    },
    {
      stale: [['tasks']],
      done: t('tasks.bulk.deleted'),
      isShown: true,
      onDone: () => {
        onClose();
        selection.clear();
      },
    },
  );
  return (
    <Dialog onClose={onClose} title={t('tasks.bulk.delete.ask', { count })}>
      <Form act={remove} submit={t('tasks.remove')} color="red.9">
        <Text size="sm">{t('tasks.bulk.delete.why')}</Text>
      </Form>
    </Dialog>
  );
}

/** Converts chosen tasks to selections of the API: one for a filter, or one per 1,000 task ids. */
function selectionsOf({ isAll, ids }: Chosen, filters: TaskFilters): Selected[] {
  if (isAll) return [{ all: true, filters, exclude: [...ids] }];
  return named([...ids]);
}

function named(ids: readonly string[]): Selected[] {
  return Array.from({ length: Math.ceil(ids.length / NAMED) }, (_, part) => ({
    tasks: ids.slice(part * NAMED, (part + 1) * NAMED),
  }));
}

/** Changes the selected tasks. Returns their number. @throws HeronError */
async function apply(selected: readonly Selected[], to: Change): Promise<number> {
  let affected = 0;
  for (const body of selected)
    affected += (await dataOf(heron.PATCH('/v1/crm/tasks', { body: { ...body, ...to } }))).affected;
  return affected;
}

/** Returns a function that restores the present state and priority of tasks. */
function restoring(tasks: readonly Task[]): () => Promise<void> {
  const groups = new Map<string, { to: Change; ids: string[] }>();
  for (const { id, status, priority } of tasks) {
    const key = `${status} ${priority}`;
    const group = groups.get(key) ?? { to: { status, priority }, ids: [] };
    groups.set(key, group);
    group.ids.push(id);
  }
  return async () => {
    for (const { to, ids } of groups.values()) await apply(named(ids), to);
    await queryClient.invalidateQueries({ queryKey: ['tasks'] });
  };
}
