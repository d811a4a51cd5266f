import { Button, Group, Modal, Select, SimpleGrid, Textarea, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconPlus from '@tabler/icons-react/dist/esm/icons/IconPlus.mjs';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useMembers } from '../../parts/choices.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useAct } from '../../parts/act.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { Form } from '../../parts/form.tsx';
import { useText } from '../../text/index.ts';
import type { Task } from './deals.ts';

const PRIORITIES = ['low', 'medium', 'high', 'urgent'] as const;
const stale = [['tasks'], ['contacts']];

interface Draft {
  title: string;
  description: string;
  due: string;
  priority: Task['priority'];
  type: string | null;
  assigned_to: string | null;
}

/** What the API takes of a draft: times are those of the person's zone. */
function bodyOf({ due, type, description, ...rest }: Draft) {
  return {
    ...rest,
    description: description || null,
    due_date: due ? new Date(due).toISOString() : null,
    ...(type ? { type } : {}),
  };
}

/** Adds a task, of a deal and its contact where they are given. */
export function NewTask({ deal }: { deal?: { id: string; contact_id: string | null } }) {
  const t = useText();
  const [isOpen, dialog] = useDisclosure();
  const add = useAct(
    (draft: Draft) =>
      dataOf(
        heron.POST('/v1/crm/tasks', {
          body: { ...bodyOf(draft), ...(deal ? { deal_id: deal.id, contact_id: deal.contact_id } : {}) },
        }),
      ),
    { stale, done: t('tasks.added'), isShown: true, onDone: dialog.close },
  );
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
        <Fields
          act={add}
          submit={t('tasks.new')}
          first={{ title: '', description: '', due: '', priority: 'medium', type: null, assigned_to: null }}
        />
      </Modal>
    </>
  );
}

/** Changes a task, or deletes it. */
export function EditTask({ task, onClose }: { task: Task; onClose: () => void }) {
  const t = useText();
  const path = { params: { path: { id: task.id } } };
  const save = useAct((draft: Draft) => dataOf(heron.PATCH('/v1/crm/tasks/{id}', { ...path, body: bodyOf(draft) })), {
    stale,
    done: t('saved'),
    isShown: true,
    onDone: onClose,
  });
  const remove = useAct(() => dataOf(heron.DELETE('/v1/crm/tasks/{id}', path)), {
    stale,
    isShown: true,
    onDone: onClose,
  });
  return (
    <Dialog onClose={onClose} title={t('tasks.one')}>
      <Fields
        act={save}
        submit={t('save')}
        first={{
          title: task.title,
          description: task.description ?? '',
          due: task.due_date ? toLocal(task.due_date) : '',
          priority: task.priority,
          type: task.type,
          assigned_to: task.assigned_to,
        }}
      />
      <Group mt="sm">
        <ConfirmButton label={t('tasks.remove')} title={t('tasks.remove.ask')} act={remove} size="xs" c="red">
          {task.title}
        </ConfirmButton>
      </Group>
    </Dialog>
  );
}

function Fields({
  act,
  submit,
  first,
}: {
  act: { mutate: (draft: Draft) => void; error: unknown; isPending: boolean };
  submit: string;
  first: Draft;
}) {
  const t = useText();
  const [draft, setDraft] = useState(first);
  const members = useMembers();
  const types = useQuery({
    queryKey: ['tasks', 'types'],
    queryFn: () => dataOf(heron.GET('/v1/crm/task-types')),
    staleTime: 5 * 60_000,
  });
  const names = (types.data?.data ?? []).map(({ name }) => name);
  return (
    <Form act={{ ...act, mutate: () => act.mutate(draft) }} submit={submit}>
      <TextInput
        label={t('tasks.title')}
        required
        maxLength={255}
        data-autofocus
        value={draft.title}
        onChange={(event) => setDraft({ ...draft, title: event.currentTarget.value })}
      />
      <SimpleGrid cols={2}>
        <Select
          label={t('tasks.type')}
          // The type of a task may be gone, and stays its name.
          data={draft.type && !names.includes(draft.type) ? [...names, draft.type] : names}
          value={draft.type ?? names[0] ?? null}
          onChange={(type) => setDraft({ ...draft, type })}
          allowDeselect={false}
        />
        <Select
          label={t('tasks.priority')}
          data={PRIORITIES.map((value) => ({ value, label: t(`tasks.priority.${value}`) }))}
          value={draft.priority}
          onChange={(priority) => setDraft({ ...draft, priority: (priority ?? 'medium') as Draft['priority'] })}
          allowDeselect={false}
        />
        <TextInput
          type="datetime-local"
          label={t('tasks.dueDate')}
          value={draft.due}
          onChange={(event) => setDraft({ ...draft, due: event.currentTarget.value })}
        />
        <Select
          label={t('crm.assigned')}
          data={members.data ?? []}
          value={draft.assigned_to}
          onChange={(assigned_to) => setDraft({ ...draft, assigned_to })}
          placeholder={t('crm.nobody')}
          clearable
        />
      </SimpleGrid>
      <Textarea
        label={t('tasks.description')}
        autosize
        minRows={2}
        maxLength={10_000}
        value={draft.description}
        onChange={(event) => setDraft({ ...draft, description: event.currentTarget.value })}
      />
    </Form>
  );
}

/** A time as a datetime-local field writes it: in the person's zone, to the minute. */
function toLocal(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
