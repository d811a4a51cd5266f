import { Badge, Group, List, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { TimeChart } from '../../components/chart.tsx';
import { daysAgo } from '../../components/day.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Figure } from '../../components/figure.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, FiguresSkeleton, ListSkeleton } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';

const COLORS = { healthy: 'teal', warning: 'yellow', error: 'red' } as const;
const DAYS = 30;

/** Loads a mailbox's health, if the role may see it. */
export function useStanding(id: string) {
  return useQuery({
    queryKey: ['mailboxes', id, 'standing'],
    enabled: useCan('view_analytics'),
    queryFn: () => dataOf(heron.GET('/v1/analytics/accounts/{id}', { params: { path: { id } } })),
  });
}

/** Shows a mailbox's health with its problems, and today's sends with their limit. */
export function MailboxHealth({ standing }: { standing: ReturnType<typeof useStanding> }) {
  const t = useText();
  const may = useCan('view_analytics');
  if (!may) return null;
  return (
    <Answered query={standing} skeleton={<FiguresSkeleton count={3} />}>
      {({ health, daily_usage: usage }) => (
        <Stack gap="md">
          <SimpleGrid cols={{ base: 1, xs: usage.warmup_limit > 0 ? 3 : 2 }}>
            <Figure
              label={t('mailbox.health')}
              value={t('mailbox.health.of', { score: health.score })}
              note={
                <Group gap={4} component="span">
                  <Badge variant="light" color={COLORS[health.status]} tt="none" component="span">
                    {t(`mailbox.health.${health.status}`)}
                  </Badge>
                </Group>
              }
            />
            <Figure
              label={t('mailbox.today')}
              value={t('mailbox.of', { sent: usage.campaign_sent, most: usage.campaign_limit })}
              note={t('mailbox.today.utc')}
            />
            {usage.warmup_limit > 0 ? (
              <Figure
                label={t('mailbox.today.warmup')}
                value={t('mailbox.of', { sent: usage.warmup_sent, most: usage.warmup_limit })}
                note={t('mailbox.today.utc')}
              />
            ) : null}
          </SimpleGrid>
          {health.issues.length > 0 ? (
            <Section title={t('mailbox.issues')}>
              <List size="sm">
                {health.issues.map((issue) => (
                  <List.Item key={issue} className="wrap-anywhere">
                    {issue}
                  </List.Item>
                ))}
              </List>
            </Section>
          ) : null}
        </Stack>
      )}
    </Answered>
  );
}

/** Chart of the warmup emails per day, compared with the daily targets of the ramp-up. */
export function WarmupCurve({ id }: { id: string }) {
  const t = useText();
  const [from, to] = [daysAgo(DAYS - 1), daysAgo(0)];
  const curve = useQuery({
    queryKey: ['mailboxes', id, 'warmup-curve', from],
    queryFn: () => dataOf(heron.GET('/v1/analytics/warmup', { params: { query: { from, to, email_id: id } } })),
  });
  const note = t('mailbox.curve.utc', { from, to });
  return (
    <Answered query={curve} skeleton={<ListSkeleton rows={1} height={320} />}>
      {({ daily_stats: days, summary }) =>
        summary.total_sent === 0 ? (
          <Section title={t('mailbox.curve')}>
            <Text size="sm" c="dimmed">
              {t('mailbox.curve.none')}
            </Text>
          </Section>
        ) : (
          <TimeChart
            title={t('mailbox.curve')}
            note={note}
            filename="heron-warmup"
            dates={days.map(({ date }) => date)}
            series={[
              { label: t('mailbox.curve.target'), values: days.map((one) => one.target_volume) },
              { label: t('mailbox.curve.sent'), values: days.map((one) => one.emails_sent) },
              { label: t('mailbox.curve.replied'), values: days.map((one) => one.emails_replied) },
            ]}
          >
            <DataTable
              title={t('mailbox.curve')}
              note={note}
              filename="heron-warmup"
              rows={days}
              keyOf={({ date }) => date}
              columns={[
                { label: t('mailbox.curve.date'), value: ({ date }) => date },
                { label: t('mailbox.curve.target'), isNumber: true, value: (one) => one.target_volume },
                { label: t('mailbox.curve.sent'), isNumber: true, value: (one) => one.emails_sent },
                { label: t('mailbox.curve.replied'), isNumber: true, value: (one) => one.emails_replied },
              ]}
            />
          </TimeChart>
        )
      }
    </Answered>
  );
}
