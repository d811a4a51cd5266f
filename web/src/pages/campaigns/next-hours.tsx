import { Text } from '@mantine/core';
import { PageLink } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';
import type { Campaign } from './flow.ts';
import { dayOf, nextHours } from './zone.ts';

/** Shows the next sending time of a campaign that is outside its sending hours. */
export function NextHours({ campaign }: { campaign: Campaign }) {
  const t = useText();
  const next = nextHours(campaign);
  if (next === null) return null;
  const zone = campaign.timezone;
  return (
    <Text size="sm" c="dimmed">
      {next
        ? t('campaign.hours.next', { day: dayOf(`${next.day}T12:00:00Z`, 'UTC', 'long'), clock: next.clock, zone })
        : t('campaign.hours.none')}{' '}
      <PageLink to={`/campaigns/${campaign.id}?tab=schedule`} inherit c="inherit" underline="always">
        {t('campaign.hours.change')}
      </PageLink>
    </Text>
  );
}
