import { Anchor } from '@mantine/core';
import { dataOf, heron, type FoundBy } from '../../app/api.ts';
import { usePaged } from '../../components/paged.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { VirtualTable } from '../../components/virtual-table.tsx';
import { toNumber, useText } from '../../text/index.ts';

type Company = FoundBy<'/v1/b2b-database/companies'>;

/** Table of the catalogue's companies that match filters. The name of a company links to its people. */
export function Companies({ filters }: { filters: Record<string, string> }) {
  const t = useText();
  const list = usePaged(['catalogue', 'companies', filters], (cursor, signal) =>
    dataOf(heron.POST('/v1/b2b-database/companies', { body: { ...filters, limit: 100, ...cursor }, signal })),
  );
  return (
    <Answered query={list} skeleton={<ListSkeleton rows={8} />}>
      {() => (
        <VirtualTable<Company>
          list={list}
          minWidth={860}
          keyOf={({ id }) => id}
          columns={[
            { label: t('leads.company') },
            { label: t('leads.catalogue.site'), width: '18%' },
            { label: t('leads.catalogue.industry'), width: '20%', isExtra: true },
            { label: t('leads.catalogue.employees'), isNumber: true, width: 120, isExtra: true },
            { label: t('leads.catalogue.place'), width: '18%', isExtra: true },
          ]}
        >
          {cellsOf}
        </VirtualTable>
      )}
    </Answered>
  );
}

const cellsOf = (company: Company) => (
  <>
    <td className="clip">
      <a href={`/leads/catalogue?company=${company.id}`} title={company.name}>
        {company.name}
      </a>
    </td>
    <td className="clip">
      {company.domain ? (
        <Anchor href={`https://${company.domain}`} rel="noreferrer" target="_blank" inherit title={company.domain}>
          {company.domain}
        </Anchor>
      ) : null}
    </td>
    <td className="clip">{company.industries.join(', ')}</td>
    <td className="number">{company.employees === null ? null : toNumber(company.employees)}</td>
    <td className="clip dimmed">{[company.city, company.country].filter(Boolean).join(', ')}</td>
  </>
);
