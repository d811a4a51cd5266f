import { Anchor, Badge, Group, Paper, SegmentedControl, Select, Stack, Text, TextInput, Title } from '@mantine/core';
import IconCalendar from 'tabler:calendar-event';
import IconOut from 'tabler:external-link';
import { useState } from 'react';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { region } from '../../app/preferences.ts';
import { useFilter } from '../../components/filter.ts';
import { Page } from '../../components/page.tsx';
import { More, usePaged } from '../../components/paged.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { PageLink, PageLinkButton } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';
import { ChangeMeeting, LogMeeting, ManualMeeting } from './meeting-form.tsx';

type Meeting = RowOf<'/v1/meetings'>;
const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const ZONES = [...new Set([HERE, 'UTC', ...Intl.supportedValuesOf('timeZone')])];
const COLORS = { booked: 'blue', rescheduled: 'blue', canceled: 'gray', completed: 'teal', no_show: 'red' } as const;

/** Page of meetings that were booked in connected calendars or logged by hand: upcoming ones by day, and past ones. */
export default function MeetingsPage() {
  const t = useText();
  const mayConnect = useCan('manage_settings');
  const mayLog = useCan('manage_contacts');
  const [changed, change] = useState<Meeting>();
  const filters = useFilters();
  const { timeframe, from, to, timezone } = filters;
  const list = usePaged(['meetings', timeframe, from, to, timezone], (cursor, signal) =>
    dataOf(
      heron.GET('/v1/meetings', {
        params: {
          query: { timeframe, timezone, limit: 50, ...(from ? { from } : {}), ...(to ? { to } : {}), ...cursor },
        },
        signal,
      }),
    ),
  );
  return (
    <Page title={t('nav.meetings')} lead={t('meetings.lead')} actions={mayLog ? <LogMeeting /> : null}>
      <Filters filters={filters} />
      <Answered query={list} skeleton={<ListSkeleton rows={5} height={72} />}>
        {({ pages }) => {
          const meetings = pages.flatMap(({ data }) => data);
          return meetings.length === 0 ? (
            <Empty
              icon={IconCalendar}
              title={t(from || to ? 'meetings.none' : `meetings.empty.${timeframe}`)}
              action={mayConnect ? <PageLinkButton to="/integrations">{t('meetings.connect')}</PageLinkButton> : null}
            >
              {t('meetings.empty.why')}
            </Empty>
          ) : (
            <Stack gap="lg">
              {byDay(meetings, timezone).map(([day, ofDay]) => (
                <section key={day} aria-label={day}>
                  <Title order={2} size="h5" mb="xs">
                    {day || t('meetings.noTime')}
                  </Title>
                  <Stack gap="xs">
                    {ofDay.map((meeting) => (
                      <OneMeeting
                        key={meeting.id}
                        meeting={meeting}
                        timezone={timezone}
                        onChange={mayLog ? () => change(meeting) : undefined}
                      />
                    ))}
                  </Stack>
                </section>
              ))}
              <More list={list} />
            </Stack>
          );
        }}
      </Answered>
      {changed ? <ChangeMeeting meeting={changed} onClose={() => change(undefined)} /> : null}
    </Page>
  );
}

/** Returns the filters and the time zone from the URL, and functions to set them. */
function useFilters() {
  const [past, setPast] = useFilter('past');
  const [from, setFrom] = useFilter('from');
  const [to, setTo] = useFilter('to');
  const [zone, setZone] = useFilter('zone');
  return {
    timeframe: past ? ('past' as const) : ('upcoming' as const),
    from,
    to,
    timezone: ZONES.includes(zone) ? zone : HERE,
    set: { past: setPast, from: setFrom, to: setTo, zone: setZone },
  };
}

function Filters({ filters: { timeframe, from, to, timezone, set } }: { filters: ReturnType<typeof useFilters> }) {
  const t = useText();
  return (
    <Group gap="xs" align="flex-end">
      <SegmentedControl
        value={timeframe}
        onChange={(value) => set.past(value === 'past' ? 'yes' : '')}
        data={(['upcoming', 'past'] as const).map((value) => ({ value, label: t(`meetings.${value}`) }))}
        aria-label={t('meetings.which')}
      />
      <TextInput
        type="date"
        label={t('meetings.from')}
        value={from}
        onChange={(event) => set.from(event.currentTarget.value)}
        w={150}
      />
      <TextInput
        type="date"
        label={t('meetings.to')}
        value={to}
        onChange={(event) => set.to(event.currentTarget.value)}
        w={150}
      />
      <Select
        label={t('meetings.zone')}
        data={ZONES}
        value={timezone}
        onChange={(value) => set.zone(value === HERE ? '' : (value ?? ''))}
        allowDeselect={false}
        searchable
        w={220}
      />
    </Group>
  );
}

function OneMeeting({
  meeting,
  timezone,
  onChange,
}: {
  meeting: Meeting;
  timezone: string;
  onChange: (() => void) | undefined;
}) {
  const t = useText();
  const time = new Intl.DateTimeFormat(region(), { timeStyle: 'short', timeZone: timezone });
  const [begin, end] = [meeting.scheduled_for, meeting.end_time].map((each) => (each ? new Date(each) : null));
  const ends = begin && end ? time.formatRange(begin, end) : begin ? time.format(begin) : '';
  const who = meeting.contact_name || meeting.invitee_name || meeting.invitee_email;
  const isToCome =
    (meeting.status === 'booked' || meeting.status === 'rescheduled') &&
    Date.parse(meeting.end_time ?? meeting.scheduled_for ?? '') > Date.now();
  const links = [
    ['meetings.join', meeting.join_url],
    ['meetings.move', meeting.reschedule_url],
    ['meetings.cancel', meeting.cancel_url],
  ] as const;
  return (
    <Paper withBorder radius="md" px="md" py="sm" component="article">
      <Group gap="md" align="flex-start">
        <Stack gap={6} miw={130} align="flex-start">
          <Text size="sm" fw={600} className="figures">
            {ends}
          </Text>
          <Badge variant="light" color={COLORS[meeting.status]} tt="none">
            {t(`meetings.status.${meeting.status}`)}
          </Badge>
        </Stack>
        <Stack gap={2} flex="1 1 14rem" miw={0}>
          <Text size="sm" fw={600} className="wrap-anywhere">
            {meeting.contact_id ? (
              <PageLink to={`/leads/${meeting.contact_id}`} inherit>
                {who}
              </PageLink>
            ) : (
              who
            )}
          </Text>
          <Text size="sm" c="dimmed" className="wrap-anywhere">
            {[meeting.event_name, meeting.location].filter(Boolean).join(' · ')}
          </Text>
          {meeting.canceled_reason ? (
            <Text size="sm" className="wrap-anywhere">
              {meeting.canceled_reason}
            </Text>
          ) : null}
          <Group gap="md" style={{ rowGap: 4 }}>
            {meeting.campaign_id ? (
              <PageLink to={`/campaigns/${meeting.campaign_id}`} size="sm">
                {t('meetings.campaign')}
              </PageLink>
            ) : null}
            {links.map(([key, address]) =>
              isToCome && isWebAddress(address) ? (
                <Anchor key={key} href={address} size="sm" target="_blank" rel="noreferrer">
                  {t(key)} <IconOut size={13} />
                </Anchor>
              ) : null,
            )}
          </Group>
          {onChange && meeting.source === 'manual' && meeting.status !== 'canceled' ? (
            <ManualMeeting meeting={meeting} onChange={onChange} />
          ) : null}
        </Stack>
      </Group>
    </Paper>
  );
}

/** Returns true for http(s) URLs. Links come from other systems, and other schemes must not become links. */
function isWebAddress(address: string): boolean {
  return URL.canParse(address) && ['https:', 'http:'].includes(new URL(address).protocol);
}

/** Groups meetings by their day in a zone, keeping their order. */
function byDay(meetings: readonly Meeting[], timeZone: string): [day: string, meetings: Meeting[]][] {
  const format = new Intl.DateTimeFormat(region(), { dateStyle: 'full', timeZone });
  const days = new Map<string, Meeting[]>();
  for (const meeting of meetings) {
    const day = meeting.scheduled_for ? format.format(new Date(meeting.scheduled_for)) : '';
    days.set(day, [...(days.get(day) ?? []), meeting]);
  }
  return [...days];
}
