import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { CopyBox } from '../../components/copy.tsx';
import { PagedTable, usePaged } from '../../components/paged.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { TableFrame } from '../../components/table-frame.tsx';
import { Ago } from '../../components/time.tsx';
import { toNumber, useText } from '../../text/index.ts';

type Application = RowOf<'/v1/oauth/applications'>;

/** Webhooks of an application in all workspaces that use it: secret, endpoints and deliveries. */
export function ApplicationWebhooks({ application }: { application: Application }) {
  const t = useText();
  if (!application.webhook_url && application.allowed_webhook_domains.length === 0)
    return (
      <Section title={t('agents.app.webhooks')}>
        <Text size="sm" c="dimmed">
          {t('agents.app.webhooks.none')}
        </Text>
      </Section>
    );
  return (
    <>
      <Secret id={application.id} />
      <Endpoints id={application.id} />
      <Deliveries id={application.id} />
    </>
  );
}

function Secret({ id }: { id: string }) {
  const t = useText();
  const [secret, setSecret] = useState<string>();
  const path = { params: { path: { id } } };
  const show = useAction(() => dataOf(heron.GET('/v1/oauth/applications/{id}/webhook-secret', path)), {
    onDone: ({ webhook_secret }) => setSecret(webhook_secret),
  });
  const rotate = useAction(() => dataOf(heron.POST('/v1/oauth/applications/{id}/webhook-secret/rotate', path)), {
    isShown: true,
    onDone: ({ webhook_secret }) => setSecret(webhook_secret),
  });
  return (
    <Section title={t('agents.app.webhook.secret')}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t('agents.app.webhook.secret.why')}
        </Text>
        {secret ? <CopyBox label={t('agents.app.webhook.secret')} value={secret} /> : null}
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={() => show.mutate()} loading={show.isPending}>
            {t('agents.app.webhook.secret.show')}
          </Button>
          <ConfirmButton
            size="xs"
            act={rotate}
            label={t('agents.app.rotate')}
            title={t('agents.app.webhook.secret.ask')}
          >
            {t('agents.app.webhook.secret.rotate.why')}
          </ConfirmButton>
        </Group>
      </Stack>
    </Section>
  );
}

function Endpoints({ id }: { id: string }) {
  const t = useText();
  const endpoints = useQuery({
    queryKey: ['applications', id, 'endpoints'],
    queryFn: () => dataOf(heron.GET('/v1/oauth/applications/{id}/webhook-endpoints', { params: { path: { id } } })),
  });
  return (
    <Stack gap="xs">
      <Heading text={t('agents.app.endpoints')} />
      <Answered query={endpoints} skeleton={<ListSkeleton rows={2} />}>
        {({ endpoints: rows }) => (
          <TableFrame
            minWidth={560}
            isEmpty={rows.length === 0}
            empty={t('agents.app.endpoints.none')}
            columns={[
              { label: t('agents.app.endpoint') },
              { label: t('agents.state') },
              { label: t('agents.app.failures'), isNumber: true, isExtra: true },
              { label: t('agents.app.lastSuccess'), isExtra: true },
            ]}
          >
            {rows.map((one) => (
              <Table.Tr key={one.id}>
                <Table.Td maw={{ base: 180, sm: 420 }} className="clip" title={one.url}>
                  {one.url}
                </Table.Td>
                <Table.Td>
                  <Badge variant="light" color={one.enabled ? 'teal' : 'gray'} tt="none">
                    {t(one.enabled ? 'agents.app.endpoint.on' : 'agents.app.endpoint.off')}
                  </Badge>
                </Table.Td>
                <Table.Td ta="right">{toNumber(one.consecutive_failures)}</Table.Td>
                <Table.Td c="dimmed">
                  {one.last_success_at ? <Ago at={one.last_success_at} /> : t('agents.never')}
                </Table.Td>
              </Table.Tr>
            ))}
          </TableFrame>
        )}
      </Answered>
    </Stack>
  );
}

const COLORS = { pending: 'gray', in_flight: 'blue', delivered: 'teal', failed: 'yellow', abandoned: 'red' } as const;

function Deliveries({ id }: { id: string }) {
  const t = useText();
  const list = usePaged(['applications', id, 'deliveries'], (cursor, signal) =>
    dataOf(
      heron.GET('/v1/oauth/applications/{id}/webhook-deliveries', {
        params: { path: { id }, query: { limit: 25, ...cursor } },
        signal,
      }),
    ),
  );
  return (
    <Stack gap="xs">
      <Heading text={t('agents.app.deliveries')} />
      <Answered query={list} skeleton={<ListSkeleton rows={3} />}>
        {({ pages }) => (
          <PagedTable
            list={list}
            minWidth={560}
            empty={t('agents.app.deliveries.none')}
            columns={[
              { label: t('agents.event') },
              { label: t('agents.state') },
              { label: t('agents.app.answer'), isExtra: true },
              { label: t('agents.usage.at') },
            ]}
          >
            {pages
              .flatMap(({ data }) => data)
              .map((one) => (
                <Table.Tr key={one.id}>
                  <Table.Td>{one.event_type}</Table.Td>
                  <Table.Td>
                    <Badge variant="light" color={COLORS[one.status]} tt="none">
                      {t(`agents.delivery.${one.status}`)}
                    </Badge>
                  </Table.Td>
                  <Table.Td maw={260} className="clip" title={one.error_reason ?? ''}>
                    {one.response_status ?? one.error_reason ?? ''}
                  </Table.Td>
                  <Table.Td c="dimmed">
                    <Ago at={one.created_at} />
                  </Table.Td>
                </Table.Tr>
              ))}
          </PagedTable>
        )}
      </Answered>
    </Stack>
  );
}

function Heading({ text }: { text: string }) {
  return (
    <Text component="h2" fw={650} size="md" m={0}>
      {text}
    </Text>
  );
}
