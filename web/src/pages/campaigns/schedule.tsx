import { Alert, Checkbox, Group, NumberInput, Select, SimpleGrid, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { dataOf, heron, queryClient, type BodyOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { toClock } from '../../../../messages/hours.ts';
import { textOf, toNumber, useText } from '../../text/index.ts';
import { Calendar } from './calendar.tsx';
import { DraftFoot } from '../../components/draft-form.tsx';
import { useDraft } from '../../components/draft.ts';
import type { Campaign } from './flow.ts';
import { Tracking } from './tracking.tsx';
import { DAYS, dayOf, toInstant, toMinutes, toWindows } from './zone.ts';

type Change = BodyOf<'/v1/campaigns/{id}', 'patch'>;
const COMPANY_REPLIES = ['off', 'any', 'positive_or_opt_out'] as const;
/** Fields of a campaign whose change reschedules emails that are already reserved. */
const MOVES = ['start_date', 'end_date', 'timezone', 'days', 'start_time', 'end_time', 'schedule_windows'] as const;

/** Editor of a campaign's schedule and limits, with a calendar of the estimated completion for the unsaved values. */
export default function Schedule({ campaign }: { campaign: Campaign }) {
  const t = useText();
  const mayWrite = useCan('manage_campaigns');
  const { id } = campaign;
  const path = { params: { path: { id } } };
  const draft = useDraft<Campaign>({
    stored: campaign,
    write: async (changes, seen) => {
      const row = await dataOf(
        heron.PATCH('/v1/campaigns/{id}', {
          ...path,
          body: { ...(changes as Change), expected_updated_at: seen.updated_at },
        }),
      );
      if ('id' in row && 'days' in row) queryClient.setQueryData(['campaigns', id], row);
    },
    readAgain: async () => {
      const row = await dataOf(heron.GET('/v1/campaigns/{id}', path));
      queryClient.setQueryData(['campaigns', id], row);
      return row;
    },
    stale: [['campaigns'], ['checklist']],
    done: t('saved'),
  });
  const { value, change } = draft;
  const isMoved = MOVES.some((name) => JSON.stringify(value[name]) !== JSON.stringify(campaign[name]));
  const usesWindows = value.schedule_windows.some((windows) => windows.length > 0);
  return (
    <div className="sequence" data-open="true">
      <Section title={t('campaign.when')}>
        <Stack gap="md">
          {usesWindows ? (
            <Windows
              value={value.schedule_windows}
              change={(schedule_windows) => change({ schedule_windows })}
              isReadOnly={!mayWrite}
            />
          ) : (
            <>
              <Checkbox.Group
                label={t('campaign.schedule.days')}
                value={DAYS.filter((_, at) => value.days & (1 << at))}
                onChange={(chosen) =>
                  change({ days: DAYS.reduce((mask, day, at) => mask | (chosen.includes(day) ? 1 << at : 0), 0) })
                }
              >
                <Group gap="md" mt={6}>
                  {DAYS.map((day) => (
                    <Checkbox key={day} value={day} label={t(`campaign.day.${day}`)} disabled={!mayWrite} />
                  ))}
                </Group>
              </Checkbox.Group>
              <Group gap="sm">
                <TextInput
                  type="time"
                  label={t('campaign.schedule.from')}
                  value={value.start_time}
                  onChange={(event) => change({ start_time: event.currentTarget.value })}
                  disabled={!mayWrite}
                />
                <TextInput
                  type="time"
                  label={t('campaign.schedule.to')}
                  value={value.end_time}
                  onChange={(event) => change({ end_time: event.currentTarget.value })}
                  disabled={!mayWrite}
                />
              </Group>
              <Text size="xs" c="dimmed" mt={-8}>
                {t('campaign.schedule.hours.why')}
              </Text>
            </>
          )}
          <Switch
            label={t('campaign.schedule.windows')}
            checked={usesWindows}
            disabled={!mayWrite}
            onChange={(event) => change({ schedule_windows: event.currentTarget.checked ? toWindows(value) : [] })}
          />
          <Zone value={value.timezone} change={(timezone) => change({ timezone })} isReadOnly={!mayWrite} />
          <Group gap="sm" align="flex-start">
            <TextInput
              type="date"
              label={t('campaign.schedule.begin')}
              description={t('campaign.schedule.begin.why')}
              value={value.start_date ? dayOf(value.start_date, value.timezone) : ''}
              onChange={(event) =>
                change({
                  start_date: event.currentTarget.value ? toInstant(event.currentTarget.value, value.timezone) : null,
                })
              }
              disabled={!mayWrite}
            />
            <TextInput
              type="date"
              label={t('campaign.schedule.end')}
              description={t('campaign.schedule.end.why')}
              value={value.end_date ? dayOf(value.end_date, value.timezone) : ''}
              onChange={(event) =>
                change({
                  end_date: event.currentTarget.value ? toInstant(event.currentTarget.value, value.timezone) : null,
                })
              }
              disabled={!mayWrite}
            />
          </Group>
          <NumberInput
            label={t('campaign.schedule.limit')}
            description={t('campaign.schedule.limit.why')}
            min={1}
            max={1_000_000}
            allowDecimal={false}
            value={value.daily_limit}
            onChange={(limit) => change({ daily_limit: Number(limit) })}
            disabled={!mayWrite}
            maw={260}
          />
          <Switch
            label={t('campaign.schedule.stopOnReply')}
            checked={value.stop_on_reply}
            onChange={(event) => change({ stop_on_reply: event.currentTarget.checked })}
            disabled={!mayWrite}
          />
          <Select
            label={t('campaign.schedule.company')}
            description={t('campaign.schedule.company.why')}
            data={COMPANY_REPLIES.map((reply) => ({ value: reply, label: t(`campaign.schedule.company.${reply}`) }))}
            value={value.stop_on_company_reply}
            onChange={(reply) =>
              change({ stop_on_company_reply: (reply ?? 'off') as Campaign['stop_on_company_reply'] })
            }
            allowDeselect={false}
            disabled={!mayWrite}
            maw={360}
          />
          <Tracking stored={campaign} value={value} change={change} isReadOnly={!mayWrite} />
          {mayWrite ? (
            <DraftFoot
              draft={draft}
              note={
                campaign.status === 'active' && draft.isChanged ? (
                  <Alert color="yellow" variant="light" role="note" title={t('campaign.running.title')}>
                    {t(isMoved ? 'campaign.running.schedule' : 'campaign.running.settings')}
                  </Alert>
                ) : null
              }
            />
          ) : null}
        </Stack>
      </Section>
      <Projection campaign={value} />
    </div>
  );
}

/** Shows the API's estimate of the completion for the unsaved schedule. */
function Projection({ campaign }: { campaign: Campaign }) {
  const t = useText();
  const { id, daily_limit, days, timezone, start_date, end_date, start_time, end_time, schedule_windows } = campaign;
  const [plan] = useDebouncedValue(
    useMemo(
      () => ({ daily_limit, days, timezone, start_date, end_date, start_time, end_time, schedule_windows }),
      [daily_limit, days, timezone, start_date, end_date, start_time, end_time, schedule_windows],
    ),
    300,
  );
  const estimate = useQuery({
    queryKey: ['campaigns', id, 'estimate', plan],
    placeholderData: keepPreviousData,
    retry: false,
    queryFn: () =>
      dataOf(heron.POST('/v1/campaigns-estimate', { body: { campaign_id: id, email_tag_ids: [], ...plan } })),
  });
  const { data } = estimate;
  const finish = data?.estimated_finish_at ?? null;
  const said = () => {
    if (!data) return '';
    if (data.recipients === 0) return t('campaign.estimate.nobody');
    if (data.mailboxes === 0) return t('campaign.estimate.noMailbox');
    if (finish === null) return t('campaign.estimate.never', { count: data.recipients });
    return t('campaign.estimate.finish', {
      count: data.recipients,
      date: dayOf(finish, timezone, 'long'),
      days: t('step.span.days', { count: data.sending_days ?? 1 }),
    });
  };
  return (
    <Section title={t('campaign.estimate.title')}>
      <Answered query={estimate} skeleton={<ListSkeleton rows={4} height={36} />}>
        {(answer) => (
          <Stack gap="md">
            <Text size="sm" fw={600}>
              {said()}
            </Text>
            <SimpleGrid cols={2}>
              <Text size="sm">
                <Text span c="dimmed" inherit display="block">
                  {t('campaign.estimate.perDay')}
                </Text>
                {toNumber(answer.daily_capacity)}
              </Text>
              <Text size="sm">
                <Text span c="dimmed" inherit display="block">
                  {t('campaign.estimate.today')}
                </Text>
                {toNumber(answer.remaining_today)}
              </Text>
            </SimpleGrid>
            <Calendar
              campaign={campaign}
              finish={finish}
              hasLeads={answer.recipients > 0}
              isTodayOver={answer.mailboxes > 0 && answer.remaining_today === 0}
            />
            <Text size="xs" c="dimmed">
              {t('campaign.estimate.why', { zone: timezone })}
            </Text>
          </Stack>
        )}
      </Answered>
    </Section>
  );
}

function Zone({ value, change, isReadOnly }: { value: string; change: (zone: string) => void; isReadOnly: boolean }) {
  const t = useText();
  const zones = useMemo(() => [...new Set([value, 'UTC', ...Intl.supportedValuesOf('timeZone')])], [value]);
  return (
    <Select
      label={t('campaign.schedule.zone')}
      description={t('campaign.schedule.zone.why')}
      data={zones}
      value={value}
      onChange={(zone) => zone && change(zone)}
      searchable
      limit={60}
      allowDeselect={false}
      disabled={isReadOnly}
      maw={320}
    />
  );
}

type WindowsOfWeek = Campaign['schedule_windows'];

/** Editor of individual hours per day, such as `09:00-12:00, 13:00-17:00`. */
function Windows({
  value,
  change,
  isReadOnly,
}: {
  value: WindowsOfWeek;
  change: (windows: WindowsOfWeek) => void;
  isReadOnly: boolean;
}) {
  const t = useText();
  return (
    <Stack gap="xs" role="group" aria-label={t('campaign.schedule.windows')}>
      {DAYS.map((day, at) => {
        // The API counts days from Sunday.
        const index = (at + 1) % 7;
        const written = (value[index] ?? []).map(({ start, end }) => `${toClock(start)}-${toClock(end)}`).join(', ');
        return (
          <TextInput
            key={`${day} ${written}`}
            label={textOf('campaign.day', day)}
            placeholder={t('campaign.schedule.windows.none')}
            defaultValue={written}
            onBlur={(event) =>
              change(
                Array.from({ length: 7 }, (_, one) =>
                  one === index ? parseWindows(event.currentTarget.value) : (value[one] ?? []),
                ),
              )
            }
            disabled={isReadOnly}
            maw={320}
          />
        );
      })}
    </Stack>
  );
}

function parseWindows(written: string): { start: number; end: number }[] {
  return [...written.matchAll(/(\d{1,2}:\d{2})\s*[-–]\s*(\d{1,2}:\d{2})/g)].map(([, from, to]) => ({
    start: toMinutes(from!),
    end: toMinutes(to!) || 1440,
  }));
}
