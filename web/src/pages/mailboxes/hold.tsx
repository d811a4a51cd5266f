import { Alert, Button, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { toDateTime } from '../../components/time.tsx';
import { textOf, useText } from '../../text/index.ts';

type Mailbox = RowOf<'/v1/emails'>;
type Hold = NonNullable<Mailbox['hold']>;
/** Codes of holds that a person may release. Other holds end when their cause ends. */
const LIFTED = new Set([
  'sender_refused',
  'sending_limit',
  'sending_suspended',
  'sender_not_verified',
  'sender_reputation',
  'server_refused',
]);

/** Shows the reason of a hold, with the server's text, and its fix. */
export function HoldNote({ hold, title, children }: { hold: Hold; title: ReactNode; children?: ReactNode }) {
  const t = useText();
  return (
    <Alert color="red" variant="light" title={title} role="note">
      <Stack gap="xs" align="flex-start">
        <Text size="sm" className="wrap-anywhere">
          {textOf('hold.fix', hold.code, hold.fix)}
        </Text>
        <Text size="sm" c="dimmed" className="wrap-anywhere">
          {t('hold.said', { reason: hold.reason })}
        </Text>
        {hold.until ? (
          <Text size="sm" c="dimmed">
            {t('hold.until', { when: toDateTime(hold.until) })}
          </Text>
        ) : null}
        {children}
      </Stack>
    </Alert>
  );
}

/** Shows the hold of a mailbox on its page, with a button to release it if this is allowed. */
export function HeldMailbox({ mailbox: { id, hold } }: { mailbox: Pick<Mailbox, 'id' | 'hold'> }) {
  const t = useText();
  const may = useCan('manage_settings');
  const lift = useAction(
    () => dataOf(heron.PATCH('/v1/emails/{id}', { params: { path: { id } }, body: { status: 'active' } })),
    { stale: [['mailboxes'], ['checklist']], done: t('hold.lifted') },
  );
  if (!hold) return null;
  return (
    <HoldNote hold={hold} title={hold.title}>
      {may && LIFTED.has(hold.code) ? (
        <Button size="xs" variant="default" onClick={() => lift.mutate()} loading={lift.isPending}>
          {t('hold.lift')}
        </Button>
      ) : null}
    </HoldNote>
  );
}
