import {
  ActionIcon,
  Badge,
  Button,
  ColorInput,
  ColorSwatch,
  Group,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconPlus from 'tabler:plus';
import IconUsers from 'tabler:users';
import IconX from 'tabler:x';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { useMembers } from '../../components/choices.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';
import { SettingsPage } from './frame.tsx';
import { LabelList, TASK_TYPES } from './label-list.tsx';

type Team = AnswerOf<'/v1/teams'>['data'][number];
const stale = [['team', 'teams']] as const;
const COLOR = '#64748b';

/** Page of the workspace's teams and their members, to whom tasks are assigned, and of the types of tasks. */
export default function TeamsPage() {
  const t = useText();
  const mayEdit = useCan('manage_contacts');
  const [isOpen, dialog] = useDisclosure();
  const teams = useQuery({ queryKey: ['team', 'teams'], queryFn: () => dataOf(heron.GET('/v1/teams')) });
  const add = (
    <Button leftSection={<IconPlus size={16} />} aria-haspopup="dialog" onClick={dialog.open}>
      {t('settings.team.new')}
    </Button>
  );
  return (
    <SettingsPage actions={mayEdit && teams.data?.data.length ? add : null}>
      <Answered query={teams} skeleton={<ListSkeleton rows={2} height={120} />}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon={IconUsers} title={t('settings.team.none')} action={mayEdit ? add : null}>
              {t('settings.team.none.why')}
            </Empty>
          ) : (
            data.map((team) => <TeamCard key={team.id} team={team} mayEdit={mayEdit} />)
          )
        }
      </Answered>
      {teams.isPending ? null : (
        <LabelList
          of={TASK_TYPES}
          title={t('settings.taskTypes')}
          why={t('settings.taskTypes.why')}
          removal={t('settings.taskTypes.delete')}
          mayEdit={mayEdit}
        />
      )}
      {isOpen ? <EditTeam onClose={dialog.close} /> : null}
    </SettingsPage>
  );
}

function TeamCard({ team, mayEdit }: { team: Team; mayEdit: boolean }) {
  const t = useText();
  const mayManage = useCan('manage_team');
  const [isOpen, dialog] = useDisclosure();
  const path = { params: { path: { id: team.id } } };
  const remove = useAction(() => dataOf(heron.DELETE('/v1/teams/{id}', path)), {
    stale,
    isShown: true,
    done: t('settings.team.deleted'),
  });
  return (
    <Section
      title={team.name}
      action={
        mayEdit ? (
          <Group gap="xs">
            <Button
              size="xs"
              variant="default"
              aria-haspopup="dialog"
              aria-label={t('settings.edit.of', { name: team.name })}
              onClick={dialog.open}
            >
              {t('settings.edit')}
            </Button>
            <ConfirmButton size="xs" act={remove} label={t('settings.delete')} title={t('settings.team.delete.ask')}>
              {t('settings.team.delete.why')}
            </ConfirmButton>
          </Group>
        ) : null
      }
    >
      <Stack gap="sm">
        <Group gap="xs">
          <ColorSwatch color={team.color} size={14} withShadow={false} />
          {team.members.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t('settings.team.empty')}
            </Text>
          ) : null}
          {team.members.map((member) => (
            <TeamMember key={member.user_id} team={team} member={member} mayManage={mayManage} />
          ))}
        </Group>
        {mayManage ? <AddMember team={team} /> : null}
      </Stack>
      {isOpen ? <EditTeam team={team} onClose={dialog.close} /> : null}
    </Section>
  );
}

function TeamMember({
  team,
  member: { user_id: userId, name, email },
  mayManage,
}: {
  team: Team;
  member: Team['members'][number];
  mayManage: boolean;
}) {
  const t = useText();
  const remove = useAction(
    () => dataOf(heron.DELETE('/v1/teams/{id}/members/{userId}', { params: { path: { id: team.id, userId } } })),
    { stale },
  );
  return (
    <Badge
      variant="default"
      tt="none"
      fw={500}
      size="lg"
      rightSection={
        mayManage ? (
          <ActionIcon
            size="xs"
            variant="subtle"
            color="gray"
            aria-label={t('settings.team.removeMember', { name: name || email, team: team.name })}
            onClick={() => remove.mutate()}
          >
            <IconX size={12} />
          </ActionIcon>
        ) : null
      }
    >
      {name || email}
    </Badge>
  );
}

function AddMember({ team }: { team: Team }) {
  const t = useText();
  const members = useMembers();
  const add = useAction(
    (user_id: string) =>
      dataOf(heron.POST('/v1/teams/{id}/members', { params: { path: { id: team.id } }, body: { user_id } })),
    { stale },
  );
  const free = members.data?.filter(({ value }) => team.members.every(({ user_id }) => user_id !== value)) ?? [];
  return (
    <Select
      size="xs"
      w={240}
      aria-label={t('settings.team.addMember', { team: team.name })}
      placeholder={t('settings.team.add')}
      data={free}
      value={null}
      onChange={(id) => (id ? add.mutate(id) : undefined)}
      searchable
      nothingFoundMessage={t('nothingFound')}
    />
  );
}

/** Dialog that edits name and colour of a team, or creates a team. */
function EditTeam({ team, onClose }: { team?: Team; onClose: () => void }) {
  const t = useText();
  const [name, setName] = useState(team?.name ?? '');
  const [color, setColor] = useState(team?.color ?? COLOR);
  const save = useAction(
    () =>
      dataOf(
        team
          ? heron.PATCH('/v1/teams/{id}', { params: { path: { id: team.id } }, body: { name, color } })
          : heron.POST('/v1/teams', { body: { name, color } }),
      ),
    { stale, isShown: true, done: t('saved'), onDone: onClose },
  );
  return (
    <Dialog onClose={onClose} title={t(team ? 'settings.team.edit' : 'settings.team.new')}>
      <Form act={save} submit={t(team ? 'save' : 'settings.team.create')}>
        <TextInput
          label={t('settings.name')}
          required
          maxLength={255}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        <ColorInput label={t('settings.color')} withEyeDropper={false} format="hex" value={color} onChange={setColor} />
      </Form>
    </Dialog>
  );
}
