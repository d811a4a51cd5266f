import { Text } from '@mantine/core';
import { region } from '../../app/preferences.ts';
import { DAY_MS, toDay } from '../../components/day.ts';
import { textOf, useText } from '../../text/index.ts';
import type { Campaign } from './flow.ts';
import { DAYS, dayOf } from './zone.ts';

const WEEKS = 5;

/** Calendar of the coming weeks in the campaign's zone: sending days and the day of completion. */
export function Calendar({
  campaign,
  finish,
  hasLeads,
  isTodayOver,
}: {
  campaign: Campaign;
  /** Estimated completion; null if unknown, for example without a mailbox. */
  finish: string | null;
  /** True if leads wait for emails. */
  hasLeads: boolean;
  /** True if sending has ended for today. */
  isTodayOver: boolean;
}) {
  const t = useText();
  const zone = campaign.timezone;
  const today = dayOf(new Date(), zone);
  const begin = campaign.start_date ? dayOf(campaign.start_date, zone) : today;
  const first = begin > today ? begin : today;
  const last = finish ? dayOf(finish, zone) : null;
  const end = campaign.end_date ? dayOf(campaign.end_date, zone) : null;
  const monday = mondayOf(first);
  const days = Array.from({ length: WEEKS * 7 }, (_, at) => toDay(monday + at * DAY_MS));
  const sends = (day: string) =>
    hasLeads &&
    day >= first &&
    (last === null || day <= last) &&
    !(isTodayOver && day === today) &&
    (end === null || day < end) &&
    isOpen(campaign, day);
  const month = new Intl.DateTimeFormat(region(), { month: 'short', day: 'numeric', timeZone: 'UTC' });
  return (
    <div>
      <div
        className="calendar"
        role="img"
        aria-label={t('campaign.calendar.label', { from: first, to: last ?? end ?? '–' })}
      >
        {DAYS.map((day) => (
          <Text key={day} span c="dimmed">
            {textOf('campaign.day', day)}
          </Text>
        ))}
        {days.map((day) => (
          <span key={day} data-sends={sends(day)} data-finish={day === last} data-off={!sends(day)}>
            {day === days[0] || day.endsWith('-01') ? month.format(Date.parse(day)) : Number(day.slice(8))}
          </span>
        ))}
      </div>
      {last !== null && last > days.at(-1)! ? (
        <Text size="xs" c="dimmed" mt={6}>
          {t('campaign.calendar.later')}
        </Text>
      ) : null}
    </div>
  );
}

function isOpen({ days, schedule_windows: windows }: Campaign, day: string): boolean {
  const sunday = new Date(day).getUTCDay();
  if (windows.some((one) => one.length > 0)) return (windows[sunday]?.length ?? 0) > 0;
  return (days & (1 << ((sunday + 6) % 7))) !== 0;
}

function mondayOf(day: string): number {
  const at = Date.parse(`${day}T00:00:00Z`);
  return at - ((new Date(at).getUTCDay() + 6) % 7) * DAY_MS;
}
