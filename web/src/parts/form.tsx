import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { ErrorNote } from './states.tsx';

/** Fields that are sent together: Enter or the button sends them, and an error stands above the button. */
export function Form({
  act,
  submit,
  note,
  children,
}: {
  act: { mutate: () => void; error: unknown; isPending: boolean };
  /** What the button says. */
  submit: string;
  /** What stands above the button instead of the error as the API says it. */
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
          <Button type="submit" loading={act.isPending}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
