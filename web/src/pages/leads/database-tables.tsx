import { Badge } from '@mantine/core';
import { Suspense } from 'react';
import { dataOf, heron, type BodyOf, type FoundBy } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { shownAddress } from '../../components/address.ts';
import { ContactBar } from '../../components/bulk/lazy.ts';
import { usePaged } from '../../components/paged.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { Moment } from '../../components/time.tsx';
import { VirtualTable } from '../../components/virtual-table.tsx';
import { useChosen, useSelection } from '../../hooks/selection.ts';
import { textOf, toNumber, useText } from '../../text/index.ts';
import { nameOf } from './contacts.tsx';

/** Query of the lead database. */
export type Question = BodyOf<'/v1/lead-database/coverage', 'post'>;

type Person = FoundBy<'/v1/lead-database/people'>;
type Company = FoundBy<'/v1/lead-database/companies'>;

const COLORS: Record<string, string> = {
  replied: 'teal',
  positive: 'teal',
  meeting: 'teal',
  bounced: 'red',
  unsubscribed: 'yellow',
};

/** People of the lead database, most recently emailed first. */
export function PeopleTable({ question }: { question: Question }) {
  const t = useText();
  const list = usePaged(['contacts', 'database', 'people', question], (cursor, signal) =>
    dataOf(heron.POST('/v1/lead-database/people', { body: { ...question, limit: 100, ...cursor }, signal })),
  );
  const mayWrite = useCan('manage_contacts');
  const selection = useSelection(JSON.stringify(question));
  const { ids } = useChosen(selection);
  return (
    <Answered query={list} skeleton={<ListSkeleton />}>
      {() => (
        <>
          <VirtualTable<Person>
            list={list}
            minWidth={760}
            keyOf={idOf}
            select={mayWrite ? { selection, nameOf: labelOf } : undefined}
            columns={[
              { label: t('leads.who') },
              { label: t('leads.company'), width: '22%', isExtra: true },
              { label: t('leads.database.status'), width: 172 },
              { label: t('leads.database.emails'), isNumber: true, width: 90, isExtra: true },
              { label: t('leads.database.last'), width: 150, isExtra: true },
            ]}
          >
            {personCells}
          </VirtualTable>
          {ids.size > 0 ? (
            <Suspense>
              {/* Bulk edits can select by contact filters, but not by the conditions of this page. */}
              <ContactBar selection={selection} filters={{}} mayChooseAll={false} />
            </Suspense>
          ) : null}
        </>
      )}
    </Answered>
  );
}

const idOf = ({ id }: Person) => id;
const labelOf = (person: Person) => nameOf(person) || shownAddress(person.email);
const personCells = (person: Person) => (
  <>
    <td className="clip">
      <a href={`/leads/${person.id}`} title={person.email}>
        {nameOf(person) || shownAddress(person.email)}
      </a>{' '}
      {person.job_title}
    </td>
    <td className="clip">{person.company || person.company_domain}</td>
    <td>
      <Badge variant="light" tt="none" color={COLORS[person.outreach_status] ?? 'gray'}>
        {textOf('leads.value', person.outreach_status)}
      </Badge>
    </td>
    <td className="number">{person.emails_received || null}</td>
    <td className="clip dimmed">{person.last_contacted_at ? <Moment at={person.last_contacted_at} /> : null}</td>
  </>
);

/** Companies of the people who match, largest first. */
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
          columns={[
            { label: t('leads.company') },
            { label: t('leads.people'), isNumber: true, width: 92 },
            { label: t('leads.database.contacted'), isNumber: true, width: 136 },
            { label: t('leads.database.replied'), isNumber: true, width: 120, isExtra: true },
            { label: t('leads.database.fresh'), isNumber: true, width: 150, isExtra: true },
            { label: t('leads.database.last'), width: 150, isExtra: true },
          ]}
        >
          {companyCells}
        </VirtualTable>
      )}
    </Answered>
  );
}

const companyCells = (company: Company) => (
  <>
    <td className="clip">
      <a href={`/leads/database?q=${encodeURIComponent(company.domain)}`} title={company.domain}>
        {company.name || company.domain}
      </a>
    </td>
    <td className="number">{toNumber(company.people)}</td>
    <td className="number">{company.contacted || null}</td>
    <td className="number">{company.replied || null}</td>
    <td className="number">{company.fresh || null}</td>
    <td className="clip dimmed">{company.last_contacted_at ? <Moment at={company.last_contacted_at} /> : null}</td>
  </>
);
