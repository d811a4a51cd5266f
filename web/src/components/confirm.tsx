import { Button, Group, Modal, Stack, Text, type ButtonProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useText } from '../text/index.ts';
import { ErrorNote } from './states.tsx';

/** Button for an irreversible action, with a confirmation dialog that explains the effects. */
export function ConfirmButton({
  label,
  title,
  children,
  act,
  ...button
}: ButtonProps & {
  /** Label of this button and of the dialog's confirming button. */
  label: string;
  /** Title of the dialog, a question. */
  title: string;
  /** Text that explains the effects of the action. */
  children: ReactNode;
  act: { mutateAsync: () => Promise<unknown>; error: unknown; isPending: boolean; reset: () => void };
}) {
  const t = useText();
  const [isOpen, dialog] = useDisclosure(false, { onOpen: act.reset });
  const confirm = () =>
    act.mutateAsync().then(dialog.close, () => {
      // On an error the dialog stays open and shows the error.
    });
  return (
    <>
      <Button variant="default" {...button} aria-haspopup="dialog" onClick={dialog.open}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={dialog.close} title={title}>
        <Stack>
          <Text size="sm" component="div" className="wrap-anywhere">
            {children}
          </Text>
          <ErrorNote error={act.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={dialog.close}>
              {t('cancel')}
            </Button>
            <Button color="red.9" onClick={() => void confirm()} loading={act.isPending} data-autofocus>
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
