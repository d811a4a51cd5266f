import { Badge } from '@mantine/core';
import { textOf } from '../../text/index.ts';

const COLORS: Record<string, string> = { active: 'teal', draft: 'gray', completed: 'blue', paused: 'yellow' };

/** Shows the status of a campaign. */
export function CampaignStatus({ status }: { status: string }) {
  return (
    // Allows several lines for a long status in a narrow space.
    <Badge
      variant="light"
      color={COLORS[status] ?? 'red'}
      tt="none"
      h="auto"
      mih={20}
      miw="min-content"
      styles={{ label: { whiteSpace: 'normal' } }}
    >
      {textOf('campaigns.status', status)}
    </Badge>
  );
}
