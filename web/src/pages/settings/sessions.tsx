import { Badge, Button, Group, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { TableFrame } from '../../components/table-frame.tsx';
import { Ago } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';

const queryKey = ['person', 'sessions'] as const;

/** List of the browsers in which the person is signed in. Each can be signed out, or all of them together. */
export function Sessions() {
  const t = useText();
  const nameOf = ({ browser, os }: { browser: string; os: string }) =>
    [browser, os].filter(Boolean).join(', ') || t('settings.session.unknown');
  const sessions = useQuery({ queryKey, queryFn: () => dataOf(heron.GET('/v1/auth/sessions')) });
  const end = useAction((id: string) => dataOf(heron.DELETE('/v1/auth/sessions/{id}', { params: { path: { id } } })), {
    stale: [queryKey],
    done: t('settings.session.ended'),
  });
  const endOthers = useAction(() => dataOf(heron.DELETE('/v1/auth/sessions')), {
    stale: [queryKey],
    done: t('settings.sessions.ended'),
  });
  const endAll = useAction(() => dataOf(heron.POST('/v1/auth/logout-all')), {
    isShown: true,
    onDone: () => window.location.assign('/account/sign-in'),
  });
  return (
    <Section
      title={t('settings.sessions')}
      action={
        <Group gap="xs">
          {(sessions.data?.length ?? 0) > 1 ? (
            <Button size="xs" variant="default" onClick={() => endOthers.mutate()} loading={endOthers.isPending}>
              {t('settings.sessions.endOthers')}
            </Button>
          ) : null}
          <ConfirmButton
            size="xs"
            act={endAll}
            label={t('settings.sessions.endAll')}
            title={t('settings.sessions.endAll.ask')}
          >
            {t('settings.sessions.endAll.why')}
          </ConfirmButton>
        </Group>
      }
    >
      <Answered query={sessions} skeleton={<ListSkeleton rows={2} />}>
        {(rows) => (
          <TableFrame
            columns={[
              { label: t('settings.session.browser') },
              { label: t('settings.session.ip'), isExtra: true },
              { label: t('settings.session.begun'), isExtra: true },
              { label: t('settings.session.end'), isHidden: true },
            ]}
            minWidth={480}
            isEmpty={rows.length === 0}
            empty={undefined}
          >
            {rows.map((one) => (
              <Table.Tr key={one.id}>
                <Table.Td>
                  <Text size="sm">{nameOf(one)}</Text>
                  <Text size="xs" c="dimmed">
                    {t('settings.session.active')}: <Ago at={one.last_active_at} />
                  </Text>
                </Table.Td>
                <Table.Td c="dimmed">{one.ip_address}</Table.Td>
                <Table.Td c="dimmed">
                  <Ago at={one.created_at} />
                </Table.Td>
                <Table.Td ta="right">
                  {one.current ? (
                    <Badge variant="light" color="teal" tt="none">
                      {t('settings.session.current')}
                    </Badge>
                  ) : (
                    <Button
                      size="compact-xs"
                      variant="subtle"
                      color="red"
                      aria-label={t('settings.session.end.of', { browser: nameOf(one) })}
                      onClick={() => end.mutate(one.id)}
                    >
                      {t('settings.session.end')}
                    </Button>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </TableFrame>
        )}
      </Answered>
    </Section>
  );
}
