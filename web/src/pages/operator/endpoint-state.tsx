import { Badge } from '@mantine/core';
import type { AnswerOf } from '../../app/api.ts';
import { useText } from '../../text/index.ts';

export type Endpoint = AnswerOf<'/v1/webhooks'>['endpoints'][number];

/** Shows the state of an endpoint. */
export function EndpointState({ endpoint }: { endpoint: Endpoint }) {
  const t = useText();
  const [key, color] = !endpoint.enabled
    ? (['off', 'gray'] as const)
    : !endpoint.verified_at
      ? (['unverified', 'yellow'] as const)
      : endpoint.consecutive_failures > 0
        ? (['failing', 'red'] as const)
        : (['on', 'teal'] as const);
  return (
    <Badge variant="light" color={color} tt="none">
      {t(`operator.webhook.state.${key}`)}
    </Badge>
  );
}
