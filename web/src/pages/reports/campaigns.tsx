import { MultiSelect, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCampaigns } from '../../components/choices.ts';
import { DataTable } from '../../components/data-table.tsx';
import { useFilter } from '../../components/filter.ts';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { toPercent, useText } from '../../text/index.ts';
import { FigureLink } from './figure-link.tsx';
import { NothingSent } from './nothing.tsx';
import { ReportPage } from './frame.tsx';
import { PeriodControl, usePeriod } from './period.tsx';

/** Maximum number of campaigns that the API compares. */
const MOST = 10;

/** Page that compares campaigns over one period; the selection is in the URL. */
export default function CampaignsReport() {
  const t = useText();
  const [given, setGiven] = useFilter('ids');
  const campaigns = useCampaigns();
  const all = campaigns.data?.data ?? [];
  const ids = given
    ? given.split(',')
    : all
        .filter(({ status }) => status !== 'draft')
        .slice(0, MOST)
        .map(({ id }) => id);
  return (
    <ReportPage actions={<PeriodControl />}>
      <Answered query={campaigns} skeleton={<ListSkeleton rows={4} />}>
        {() =>
          all.length === 0 ? (
            <NothingSent />
          ) : (
            <>
              <MultiSelect
                label={t('reports.compare')}
                data={all.map(({ id, name }) => ({ value: id, label: name }))}
                value={ids}
                onChange={(chosen) => setGiven(chosen.join(','))}
                maxValues={MOST}
                searchable
                maw={720}
              />
              <Compared ids={ids} />
            </>
          )
        }
      </Answered>
    </ReportPage>
  );
}

type Row = AnswerOf<'/v1/analytics/campaigns/compare'>['campaigns'][number];

function Compared({ ids }: { ids: readonly string[] }) {
  const t = useText();
  const period = usePeriod();
  const compared = useQuery({
    queryKey: ['reports', 'compare', ids, period.from],
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
    queryFn: () =>
      dataOf(
        heron.GET('/v1/analytics/campaigns/compare', {
          params: { query: { from: period.from, to: period.to, ids: ids.join(',') } },
        }),
      ),
  });
  const part = (row: Row) => ({ campaign_id: row.campaign_id, from: period.begin, to: period.end });
  const rate = (figure: 'opens' | 'clicks' | 'replies' | 'bounces', value: (row: Row) => number) => ({
    label: t(`reports.rate.${figure}`),
    isNumber: true,
    value,
    show: (row: Row) =>
      row.emails_sent > 0 ? (
        <FigureLink value={value(row)} number={{ figure: figure === 'opens' ? 'human_opens' : figure, ...part(row) }}>
          {toPercent(value(row) / 100)}
        </FigureLink>
      ) : (
        ''
      ),
  });
  if (ids.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {t('reports.none')}
      </Text>
    );
  return (
    <Answered query={compared} skeleton={<ListSkeleton rows={4} />}>
      {({ campaigns: rows }) => (
        <DataTable
          title={t('reports.page.campaigns')}
          note={period.note}
          filename={`heron-compare-${period.from}-${period.to}`}
          rows={rows}
          keyOf={(row) => row.campaign_id}
          columns={[
            {
              label: t('reports.campaign'),
              value: ({ name }) => name,
              show: ({ campaign_id: id, name }) => (
                <PageLink to={`/campaigns/${id}`} size="sm" fw={600} title={name}>
                  {name}
                </PageLink>
              ),
            },
            {
              label: t('reports.figure.sent'),
              isNumber: true,
              value: (row) => row.emails_sent,
              show: (row) => <FigureLink value={row.emails_sent} number={{ figure: 'sent', ...part(row) }} />,
            },
            rate('opens', (row) => row.open_rate),
            rate('clicks', (row) => row.click_rate),
            rate('replies', (row) => row.reply_rate),
            rate('bounces', (row) => row.bounce_rate),
          ]}
        />
      )}
    </Answered>
  );
}
