import { Table } from '@mantine/core';
import IconUpload from 'tabler:upload';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { PagedTable, usePaged } from '../../components/paged.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLink, PageLinkButton } from '../../components/page-link.tsx';
import { toNumber, useText } from '../../text/index.ts';
import { ImportStatus } from './import-status.tsx';
import { LeadsPage } from './pages.tsx';

/** Page of imported files, newest first. */
export default function ImportsPage() {
  const t = useText();
  const mayWrite = useCan('manage_contacts');
  const list = usePaged(['imports', 'list'], (cursor, signal) =>
    dataOf(heron.GET('/v1/contacts/imports', { params: { query: { limit: 50, ...cursor } }, signal })),
  );
  const start = mayWrite ? (
    <PageLinkButton to="/leads/imports/new" leftSection={<IconUpload size={16} />}>
      {t('leads.import')}
    </PageLinkButton>
  ) : null;
  return (
    <LeadsPage lead={t('leads.imports.lead')} actions={start}>
      <Answered query={list} skeleton={<ListSkeleton />}>
        {({ pages }) =>
          pages[0]?.data.length === 0 ? (
            <Empty icon={IconUpload} title={t('leads.imports.empty')} action={start}>
              {t('leads.imports.empty.why')}
            </Empty>
          ) : (
            <PagedTable
              list={list}
              minWidth={700}
              columns={[
                { label: t('leads.imports.file') },
                { label: t('leads.imports.state') },
                { label: t('leads.imports.new'), isNumber: true, isExtra: true },
                { label: t('leads.imports.updated'), isNumber: true, isExtra: true },
                { label: t('leads.imports.leftOut'), isNumber: true },
                { label: t('leads.imports.when'), isExtra: true },
              ]}
            >
              {pages.flatMap(({ data }) =>
                data.map((one) => (
                  <Table.Tr key={one.id}>
                    <Table.Td maw={{ base: 140, sm: 320 }} className="clip">
                      <PageLink to={`/leads/imports/${one.id}`} fw={600} size="sm" title={one.filename}>
                        {one.filename}
                      </PageLink>
                    </Table.Td>
                    <Table.Td>
                      <ImportStatus status={one.status} />
                    </Table.Td>
                    <Table.Td ta="right">{toNumber(one.imported)}</Table.Td>
                    <Table.Td ta="right">{toNumber(one.updated)}</Table.Td>
                    <Table.Td ta="right">{toNumber(one.skipped + one.failed)}</Table.Td>
                    <Table.Td c="dimmed">
                      <Ago at={one.created_at} />
                    </Table.Td>
                  </Table.Tr>
                )),
              )}
            </PagedTable>
          )
        }
      </Answered>
    </LeadsPage>
  );
}
