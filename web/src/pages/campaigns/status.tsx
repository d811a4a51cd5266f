import { Badge } from '@mantine/core';
import { textOf, useText } from '../../text/index.ts';

const COLORS: Record<string, string> = { active: 'teal', draft: 'gray', completed: 'blue', paused: 'yellow' };

/** Shows the status of a campaign, and that it is archived. */
export function CampaignStatus({
  campaign: { status, archived },
}: {
  campaign: { status: string; archived: boolean };
}) {
  const t = useText();
  return (
    <>
      <State color={COLORS[status] ?? 'red'}>{textOf('campaigns.status', status)}</State>
      {archived ? ' ' : null}
      {archived ? <State color="gray">{t('campaigns.status.archived')}</State> : null}
    </>
  );
}

function State({ color, children }: { color: string; children: string }) {
  return (
    // Allows several lines for a long status in a narrow space.
    <Badge
      variant="light"
      color={color}
      tt="none"
      h="auto"
      mih={20}
      miw="min-content"
      styles={{ label: { whiteSpace: 'normal' } }}
    >
      {children}
    </Badge>
  );
}
