import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useCan, usePerson } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { nameOf } from '../../components/name.ts';
import { textOf, useText } from '../../text/index.ts';

const Invite = lazy(() => import('./invite.tsx'));
const RemoveMember = lazy(() => import('./remove-member.tsx'));

/** List of members and invitations. */
export function Team() {
  const t = useText();
  const [isOpen, invite] = useDisclosure();
  const [removed, setRemoved] = useState<{ id: string; name: string }>();
  const { person } = usePerson();
  const mayManage = useCan('manage_team');
  const team = useQuery({
    queryKey: ['team'],
    queryFn: async () => {
      const [members, invitations, roles] = await Promise.all([
        dataOf(heron.GET('/v1/organizations/current/members', { params: { query: { limit: 100 } } })),
        dataOf(heron.GET('/v1/organizations/current/invitations', { params: { query: { limit: 100 } } })),
        dataOf(heron.GET('/v1/organizations/current/roles')),
      ]);
      return { members: members.data, invitations: invitations.data, roles: roles.data };
    },
  });
  const cancel = useAction(
    (id: string) => dataOf(heron.DELETE('/v1/organizations/current/invitations/{id}', { params: { path: { id } } })),
    { stale: [['team']], done: t('team.cancelled') },
  );
  return (
    <Section
      title={t('team.title')}
      size="h4"
      action={
        <Button size="xs" variant="default" aria-haspopup="dialog" onClick={invite.open}>
          {t('team.invite')}
        </Button>
      }
    >
      <Answered query={team} skeleton={<ListSkeleton rows={2} />}>
        {({ members, invitations, roles }) => (
          <>
            <Stack component="ul" gap="xs" p={0} m={0}>
              {members.map((member) => (
                <Row
                  key={member.user_id}
                  who={nameOf(member)}
                  email={member.email}
                  role={textOf('role', member.role.name)}
                  action={
                    mayManage && member.user_id !== person.id ? (
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
                    ) : null
                  }
                />
              ))}
              {invitations.map((one) => (
                <Row
                  key={one.id}
                  who={
                    <Badge variant="light" color={one.status === 'open' ? 'blue' : 'gray'} tt="none">
                      {t(one.status === 'open' ? 'team.invited' : 'team.expired')}
                    </Badge>
                  }
                  email={one.email}
                  role={textOf('role', one.role.name)}
                  action={
                    <Button size="compact-xs" variant="subtle" color="red" onClick={() => cancel.mutate(one.id)}>
                      {t('team.cancel')}
                    </Button>
                  }
                />
              ))}
            </Stack>
            {removed ? (
              <Suspense fallback={null}>
                <RemoveMember member={removed} onClose={() => setRemoved(undefined)} />
              </Suspense>
            ) : null}
            {isOpen ? (
              <Suspense fallback={null}>
                <Invite roles={roles.filter(({ is_owner }) => !is_owner)} onClose={invite.close} />
              </Suspense>
            ) : null}
          </>
        )}
      </Answered>
    </Section>
  );
}

/** One person; on a narrow screen the parts are below each other. */
function Row({ who, email, role, action }: { who: ReactNode; email: string; role: string; action?: ReactNode }) {
  return (
    <Group component="li" gap={2} style={{ listStyle: 'none', columnGap: '1rem' }}>
      <Text size="sm" component="div" flex="1 1 9rem" className="wrap-anywhere">
        {who}
      </Text>
      <Text size="sm" c="dimmed" flex="2 1 14rem" className="wrap-anywhere">
        {email}
      </Text>
      <Text size="sm" flex="1 1 6rem">
        {role}
      </Text>
      {action}
    </Group>
  );
}
