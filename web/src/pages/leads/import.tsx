import { Alert, Button, Progress, SimpleGrid, Table, Text } from '@mantine/core';
import IconDownload from 'tabler:download';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { dataOf, heron, queryClient, type AnswerOf, type RowOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { saveAs } from '../../components/download.ts';
import { Figure } from '../../components/figure.tsx';
import { Page } from '../../components/page.tsx';
import { usePaged } from '../../components/paged.tsx';
import { Answered, FiguresSkeleton, ListSkeleton } from '../../components/states.tsx';
import { VirtualTable } from '../../components/virtual-table.tsx';
import { textOf, toNumber, toPercent, useText } from '../../text/index.ts';
import { ImportStatus } from './import-status.tsx';

type Import = AnswerOf<'/v1/contacts/imports/{id}'>;
type Problem = RowOf<'/v1/contacts/imports/{id}/problems'>;
/** Interval (ms) of refetching a running import. */
const PACE_MS = 1_500;

/** Joins the non-empty cells of a row in one line. */
const shown = (values: readonly string[]) => values.filter(Boolean).join(' · ').slice(0, 500);
const isOver = ({ status }: Import) => status !== 'queued' && status !== 'running';

/** Page of one import: imported rows, and skipped rows with their reasons. */
export default function ImportPage() {
  const t = useText();
  const { id } = useParams({ from: '/leads/imports/$id' });
  const job = useQuery({
    queryKey: ['imports', id],
    queryFn: async () => {
      const data = await dataOf(heron.GET('/v1/contacts/imports/{id}', { params: { path: { id } } }));
      if (isOver(data)) void queryClient.invalidateQueries({ queryKey: ['contacts'] });
      return data;
    },
    refetchInterval: ({ state }) => (state.data && isOver(state.data) ? false : PACE_MS),
  });
  return (
    <Page
      title={job.data?.filename ?? t('leads.imports.one')}
      lead={job.data ? <ImportStatus status={job.data.status} /> : null}
      back={{ to: '/leads/imports', label: t('leads.imports') }}
      actions={job.data && !isOver(job.data) ? <Cancel id={id} /> : null}
    >
      <Answered query={job} skeleton={<FiguresSkeleton />}>
        {(data) => (
          <>
            {isOver(data) ? null : (
              <div>
                <Progress value={data.progress * 100} animated aria-label={t('leads.imports.progress')} />
                <Text size="sm" c="dimmed" mt={6} role="status">
                  {t('leads.imports.far', { share: toPercent(data.progress), rows: toNumber(data.total) })}
                </Text>
              </div>
            )}
            {data.error || data.blocked_reason ? (
              <Alert role="note" color="red" variant="light">
                {data.error ?? data.blocked_reason ?? ''}
              </Alert>
            ) : null}
            <SimpleGrid cols={{ base: 2, md: 4 }}>
              <Figure label={t('leads.imports.new')} value={toNumber(data.imported)} />
              <Figure label={t('leads.imports.updated')} value={toNumber(data.updated)} />
              <Figure label={t('leads.imports.skipped')} value={toNumber(data.skipped)} />
              <Figure label={t('leads.imports.failed')} value={toNumber(data.failed)} />
            </SimpleGrid>
            {data.skipped + data.failed + data.unclear > 0 ? (
              <Problems id={id} total={data.skipped + data.failed + data.unclear} />
            ) : isOver(data) ? (
              <Text size="sm">{t('leads.imports.fine')}</Text>
            ) : null}
          </>
        )}
      </Answered>
    </Page>
  );
}

function Cancel({ id }: { id: string }) {
  const t = useText();
  const may = useCan('manage_contacts');
  const cancel = useAction(() => dataOf(heron.POST('/v1/contacts/imports/{id}/cancel', { params: { path: { id } } })), {
    stale: [['imports']],
  });
  return may ? (
    <Button variant="default" onClick={() => cancel.mutate()} loading={cancel.isPending}>
      {t('leads.imports.cancel')}
    </Button>
  ) : null;
}

function Problems({ id, total }: { id: string; total: number }) {
  const t = useText();
  const path = { params: { path: { id } } };
  const list = usePaged(['imports', id, 'problems', total], (cursor, signal) =>
    dataOf(
      heron.GET('/v1/contacts/imports/{id}/problems', {
        params: { ...path.params, query: { limit: 200, ...cursor } },
        signal,
      }),
    ),
  );
  const download = useAction(
    () => dataOf(heron.GET('/v1/contacts/imports/{id}/problems.csv', { ...path, parseAs: 'blob' })),
    { onDone: (file) => saveAs(file as Blob, `left-out-${id}.csv`) },
  );
  return (
    <>
      <Alert role="note" variant="light" color="yellow" title={t('leads.imports.problems', { count: total })}>
        <Text size="sm" mb="xs">
          {t('leads.imports.problems.why')}
        </Text>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconDownload size={15} />}
          onClick={() => download.mutate()}
          loading={download.isPending}
        >
          {t('leads.imports.download')}
        </Button>
      </Alert>
      <Answered query={list} skeleton={<ListSkeleton rows={4} />}>
        {() => (
          <VirtualTable<Problem>
            list={list}
            minWidth={640}
            keyOf={({ line, reason }) => `${line} ${reason}`}
            columns={[
              { label: t('leads.imports.line'), isNumber: true, width: 70 },
              { label: t('leads.imports.reason') },
              { label: t('leads.imports.row'), width: '66%', isExtra: true },
            ]}
          >
            {({ line, reason, values }) => (
              <>
                <Table.Td ta="right">{toNumber(line)}</Table.Td>
                <Table.Td className="clip" title={shown(values)}>
                  {textOf('leads.reason', reason)}
                  <Text span inherit c="dimmed" hiddenFrom="sm">
                    {` · ${shown(values)}`}
                  </Text>
                </Table.Td>
                <Table.Td className="clip" c="dimmed" title={shown(values)}>
                  {shown(values)}
                </Table.Td>
              </>
            )}
          </VirtualTable>
        )}
      </Answered>
    </>
  );
}
