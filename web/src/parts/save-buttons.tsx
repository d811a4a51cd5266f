import { Button } from '@mantine/core';
import { useRef } from 'react';
import { useText } from '../text/index.ts';
import { offProps } from './focus.ts';

/** Keeps what was changed, and where there is a way back, takes it back. What was pressed keeps the focus when there is nothing left to save. */
export function SaveButtons({
  act,
  label,
  isChanged,
  isHeld = false,
  isInForm = false,
  discard,
}: {
  act: { mutate: () => void; isPending: boolean };
  /** What the button says, where it does not only save. */
  label?: string | undefined;
  isChanged: boolean;
  /** Something has to be decided before. */
  isHeld?: boolean;
  /** Enter in a field saves too: the form around it does (`sends` of draft.ts). */
  isInForm?: boolean;
  discard?: () => void;
}) {
  const t = useText();
  const save = useRef<HTMLButtonElement>(null);
  return (
    <>
      <Button
        ref={save}
        type={isInForm ? 'submit' : 'button'}
        loading={act.isPending}
        {...offProps(!isChanged || isHeld, () => (isInForm ? undefined : act.mutate()))}
      >
        {label ?? t('save')}
      </Button>
      {discard && isChanged ? (
        <Button
          variant="default"
          onClick={() => {
            discard();
            // This button goes.
            save.current?.focus();
          }}
        >
          {t('discard')}
        </Button>
      ) : null}
    </>
  );
}
