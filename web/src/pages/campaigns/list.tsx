import { Group, Select, Table, Text } from '@mantine/core';
import IconPlus from 'tabler:plus';
import IconSend from 'tabler:send';
import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { lazyPart } from '../../app/lazy-part.ts';
import { dataOf, heron, type AnswerOf, type RowOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { daysAgo } from '../../components/day.ts';
import { useFilter } from '../../components/filter.ts';
import { Page } from '../../components/page.tsx';
import { isEmptyList, PagedTable, usePaged } from '../../components/paged.tsx';
import { SelectBox, selectColumn } from '../../components/select-box.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLink, PageLinkButton } from '../../components/page-link.tsx';
import { toNumber, toPercent, useText } from '../../text/index.ts';
import { useChosen, useSelection, type Selection } from '../../hooks/selection.ts';
import { CampaignMenu } from './campaign-menu.tsx';
import { foldersQuery } from './queries.ts';
import { CampaignStatus } from './status.tsx';

const STATUSES = ['draft', 'active', 'paused', 'completed', 'archived'] as const;
type Status = Exclude<(typeof STATUSES)[number], 'archived'>;
type Campaign = RowOf<'/v1/campaigns'>;
const PAGE = 20;
/** Maximum number of campaigns whose figures the API returns in one request. */
const COMPARED = 10;

/** Bar for chosen campaigns. It is loaded when campaigns are chosen. */
const CampaignBar = lazyPart('bulk', () => import('./campaign-bar.tsx'));

/** Page of all campaigns with their results of the last thirty days. */
export default function CampaignsPage() {
  const t = useText();
  const mayWrite = useCan('manage_campaigns');
  const [q, setQ] = useFilter('q');
  const [status, setStatus] = useFilter('status');
  const [folder, setFolder] = useFilter('folder');
  const folders = useQuery(foldersQuery);
  // Loads these numbers when a filter opens, because only the filters show them.
  const [isPicking, setPicking] = useState(false);
  const overview = useQuery({
    queryKey: ['campaigns', 'overview'],
    enabled: isPicking,
    queryFn: () => dataOf(heron.GET('/v1/campaigns-overview')),
  });
  const counted = (label: string, count: number | undefined) =>
    count === undefined ? label : t('campaigns.counted', { label, count });
  const selection = useSelection(`${q} ${status} ${folder}`);
  const { ids } = useChosen(selection);
  const list = usePaged(['campaigns', 'list', q, status, folder], (cursor, signal) =>
    dataOf(
      heron.GET('/v1/campaigns', {
        params: {
          query: {
            limit: PAGE,
            ...(q ? { q } : {}),
            ...(folder ? { folder } : {}),
            ...(status === 'archived' ? { archived: 'true' as const } : status ? { status: status as Status } : {}),
            ...cursor,
          },
        },
        signal,
      }),
    ),
  );
  const isEmpty = isEmptyList(list) && !q && !status && !folder;
  selection.order = list.data?.pages.flatMap(({ data }) => data.map(({ id }) => id)) ?? [];
  const write = mayWrite ? (
    <PageLinkButton to="/campaigns/new" leftSection={<IconPlus size={16} />}>
      {t('campaigns.new')}
    </PageLinkButton>
  ) : null;
  return (
    <Page title={t('nav.campaigns')} lead={t('campaigns.lead')} actions={list.data && !isEmpty ? write : null}>
      <Answered query={list} skeleton={<ListSkeleton />}>
        {({ pages }) =>
          isEmpty ? (
            <Empty icon={IconSend} title={t('campaigns.empty')} action={write}>
              {t('campaigns.empty.why')}
            </Empty>
          ) : (
            <>
              <Group gap="xs">
                <SearchField label={t('campaigns.search')} value={q} onChange={setQ} />
                <Select
                  value={status || null}
                  onChange={(value) => setStatus(value ?? '')}
                  data={STATUSES.map((value) => ({
                    value,
                    label: counted(t(`campaigns.status.${value}`), overview.data?.[value]),
                  }))}
                  onDropdownOpen={() => setPicking(true)}
                  placeholder={t('campaigns.anyStatus')}
                  aria-label={t('campaigns.anyStatus')}
                  clearable
                  w={180}
                />
                {folders.data?.length ? (
                  <Select
                    value={folder || null}
                    onChange={(value) => setFolder(value ?? '')}
                    data={folders.data.map(({ id, title }) => ({
                      value: id,
                      label: counted(title, overview.data && countIn(overview.data, id)),
                    }))}
                    onDropdownOpen={() => setPicking(true)}
                    placeholder={t('campaigns.anyFolder')}
                    aria-label={t('campaigns.anyFolder')}
                    clearable
                    searchable
                    w={180}
                  />
                ) : null}
              </Group>
              <PagedTable
                list={list}
                minWidth={680}
                columns={[
                  selectColumn(selection),
                  { label: t('campaigns.name') },
                  { label: t('campaigns.status') },
                  { label: t('campaigns.sent'), isNumber: true, isExtra: true },
                  { label: t('campaigns.replyRate'), isNumber: true, isExtra: true },
                  { label: t('campaigns.bounceRate'), isNumber: true, isExtra: true },
                  { label: t('campaigns.changed'), isExtra: true },
                  ...(mayWrite ? [{ label: t('campaign.lead.do'), isHidden: true }] : []),
                ]}
              >
                {pages.map(({ data }) => (
                  <Rows
                    key={data[0]?.id ?? 'none'}
                    rows={data}
                    selection={selection}
                    folders={new Map(folders.data?.map(({ id, title }) => [id, title]))}
                    mayWrite={mayWrite}
                  />
                ))}
              </PagedTable>
              {ids.size > 0 ? (
                <Suspense>
                  <CampaignBar selection={selection} />
                </Suspense>
              ) : null}
            </>
          )
        }
      </Answered>
    </Page>
  );
}

/** Returns the number of campaigns in a folder. */
const countIn = ({ folders }: AnswerOf<'/v1/campaigns-overview'>, id: string) =>
  folders.find(({ folder_id: folder }) => folder === id)?.total ?? 0;

/** Rows of one page of campaigns with their figures. */
function Rows({
  rows,
  selection,
  folders,
  mayWrite,
}: {
  rows: readonly Campaign[];
  selection: Selection;
  folders: ReadonlyMap<string, string>;
  mayWrite: boolean;
}) {
  const t = useText();
  const may = useCan('view_analytics');
  const started = rows.filter(({ status }) => status !== 'draft').map(({ id }) => id);
  const figures = useQuery({
    queryKey: ['campaigns', 'compare', started],
    enabled: may && started.length > 0,
    queryFn: async () => {
      const parts = Array.from({ length: Math.ceil(started.length / COMPARED) }, (_, part) =>
        dataOf(
          heron.GET('/v1/analytics/campaigns/compare', {
            params: {
              query: {
                from: daysAgo(29),
                to: daysAgo(0),
                ids: started.slice(part * COMPARED, (part + 1) * COMPARED).join(','),
              },
            },
          }),
        ),
      );
      return (await Promise.all(parts)).flatMap(({ campaigns }) => campaigns);
    },
  });
  const byId = new Map(figures.data?.map((one) => [one.campaign_id, one]));
  return rows.map((campaign) => {
    const { id, name, updated_at, folders: filed } = campaign;
    const figure = byId.get(id);
    const rate = (value: number | undefined) =>
      figure && figure.emails_sent > 0 ? (
        toPercent((value ?? 0) / 100)
      ) : (
        <Text span c="dimmed" inherit title={t('campaigns.none')}>
          –
        </Text>
      );
    return (
      <Table.Tr key={id}>
        <Table.Td>
          <SelectBox selection={selection} id={id} name={name} />
        </Table.Td>
        <Table.Td maw={{ base: 140, sm: 360 }} className="clip">
          <PageLink to={`/campaigns/${id}`} fw={600} size="sm" title={name}>
            {name}
          </PageLink>
          {filed.length > 0 ? (
            <Text size="xs" c="dimmed" className="clip">
              {filed.flatMap((folder) => folders.get(folder) ?? []).join(', ')}
            </Text>
          ) : null}
        </Table.Td>
        <Table.Td>
          <CampaignStatus campaign={campaign} />
        </Table.Td>
        <Table.Td ta="right">{figure?.emails_sent ? toNumber(figure.emails_sent) : rate(undefined)}</Table.Td>
        <Table.Td ta="right">{rate(figure?.reply_rate)}</Table.Td>
        <Table.Td ta="right">{rate(figure?.bounce_rate)}</Table.Td>
        <Table.Td c="dimmed">
          <Ago at={updated_at} />
        </Table.Td>
        {mayWrite ? (
          <Table.Td ta="right">
            <CampaignMenu campaign={campaign} />
          </Table.Td>
        ) : null}
      </Table.Tr>
    );
  });
}
