import { Autocomplete, Button, Group, SegmentedControl, SimpleGrid, Stack } from '@mantine/core';
import IconChartLine from 'tabler:chart-line';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type ResultOf } from '../../app/api.ts';
import { TimeChart } from '../../components/chart.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { DAY_MS } from '../../components/day.ts';
import { Figure } from '../../components/figure.tsx';
import { useFilter } from '../../components/filter.ts';
import { useGoTo } from '../../components/page-link.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { toNumber, useText } from '../../text/index.ts';
import { FigureLink } from './figure-link.tsx';
import { ReportPage } from './frame.tsx';
import { GoalConditions, readPredicates, toDraft, toPredicate } from './goal-conditions.tsx';
import { PeriodControl, usePeriod, type Period } from './period.tsx';

type Trend = ResultOf<'/v1/acquisition/event-trends'>;
const INTERVAL_MS = { day: DAY_MS, week: 7 * DAY_MS } as const;

/** Quotes JSON for the query of a URL, because the router would parse the JSON, but the pages expect text. */
const asText = (json: string) => JSON.stringify(json);

/** Page of the occurrences of a product event over time. The event and its conditions are in the URL. */
export default function EventsPage() {
  const t = useText();
  const period = usePeriod();
  const [name] = useFilter('name');
  const [where] = useFilter('where');
  const [given, setInterval] = useFilter('interval');
  const interval = given === 'week' ? 'week' : 'day';
  const trend = useQuery({
    queryKey: ['reports', 'trend', name, where, interval, period.begin],
    enabled: name !== '',
    placeholderData: keepPreviousData,
    queryFn: () => {
      const body = { name, predicates: readPredicates(where), from: period.begin, to: period.end, interval } as const;
      return dataOf(heron.POST('/v1/acquisition/event-trends', { body }));
    },
  });
  return (
    <ReportPage actions={<PeriodControl />}>
      <Question key={`${name} ${where}`} name={name} where={where} />
      {name === '' ? (
        <Empty icon={IconChartLine} title={t('trend.none')}>
          {t('trend.none.why')}
        </Empty>
      ) : (
        <>
          <SegmentedControl
            aria-label={t('trend.interval')}
            value={interval}
            onChange={(value) => setInterval(value === 'day' ? '' : value)}
            data={(['day', 'week'] as const).map((value) => ({ value, label: t(`trend.interval.${value}`) }))}
            w="fit-content"
          />
          <Answered query={trend} skeleton={<ListSkeleton rows={1} height={330} />}>
            {(answer) => <Occurrences answer={answer} where={where} period={period} />}
          </Answered>
        </>
      )}
    </ReportPage>
  );
}

/** Form of the event and its conditions. */
function Question({ name, where }: { name: string; where: string }) {
  const t = useText();
  const go = useGoTo();
  const period = usePeriod();
  const [typed, setTyped] = useState(name);
  const [conditions, setConditions] = useState(() => readPredicates(where).map(toDraft));
  const goals = useQuery({ queryKey: ['goals'], queryFn: () => dataOf(heron.GET('/v1/goals')) });
  const known = [...new Set(goals.data?.data.map(({ definition }) => definition.event_name))];
  const show = () => {
    const asked = {
      name: typed.trim(),
      ...(conditions.length > 0 ? { where: asText(JSON.stringify(conditions.map(toPredicate))) } : {}),
      ...(period.days === 30 ? {} : { days: `${period.days}` }),
    };
    go(`/reports/events?${new URLSearchParams(asked)}`);
  };
  return (
    <Section title={t('trend.which')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          show();
        }}
      >
        <Stack gap="sm">
          <Autocomplete
            label={t('trend.name')}
            description={t('trend.name.why')}
            required
            maxLength={120}
            data={known}
            value={typed}
            onChange={setTyped}
            maw={420}
          />
          <GoalConditions value={conditions} onChange={setConditions} />
          <Group>
            <Button type="submit">{t('trend.show')}</Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

function Occurrences({ answer, where, period }: { answer: Trend; where: string; period: Period }) {
  const t = useText();
  const { name, from, to, interval, buckets } = answer;
  const part = { of: 'trend', figure: 'people', name, ...(where ? { where: asText(where) } : {}) } as const;
  // The report's range may begin or end within a bucket. The range of the bucket is then shortened.
  const rangeOf = (start: string) => {
    const end = Date.parse(start) + INTERVAL_MS[interval];
    return {
      from: new Date(Math.max(Date.parse(start), Date.parse(from))).toISOString(),
      to: new Date(Math.min(end, Date.parse(to))).toISOString(),
    };
  };
  const dayOf = (start: string) => start.slice(0, 10);
  const filename = `heron-${name}-${period.from}-${period.to}`;
  return (
    <>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }}>
        <Figure label={t('trend.occurrences')} value={toNumber(answer.occurrences)} />
        <Figure label={t('trend.people')} value={<FigureLink value={answer.people} number={{ ...part, from, to }} />} />
      </SimpleGrid>
      <TimeChart
        title={name}
        note={period.note}
        filename={filename}
        dates={buckets.map(({ start }) => dayOf(start))}
        series={[
          { label: t('trend.occurrences'), values: buckets.map(({ occurrences }) => occurrences) },
          { label: t('trend.people'), values: buckets.map(({ people }) => people) },
        ]}
      >
        <DataTable
          title={t('reports.daily.table')}
          note={period.note}
          filename={filename}
          rows={buckets}
          keyOf={({ start }) => start}
          columns={[
            { label: t(`trend.start.${interval}`), value: ({ start }) => dayOf(start) },
            { label: t('trend.occurrences'), isNumber: true, value: ({ occurrences }) => occurrences },
            {
              label: t('trend.people'),
              isNumber: true,
              value: ({ people }) => people,
              show: ({ start, people }) => <FigureLink value={people} number={{ ...part, ...rangeOf(start) }} />,
            },
          ]}
        />
      </TimeChart>
    </>
  );
}
