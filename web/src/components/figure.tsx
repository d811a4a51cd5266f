import { Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Shows one number with its label and a note. */
export function Figure({ label, value, note }: { label: string; value: ReactNode; note?: ReactNode }) {
  return (
    <Paper withBorder p="md" radius="md">
      <Text size="xs" c="dimmed" fw={600}>
        {label}
      </Text>
      <Text fz={{ base: 22, xs: 26 }} fw={650} lh={1.25} className="figures">
        {value}
      </Text>
      {note ? (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      ) : null}
    </Paper>
  );
}
