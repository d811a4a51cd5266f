import { Anchor, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { Link, type ErrorComponentProps } from '@tanstack/react-router';
import { ErrorNote } from '../components/states.tsx';
import { useText } from '../text/index.ts';

/** Error page, shown when a page fails to load or render. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const t = useText();
  return (
    <Stack p="md" maw={640} mx="auto" gap="md">
      <Title order={1} size="h2">
        {t('error.page')}
      </Title>
      <ErrorNote error={error} onRetry={() => (reset(), window.location.reload())} />
    </Stack>
  );
}

/** Page for an unknown URL of the dashboard. */
export function NotFound() {
  const t = useText();
  useDocumentTitle(`${t('error.lost')} · Heron`);
  return (
    <Stack maw={1180} mx="auto" w="100%" gap="sm">
      <Title order={1} size="h2">
        {t('error.lost')}
      </Title>
      <Text c="dimmed" size="sm">
        {t('error.lost.why')}
      </Text>
      <Anchor component={Link} to="/" size="sm">
        {t('error.lost.back')}
      </Anchor>
    </Stack>
  );
}
