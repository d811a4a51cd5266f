import { Alert, SimpleGrid, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { dataOf, heron, queryClient, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { Facts } from '../../components/facts.tsx';
import { Page } from '../../components/page.tsx';
import { PageLink, useGoTo } from '../../components/page-link.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { TableFrame } from '../../components/table-frame.tsx';
import { Ago, toDateTime } from '../../components/time.tsx';
import { textOf, toNumber, useText } from '../../text/index.ts';

type Person = AnswerOf<'/v1/people/{id}'>;

/** Page of one person known from product events: identifiers, and the numbers of events and conversions. */
export default function PersonPage() {
  const t = useText();
  const { id } = useParams({ from: '/leads/people/$id' });
  const mayErase = useCan('manage_settings');
  const person = useQuery({
    queryKey: ['people', 'one', id],
    queryFn: () => dataOf(heron.GET('/v1/people/{id}', { params: { path: { id } } })),
  });
  const { data } = person;
  // An email address is preferred, because it is easier to recognize than an id.
  const first = data?.identifiers.find(({ kind }) => kind === 'email') ?? data?.identifiers[0];
  return (
    <Page
      title={first?.value ?? t('leads.people.one')}
      back={{ to: '/leads/people', label: t('leads.people.without') }}
      actions={data && !data.contact_id && mayErase ? <Erase id={id} /> : null}
    >
      <Answered query={person} skeleton={<ListSkeleton rows={2} height={140} />}>
        {(one) => (
          <>
            {one.contact_id ? (
              <Alert role="note" color="blue" variant="light">
                {t('leads.people.isContact')}{' '}
                <PageLink to={`/leads/${one.contact_id}`} inherit c="inherit" underline="always">
                  {t('leads.people.isContact.open')}
                </PageLink>
              </Alert>
            ) : null}
            <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
              <Numbers person={one} />
              <Identifiers person={one} />
            </SimpleGrid>
          </>
        )}
      </Answered>
    </Page>
  );
}

function Numbers({ person }: { person: Person }) {
  const t = useText();
  const at = (moment: string | null) => moment && toDateTime(moment);
  return (
    <Section title={t('leads.people.numbers')}>
      <Facts
        rows={[
          [t('leads.people.events'), toNumber(person.event_count)],
          [t('leads.people.first'), at(person.first_event_at)],
          [t('leads.people.last'), at(person.last_event_at)],
          [t('leads.people.conversions'), toNumber(person.conversion_count)],
          [t('leads.people.since'), at(person.created_at)],
        ]}
      />
    </Section>
  );
}

function Identifiers({ person: { identifiers, identifier_count: count } }: { person: Person }) {
  const t = useText();
  return (
    <Section title={t('leads.people.identifiers')}>
      <TableFrame
        columns={[
          { label: t('leads.conflicts.identifier') },
          { label: t('leads.people.kind'), isExtra: true },
          { label: t('leads.conflicts.since'), isExtra: true },
        ]}
        minWidth={0}
        isEmpty={identifiers.length === 0}
        empty={undefined}
      >
        {identifiers.map(({ kind, value, first_seen_at: since }) => (
          <Table.Tr key={kind + value}>
            <Table.Td maw={260} className="clip" title={value}>
              {value}
            </Table.Td>
            <Table.Td c="dimmed">{textOf('leads.conflicts.kind', kind)}</Table.Td>
            <Table.Td c="dimmed">
              <Ago at={since} />
            </Table.Td>
          </Table.Tr>
        ))}
      </TableFrame>
      {count > identifiers.length ? (
        <Text size="xs" c="dimmed" mt="xs">
          {t('leads.people.more', { shown: identifiers.length, count })}
        </Text>
      ) : null}
    </Section>
  );
}

function Erase({ id }: { id: string }) {
  const t = useText();
  const go = useGoTo();
  const erase = useAction(() => dataOf(heron.DELETE('/v1/people/{id}', { params: { path: { id } } })), {
    done: t('leads.people.erased'),
    isShown: true,
    onDone: () => {
      go('/leads/people');
      // Removes the query, so that this page does not refetch the erased person while it closes.
      queryClient.removeQueries({ queryKey: ['people', 'one', id] });
      void queryClient.invalidateQueries({ queryKey: ['people'] });
    },
  });
  return (
    <ConfirmButton label={t('leads.erase')} title={t('leads.people.erase.ask')} act={erase} c="red">
      {t('leads.people.erase.why')}
    </ConfirmButton>
  );
}
