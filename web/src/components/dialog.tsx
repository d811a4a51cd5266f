import { Modal, type ModalProps } from '@mantine/core';
import { useEffect, useState } from 'react';
import { restoreFocus } from './focus.ts';

/**
 * Dialog that is open as long as it is rendered. Afterwards it returns the focus to the element that opened it.
 * Mantine's modal returns the focus only if it is rendered before it is opened.
 */
export function Dialog(props: Omit<ModalProps, 'opened'>) {
  const [opener] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      // Waits until the dialog is removed, because its closing may have moved the focus elsewhere.
      setTimeout(() => {
        if (document.activeElement === document.body && opener instanceof HTMLElement)
          opener.focus({ preventScroll: true });
        restoreFocus();
      });
    },
    [opener],
  );
  return <Modal {...props} opened />;
}
