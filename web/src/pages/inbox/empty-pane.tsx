import { Stack, Text, ThemeIcon, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** Empty state of a pane, without a frame. */
export function EmptyPane({
  icon: Picture,
  title,
  children,
}: {
  icon: (props: { size?: number; stroke?: number }) => ReactNode;
  title: string;
  children?: ReactNode;
}) {
  return (
    <Stack align="center" justify="center" gap="xs" p="xl" ta="center" mih={280}>
      <ThemeIcon size={48} radius="xl" variant="light">
        <Picture size={24} stroke={1.5} />
      </ThemeIcon>
      <Title order={2} size="h5">
        {title}
      </Title>
      {children ? (
        <Text c="dimmed" size="sm" maw={320} component="div">
          {children}
        </Text>
      ) : null}
    </Stack>
  );
}
