import { Table, Text } from '@mantine/core';
import IconUsers from 'tabler:users';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { isEmptyList, PagedTable, usePaged } from '../../components/paged.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { textOf, toNumber, useText } from '../../text/index.ts';
import { LeadsPage } from './pages.tsx';

/** Page of people known from product events who are not contacts, newest first. */
export default function PeoplePage() {
  const t = useText();
  const list = usePaged(['people', 'list'], (cursor, signal) =>
    dataOf(heron.GET('/v1/people', { params: { query: { limit: 50, ...cursor } }, signal })),
  );
  return (
    <LeadsPage lead={t('leads.people.lead')}>
      <Answered query={list} skeleton={<ListSkeleton />}>
        {({ pages }) =>
          isEmptyList(list) ? (
            <Empty icon={IconUsers} title={t('leads.people.empty')}>
              {t('leads.people.empty.why')}
            </Empty>
          ) : (
            <PagedTable
              list={list}
              minWidth={640}
              columns={[
                { label: t('leads.conflicts.identifier') },
                { label: t('leads.people.events'), isNumber: true },
                { label: t('leads.people.conversions'), isNumber: true, isExtra: true },
                { label: t('leads.people.last'), isExtra: true },
              ]}
            >
              {pages.flatMap(({ data }) => data.map((one) => <Row key={one.id} person={one} />))}
            </PagedTable>
          )
        }
      </Answered>
    </LeadsPage>
  );
}

function Row({ person }: { person: RowOf<'/v1/people'> }) {
  // An email address is preferred, because it is easier to recognize than an id.
  const first = person.identifiers.find(({ kind }) => kind === 'email') ?? person.identifiers[0];
  return (
    <Table.Tr>
      <Table.Td maw={{ base: 200, sm: 420 }} className="clip">
        <PageLink to={`/leads/people/${person.id}`} size="sm" fw={600} title={first?.value ?? person.id}>
          {first?.value ?? person.id}
        </PageLink>
        {first ? (
          <Text size="xs" c="dimmed">
            {textOf('leads.conflicts.kind', first.kind)}
          </Text>
        ) : null}
      </Table.Td>
      <Table.Td ta="right">{toNumber(person.event_count)}</Table.Td>
      <Table.Td ta="right">{toNumber(person.conversion_count)}</Table.Td>
      <Table.Td c="dimmed">{person.last_event_at ? <Ago at={person.last_event_at} /> : null}</Table.Td>
    </Table.Tr>
  );
}
