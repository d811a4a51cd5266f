import { Badge, Group, SimpleGrid } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { DataTable, type Column } from '../../components/data-table.tsx';
import { Figure } from '../../components/figure.tsx';
import { Answered, FiguresSkeleton, ListSkeleton } from '../../components/states.tsx';
import { toDay } from '../../components/day.ts';
import { toSpan } from '../../components/time.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { textOf, toPercent, useText } from '../../text/index.ts';
import { FigureLink, type FigureOf } from './figure-link.tsx';
import { Daily } from './daily.tsx';
import { NothingSent } from './nothing.tsx';
import { ReportPage } from './frame.tsx';
import { nextDay, PeriodControl, usePeriod } from './period.tsx';

type Report = AnswerOf<'/v1/analytics/deliverability'>;
type Shares = {
  sent: number;
  bounces: number;
  complaints: number;
  bounce_rate: number;
  complaint_rate: number;
  band: Report['band'];
};
const COLORS = { healthy: 'teal', watch: 'blue', throttled: 'yellow', quarantined: 'orange', blocked: 'red' } as const;

/** Page of deliverability: the score, its causes, and tables by mailbox, campaign and provider. */
export default function DeliverabilityPage() {
  const period = usePeriod();
  const report = useQuery({
    queryKey: ['reports', 'deliverability', period.begin],
    queryFn: () => dataOf(heron.GET('/v1/analytics/deliverability', { params: { query: { from: period.begin } } })),
  });
  return (
    <ReportPage actions={<PeriodControl />}>
      <Answered
        query={report}
        skeleton={
          <>
            <FiguresSkeleton count={5} />
            <ListSkeleton rows={2} height={240} />
          </>
        }
      >
        {(data) => <Shown report={data} />}
      </Answered>
    </ReportPage>
  );
}

function Shown({ report }: { report: Report }) {
  const t = useText();
  const { from, to, timeseries } = report;
  // The data of the last day ends at the last full hour, but the text shows the whole day.
  const note = t('reports.utc', { period: toSpan(from, nextDay(toDay(Date.parse(to) - 1))) });
  if (report.emails_sent === 0) return <NothingSent />;
  return (
    <>
      <Figures report={report} />
      <Daily
        title={t('reports.arrival')}
        note={note}
        filename="heron-deliverability"
        days={timeseries}
        names={['sent', 'bounces', 'complaints', 'unsubscribes']}
      />
      <Tables report={report} note={note} />
    </>
  );
}

/** Tables of the rates by mailbox, campaign and provider. */
function Tables({ report, note }: { report: Report; note: string }) {
  const t = useText();
  const shares = useShareColumns({ from: report.from, to: report.to });
  const common = { note, empty: t('reports.none') };
  return (
    <>
      <DataTable
        {...common}
        title={t('reports.byMailbox')}
        filename="heron-deliverability-mailboxes"
        rows={report.by_mailbox.map((row) => ({ ...row, number: { email_account_id: row.email_account_id } }))}
        keyOf={(row) => row.email_account_id}
        columns={[
          {
            label: t('reports.mailbox'),
            value: ({ email }) => email,
            show: ({ email, email_account_id: id }) => (
              <PageLink to={`/mailboxes/${id}`} size="sm" fw={600}>
                {email}
              </PageLink>
            ),
          },
          ...(shares as Column<Report['by_mailbox'][number] & { number: Partial<FigureOf> }>[]),
        ]}
      />
      <DataTable
        {...common}
        title={t('reports.byCampaign')}
        filename="heron-deliverability-campaigns"
        rows={report.by_campaign.map((row) => ({ ...row, number: { campaign_id: row.campaign_id } }))}
        keyOf={(row) => row.campaign_id}
        columns={[
          {
            label: t('reports.campaign'),
            value: ({ name }) => name,
            show: ({ name, campaign_id: id }) => (
              <PageLink to={`/campaigns/${id}`} size="sm" fw={600} title={name}>
                {name}
              </PageLink>
            ),
          },
          ...(shares as Column<Report['by_campaign'][number] & { number: Partial<FigureOf> }>[]),
        ]}
      />
      <DataTable
        {...common}
        title={t('reports.byProvider')}
        filename="heron-deliverability-providers"
        rows={report.by_provider.map((row) => ({ ...row, number: { provider: row.provider } }))}
        keyOf={(row) => row.provider}
        columns={[
          {
            label: t('reports.provider'),
            value: ({ provider }) => provider,
            show: ({ provider }) => textOf('reports.host', provider),
          },
          ...(shares as Column<Report['by_provider'][number] & { number: Partial<FigureOf> }>[]),
        ]}
      />
    </>
  );
}

/** Returns the columns of emails, bounces and complaints; each number links to its emails. */
function useShareColumns(range: { from: string; to: string }): Column<Shares & { number: Partial<FigureOf> }>[] {
  const t = useText();
  return [
    {
      label: t('reports.figure.sent'),
      isNumber: true,
      value: ({ sent }) => sent,
      show: ({ sent, number }) => <FigureLink value={sent} number={{ ...number, ...range, figure: 'sent' }} />,
    },
    {
      label: t('reports.figure.bounces'),
      isNumber: true,
      value: ({ bounces }) => bounces,
      show: ({ bounces, number }) => <FigureLink value={bounces} number={{ ...number, ...range, figure: 'bounces' }} />,
    },
    {
      label: t('reports.rate.bounces'),
      isNumber: true,
      value: (row) => row.bounce_rate,
      show: (row) =>
        row.sent > 0 ? (
          <FigureLink value={row.bounces} number={{ ...row.number, ...range, figure: 'bounces' }}>
            {toPercent(row.bounce_rate / 100)}
          </FigureLink>
        ) : (
          ''
        ),
    },
    {
      label: t('reports.figure.complaints'),
      isNumber: true,
      value: ({ complaints }) => complaints,
      show: ({ complaints, number }) => (
        <FigureLink value={complaints} number={{ ...number, ...range, figure: 'complaints' }} />
      ),
    },
    { label: t('reports.band'), value: ({ band }) => band, show: ({ band }) => <Band band={band} /> },
  ];
}

function Figures({ report }: { report: Report }) {
  const t = useText();
  const range = { from: report.from, to: report.to };
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }}>
      <Figure
        label={t('reports.score')}
        value={t('reports.of100', { score: report.score })}
        note={<Band band={report.band} />}
      />
      <Figure
        label={t('reports.figure.bounce_count')}
        value={<FigureLink value={report.bounce_count} number={{ figure: 'bounce_count', ...range }} />}
        note={report.emails_sent > 0 ? toPercent(report.bounce_rate / 100) : undefined}
      />
      <Figure
        label={t('reports.figure.complaint_count')}
        value={<FigureLink value={report.complaint_count} number={{ figure: 'complaint_count', ...range }} />}
        note={report.emails_sent > 0 ? toPercent(report.complaint_rate / 100) : undefined}
      />
      <Figure
        label={t('reports.figure.unsubscribe_count')}
        value={<FigureLink value={report.unsubscribe_count} number={{ figure: 'unsubscribe_count', ...range }} />}
      />
      <Figure
        label={t('reports.figure.suppressed_recipients')}
        value={<FigureLink value={report.suppressed_recipients} number={{ figure: 'suppressed_recipients' }} />}
      />
    </SimpleGrid>
  );
}

function Band({ band }: { band: Report['band'] }) {
  const t = useText();
  return (
    <Group gap={4} component="span">
      <Badge variant="light" color={COLORS[band]} tt="none" component="span">
        {t(`reports.band.${band}`)}
      </Badge>
    </Group>
  );
}
