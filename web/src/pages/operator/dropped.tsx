import { Table } from '@mantine/core';
import { Section } from '../../components/section.tsx';
import { dataOf, heron } from '../../app/api.ts';
import { isEmptyList, PagedTable, usePaged } from '../../components/paged.tsx';
import { ErrorNote } from '../../components/states.tsx';
import { toDateTime } from '../../components/time.tsx';
import { toNumber, useText } from '../../text/index.ts';
import type { Endpoint } from './endpoint-state.tsx';

/** Lists the events that rate limits dropped for endpoints, per minute. Renders nothing if there are none. */
export function Dropped({ endpoints }: { endpoints: readonly Endpoint[] }) {
  const t = useText();
  const list = usePaged(['operator', 'dropped'], (cursor, signal) =>
    dataOf(heron.GET('/v1/webhooks/throttle-drops', { params: { query: { limit: 25, ...cursor } }, signal })),
  );
  if (list.error) return <ErrorNote error={list.error} />;
  if (!list.data || isEmptyList(list)) return null;
  return (
    <Section title={t('operator.dropped')}>
      <PagedTable
        list={list}
        minWidth={640}
        columns={[
          { label: t('operator.webhook.url') },
          { label: t('operator.event') },
          { label: t('operator.reason'), isExtra: true },
          { label: t('operator.dropped.count'), isNumber: true },
          { label: t('operator.when'), isExtra: true },
        ]}
      >
        {list.data.pages
          .flatMap(({ data }) => data)
          .map((one) => (
            <Table.Tr key={`${one.endpoint_id} ${one.event_type} ${one.minute}`}>
              <Table.Td maw={260} className="clip">
                {endpoints.find(({ id }) => id === one.endpoint_id)?.url ?? one.endpoint_id}
              </Table.Td>
              <Table.Td>{one.event_type}</Table.Td>
              <Table.Td>{t(`operator.dropped.${one.reason}`)}</Table.Td>
              <Table.Td ta="right">{toNumber(one.dropped)}</Table.Td>
              <Table.Td c="dimmed">{toDateTime(one.minute)}</Table.Td>
            </Table.Tr>
          ))}
      </PagedTable>
    </Section>
  );
}
