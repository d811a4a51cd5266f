import { SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { TimeChart } from '../../components/chart.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { DAY_MS, daysAgo, toDay } from '../../components/day.ts';
import { useFilter } from '../../components/filter.ts';
import { PageLink } from '../../components/page-link.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { toSpan } from '../../components/time.tsx';
import { toNumber, useText } from '../../text/index.ts';
import { Analysis } from './analysis.tsx';

const PARTS = ['day', 'hour', 'variants'] as const;
const NAMES = ['sent', 'opens', 'clicks', 'replies'] as const;
type Name = (typeof NAMES)[number];
/** Number of days shown, up to today. */
const DAYS = 30;

/** Tab of a campaign with its results by day, by hour of one day, or by A/B variant. The URL contains the choice. */
export default function Results({ id }: { id: string }) {
  const t = useText();
  const may = useCan('view_analytics');
  const [given, setPart] = useFilter('part');
  const part = PARTS.find((one) => one === given) ?? 'day';
  if (!may) return <Text size="sm">{t('results.mayNot')}</Text>;
  return (
    <Stack gap="lg">
      <SegmentedControl
        aria-label={t('results.part')}
        value={part}
        onChange={(value) => setPart(value === 'day' ? '' : value)}
        data={PARTS.map((value) => ({ value, label: t(`results.part.${value}`) }))}
        w="fit-content"
      />
      {part === 'day' ? <Daily id={id} /> : null}
      {part === 'hour' ? <Hourly id={id} /> : null}
      {part === 'variants' ? <Analysis id={id} /> : null}
    </Stack>
  );
}

function Daily({ id }: { id: string }) {
  const t = useText();
  const [from, to] = [daysAgo(DAYS - 1), daysAgo(0)];
  const days = useQuery({
    queryKey: ['campaigns', id, 'daily', from],
    queryFn: () =>
      dataOf(heron.GET('/v1/analytics/campaigns/{id}/daily', { params: { path: { id }, query: { from, to } } })),
  });
  return (
    <Answered query={days} skeleton={<ListSkeleton rows={1} height={330} />}>
      {({ data }) => (
        <Numbers
          campaignId={id}
          title={t('results.part.day')}
          note={t('results.utc', { period: toSpan(startOf(from), startOf(toDay(Date.parse(to) + DAY_MS))) })}
          filename={`heron-campaign-${from}-${to}`}
          head={t('results.day')}
          rows={data.map((day) => ({
            ...day,
            label: day.date,
            from: startOf(day.date),
            to: startOf(toDay(Date.parse(day.date) + DAY_MS)),
          }))}
        />
      )}
    </Answered>
  );
}

type Hours = AnswerOf<'/v1/analytics/campaigns/{id}/hourly'>;

function Hourly({ id }: { id: string }) {
  const t = useText();
  const [given, setDate] = useFilter('date');
  const date = /^\d{4}-\d\d-\d\d$/.test(given) ? given : daysAgo(0);
  const hours = useQuery({
    queryKey: ['campaigns', id, 'hourly', date],
    queryFn: () =>
      dataOf(heron.GET('/v1/analytics/campaigns/{id}/hourly', { params: { path: { id }, query: { date } } })),
  });
  return (
    <>
      <TextInput
        type="date"
        label={t('results.day')}
        value={date}
        max={daysAgo(0)}
        onChange={(event) => setDate(event.currentTarget.value)}
        w={200}
      />
      <Answered query={hours} skeleton={<ListSkeleton rows={1} height={330} />}>
        {({ data }) => (
          <Numbers
            campaignId={id}
            title={t('results.part.hour')}
            note={t('results.utc', { period: toSpan(startOf(date), startOf(toDay(Date.parse(date) + DAY_MS))) })}
            filename={`heron-campaign-${date}`}
            head={t('results.hour')}
            rows={data.map((hour) => hourRow(date, hour))}
          />
        )}
      </Answered>
    </>
  );
}

const startOf = (day: string) => `${day}T00:00:00Z`;

function hourRow(date: string, hour: Hours['data'][number]): Row {
  const begin = Date.parse(startOf(date)) + hour.hour * 3_600_000;
  const at = (ms: number) => new Date(ms).toISOString();
  return { ...hour, label: at(begin).slice(11, 16), from: at(begin), to: at(begin + 3_600_000) };
}

/** Figures of one day or hour, with its time range. */
interface Row extends Readonly<Record<Name, number>> {
  label: string;
  /** Start and end of the range, RFC 3339. */
  from: string;
  to: string;
}

/** Chart of numbers over time, and a table with the same numbers. Each number links to the counted people. */
function Numbers({
  campaignId,
  title,
  note,
  filename,
  head,
  rows,
}: {
  campaignId: string;
  title: string;
  note: string;
  filename: string;
  /** Heading of the first column. */
  head: string;
  rows: readonly Row[];
}) {
  const t = useText();
  const maySeePeople = useCan('view_contacts');
  const label = (name: Name) => t(`results.${name}`);
  return (
    <TimeChart
      title={title}
      note={note}
      filename={filename}
      dates={rows.map(({ from }) => from)}
      labels={rows.map((row) => row.label)}
      series={NAMES.map((name) => ({ label: label(name), values: rows.map((row) => row[name]) }))}
    >
      <DataTable
        title={t('results.table')}
        note={note}
        filename={filename}
        rows={rows}
        keyOf={(row) => row.label}
        columns={[
          { label: head, value: (row) => row.label },
          ...NAMES.map((name) => ({
            label: label(name),
            isNumber: true,
            value: (row: Row) => row[name],
            show: (row: Row) =>
              row[name] > 0 && maySeePeople ? (
                <PageLink
                  to={`/reports/people?${new URLSearchParams({
                    // The figure `opens` of this report counts only opens by people.
                    figure: name === 'opens' ? 'human_opens' : name,
                    campaign_id: campaignId,
                    from: row.from,
                    to: row.to,
                  })}`}
                  inherit
                  title={t('results.behind')}
                >
                  {toNumber(row[name])}
                </PageLink>
              ) : (
                toNumber(row[name])
              ),
          })),
        ]}
      />
    </TimeChart>
  );
}
