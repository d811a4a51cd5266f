import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { isEmptyList, PagedTable, usePaged } from '../../components/paged.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { textOf, useText } from '../../text/index.ts';

type Invitation = RowOf<'/v1/organizations/current/invitations'>;

/** Invitations that nobody has accepted. An open one can be withdrawn, an expired one sent again. */
export function Invitations() {
  const t = useText();
  const list = usePaged(['team', 'invitations'], (cursor, signal) =>
    dataOf(heron.GET('/v1/organizations/current/invitations', { params: { query: { limit: 50, ...cursor } }, signal })),
  );
  if (isEmptyList(list)) return null;
  return (
    <Stack gap="xs">
      <Text component="h2" fw={650} size="md" m={0}>
        {t('settings.invitations')}
      </Text>
      <Answered query={list} skeleton={<ListSkeleton rows={2} />}>
        {({ pages }) => (
          <PagedTable
            list={list}
            minWidth={640}
            columns={[
              { label: t('team.email') },
              { label: t('team.role'), isExtra: true },
              { label: t('settings.state') },
              { label: t('settings.expires'), isExtra: true },
              { label: t('team.cancel'), isHidden: true },
            ]}
          >
            {pages
              .flatMap(({ data }) => data)
              .map((one) => (
                <InvitationRow key={one.id} invitation={one} />
              ))}
          </PagedTable>
        )}
      </Answered>
    </Stack>
  );
}

function InvitationRow({ invitation }: { invitation: Invitation }) {
  const t = useText();
  const { id, email, role, status } = invitation;
  const stale = [['team']] as const;
  const cancel = useAction(
    () => dataOf(heron.DELETE('/v1/organizations/current/invitations/{id}', { params: { path: { id } } })),
    { stale, done: t('team.cancelled') },
  );
  const again = useAction(
    () => dataOf(heron.POST('/v1/organizations/current/invitations', { body: { email, role_id: role.id } })),
    { stale, done: t('team.sent', { email }) },
  );
  return (
    <Table.Tr>
      <Table.Td className="wrap-anywhere">{email}</Table.Td>
      <Table.Td>{textOf('role', role.name)}</Table.Td>
      <Table.Td>
        <Badge variant="light" color={status === 'open' ? 'blue' : 'gray'} tt="none">
          {t(status === 'open' ? 'team.invited' : 'team.expired')}
        </Badge>
      </Table.Td>
      <Table.Td c="dimmed">
        <Ago at={invitation.expires_at} />
      </Table.Td>
      <Table.Td>
        <Group gap={4} justify="flex-end" wrap="nowrap">
          {status === 'expired' ? (
            <Button
              size="compact-xs"
              variant="subtle"
              aria-label={t('settings.invite.again.of', { email })}
              onClick={() => again.mutate()}
            >
              {t('settings.invite.again')}
            </Button>
          ) : null}
          <Button
            size="compact-xs"
            variant="subtle"
            color="red"
            aria-label={t('team.cancel.of', { email })}
            onClick={() => cancel.mutate()}
          >
            {t('team.cancel')}
          </Button>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}
