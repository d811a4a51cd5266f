import { Group, Paper, Title } from '@mantine/core';
import { useId, type ReactNode } from 'react';

/** Section of a page: title, actions and content. */
export function Section({
  title,
  action,
  size = 'h5',
  children,
}: {
  title: string;
  action?: ReactNode;
  size?: 'h4' | 'h5';
  children: ReactNode;
}) {
  const id = useId();
  return (
    <Paper withBorder radius="md" p="lg" component="section" aria-labelledby={id}>
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size={size} id={id} className="wrap-anywhere" flex="1 1 10rem">
          {title}
        </Title>
        {action}
      </Group>
      {children}
    </Paper>
  );
}
