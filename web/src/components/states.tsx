import { Alert, Anchor, Box, Button, Group, List, Paper, Skeleton, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import IconAlert from 'tabler:alert-triangle';
import type { ReactNode } from 'react';
import { HeronError } from '../app/api.ts';
import { SessionEnded } from '../app/session.ts';
import { text, useText } from '../text/index.ts';
import { messageText } from '../text/server.ts';

/** Shows an error of the API: message, fields and fix. */
export function ErrorNote({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  const t = useText();
  if (!error) return null;
  const { message: title, problems, fix, requestId } = errorTexts(error);
  return (
    <Alert color="red" variant="light" icon={<IconAlert size={18} />} title={title} role="alert">
      {problems.length > 0 ? (
        <List size="sm" mb={fix ? 'xs' : 0}>
          {problems.map(({ path, message }) => (
            <List.Item key={path + message}>
              <b>{path.replace(/^body\./, '')}</b> {message}
            </List.Item>
          ))}
        </List>
      ) : null}
      {fix ? <Text size="sm">{fix}</Text> : null}
      {error instanceof SessionEnded ? (
        <Anchor href="/account/sign-in?to=/" target="_blank" size="sm">
          {t('session.signIn')}
        </Anchor>
      ) : null}
      {requestId ? (
        <Text size="xs" mt={4}>
          {t('error.request', { id: requestId })}
        </Text>
      ) : null}
      {onRetry ? (
        <Button size="xs" variant="default" mt="sm" onClick={onRetry}>
          {t('error.again')}
        </Button>
      ) : null}
    </Alert>
  );
}

/** Browser errors for a request without an answer: Chromium, Firefox, Safari. */
const NO_ANSWER = /^Failed to fetch|^NetworkError|^Load failed/;

/** Returns the texts of an error of the API or of the network. */
export function errorTexts(error: unknown): {
  message: string;
  problems: readonly { path: string; message: string }[];
  fix?: string | undefined;
  requestId?: string | undefined;
} {
  if (error instanceof HeronError)
    return {
      message: messageOf(error),
      problems: error.problems.map((problem) => ({ path: problem.path, message: messageText(problem) })),
      fix: error.fix,
      requestId: error.status >= 500 ? error.requestId : undefined,
    };
  if (error instanceof SessionEnded)
    return { message: text('session.ended'), problems: [], fix: text('session.ended.fix') };
  if (error instanceof TypeError && NO_ANSWER.test(error.message))
    return { message: text('error.network'), problems: [], fix: text('error.network.fix') };
  return { message: error instanceof Error ? error.message : String(error), problems: [] };
}

function messageOf({ said: message, messageCode, messageValues, code, status }: HeronError): string {
  // An error without a code comes from a proxy between browser and API.
  return code
    ? messageText({ message, code: messageCode, values: messageValues })
    : text('error.answer', { status: String(status) });
}

/** Fix that names an API request, such as "Choose senders with PUT /v1/campaigns/:id/senders". */
const REQUEST = /\b(GET|POST|PUT|PATCH|DELETE) \/v1\//;

/**
 * Shows a finding and its fix. A fix that names an API request is omitted if the page links to the place where the
 * problem can be fixed.
 */
export function Finding({ message, fix, hasPlace = false }: { message: string; fix: string; hasPlace?: boolean }) {
  return (
    <>
      {message}
      {fix && !(hasPlace && REQUEST.test(fix)) ? (
        <Text span c="dimmed" inherit display="block">
          {fix}
        </Text>
      ) : null}
    </>
  );
}

type Icon = (props: { size?: number; stroke?: number }) => ReactNode;

/** Empty state of a page: its purpose and the first action. */
export function Empty({
  icon: Picture,
  title,
  children,
  action,
}: {
  icon: Icon;
  title: string;
  children: ReactNode;
  action?: ReactNode;
}) {
  return (
    <Paper withBorder p="xl" radius="md">
      <Stack align="center" gap="sm" py="lg" ta="center" maw={480} mx="auto">
        <ThemeIcon size={52} radius="xl" variant="light">
          <Picture size={26} stroke={1.5} />
        </ThemeIcon>
        <Title order={2} size="h4">
          {title}
        </Title>
        <Text c="dimmed" size="sm" component="div">
          {children}
        </Text>
        {action}
      </Stack>
    </Paper>
  );
}

/** Skeleton of a list that is loading. */
export function ListSkeleton({ rows = 6, height = 44 }: { rows?: number; height?: number }) {
  const t = useText();
  return (
    <Stack gap="xs" role="status" aria-label={t('loading')}>
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} height={height} radius="sm" />
      ))}
    </Stack>
  );
}

/** Skeleton of a row of figures that are loading. */
export function FiguresSkeleton({ count = 4 }: { count?: number }) {
  const t = useText();
  return (
    <Group grow role="status" aria-label={t('loading')}>
      {Array.from({ length: count }, (_, at) => (
        <Skeleton key={at} height={84} radius="md" />
      ))}
    </Group>
  );
}

/** Renders a query: its error, its skeleton, or its data. */
export function Answered<T>({
  query,
  skeleton,
  children,
}: {
  query: { data: T | undefined; error: unknown; isPending: boolean; refetch: () => unknown };
  skeleton: ReactNode;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined)
    return (
      <>
        {query.error ? (
          <Box mb="sm">
            <ErrorNote error={query.error} onRetry={() => void query.refetch()} />
          </Box>
        ) : null}
        {children(query.data)}
      </>
    );
  if (query.error) return <ErrorNote error={query.error} onRetry={() => void query.refetch()} />;
  return <>{skeleton}</>;
}
