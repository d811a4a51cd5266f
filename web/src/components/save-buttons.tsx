import { Button } from '@mantine/core';
import { useRef } from 'react';
import { useText } from '../text/index.ts';
import { offProps } from './focus.ts';

/**
 * Buttons for saving and, if `reset` is given, for discarding changes. The pressed button keeps the focus when there is
 * nothing left to save.
 */
export function SaveButtons({
  act,
  label,
  isChanged,
  isHeld = false,
  isInForm = false,
  discard,
}: {
  act: { mutate: () => void; isPending: boolean };
  /** Label of the save button, if it has another effect besides saving. */
  label?: string | undefined;
  isChanged: boolean;
  /** True to disable saving while the person must first make a decision, such as about a conflict. */
  isHeld?: boolean;
  /** True if the surrounding form saves on Enter, too. */
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
            // Focuses the save button, because the pressed one is about to disappear.
            save.current?.focus();
          }}
        >
          {t('discard')}
        </Button>
      ) : null}
    </>
  );
}
