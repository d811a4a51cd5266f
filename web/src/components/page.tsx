import { Box, Group, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { PageLink, type Address } from './page-link.tsx';

/** Layout of a page: title, actions and content. */
export function Page({
  title,
  lead,
  back,
  actions,
  children,
}: {
  title: string;
  lead?: ReactNode;
  /** Link above the title to the parent page. */
  back?: { to: Address; label: string };
  actions?: ReactNode;
  children: ReactNode;
}) {
  useDocumentTitle(`${title} · Heron`);
  return (
    <Box maw={1180} mx="auto" w="100%">
      <Stack gap="lg">
        <Group justify="space-between" align="flex-end" gap="md">
          <Box miw={0} flex="1 1 16rem">
            {back ? (
              <PageLink to={back.to} size="sm">
                {back.label}
              </PageLink>
            ) : null}
            {/* Receives the focus when the focused element was removed (focus.ts). */}
            <Title order={1} size="h2" className="wrap-anywhere" tabIndex={-1} w="fit-content">
              {title}
            </Title>
            {lead ? (
              <Text c="dimmed" size="sm" mt={4} component="div">
                {lead}
              </Text>
            ) : null}
          </Box>
          {actions ? <Group gap="xs">{actions}</Group> : null}
        </Group>
        {children}
      </Stack>
    </Box>
  );
}
