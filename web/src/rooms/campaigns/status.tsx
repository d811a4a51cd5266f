import { Badge } from '@mantine/core';
import { textOf } from '../../text/index.ts';

const COLORS: Record<string, string> = { active: 'teal', draft: 'gray', completed: 'blue', paused: 'yellow' };

/** Whether a campaign runs, in a word. */
export function CampaignStatus({ status }: { status: string }) {
  return (
    <Badge variant="light" color={COLORS[status] ?? 'red'} tt="none">
      {textOf('campaigns.status', status)}
    </Badge>
  );
}
