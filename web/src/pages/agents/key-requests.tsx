import { Badge, Stack, Table } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { PagedTable, usePaged } from '../../components/paged.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { toDateTime } from '../../components/time.tsx';
import { toNumber, useText } from '../../text/index.ts';

/** Requests made with a key, latest first. Can be filtered by request id. */
export function KeyRequests({ id }: { id: string }) {
  const t = useText();
  const mayAudit = useCan('view_analytics');
  const [request, setRequest] = useState('');
  const list = usePaged(['keys', id, 'requests', request], (cursor, signal) =>
    dataOf(
      heron.GET('/v1/api-keys/{id}/logs', {
        params: { path: { id }, query: { limit: 50, ...(request ? { request_id: request } : {}), ...cursor } },
        signal,
      }),
    ),
  );
  return (
    <Stack gap="sm">
      <SearchField label={t('agents.usage.request')} value={request} onChange={setRequest} />
      <Answered query={list} skeleton={<ListSkeleton />}>
        {({ pages }) => (
          <PagedTable
            list={list}
            minWidth={680}
            empty={request ? t('agents.usage.request.none') : t('agents.usage.none')}
            columns={[
              { label: t('agents.usage.endpoint') },
              { label: t('agents.usage.status') },
              { label: t('agents.usage.ms'), isNumber: true, isExtra: true },
              { label: t('agents.usage.ip'), isExtra: true },
              { label: t('agents.usage.agent'), isExtra: true },
              { label: t('agents.usage.request'), isExtra: true },
              { label: t('agents.usage.at') },
            ]}
          >
            {pages
              .flatMap(({ data }) => data)
              .map((one) => (
                <Table.Tr key={one.id}>
                  <Table.Td maw={{ base: 150, sm: 320 }} className="clip" title={`${one.method} ${one.endpoint}`}>
                    {`${one.method} ${one.endpoint}`}
                  </Table.Td>
                  <Table.Td>
                    <Badge
                      variant="light"
                      color={one.response_code >= 500 ? 'red' : one.response_code >= 400 ? 'yellow' : 'teal'}
                      tt="none"
                    >
                      {one.response_code}
                    </Badge>
                  </Table.Td>
                  <Table.Td ta="right">{toNumber(one.response_time_ms)}</Table.Td>
                  <Table.Td c="dimmed">{one.ip_address}</Table.Td>
                  <Table.Td maw={200} className="clip" c="dimmed" title={one.user_agent}>
                    {one.user_agent}
                  </Table.Td>
                  <Table.Td maw={170} className="clip" title={one.request_id}>
                    {mayAudit && one.method !== 'GET' ? (
                      <PageLink
                        to={`/operations/audit?request=${encodeURIComponent(one.request_id)}`}
                        size="sm"
                        ff="monospace"
                      >
                        {one.request_id}
                      </PageLink>
                    ) : (
                      one.request_id
                    )}
                  </Table.Td>
                  <Table.Td c="dimmed">{toDateTime(one.created_at)}</Table.Td>
                </Table.Tr>
              ))}
          </PagedTable>
        )}
      </Answered>
    </Stack>
  );
}
