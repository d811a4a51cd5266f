import { Button, Group, Paper, Progress, Select, Stack, Text, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { useFilter } from '../../parts/filter.ts';
import { Section } from '../../parts/section.tsx';
import { Answered, ListSkeleton } from '../../parts/states.tsx';
import { toSpan } from '../../parts/time.tsx';
import { toPercent, useText } from '../../text/index.ts';
import { Behind } from './behind.tsx';
import { ReportPage } from './frame.tsx';
import { MOST, readMarks, toStep, useMarkNames } from './marks.ts';
import { PeriodControl, usePeriod } from './period.tsx';

/** How many people take steps in order; the steps live in the address. */
export default function FunnelsPage() {
  const t = useText();
  const period = usePeriod();
  const [given, setGiven] = useFilter('steps');
  const marks = readMarks(given);
  const goals = useQuery({ queryKey: ['goals'], queryFn: () => dataOf(heron.GET('/v1/goals')) });
  const nameOf = useMarkNames();
  const funnel = useQuery({
    queryKey: ['reports', 'funnel', marks, period.begin],
    enabled: marks.length >= 2,
    placeholderData: keepPreviousData,
    queryFn: () =>
      dataOf(
        heron.POST('/v1/acquisition/funnels', {
          body: { steps: marks.map(toStep), from: period.begin, to: period.end },
        }),
      ),
  });
  const set = (next: readonly string[]) => setGiven(next.join('~'));
  return (
    <ReportPage actions={<PeriodControl />}>
      <Section title={t('funnels.steps')}>
        <Stack gap="xs">
          {marks.map((mark, at) => (
            <Group key={`${at}-${mark}`} gap="xs" wrap="nowrap">
              <Text size="sm" className="wrap-anywhere" flex={1}>
                {at + 1}. {nameOf(mark)}
              </Text>
              {marks.length > 2 ? (
                <Button
                  size="compact-xs"
                  variant="subtle"
                  onClick={() => set(marks.filter((_, other) => other !== at))}
                  aria-label={t('funnels.removeStep', { name: nameOf(mark) })}
                >
                  {t('funnels.remove')}
                </Button>
              ) : null}
            </Group>
          ))}
          {marks.length < MOST ? (
            <AddStep goals={goals.data?.data ?? []} onAdd={(mark) => set([...marks, mark])} />
          ) : null}
        </Stack>
      </Section>
      <Answered query={funnel} skeleton={<ListSkeleton rows={3} height={56} />}>
        {({ steps, window_days: days, largest_drop_off_step: worst, from, to }) => {
          const rows = steps.map((step, at) => ({ ...step, at, name: nameOf(marks[at] ?? '') }));
          const note = t('reports.window', { period: toSpan(from, to), days });
          const partOf = (at: number) => ({
            of: 'funnel' as const,
            figure: 'step',
            steps: marks.join('~'),
            step: `${at + 1}`,
            from,
            to,
            window_days: `${days}`,
          });
          return (
            <>
              <Paper withBorder radius="md" p="lg">
                <Stack gap="md">
                  {rows.map((row) => (
                    <div key={row.at}>
                      <Group justify="space-between" gap="xs" mb={4}>
                        <Text size="sm" fw={600} className="wrap-anywhere">
                          {row.name}
                        </Text>
                        <Text size="sm" className="figures">
                          <Behind value={row.people} number={partOf(row.at)} underline="always" />
                          {row.conversion_from_previous === null
                            ? ''
                            : ` · ${toPercent(row.conversion_from_previous / 100)}`}
                        </Text>
                      </Group>
                      <Progress
                        value={row.conversion_from_first ?? 0}
                        size="lg"
                        aria-label={row.name}
                        color={worst === row.at + 1 && steps.length > 2 ? 'red' : 'heron'}
                      />
                    </div>
                  ))}
                  <Text size="xs" c="dimmed">
                    {note}.
                    {worst && steps.length > 2 ? ` ${t('funnels.worst', { name: rows[worst - 1]?.name ?? '' })}` : ''}
                  </Text>
                </Stack>
              </Paper>
              <DataTable
                title={t('funnels.table')}
                note={note}
                filename="heron-funnel"
                rows={rows}
                keyOf={({ at }) => `${at}`}
                columns={[
                  { label: t('funnels.step'), value: ({ name }) => name },
                  {
                    label: t('funnels.people'),
                    isNumber: true,
                    value: ({ people }) => people,
                    show: ({ people, at }) => <Behind value={people} number={partOf(at)} />,
                  },
                  {
                    label: t('funnels.fromPrevious'),
                    isNumber: true,
                    value: (row) => row.conversion_from_previous,
                    show: (row) =>
                      row.conversion_from_previous === null ? '' : toPercent(row.conversion_from_previous / 100),
                  },
                  {
                    label: t('funnels.lost'),
                    isNumber: true,
                    value: (row) => row.drop_off,
                    show: ({ drop_off: lost, at }) =>
                      at === 0 ? '' : <Behind value={lost} number={{ ...partOf(at), figure: 'lost', lost: 'true' }} />,
                  },
                ]}
              />
            </>
          );
        }}
      </Answered>
    </ReportPage>
  );
}

function AddStep({ goals, onAdd }: { goals: readonly { id: string; name: string }[]; onAdd: (mark: string) => void }) {
  const t = useText();
  const [event, setEvent] = useState('');
  return (
    <Group gap="xs" align="flex-end" mt="xs">
      <Select
        label={t('funnels.add')}
        value={null}
        onChange={(value) => value && onAdd(value)}
        data={[
          { value: 'sent', label: t('funnels.sent') },
          { value: 'reply', label: t('funnels.reply') },
          ...goals.map(({ id, name }) => ({ value: `goal:${id}`, label: t('funnels.goalOf', { name }) })),
        ]}
        placeholder={t('funnels.choose')}
        w={260}
      />
      <form
        onSubmit={(submitted) => {
          submitted.preventDefault();
          const name = event.replaceAll('~', '').trim();
          if (name) onAdd(`event:${name}`);
          setEvent('');
        }}
      >
        <Group gap="xs" align="flex-end">
          <TextInput
            label={t('funnels.event')}
            value={event}
            onChange={(change) => setEvent(change.currentTarget.value)}
            placeholder="user.signed_up"
            required
            withAsterisk={false}
            w={220}
          />
          <Button type="submit" variant="default">
            {t('funnels.addEvent')}
          </Button>
        </Group>
      </form>
    </Group>
  );
}
