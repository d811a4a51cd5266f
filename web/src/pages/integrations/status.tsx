import { Badge } from '@mantine/core';
import type { AnswerOf } from '../../app/api.ts';
import { useText } from '../../text/index.ts';

const COLORS = {
  pending: 'gray',
  authorizing: 'gray',
  connected: 'teal',
  degraded: 'yellow',
  reauth_required: 'red',
  disconnected: 'gray',
} as const;

/** Shows the status of an account. */
export function ConnectionStatus({
  connection: { status, health },
}: {
  connection: Pick<AnswerOf<'/v1/integrations/connections'>['connections'][number], 'status' | 'health'>;
}) {
  const t = useText();
  const isIll = status === 'connected' && (health === 'degraded' || health === 'down');
  return (
    <Badge variant="light" color={isIll ? 'yellow' : COLORS[status]} tt="none" flex="none">
      {isIll ? t(`integrations.health.${health}`) : t(`integrations.status.${status}`)}
    </Badge>
  );
}
