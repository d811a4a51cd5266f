import { Select, Table } from '@mantine/core';
import IconRobot from 'tabler:robot';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useFilter } from '../../components/filter.ts';
import { isEmptyList, PagedTable, usePaged } from '../../components/paged.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLink, PageLinkButton } from '../../components/page-link.tsx';
import { toNumber, useText } from '../../text/index.ts';
import { AgentsPage } from './frame.tsx';
import { RUN_STATES, RunState } from './run-state.tsx';

/** Page of the agents' runs with their states. */
export default function RunsPage() {
  const t = useText();
  const [state, setState] = useFilter('state');
  const list = usePaged(['runs', 'list', state], (cursor, signal) =>
    dataOf(
      heron.GET('/v1/runs', {
        params: {
          query: { limit: 50, ...(state ? { state: state as AnswerOf<'/v1/runs/{id}'>['state'] } : {}), ...cursor },
        },
        signal,
      }),
    ),
  );
  return (
    <AgentsPage>
      <Answered query={list} skeleton={<ListSkeleton />}>
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data);
          if (isEmptyList(list) && !state)
            return (
              <Empty
                icon={IconRobot}
                title={t('agents.none')}
                action={<PageLinkButton to="/agents/connect">{t('agents.connect.do')}</PageLinkButton>}
              >
                {t('agents.none.why')}
              </Empty>
            );
          return (
            <>
              <Select
                value={state || null}
                onChange={(value) => setState(value ?? '')}
                data={RUN_STATES.map((value) => ({ value, label: t(`agents.run.${value}`) }))}
                placeholder={t('agents.anyState')}
                aria-label={t('agents.anyState')}
                clearable
                w={220}
              />
              <PagedTable
                list={list}
                minWidth={620}
                columns={[
                  { label: t('agents.run') },
                  { label: t('agents.state') },
                  { label: t('agents.recipients'), isNumber: true, isExtra: true },
                  { label: t('agents.changed'), isExtra: true },
                ]}
              >
                {rows.map((run) => (
                  <Table.Tr key={run.id}>
                    <Table.Td maw={{ base: 200, sm: 380 }} className="clip">
                      <PageLink to={`/agents/runs/${run.id}`} size="sm" fw={600} title={run.input.name}>
                        {run.input.name || t('agents.unnamed')}
                      </PageLink>
                    </Table.Td>
                    <Table.Td>
                      <RunState state={run.state} />
                    </Table.Td>
                    <Table.Td ta="right">{toNumber(run.recipient_count)}</Table.Td>
                    <Table.Td c="dimmed">
                      <Ago at={run.updated_at} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </PagedTable>
            </>
          );
        }}
      </Answered>
    </AgentsPage>
  );
}
