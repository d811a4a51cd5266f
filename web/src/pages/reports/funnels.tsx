import { Button, Group, Paper, Progress, Select, Stack, Text, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { DataTable } from '../../components/data-table.tsx';
import { useFilter } from '../../components/filter.ts';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { toSpan } from '../../components/time.tsx';
import { toPercent, useText } from '../../text/index.ts';
import { FigureLink, type FigureOf } from './figure-link.tsx';
import { ReportPage } from './frame.tsx';
import { MOST, readMarks, toStep, useMarkNames } from './marks.ts';
import { PeriodControl, usePeriod } from './period.tsx';

/** Page of a funnel: the number of people who take steps in order. The steps are in the URL. */
export default function FunnelsPage() {
  const period = usePeriod();
  const [given, setGiven] = useFilter('steps');
  const marks = readMarks(given);
  const funnel = useQuery({
    queryKey: ['reports', 'funnel', marks, period.begin],
    enabled: marks.length >= 2,
    placeholderData: keepPreviousData,
    queryFn: () => readFunnel(marks, period),
  });
  return (
    <ReportPage actions={<PeriodControl />}>
      <Steps marks={marks} onChange={(next) => setGiven(next.join('~'))} />
      <Answered query={funnel} skeleton={<ListSkeleton rows={3} height={56} />}>
        {(answer) => <Funnel answer={answer} marks={marks} />}
      </Answered>
    </ReportPage>
  );
}

type FunnelAnswer = Awaited<ReturnType<typeof readFunnel>>;

function readFunnel(marks: readonly string[], { begin, end }: { begin: string; end: string }) {
  const body = { steps: marks.map(toStep), from: begin, to: end };
  return dataOf(heron.POST('/v1/acquisition/funnels', { body }));
}

function Steps({ marks, onChange }: { marks: readonly string[]; onChange: (marks: readonly string[]) => void }) {
  const t = useText();
  const goals = useQuery({ queryKey: ['goals'], queryFn: () => dataOf(heron.GET('/v1/goals')) });
  const nameOf = useMarkNames();
  return (
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
                onClick={() => onChange(marks.filter((_, other) => other !== at))}
                aria-label={t('funnels.removeStep', { name: nameOf(mark) })}
              >
                {t('funnels.remove')}
              </Button>
            ) : null}
          </Group>
        ))}
        {marks.length < MOST ? (
          <AddStep goals={goals.data?.data ?? []} onAdd={(mark) => onChange([...marks, mark])} />
        ) : null}
      </Stack>
    </Section>
  );
}

/** Results of the steps as bars and as a table; each number links to its people. */
function Funnel({ answer, marks }: { answer: FunnelAnswer; marks: readonly string[] }) {
  const t = useText();
  const nameOf = useMarkNames();
  const { steps, window_days: days, from, to } = answer;
  const rows = steps.map((step, at) => ({
    ...step,
    at,
    name: nameOf(marks[at] ?? ''),
    number: {
      of: 'funnel' as const,
      figure: 'step',
      steps: marks.join('~'),
      step: `${at + 1}`,
      from,
      to,
      window_days: `${days}`,
    },
  }));
  const note = t('reports.window', { period: toSpan(from, to), days });
  return (
    <>
      <Bars rows={rows} note={note} worst={rows.length > 2 ? answer.largest_drop_off_step : null} />
      <StepTable rows={rows} note={note} />
    </>
  );
}

type StepRow = FunnelAnswer['steps'][number] & { at: number; name: string; number: FigureOf };

/**
 * Shows the steps of a funnel as bars.
 * @param worst number of the step with the largest loss, from 1
 */
function Bars({ rows, note, worst }: { rows: readonly StepRow[]; note: string; worst: number | null }) {
  const t = useText();
  return (
    <Paper withBorder radius="md" p="lg">
      <Stack gap="md">
        {rows.map(({ at, name, people, number, ...row }) => (
          <div key={at}>
            <Group justify="space-between" gap="xs" mb={4}>
              <Text size="sm" fw={600} className="wrap-anywhere">
                {name}
              </Text>
              <Text size="sm" className="figures">
                <FigureLink value={people} number={number} underline="always" />
                {row.conversion_from_previous === null ? '' : ` · ${toPercent(row.conversion_from_previous / 100)}`}
              </Text>
            </Group>
            <Progress
              value={row.conversion_from_first ?? 0}
              size="lg"
              aria-label={name}
              color={worst === at + 1 ? 'red' : 'heron'}
            />
          </div>
        ))}
        <Text size="xs" c="dimmed">
          {note}.{worst ? ` ${t('funnels.worst', { name: rows[worst - 1]?.name ?? '' })}` : ''}
        </Text>
      </Stack>
    </Paper>
  );
}

function StepTable({ rows, note }: { rows: readonly StepRow[]; note: string }) {
  const t = useText();
  return (
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
          show: ({ people, number }) => <FigureLink value={people} number={number} />,
        },
        {
          label: t('funnels.fromPrevious'),
          isNumber: true,
          value: (row) => row.conversion_from_previous,
          show: (row) => (row.conversion_from_previous === null ? '' : toPercent(row.conversion_from_previous / 100)),
        },
        {
          label: t('funnels.lost'),
          isNumber: true,
          value: (row) => row.drop_off,
          show: ({ drop_off: lost, at, number }) =>
            at === 0 ? '' : <FigureLink value={lost} number={{ ...number, figure: 'lost', lost: 'true' }} />,
        },
      ]}
    />
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
