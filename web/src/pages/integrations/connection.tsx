import { Alert, Button, Group, Stack, Table, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { Page } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLink, PageLinkButton, useGoTo } from '../../components/page-link.tsx';
import { textOf, toNumber, useText } from '../../text/index.ts';
import { nameOf } from './list.tsx';
import { Mappings } from './mappings.tsx';
import { Signature } from './signature.tsx';
import { ConnectionStatus } from './status.tsx';
import { Subscriptions } from './subscriptions.tsx';

const Push = lazy(() => import('./push.tsx'));

type Connection = AnswerOf<'/v1/integrations/connections/{id}'>['connection'];
type Run = AnswerOf<'/v1/integrations/connections/{id}/runs'>['runs'][number];

/** Page of one connected account: health, actions and log. */
export default function ConnectionPage() {
  const t = useText();
  const { id } = useParams({ from: '/integrations/$id' });
  const [mayChange, mayUse] = [useCan('manage_settings'), useCan('use_integrations')];
  const path = { params: { path: { id } } };
  const one = useQuery({
    queryKey: ['integrations', id],
    queryFn: async () => {
      const [read, { runs }, { catalog }] = await Promise.all([
        dataOf(heron.GET('/v1/integrations/connections/{id}', path)),
        dataOf(heron.GET('/v1/integrations/connections/{id}/runs', path)),
        dataOf(heron.GET('/v1/integrations/catalog')),
      ]);
      return { ...read, runs, provider: catalog.find(({ provider }) => provider === read.connection.provider)! };
    },
  });
  const { data } = one;
  return (
    <Page
      title={data ? nameOf(data.connection) : t('integrations.one')}
      lead={
        data ? (
          <Group gap="xs">
            <ConnectionStatus connection={data.connection} />
            <span className="wrap-anywhere">
              {[...new Set([data.provider.name, data.connection.external_account_name])].filter(Boolean).join(', ')}
            </span>
          </Group>
        ) : null
      }
      back={{ to: '/integrations', label: t('nav.integrations') }}
      actions={
        data ? (
          <>
            {mayChange ? <Actions id={id} name={data.provider.name} /> : null}
            {data.provider.supports_push && mayUse ? <PushButton id={id} name={data.provider.name} /> : null}
          </>
        ) : null
      }
    >
      <Answered query={one} skeleton={<ListSkeleton rows={3} height={120} />}>
        {({ connection, events, runs, provider }) => (
          <>
            <ConnectionProblem connection={connection} mayChange={mayChange} />
            <Subscriptions connection={connection} provider={provider} events={events} mayChange={mayChange} />
            {provider.supports_push ? <Mappings id={id} mayChange={mayChange} /> : null}
            {mayChange && provider.action_types.some((action) => action.endsWith('.send_webhook')) ? (
              <Signature id={id} />
            ) : null}
            <Runs runs={runs} />
            <DeadLetters id={id} />
          </>
        )}
      </Answered>
    </Page>
  );
}

function PushButton({ id, name }: { id: string; name: string }) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="default" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        {t('integrations.push')}
      </Button>
      {isOpen ? (
        <Suspense fallback={null}>
          <Push id={id} name={name} onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  );
}

function Actions({ id, name }: { id: string; name: string }) {
  const t = useText();
  const go = useGoTo();
  const path = { params: { path: { id } } };
  const fire = useAction(() => dataOf(heron.POST('/v1/integrations/connections/{id}/test', path)), {
    stale: [['integrations', id]],
    onDone: ({ sent }) =>
      void notifications.show({
        message: t(sent ? 'integrations.test.sent' : 'integrations.test.notSent'),
        color: sent ? 'teal' : 'yellow',
      }),
  });
  const remove = useAction(() => dataOf(heron.DELETE('/v1/integrations/connections/{id}', path)), {
    stale: [['integrations', 'list']],
    done: t('integrations.disconnected'),
    isShown: true,
    onDone: () => go('/integrations'),
  });
  return (
    <>
      <ConfirmButton
        label={t('integrations.disconnect')}
        title={t('integrations.disconnect.ask', { name })}
        act={remove}
        c="red"
      >
        {t('integrations.disconnect.why')}
      </ConfirmButton>
      <Button variant="default" onClick={() => fire.mutate()} loading={fire.isPending}>
        {t('integrations.test')}
      </Button>
    </>
  );
}

/** Returns true for a connected account whose last check found a problem. */
const isIll = ({ status, health }: Connection): boolean =>
  status === 'connected' && (health === 'degraded' || health === 'down');

/** Shows the problem of an account and its fix. */
function ConnectionProblem({ connection, mayChange }: { connection: Connection; mayChange: boolean }) {
  const t = useText();
  const again = useAction(
    () =>
      dataOf(
        heron.POST('/v1/integrations/oauth/start', {
          body: { provider: connection.provider, connection_id: connection.id },
        }),
      ),
    { onDone: ({ authorize_url }) => window.location.assign(authorize_url) },
  );
  const said =
    connection.blocked_reason ??
    (isIll(connection) ? connection.health_detail : null) ??
    (connection.status === 'connected' ? null : connection.last_error);
  if (!said && connection.status !== 'reauth_required') return null;
  return (
    <Alert
      variant="light"
      color={connection.status === 'reauth_required' ? 'red' : 'yellow'}
      title={
        // If there is no problem, the page header already shows the status.
        isIll(connection) ? t('integrations.health.found') : t(`integrations.status.${connection.status}`)
      }
      role="note"
    >
      <Stack gap="xs" align="flex-start">
        {said ? (
          <Text size="sm" className="wrap-anywhere">
            {said}
          </Text>
        ) : null}
        {connection.status === 'reauth_required' ? (
          <Text size="sm">
            {t(connection.auth_method === 'oauth' ? 'integrations.again.why' : 'integrations.again.key')}
          </Text>
        ) : null}
        {connection.status === 'reauth_required' && mayChange ? (
          connection.auth_method === 'oauth' ? (
            <Button size="xs" onClick={() => again.mutate()} loading={again.isPending}>
              {t('integrations.again')}
            </Button>
          ) : (
            <PageLinkButton size="xs" to={`/integrations?connect=${connection.provider}`}>
              {t('integrations.again')}
            </PageLinkButton>
          )
        ) : null}
      </Stack>
    </Alert>
  );
}

function Runs({ runs }: { runs: readonly Run[] }) {
  const t = useText();
  return (
    <Section title={t('integrations.runs')}>
      {runs.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('integrations.runs.none')}
        </Text>
      ) : (
        <Table.ScrollContainer minWidth={480} className="drops">
          <Table layout="fixed" className="drop-4">
            <Table.Thead>
              <Table.Tr>
                <Table.Th w={110}>{t('integrations.run.when')}</Table.Th>
                <Table.Th>{t('integrations.run.what')}</Table.Th>
                <Table.Th w={86}>{t('integrations.run.result')}</Table.Th>
                <Table.Th w={100} ta="right">
                  {t('integrations.run.records')}
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {runs.map((run) => (
                <Table.Tr key={run.id}>
                  <Table.Td c="dimmed">
                    <Ago at={run.started_at} />
                  </Table.Td>
                  <Table.Td className="wrap-anywhere">
                    {textOf('integrations.run', run.kind)}
                    {run.detail ? (
                      <Text size="sm" c="dimmed">
                        {run.detail}
                      </Text>
                    ) : null}
                  </Table.Td>
                  <Table.Td c={run.status === 'error' ? 'red' : undefined}>
                    {t(`integrations.run.${run.status}`)}
                  </Table.Td>
                  <Table.Td ta="right">{run.records_processed > 0 ? toNumber(run.records_processed) : null}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Section>
  );
}

/** List of dead letters of the account; hidden if there are none. */
function DeadLetters({ id }: { id: string }) {
  const t = useText();
  const may = useCan('send_campaigns');
  const letters = useQuery({
    queryKey: ['integrations', id, 'given-up'],
    queryFn: () => dataOf(heron.GET('/v1/tasks/dlq', { params: { query: { status: 'pending', limit: 200 } } })),
    enabled: may,
  });
  const own = letters.data?.data.filter(({ payload }) => Object.values(payload).includes(id)) ?? [];
  const replay = useAction(
    (letter: string) => dataOf(heron.POST('/v1/tasks/dlq/{id}/replay', { params: { path: { id: letter } } })),
    { stale: [['integrations', id]], done: t('integrations.givenUp.again') },
  );
  if (own.length === 0) return null;
  return (
    <Section
      title={t('integrations.givenUp')}
      action={
        <PageLink to="/operations/stuck" size="sm">
          {t('integrations.givenUp.all')}
        </PageLink>
      }
    >
      <Stack gap="xs">
        {own.map((letter) => (
          <Group key={letter.id} justify="space-between" wrap="nowrap" gap="md">
            <Text size="sm" className="wrap-anywhere">
              {`${letter.last_error} `}
              <Ago at={letter.created_at} c="dimmed" />
            </Text>
            <Button
              size="xs"
              variant="default"
              flex="none"
              onClick={() => replay.mutate(letter.id)}
              loading={replay.isPending && replay.variables === letter.id}
            >
              {t('integrations.givenUp.replay')}
            </Button>
          </Group>
        ))}
      </Stack>
    </Section>
  );
}
