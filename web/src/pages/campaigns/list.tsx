import { Group, Select, Table, Text } from '@mantine/core';
import IconPlus from 'tabler:plus';
import IconSend from 'tabler:send';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { daysAgo } from '../../components/day.ts';
import { useFilter } from '../../components/filter.ts';
import { Page } from '../../components/page.tsx';
import { isEmptyList, PagedTable, usePaged } from '../../components/paged.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLink, PageLinkButton } from '../../components/page-link.tsx';
import { toNumber, toPercent, useText } from '../../text/index.ts';
import { CampaignStatus } from './status.tsx';

const STATUSES = ['draft', 'active', 'paused', 'completed'] as const;
type Status = (typeof STATUSES)[number];
const PAGE = 20;
/** Maximum number of campaigns whose figures the API returns in one request. */
const COMPARED = 10;

/** Page of all campaigns with their results of the last thirty days. */
export default function CampaignsPage() {
  const t = useText();
  const mayWrite = useCan('manage_campaigns');
  const [q, setQ] = useFilter('q');
  const [status, setStatus] = useFilter('status');
  const list = usePaged(['campaigns', 'list', q, status], (cursor, signal) =>
    dataOf(
      heron.GET('/v1/campaigns', {
        params: {
          query: {
            limit: PAGE,
            ...(q ? { q } : {}),
            ...(status ? { status: status as Status } : {}),
            ...cursor,
          },
        },
        signal,
      }),
    ),
  );
  const isEmpty = isEmptyList(list) && !q && !status;
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
                  data={STATUSES.map((value) => ({ value, label: t(`campaigns.status.${value}`) }))}
                  placeholder={t('campaigns.anyStatus')}
                  aria-label={t('campaigns.anyStatus')}
                  clearable
                  w={180}
                />
              </Group>
              <PagedTable
                list={list}
                minWidth={680}
                columns={[
                  { label: t('campaigns.name') },
                  { label: t('campaigns.status') },
                  { label: t('campaigns.sent'), isNumber: true, isExtra: true },
                  { label: t('campaigns.replyRate'), isNumber: true },
                  { label: t('campaigns.bounceRate'), isNumber: true, isExtra: true },
                  { label: t('campaigns.changed'), isExtra: true },
                ]}
              >
                {pages.map(({ data }) => (
                  <Rows key={data[0]?.id ?? 'none'} rows={data} />
                ))}
              </PagedTable>
            </>
          )
        }
      </Answered>
    </Page>
  );
}

/** Rows of one page of campaigns with their figures. */
function Rows({ rows }: { rows: { id: string; name: string; status: string; updated_at: string }[] }) {
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
  return rows.map(({ id, name, status, updated_at }) => {
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
        <Table.Td maw={{ base: 140, sm: 360 }} className="clip">
          <PageLink to={`/campaigns/${id}`} fw={600} size="sm" title={name}>
            {name}
          </PageLink>
        </Table.Td>
        <Table.Td>
          <CampaignStatus status={status} />
        </Table.Td>
        <Table.Td ta="right">{figure?.emails_sent ? toNumber(figure.emails_sent) : rate(undefined)}</Table.Td>
        <Table.Td ta="right">{rate(figure?.reply_rate)}</Table.Td>
        <Table.Td ta="right">{rate(figure?.bounce_rate)}</Table.Td>
        <Table.Td c="dimmed">
          <Ago at={updated_at} />
        </Table.Td>
      </Table.Tr>
    );
  });
}
