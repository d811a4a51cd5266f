import { Group, SegmentedControl, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { TimeChart } from '../../components/chart.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { DAY_MS } from '../../components/day.ts';
import { useFilter } from '../../components/filter.ts';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { toSpan } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';

const DAYS = ['7', '30', '90'] as const;

/** Requests of a key by day and by endpoint. */
export function KeyUsage({ id }: { id: string }) {
  const t = useText();
  const [chosen, choose] = useFilter('days');
  const days = DAYS.find((one) => one === chosen) ?? '30';
  const usage = useQuery({
    queryKey: ['keys', id, 'usage', days],
    queryFn: () => {
      const to = new Date();
      const from = new Date(to.getTime() - Number(days) * DAY_MS);
      return dataOf(
        heron.GET('/v1/api-keys/{id}/analytics', {
          params: {
            path: { id },
            query: { from: from.toISOString(), to: to.toISOString(), interval: 'day' },
          },
        }),
      );
    },
  });
  return (
    <Stack>
      <Group>
        <SegmentedControl
          aria-label={t('agents.usage.period')}
          value={days}
          onChange={choose}
          data={DAYS.map((value) => ({ value, label: t('agents.usage.days', { count: Number(value) }) }))}
        />
      </Group>
      <Answered query={usage} skeleton={<ListSkeleton rows={2} height={150} />}>
        {({ buckets, endpoints, from, to }) => {
          const dates = buckets.map(({ bucket }) => bucket.slice(0, 10));
          const series = (['success', 'client_errors', 'server_errors'] as const).map((name) => ({
            label: t(`agents.usage.${name}`),
            values: buckets.map((one) => one[name]),
          }));
          return (
            <>
              <TimeChart
                title={t('agents.usage.requests')}
                note={t('agents.usage.utc', { span: toSpan(from, to) })}
                filename="api-key-requests"
                dates={dates}
                series={series}
              >
                <DataTable
                  title={t('agents.usage.requests')}
                  filename="api-key-requests"
                  rows={buckets}
                  keyOf={({ bucket }) => bucket}
                  columns={[
                    { label: t('agents.usage.day'), value: ({ bucket }) => bucket.slice(0, 10) },
                    { label: t('agents.usage.success'), value: ({ success }) => success, isNumber: true },
                    { label: t('agents.usage.client_errors'), value: (one) => one.client_errors, isNumber: true },
                    { label: t('agents.usage.server_errors'), value: (one) => one.server_errors, isNumber: true },
                  ]}
                />
              </TimeChart>
              <DataTable
                title={t('agents.usage.endpoints')}
                filename="api-key-endpoints"
                rows={endpoints}
                keyOf={({ method, endpoint }) => `${method} ${endpoint}`}
                empty={t('agents.usage.none')}
                columns={[
                  { label: t('agents.usage.endpoint'), value: ({ method, endpoint }) => `${method} ${endpoint}` },
                  { label: t('agents.usage.count'), value: ({ count }) => count, isNumber: true },
                  { label: t('agents.usage.errors'), value: (one) => one.error_count, isNumber: true },
                  { label: t('agents.usage.ms'), value: (one) => Math.round(one.avg_latency_ms), isNumber: true },
                ]}
              />
            </>
          );
        }}
      </Answered>
    </Stack>
  );
}
