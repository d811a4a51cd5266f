import { Badge } from '@mantine/core';
import type { RowOf } from '../../app/api.ts';
import { useText } from '../../text/index.ts';

export type Key = RowOf<'/v1/api-keys'>;

/** Shows the state of a key: active, expired or revoked. */
export function KeyState({ one: { status, expires_at: end } }: { one: Key }) {
  const t = useText();
  const isOver = end !== null && Date.parse(end) < Date.now();
  const [key, color] =
    status === 'revoked'
      ? (['agents.key.revoked', 'gray'] as const)
      : isOver
        ? (['agents.key.expired', 'yellow'] as const)
        : (['agents.key.active', 'teal'] as const);
  return (
    <Badge variant="light" color={color} tt="none">
      {t(key)}
    </Badge>
  );
}

/**
 * Returns true if a key has a permission. Uses no bit operators, because they would convert the mask to a signed 32-bit
 * number.
 */
export function hasPermission({ permissions }: Pick<Key, 'permissions'>, bit: number): boolean {
  return Math.floor(permissions / bit) % 2 === 1;
}
