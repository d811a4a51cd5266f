import { ActionIcon, Button, ColorInput, ColorSwatch, Group, Stack, Text, TextInput } from '@mantine/core';
import IconDown from 'tabler:arrow-down';
import IconUp from 'tabler:arrow-up';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { offProps } from '../../components/focus.ts';
import { NameField } from '../../components/name-field.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, ErrorNote, ListSkeleton } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';

type Label = Omit<AnswerOf<'/v1/folders'>['data'][number], 'position' | 'created_at' | 'updated_at'>;
type Change = { title?: string; color?: string };

/** API calls for one kind of label. */
interface Kind {
  key: Key;
  list: () => Promise<{ data: Label[] }>;
  create: (title: string) => Promise<unknown>;
  update: (id: string, body: Change) => Promise<unknown>;
  move: (id: string, position: number) => Promise<unknown>;
  remove: (id: string) => Promise<unknown>;
}

const path = (id: string) => ({ params: { path: { id } } });

/** Folders of campaigns. */
export const FOLDERS: Kind = {
  key: ['tags', 'folders'],
  list: () => dataOf(heron.GET('/v1/folders')),
  create: (title) => dataOf(heron.POST('/v1/folders', { body: { title } })),
  update: (id, body) => dataOf(heron.PATCH('/v1/folders/{id}', { ...path(id), body })),
  move: (id, position) => dataOf(heron.PATCH('/v1/folders/{id}/move', { ...path(id), body: { position } })),
  remove: (id) => dataOf(heron.DELETE('/v1/folders/{id}', path(id))),
};

/** Tags of contacts, which the API calls categories. */
export const CATEGORIES: Kind = {
  key: ['tags', 'categories'],
  list: () => dataOf(heron.GET('/v1/categories')),
  create: (title) => dataOf(heron.POST('/v1/categories', { body: { title } })),
  update: (id, body) => dataOf(heron.PATCH('/v1/categories/{id}', { ...path(id), body })),
  move: (id, position) => dataOf(heron.PATCH('/v1/categories/{id}/move', { ...path(id), body: { position } })),
  remove: (id) => dataOf(heron.DELETE('/v1/categories/{id}', path(id))),
};

/** Tags of mailboxes. */
export const TAGS: Kind = {
  key: ['tags', 'mailboxes'],
  list: () => dataOf(heron.GET('/v1/tags')),
  create: (title) => dataOf(heron.POST('/v1/tags', { body: { title } })),
  update: (id, body) => dataOf(heron.PATCH('/v1/tags/{id}', { ...path(id), body })),
  move: (id, position) => dataOf(heron.PATCH('/v1/tags/{id}/move', { ...path(id), body: { position } })),
  remove: (id) => dataOf(heron.DELETE('/v1/tags/{id}', path(id))),
};

/** Types of tasks. */
export const TASK_TYPES: Kind = {
  key: ['tasks', 'type-labels'],
  list: async () => {
    const { data } = await dataOf(heron.GET('/v1/crm/task-types'));
    return { data: data.map(({ name, ...type }) => ({ ...type, title: name })) };
  },
  create: (name) => dataOf(heron.POST('/v1/crm/task-types', { body: { name } })),
  update: (id, { title, ...rest }) =>
    dataOf(
      heron.PATCH('/v1/crm/task-types/{id}', { ...path(id), body: { ...rest, ...(title ? { name: title } : {}) } }),
    ),
  // Positions of task types begin at 1, those of other labels at 0.
  move: (id, position) =>
    dataOf(heron.PATCH('/v1/crm/task-types/{id}', { ...path(id), body: { position: position + 1 } })),
  remove: (id) => dataOf(heron.DELETE('/v1/crm/task-types/{id}', path(id))),
};

/** Query keys of the lists that show labels; a change of a label makes all of them stale. */
const stale: readonly Key[] = [['tags'], ['choices'], ['campaigns'], ['contacts'], ['mailboxes'], ['tasks']];

/** Editable list of the labels of one kind, in their order. Each change is saved immediately. */
export function LabelList({
  of,
  title,
  why,
  removal,
  mayEdit,
}: {
  of: Kind;
  title: string;
  /** Text that explains the use of this kind of label. */
  why: string;
  /** Text that explains the effect of deleting a label. */
  removal: string;
  mayEdit: boolean;
}) {
  const t = useText();
  const labels = useQuery({ queryKey: of.key, queryFn: of.list });
  return (
    <Section title={title}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {why}
        </Text>
        <Answered query={labels} skeleton={<ListSkeleton rows={3} />}>
          {({ data }) => (
            <Stack component="ul" gap="xs" p={0} m={0} style={{ listStyle: 'none' }} aria-label={title}>
              {data.map((label, at) => (
                <li key={label.id}>
                  {mayEdit ? (
                    <EditLabel of={of} label={label} at={at} count={data.length} removal={removal} />
                  ) : (
                    <Group gap="xs">
                      <ColorSwatch color={label.color} size={14} withShadow={false} />
                      <Text size="sm">{label.title}</Text>
                    </Group>
                  )}
                </li>
              ))}
              {data.length === 0 && !mayEdit ? (
                <Text size="sm" c="dimmed" component="li">
                  {t('settings.labels.none')}
                </Text>
              ) : null}
            </Stack>
          )}
        </Answered>
        {mayEdit ? <NewLabel of={of} /> : null}
      </Stack>
    </Section>
  );
}

function EditLabel({
  of,
  label: { id, title: name, color },
  at,
  count,
  removal,
}: {
  of: Kind;
  label: Label;
  /** Position in the list, from 0. */
  at: number;
  count: number;
  removal: string;
}) {
  const t = useText();
  const change = useAction((body: Change) => of.update(id, body), { stale });
  const move = useAction((position: number) => of.move(id, position), { stale });
  const remove = useAction(() => of.remove(id), { stale, isShown: true, done: t('settings.label.deleted') });
  return (
    <Group gap="xs">
      <NameField
        aria-label={t('settings.label.name', { name })}
        name={name}
        maxLength={50}
        rename={(title, done) => change.mutate({ title }, done)}
        flex="1 1 8rem"
      />
      <ColorInput
        withEyeDropper={false}
        aria-label={t('settings.label.color', { name })}
        defaultValue={color}
        format="hex"
        w={120}
        onChangeEnd={(next) => change.mutate({ color: next })}
      />
      <Group gap={4} wrap="nowrap">
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t('settings.label.up', { name })}
          {...offProps(at === 0, () => move.mutate(at - 1))}
        >
          <IconUp size={16} />
        </ActionIcon>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t('settings.label.down', { name })}
          {...offProps(at === count - 1, () => move.mutate(at + 1))}
        >
          <IconDown size={16} />
        </ActionIcon>
        <ConfirmButton
          size="compact-xs"
          act={remove}
          label={t('settings.delete')}
          title={t('settings.label.delete.ask', { name })}
        >
          {removal}
        </ConfirmButton>
      </Group>
    </Group>
  );
}

function NewLabel({ of }: { of: Kind }) {
  const t = useText();
  const [title, setTitle] = useState('');
  const add = useAction(() => of.create(title), { stale, isShown: true, onDone: () => setTitle('') });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate();
      }}
    >
      <Group gap="xs" align="flex-end">
        <TextInput
          label={t('settings.label.new')}
          required
          maxLength={50}
          value={title}
          onChange={(event) => setTitle(event.currentTarget.value)}
          flex="1 1 10rem"
        />
        <Button type="submit" variant="default" loading={add.isPending}>
          {t('settings.add')}
        </Button>
      </Group>
      <ErrorNote error={add.error} />
    </form>
  );
}
