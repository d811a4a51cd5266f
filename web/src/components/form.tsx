import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { ErrorNote } from './states.tsx';

/** Form that is submitted by Enter or its button and shows an error above the button. */
export function Form({
  act,
  submit,
  color,
  note,
  children,
}: {
  act: { mutate: () => void; error: unknown; isPending: boolean };
  /** Label of the submit button. */
  submit: string;
  /** Colour of the submit button, such as red for an irreversible action. */
  color?: string;
  /** Content above the button. It replaces the API's error. */
  note?: ReactNode;
  children: ReactNode;
}) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        act.mutate();
      }}
    >
      <Stack>
        {children}
        {note ?? <ErrorNote error={act.error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={act.isPending} {...(color ? { color } : {})}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
