import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { text } from '../text/index.ts';
import { showError } from './action.ts';

/** Time (ms) for which a notification offers to undo an action. */
const OFFERED_MS = 8_000;

let last: { id: string; undo: () => Promise<unknown> } | undefined;

/** Shows the result of an action and offers to undo it. */
export function offerUndo(said: string, undo: () => Promise<unknown>): void {
  const id = notifications.show({
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{said}</Text>
        <Button size="compact-sm" variant="light" onClick={undoLast}>
          {text('undo')}
        </Button>
      </Group>
    ),
    autoClose: OFFERED_MS,
    onClose: () => {
      if (last?.id === id) last = undefined;
    },
  });
  if (last) notifications.hide(last.id);
  last = { id, undo };
}

/** Undoes the last action while the undo is offered. */
export function undoLast(): void {
  if (!last) return;
  const { id, undo } = last;
  last = undefined;
  notifications.hide(id);
  undo().catch(showError);
}
