import { Button, Select, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconPlus from 'tabler:plus';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { dataOf, heron, type AnswerOf, type RowOf } from '../../app/api.ts';
import { useCan, usePerson } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { nameOf } from '../../components/name.ts';
import { PagedTable, usePaged } from '../../components/paged.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { textOf, useText } from '../../text/index.ts';
import { SettingsPage } from './frame.tsx';
import { Invitations } from './invitations.tsx';

const Invite = lazy(() => import('./invite.tsx'));
const RemoveMember = lazy(() => import('./remove-member.tsx'));

type Member = RowOf<'/v1/organizations/current/members'>;
type Role = AnswerOf<'/v1/organizations/current/roles'>['data'][number];

/** Page of the workspace's members, their roles, and the invitations. */
export default function MembersPage() {
  const t = useText();
  const mayManage = useCan('manage_team');
  const [isOpen, invite] = useDisclosure();
  const roles = useQuery({
    queryKey: ['team', 'roles'],
    queryFn: () => dataOf(heron.GET('/v1/organizations/current/roles')),
  });
  const add = (
    <Button leftSection={<IconPlus size={16} />} aria-haspopup="dialog" onClick={invite.open}>
      {t('team.invite')}
    </Button>
  );
  return (
    <SettingsPage actions={mayManage ? add : null}>
      <Answered query={roles} skeleton={<ListSkeleton />}>
        {({ data }) => (
          <>
            <Members roles={data} />
            {mayManage ? <Invitations /> : null}
            {isOpen ? (
              <Suspense fallback={null}>
                <Invite roles={data.filter(({ is_owner }) => !is_owner)} onClose={invite.close} />
              </Suspense>
            ) : null}
          </>
        )}
      </Answered>
    </SettingsPage>
  );
}

function Members({ roles }: { roles: Role[] }) {
  const t = useText();
  const { person } = usePerson();
  const mayManage = useCan('manage_team');
  const [removed, setRemoved] = useState<{ id: string; name: string }>();
  const list = usePaged(['team', 'members', 'list'], (cursor, signal) =>
    dataOf(heron.GET('/v1/organizations/current/members', { params: { query: { limit: 50, ...cursor } }, signal })),
  );
  return (
    <Answered query={list} skeleton={<ListSkeleton rows={3} />}>
      {({ pages }) => (
        <>
          <PagedTable
            list={list}
            minWidth={640}
            columns={[
              { label: t('settings.member') },
              { label: t('team.role') },
              { label: t('settings.joined'), isExtra: true },
              { label: t('team.remove'), isHidden: true },
            ]}
          >
            {pages
              .flatMap(({ data }) => data)
              .map((member) => (
                <Table.Tr key={member.user_id}>
                  <Table.Td className="wrap-anywhere">
                    <Text size="sm" fw={600}>
                      {nameOf(member)}
                    </Text>
                    <Text size="xs" c="dimmed">
                      {member.email}
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    {mayManage ? <MemberRole member={member} roles={roles} /> : textOf('role', member.role.name)}
                  </Table.Td>
                  <Table.Td c="dimmed" className="clip">
                    <Ago at={member.joined_at} />
                  </Table.Td>
                  <Table.Td ta="right">
                    {mayManage && member.user_id !== person.id ? (
                      <Button
                        size="compact-xs"
                        variant="subtle"
                        color="red"
                        aria-haspopup="dialog"
                        aria-label={t('team.remove.of', { name: nameOf(member) })}
                        onClick={() => setRemoved({ id: member.user_id, name: nameOf(member) })}
                      >
                        {t('team.remove')}
                      </Button>
                    ) : null}
                  </Table.Td>
                </Table.Tr>
              ))}
          </PagedTable>
          {removed ? (
            <Suspense fallback={null}>
              <RemoveMember member={removed} onClose={() => setRemoved(undefined)} />
            </Suspense>
          ) : null}
        </>
      )}
    </Answered>
  );
}

/** Select of a member's role, saved at once. A role that the person may not grant is refused by the API. */
function MemberRole({ member, roles }: { member: Member; roles: Role[] }) {
  const t = useText();
  const change = useAction(
    (role_id: string) =>
      dataOf(
        heron.PATCH('/v1/organizations/current/members/{userId}', {
          params: { path: { userId: member.user_id } },
          body: { role_id },
        }),
      ),
    { stale: [['team'], ['person']], done: t('settings.role.changed', { name: nameOf(member) }) },
  );
  return (
    <Select
      size="xs"
      w={{ base: 120, sm: 180 }}
      aria-label={t('settings.role.of', { name: nameOf(member) })}
      data={roles.map(({ id, name }) => ({ value: id, label: textOf('role', name) }))}
      value={change.isPending ? change.variables : member.role.id}
      onChange={(id) => (id && id !== member.role.id ? change.mutate(id) : undefined)}
      allowDeselect={false}
      readOnly={change.isPending}
    />
  );
}
