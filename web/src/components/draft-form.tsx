import { Group, Stack } from '@mantine/core';
import type { ComponentProps, ReactNode } from 'react';
import { submitHandler, type Draft } from './draft.ts';
import { SaveButtons } from './save-buttons.tsx';
import { ErrorNote } from './states.tsx';
import { ConcurrentChanges } from './concurrent-changes.tsx';

interface Foot<T> extends ComponentProps<typeof ConcurrentChanges<T>> {
  draft: Draft<T>;
  /** Label of the button for a new record. */
  submit?: string | undefined;
  /** Note above the buttons. */
  note?: ReactNode;
  /** Additional button next to the others. */
  beside?: ReactNode;
}

/** Form for a draft. All fields are saved together, with Enter or the button. */
export function DraftForm<T>({ children, ...foot }: Foot<T> & { children: ReactNode }) {
  return (
    <form onSubmit={submitHandler(foot.draft)}>
      <Stack>
        {children}
        <DraftFoot {...foot} isInForm />
      </Stack>
    </form>
  );
}

/** Footer of a draft's form: concurrent changes, API errors, and the buttons for saving and discarding. */
export function DraftFoot<T>({
  draft,
  names,
  say,
  submit,
  note,
  beside,
  isInForm = false,
}: Foot<T> & { isInForm?: boolean }) {
  return (
    <>
      <ConcurrentChanges draft={draft} names={names} say={say} />
      <ErrorNote error={draft.save.error} />
      {note}
      <Group gap={isInForm ? 'md' : 'xs'} justify={isInForm ? 'flex-end' : 'flex-start'}>
        {isInForm ? beside : null}
        <SaveButtons
          act={draft.save}
          label={submit}
          isChanged={draft.isChanged || submit !== undefined}
          isHeld={draft.theirs !== null}
          isInForm={isInForm}
          {...(submit === undefined ? { discard: draft.reset } : {})}
        />
        {isInForm ? null : beside}
      </Group>
    </>
  );
}
