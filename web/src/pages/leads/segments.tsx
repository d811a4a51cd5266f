import { Table, Text } from '@mantine/core';
import IconFilter from 'tabler:filter';
import IconPlus from 'tabler:plus';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { PagedTable, usePaged } from '../../components/paged.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLink, PageLinkButton } from '../../components/page-link.tsx';
import { toNumber, useText } from '../../text/index.ts';
import { LeadsPage } from './pages.tsx';

/** Page of segments with their current sizes. */
export default function SegmentsPage() {
  const t = useText();
  const mayWrite = useCan('manage_contacts');
  const list = usePaged(['segments', 'list'], (cursor, signal) =>
    dataOf(heron.GET('/v1/segments', { params: { query: { limit: 25, ...cursor } }, signal })),
  );
  const write = mayWrite ? (
    <PageLinkButton to="/leads/segments/new" leftSection={<IconPlus size={16} />}>
      {t('leads.segments.new')}
    </PageLinkButton>
  ) : null;
  return (
    <LeadsPage lead={t('leads.segments.lead')} actions={write}>
      <Answered query={list} skeleton={<ListSkeleton />}>
        {({ pages }) =>
          pages[0]?.data.length === 0 ? (
            <Empty icon={IconFilter} title={t('leads.segments.empty')} action={write}>
              {t('leads.segments.empty.why')}
            </Empty>
          ) : (
            <PagedTable
              list={list}
              minWidth={520}
              columns={[
                { label: t('leads.segments.name') },
                { label: t('leads.segments.conditions'), isNumber: true, isExtra: true },
                { label: t('leads.people'), isNumber: true },
                { label: t('leads.segments.changed'), isExtra: true },
              ]}
            >
              {pages.flatMap(({ data }) => data.map((segment) => <Row key={segment.id} segment={segment} />))}
            </PagedTable>
          )
        }
      </Answered>
    </LeadsPage>
  );
}

function Row({ segment: { id, name, conditions, updated_at } }: { segment: RowOf<'/v1/segments'> }) {
  const t = useText();
  const people = useQuery({
    queryKey: ['contacts', 'segment', id],
    queryFn: () => dataOf(heron.POST('/v1/lead-database/coverage', { body: { segment_id: id } })),
  });
  return (
    <Table.Tr>
      <Table.Td maw={{ base: 180, sm: 420 }} className="clip">
        <PageLink to={`/leads/segments/${id}`} fw={600} size="sm" title={name}>
          {name}
        </PageLink>
      </Table.Td>
      <Table.Td ta="right">{conditions.length || t('leads.segments.everybody')}</Table.Td>
      <Table.Td ta="right">
        {people.data ? (
          toNumber(people.data.total)
        ) : (
          <Text span inherit c="dimmed">
            …
          </Text>
        )}
      </Table.Td>
      <Table.Td c="dimmed">
        <Ago at={updated_at} />
      </Table.Td>
    </Table.Tr>
  );
}
