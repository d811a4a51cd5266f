import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { ErrorNote } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';

/** Confirmation dialog of an irreversible action, with an explanation. */
export function Confirm({
  opened,
  close,
  title,
  action,
  act,
  children,
}: {
  opened: boolean;
  close: () => void;
  title: string;
  /** Label of the confirming button. */
  action: string;
  act: { mutate: () => void; error: unknown; isPending: boolean };
  children: ReactNode;
}) {
  const t = useText();
  return (
    <Modal opened={opened} onClose={close} title={<span className="wrap-anywhere">{title}</span>}>
      <Stack>
        <Text size="sm">{children}</Text>
        <ErrorNote error={act.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={close} data-autofocus>
            {t('cancel')}
          </Button>
          <Button color="red.9" onClick={() => act.mutate()} loading={act.isPending}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
