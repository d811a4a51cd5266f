import { Badge } from '@mantine/core';
import { textOf } from '../../text/index.ts';

const COLORS: Record<string, string> = { active: 'teal', draft: 'gray', completed: 'blue', paused: 'yellow' };

/** Whether a campaign runs, in a word. */
export function CampaignStatus({ status }: { status: string }) {
  return (
    // A long one has several lines where there is little room.
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
