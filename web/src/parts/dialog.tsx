import { Modal, type ModalProps } from '@mantine/core';
import { useEffect, useState } from 'react';
import { keepFocus } from './focus.ts';

/**
 * A dialog that stands open for as long as it is rendered, and then gives the focus back to what opened it. Mantine's own does that only
 * when it is there before it is opened.
 */
export function Dialog(props: Omit<ModalProps, 'opened'>) {
  const [opener] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      // The dialog leaves the page first; whoever closed it may have moved the focus elsewhere.
      setTimeout(() => {
        if (document.activeElement === document.body && opener instanceof HTMLElement)
          opener.focus({ preventScroll: true });
        keepFocus();
      });
    },
    [opener],
  );
  return <Modal {...props} opened />;
}
