import { Badge, Table } from '@mantine/core';
import { dataOf, heron, type BodyOf } from '../../app/api.ts';
import { usePaged } from '../../parts/paged.tsx';
import { Answered, ListSkeleton } from '../../parts/states.tsx';
import { Ago } from '../../parts/time.tsx';
import { To } from '../../parts/to.tsx';
import { VirtualTable } from '../../parts/virtual-table.tsx';
import { textOf, toNumber, useText } from '../../text/index.ts';
import { nameOf } from './contacts.tsx';

/** Whom a search of the lead database is about. */
export type Question = BodyOf<'/v1/lead-database/coverage', 'post'>;

const COLORS: Record<string, string> = {
  replied: 'teal',
  positive: 'teal',
  meeting: 'teal',
  bounced: 'red',
  unsubscribed: 'yellow',
};

/** People of the lead database, those written to last first. */
export function PeopleTable({ question }: { question: Question }) {
  const t = useText();
  const list = usePaged(['contacts', 'database', 'people', question], (cursor, signal) =>
    dataOf(heron.POST('/v1/lead-database/people', { body: { ...question, limit: 100, ...cursor }, signal })),
  );
  return (
    <Answered query={list} skeleton={<ListSkeleton />}>
      {() => (
        <VirtualTable
          list={list}
          minWidth={760}
          keyOf={({ id }) => id}
          empty={isAnybody(question) ? t('leads.database.none') : undefined}
          columns={[
            { label: t('leads.who') },
            { label: t('leads.company'), width: '22%', isExtra: true },
            { label: t('leads.database.status'), width: 140 },
            { label: t('leads.database.letters'), isNumber: true, width: 90, isExtra: true },
            { label: t('leads.database.last'), width: 150, isExtra: true },
          ]}
        >
          {(person) => (
            <>
              <Table.Td className="clip">
                <To to={`/leads/${person.id}`} fw={600} size="sm" title={person.email}>
                  {nameOf(person) || person.email}
                </To>{' '}
                {person.job_title}
              </Table.Td>
              <Table.Td className="clip">{person.company || person.company_domain}</Table.Td>
              <Table.Td>
                <Badge variant="light" tt="none" color={COLORS[person.outreach_status] ?? 'gray'}>
                  {textOf('leads.value', person.outreach_status)}
                </Badge>
              </Table.Td>
              <Table.Td ta="right">{person.emails_received || null}</Table.Td>
              <Table.Td c="dimmed" className="clip">
                {person.last_contacted_at ? <Ago at={person.last_contacted_at} /> : null}
              </Table.Td>
            </>
          )}
        </VirtualTable>
      )}
    </Answered>
  );
}

/** The same people by company, those with most people first. */
export function CompanyTable({ question }: { question: Question }) {
  const t = useText();
  const list = usePaged(['contacts', 'database', 'companies', question], (cursor, signal) =>
    dataOf(heron.POST('/v1/lead-database/companies', { body: { ...question, limit: 100, ...cursor }, signal })),
  );
  return (
    <Answered query={list} skeleton={<ListSkeleton />}>
      {() => (
        <VirtualTable
          list={list}
          minWidth={760}
          keyOf={({ domain }) => domain}
          empty={isAnybody(question) ? t('leads.database.none') : undefined}
          columns={[
            { label: t('leads.company') },
            { label: t('leads.people'), isNumber: true, width: 100 },
            { label: t('leads.database.contacted'), isNumber: true, width: 120 },
            { label: t('leads.database.replied'), isNumber: true, width: 120, isExtra: true },
            { label: t('leads.database.fresh'), isNumber: true, width: 150, isExtra: true },
            { label: t('leads.database.last'), width: 150, isExtra: true },
          ]}
        >
          {(company) => (
            <>
              <Table.Td className="clip">
                <To
                  to={`/leads/database?q=${encodeURIComponent(company.domain)}`}
                  fw={600}
                  size="sm"
                  title={company.domain}
                >
                  {company.name || company.domain}
                </To>
              </Table.Td>
              <Table.Td ta="right">{toNumber(company.people)}</Table.Td>
              <Table.Td ta="right">{company.contacted || null}</Table.Td>
              <Table.Td ta="right">{company.replied || null}</Table.Td>
              <Table.Td ta="right">{company.fresh || null}</Table.Td>
              <Table.Td c="dimmed" className="clip">
                {company.last_contacted_at ? <Ago at={company.last_contacted_at} /> : null}
              </Table.Td>
            </>
          )}
        </VirtualTable>
      )}
    </Answered>
  );
}

/** Whether a question leaves nobody out: then it is the workspace that is empty. */
function isAnybody({ conditions, q, segment_id }: Question): boolean {
  return !conditions?.length && !q && !segment_id;
}
