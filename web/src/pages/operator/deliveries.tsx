import { Anchor, Badge, Button, Code, Group, Modal, Select, Stack, Switch, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { Facts } from '../../components/facts.tsx';
import { useFilter } from '../../components/filter.ts';
import { PagedTable, RowDialogLink, usePaged } from '../../components/paged.tsx';
import { Answered, ErrorNote, ListSkeleton } from '../../components/states.tsx';
import { Ago, toDateTime } from '../../components/time.tsx';
import { toNumber, useText } from '../../text/index.ts';

type Delivery = RowOf<'/v1/webhooks/deliveries'>;
const STATUSES = ['pending', 'in_flight', 'delivered', 'failed', 'abandoned'] as const;
type Status = (typeof STATUSES)[number];
/** Interval (ms) at which the live list fetches new deliveries. It must poll, because no event reports a delivery. */
const TAIL_MS = 2_000;
const COLORS: Record<Status, string> = {
  pending: 'gray',
  in_flight: 'blue',
  delivered: 'teal',
  failed: 'yellow',
  abandoned: 'red',
};

/**
 * List of the deliveries to one endpoint or to all. Each can be opened to see its body and the answer, and to redeliver
 * it.
 */
export function DeliveryList({ endpointId }: { endpointId?: string }) {
  const t = useText();
  const [status, setStatus] = useFilter('status');
  const [open, setOpen] = useState<string>();
  const [isLive, setLive] = useState(false);
  const list = usePaged(
    ['operator', 'deliveries', endpointId, status],
    (cursor, signal) => {
      const query = { limit: 25, ...(status ? { status: status as Status } : {}), ...cursor };
      return dataOf(
        endpointId
          ? heron.GET('/v1/webhooks/{id}/deliveries', { params: { path: { id: endpointId }, query }, signal })
          : heron.GET('/v1/webhooks/deliveries', { params: { query }, signal }),
      );
    },
    isLive && TAIL_MS,
  );
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <Text component="h2" fw={650} size="md" m={0}>
          {t('operator.deliveries')}
        </Text>
        <Group gap="md">
          <Switch
            label={t('operator.deliveries.live')}
            checked={isLive}
            onChange={(event) => setLive(event.currentTarget.checked)}
          />
          <Select
            value={status || null}
            onChange={(value) => setStatus(value ?? '')}
            data={STATUSES.map((value) => ({ value, label: t(`operator.delivery.${value}`) }))}
            placeholder={t('operator.anyState')}
            aria-label={t('operator.anyState')}
            clearable
            w={180}
          />
        </Group>
      </Group>
      <Answered query={list} skeleton={<ListSkeleton rows={4} />}>
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data);
          const shown = rows.find(({ id }) => id === open);
          return (
            <>
              <PagedTable
                list={list}
                minWidth={680}
                empty={status ? undefined : t('operator.deliveries.none')}
                columns={[
                  { label: t('operator.event') },
                  { label: t('operator.state') },
                  { label: t('operator.answer'), isExtra: true },
                  { label: t('operator.attempts'), isNumber: true, isExtra: true },
                  { label: t('operator.when'), isExtra: true },
                ]}
              >
                {rows.map((one) => (
                  <Table.Tr key={one.id}>
                    <Table.Td>
                      <RowDialogLink onOpen={() => setOpen(one.id)}>{one.event_type}</RowDialogLink>
                    </Table.Td>
                    <Table.Td>
                      <DeliveryState status={one.status} />
                    </Table.Td>
                    <Table.Td maw={260} className="clip" title={one.error_reason ?? ''}>
                      {one.response_status ?? one.error_reason ?? ''}
                    </Table.Td>
                    <Table.Td ta="right">
                      {one.attempt_count > 0
                        ? t('operator.attemptsOf', { count: one.attempt_count, most: one.max_attempts })
                        : null}
                    </Table.Td>
                    <Table.Td c="dimmed">
                      <Ago at={one.created_at} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </PagedTable>
              <Modal
                opened={shown !== undefined}
                onClose={() => setOpen(undefined)}
                title={shown?.event_type}
                size="lg"
              >
                {shown ? <DeliveryDetail delivery={shown} /> : null}
              </Modal>
            </>
          );
        }}
      </Answered>
    </Stack>
  );
}

function DeliveryState({ status }: { status: Status }) {
  const t = useText();
  return (
    <Badge variant="light" color={COLORS[status]} tt="none">
      {t(`operator.delivery.${status}`)}
    </Badge>
  );
}

function DeliveryDetail({ delivery }: { delivery: Delivery }) {
  const t = useText();
  const again = useAction(
    () =>
      dataOf(
        heron.POST('/v1/webhooks/deliveries/{deliveryId}/redeliver', { params: { path: { deliveryId: delivery.id } } }),
      ),
    { stale: [['operator', 'deliveries']], done: t('operator.redeliver.done'), isShown: true },
  );
  return (
    <Stack gap="sm">
      <Facts
        rows={[
          [t('operator.state'), <DeliveryState key="state" status={delivery.status} />],
          [
            t('operator.attempts'),
            t('operator.attemptsOf', { count: delivery.attempt_count, most: delivery.max_attempts }),
          ],
          [t('operator.lastAttempt'), delivery.last_attempt_at ? <Ago at={delivery.last_attempt_at} /> : null],
          [t('operator.nextRetry'), delivery.next_attempt_at ? <Ago at={delivery.next_attempt_at} /> : null],
          [t('operator.answer'), delivery.response_status],
          [t('operator.reason'), delivery.error_reason],
          [t('operator.blocked'), delivery.blocked_reason],
          [
            t('operator.run'),
            delivery.temporal_url ? (
              <Anchor href={delivery.temporal_url} size="sm" target="_blank" rel="noreferrer">
                {t('operator.temporal')}
              </Anchor>
            ) : null,
          ],
        ]}
      />
      {delivery.attempt_count > 0 ? <Attempts delivery={delivery} /> : null}
      {delivery.response_body_excerpt ? (
        <Block title={t('operator.answer.body')} text={delivery.response_body_excerpt} />
      ) : null}
      {delivery.payload ? (
        <Block title={t('operator.body')} text={JSON.stringify(delivery.payload, null, 2)} />
      ) : (
        <Text size="sm" c="dimmed">
          {t('operator.body.gone')}
        </Text>
      )}
      <ErrorNote error={again.error} />
      <Group justify="flex-end">
        <Button onClick={() => again.mutate()} loading={again.isPending}>
          {t('operator.redeliver')}
        </Button>
      </Group>
    </Stack>
  );
}

/** List of the stored attempts, latest first: time, duration and result. */
function Attempts({ delivery }: { delivery: Delivery }) {
  const t = useText();
  const attempts = useQuery({
    queryKey: ['operator', 'deliveries', 'attempts', delivery.id, delivery.attempt_count],
    queryFn: () =>
      dataOf(
        heron.GET('/v1/webhooks/deliveries/{deliveryId}/attempts', { params: { path: { deliveryId: delivery.id } } }),
      ),
  });
  return (
    <Answered query={attempts} skeleton={<ListSkeleton rows={2} height={32} />}>
      {({ data }) =>
        data.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t('operator.attempts.gone')}
          </Text>
        ) : (
          <Table.ScrollContainer minWidth={480}>
            <Table aria-label={t('operator.attempts')}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{t('operator.attempt')}</Table.Th>
                  <Table.Th>{t('operator.when')}</Table.Th>
                  <Table.Th ta="right">{t('operator.duration')}</Table.Th>
                  <Table.Th>{t('operator.answer')}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {data.map((one) => (
                  <Table.Tr key={one.attempt}>
                    <Table.Td>{toNumber(one.attempt)}</Table.Td>
                    <Table.Td>{toDateTime(one.started_at)}</Table.Td>
                    <Table.Td ta="right">{t('operator.ms', { count: one.duration_ms })}</Table.Td>
                    <Table.Td maw={260} className="wrap-anywhere">
                      {[one.response_status, one.error_reason].filter((said) => said !== null).join(' · ')}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )
      }
    </Answered>
  );
}

function Block({ title, text }: { title: string; text: string }) {
  return (
    <div>
      <Text size="sm" c="dimmed" mb={4}>
        {title}
      </Text>
      <Code block mah={260} className="wrap-anywhere" style={{ whiteSpace: 'pre-wrap' }} tabIndex={0}>
        {text}
      </Code>
    </div>
  );
}
