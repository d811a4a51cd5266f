import { SimpleGrid } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Figure } from '../../components/figure.tsx';
import { Answered, FiguresSkeleton, ListSkeleton } from '../../components/states.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { toPercent, useText } from '../../text/index.ts';
import { FigureLink } from './figure-link.tsx';
import { Daily } from './daily.tsx';
import { NothingSent } from './nothing.tsx';
import { ReportPage } from './frame.tsx';
import { PeriodControl, usePeriod, type Period } from './period.tsx';

type Dashboard = AnswerOf<'/v1/analytics/dashboard'>;

/** Page with the workspace's emails and their results, in total and by day. */
export default function OverviewPage() {
  const period = usePeriod();
  const dashboard = useQuery({
    queryKey: ['reports', 'dashboard', period.days],
    queryFn: () => dataOf(heron.GET('/v1/analytics/dashboard', { params: { query: { period: `${period.days}d` } } })),
  });
  return (
    <ReportPage actions={<PeriodControl />}>
      <Answered
        query={dashboard}
        skeleton={
          <>
            <FiguresSkeleton count={5} />
            <ListSkeleton rows={1} height={330} />
          </>
        }
      >
        {(data) =>
          data.overall_stats.total_emails_sent === 0 ? (
            <NothingSent />
          ) : (
            <>
              <Figures data={data} period={period} />
              <Trend data={data} period={period} />
              <TopCampaigns data={data} period={period} />
            </>
          )
        }
      </Answered>
    </ReportPage>
  );
}

function Figures({ data: { overall_stats: stats }, period }: { data: Dashboard; period: Period }) {
  const t = useText();
  const range = { from: period.begin, to: period.end };
  const figures = [
    ['sent', stats.total_emails_sent, undefined],
    ['human_opens', stats.total_opens - stats.machine_opens, stats.open_rate],
    ['clicks', stats.total_clicks, stats.click_rate],
    ['replies', stats.total_replies, stats.reply_rate],
    ['positive_replies', stats.positive_replies, undefined],
    ['bounces', stats.total_bounces, stats.bounce_rate],
  ] as const;
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }}>
      {figures.map(([figure, value, rate]) => (
        <Figure
          key={figure}
          label={t(`reports.figure.${figure}`)}
          value={<FigureLink value={value} number={{ figure, ...range }} />}
          note={rate === undefined || stats.total_emails_sent === 0 ? undefined : toPercent(rate / 100)}
        />
      ))}
    </SimpleGrid>
  );
}

function Trend({ data: { daily_trend: days }, period: { from, to, note } }: { data: Dashboard; period: Period }) {
  const t = useText();
  return (
    <Daily
      title={t('reports.daily')}
      note={note}
      filename={`heron-${from}-${to}`}
      days={days}
      names={['sent', 'opens', 'clicks', 'replies']}
    />
  );
}

function TopCampaigns({ data: { top_campaigns: rows }, period }: { data: Dashboard; period: Period }) {
  const t = useText();
  const rate = (figure: 'opens' | 'clicks' | 'replies' | 'bounces', value: (row: (typeof rows)[number]) => number) => ({
    label: t(`reports.rate.${figure}`),
    isNumber: true,
    value,
    show: (row: (typeof rows)[number]) =>
      row.emails_sent > 0 ? (
        <FigureLink
          value={value(row)}
          number={{
            figure: figure === 'opens' ? 'human_opens' : figure,
            campaign_id: row.campaign_id,
            from: period.begin,
            to: period.end,
          }}
        >
          {toPercent(value(row) / 100)}
        </FigureLink>
      ) : (
        ''
      ),
  });
  return (
    <DataTable
      title={t('reports.topCampaigns')}
      note={period.note}
      filename={`heron-campaigns-${period.from}-${period.to}`}
      rows={rows}
      keyOf={(row) => row.campaign_id}
      empty={t('reports.none')}
      columns={[
        {
          label: t('reports.campaign'),
          value: ({ name }) => name,
          show: ({ campaign_id, name }) => (
            <PageLink to={`/campaigns/${campaign_id}`} size="sm" fw={600} title={name}>
              {name}
            </PageLink>
          ),
        },
        {
          label: t('reports.figure.sent'),
          isNumber: true,
          value: (row) => row.emails_sent,
          show: (row) => (
            <FigureLink
              value={row.emails_sent}
              number={{ figure: 'sent', campaign_id: row.campaign_id, from: period.begin, to: period.end }}
            />
          ),
        },
        rate('opens', (row) => row.open_rate),
        rate('clicks', (row) => row.click_rate),
        rate('replies', (row) => row.reply_rate),
        rate('bounces', (row) => row.bounce_rate),
      ]}
    />
  );
}
