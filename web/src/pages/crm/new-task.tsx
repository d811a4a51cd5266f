import { Button, Group, Modal, Select, SimpleGrid, Textarea, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconPlus from 'tabler:plus';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, queryClient } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import { useMembers } from '../../components/choices.ts';
import { Dialog } from '../../components/dialog.tsx';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { DraftForm } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import { toDateTime } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';
import { PRIORITIES, type Task } from './deals.ts';

const stale: readonly Key[] = [['tasks'], ['contacts']];

/** Task as an editable draft; `due` is a datetime-local value in the person's zone. */
interface Edited extends Pick<Task, 'title' | 'priority' | 'assigned_to' | 'updated_at'> {
  description: string;
  due: string;
  type: string | null;
}
const NEW: Edited = {
  title: '',
  description: '',
  due: '',
  priority: 'medium',
  type: null,
  assigned_to: null,
  updated_at: '',
};
const editedOf = ({ title, description, due_date, priority, type, assigned_to, updated_at }: Task): Edited => ({
  title,
  description: description ?? '',
  due: due_date ? toLocal(due_date) : '',
  priority,
  type,
  assigned_to,
  updated_at,
});

/** Converts changed fields to the API's body. */
function bodyOf({ due, type, description, updated_at: _, ...rest }: Partial<Edited>) {
  return {
    ...rest,
    ...(description === undefined ? {} : { description: description || null }),
    ...(due === undefined ? {} : { due_date: due ? new Date(due).toISOString() : null }),
    ...(type ? { type } : {}),
  };
}

/** Dialog that adds a task. If a deal is given, the task belongs to the deal and its contact. */
export function NewTask({ deal }: { deal?: { id: string; contact_id: string | null } }) {
  const t = useText();
  const [isOpen, dialog] = useDisclosure();
  return (
    <>
      <Button
        {...(deal ? { size: 'xs', variant: 'default' } : { leftSection: <IconPlus size={16} /> })}
        aria-haspopup="dialog"
        onClick={dialog.open}
      >
        {t('tasks.new')}
      </Button>
      <Modal opened={isOpen} onClose={dialog.close} title={t('tasks.new')}>
        <TaskForm deal={deal} onDone={dialog.close} />
      </Modal>
    </>
  );
}

/** Dialog that changes or deletes a task. */
export function EditTask({ task, onClose }: { task: Task; onClose: () => void }) {
  const t = useText();
  const path = { params: { path: { id: task.id } } };
  const one = useQuery({
    queryKey: ['tasks', 'one', task.id],
    queryFn: () => dataOf(heron.GET('/v1/crm/tasks/{id}', path)),
    initialData: task,
  });
  const remove = useAction(() => dataOf(heron.DELETE('/v1/crm/tasks/{id}', path)), {
    stale,
    isShown: true,
    onDone: onClose,
  });
  return (
    <Dialog onClose={onClose} title={t('tasks.one')}>
      <TaskForm task={one.data} onDone={onClose} />
      <Group mt="sm">
        <ConfirmButton label={t('tasks.remove')} title={t('tasks.remove.ask')} act={remove} size="xs" c="red">
          {task.title}
        </ConfirmButton>
      </Group>
    </Dialog>
  );
}

function TaskForm({
  task,
  deal,
  onDone,
}: {
  task?: Task;
  deal?: { id: string; contact_id: string | null } | undefined;
  onDone: () => void;
}) {
  const t = useText();
  const members = useMembers();
  const types = useQuery({
    queryKey: ['tasks', 'types'],
    queryFn: () => dataOf(heron.GET('/v1/crm/task-types')),
    staleTime: 5 * 60_000,
  });
  const names = (types.data?.data ?? []).map(({ name }) => name);
  const keep = (stored: Task) => {
    queryClient.setQueryData(['tasks', 'one', stored.id], stored);
    return editedOf(stored);
  };
  const draft = useDraft<Edited>({
    stored: task ? editedOf(task) : NEW,
    write: async (changes, { updated_at: expected_updated_at }) => {
      if (task) {
        const body = { ...bodyOf(changes), expected_updated_at };
        return keep(await dataOf(heron.PATCH('/v1/crm/tasks/{id}', { params: { path: { id: task.id } }, body })));
      }
      const { title, ...rest } = { ...NEW, ...changes };
      const of = deal ? { deal_id: deal.id, contact_id: deal.contact_id } : {};
      return dataOf(heron.POST('/v1/crm/tasks', { body: { title, ...bodyOf(rest), ...of } }));
    },
    readAgain: async () => keep(await dataOf(heron.GET('/v1/crm/tasks/{id}', { params: { path: { id: task!.id } } }))),
    stale,
    done: t(task ? 'saved' : 'tasks.added'),
    onDone,
  });
  const { value, change } = draft;
  return (
    <DraftForm
      draft={draft}
      submit={task ? undefined : t('tasks.new')}
      names={{
        title: t('tasks.title'),
        type: t('tasks.type'),
        priority: t('tasks.priority'),
        due: t('tasks.dueDate'),
        description: t('tasks.description'),
      }}
      say={{
        priority: (priority) => t(`tasks.priority.${priority}`),
        due: (due) => (due ? toDateTime(new Date(due).toISOString()) : ''),
        assigned_to: (person) => members.data?.find((one) => one.value === person)?.label ?? '',
      }}
    >
      <TextInput
        label={t('tasks.title')}
        required
        maxLength={255}
        data-autofocus
        value={value.title}
        onChange={(event) => change({ title: event.currentTarget.value })}
      />
      <SimpleGrid cols={2}>
        <Select
          label={t('tasks.type')}
          // If the type of the task was deleted, its name is still an option.
          data={value.type && !names.includes(value.type) ? [...names, value.type] : names}
          value={value.type ?? names[0] ?? null}
          onChange={(type) => change({ type })}
          allowDeselect={false}
        />
        <Select
          label={t('tasks.priority')}
          data={PRIORITIES.map((one) => ({ value: one, label: t(`tasks.priority.${one}`) }))}
          value={value.priority}
          onChange={(priority) => change({ priority: (priority ?? 'medium') as Task['priority'] })}
          allowDeselect={false}
        />
        <TextInput
          type="datetime-local"
          label={t('tasks.dueDate')}
          value={value.due}
          onChange={(event) => change({ due: event.currentTarget.value })}
        />
        <Select
          label={t('crm.assigned')}
          data={members.data ?? []}
          value={value.assigned_to}
          onChange={(assigned_to) => change({ assigned_to })}
          placeholder={t('crm.nobody')}
          clearable
        />
      </SimpleGrid>
      <Textarea
        label={t('tasks.description')}
        autosize
        minRows={2}
        maxLength={10_000}
        value={value.description}
        onChange={(event) => change({ description: event.currentTarget.value })}
      />
    </DraftForm>
  );
}

/** Formats a time for a datetime-local input: in the person's zone, to the minute. */
function toLocal(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
