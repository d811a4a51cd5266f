import { Alert, Button, Group, List, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { SecretOnce } from '../../components/copy.tsx';
import { Facts } from '../../components/facts.tsx';
import { Section } from '../../components/section.tsx';
import { ErrorNote, Finding } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';

const CHECKS = ['dns', 'tls', 'connection', 'authentication'] as const;

/** Card of one app connection, with buttons to test it, to replace its signing secret, and to remove it. */
export function AppCard({
  app,
  stale,
  onEdit,
}: {
  app: AnswerOf<'/v1/app-connections'>['data'][number];
  /** Queries that a change makes stale. */
  stale: readonly Key[];
  onEdit: () => void;
}) {
  const t = useText();
  const [secret, setSecret] = useState<string>();
  const path = { params: { path: { id: app.id } } };
  const check = useAction(() => dataOf(heron.POST('/v1/app-connections/{id}/test', path)), { isShown: true });
  const rotate = useAction(() => dataOf(heron.POST('/v1/app-connections/{id}/rotate-secret', path)), {
    isShown: true,
    onDone: (answer) => setSecret(answer.secret),
  });
  const remove = useAction(() => dataOf(heron.DELETE('/v1/app-connections/{id}', path)), {
    stale,
    isShown: true,
    done: t('settings.app.deleted'),
  });
  const result = check.data;
  return (
    <Section
      title={app.name}
      action={
        <Group gap="xs">
          <Button
            size="xs"
            variant="default"
            aria-haspopup="dialog"
            aria-label={t('settings.edit.of', { name: app.name })}
            onClick={onEdit}
          >
            {t('settings.edit')}
          </Button>
          <ConfirmButton size="xs" act={remove} label={t('settings.delete')} title={t('settings.app.delete.ask')}>
            {t('settings.app.delete.why')}
          </ConfirmButton>
        </Group>
      }
    >
      <Stack gap="sm">
        <Facts
          rows={[
            [t('settings.app.url'), app.base_url],
            [t('settings.created'), <Ago key="at" at={app.created_at} />],
          ]}
        />
        {result ? (
          <Alert color={result.error ? 'red' : 'teal'} variant="light" role="status">
            <List size="sm" listStyleType="none">
              {CHECKS.map((one) => (
                <List.Item key={one}>
                  {t(result[one] ? 'settings.app.passed' : 'settings.app.failed', {
                    check: t(`settings.app.check.${one}`),
                  })}
                </List.Item>
              ))}
            </List>
            <Text size="sm" mt="xs" component="div">
              {result.error ? (
                <Finding message={result.error.message} fix={result.error.fix} />
              ) : (
                t('settings.app.answered', { status: String(result.status), ms: result.latency_ms })
              )}
            </Text>
          </Alert>
        ) : null}
        <ErrorNote error={check.error} />
        {secret ? (
          <SecretOnce name={t('settings.app.secret')} value={secret} onDone={() => setSecret(undefined)} />
        ) : null}
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={() => check.mutate()} loading={check.isPending}>
            {t('settings.app.test')}
          </Button>
          <ConfirmButton size="xs" act={rotate} label={t('settings.app.rotate')} title={t('settings.app.rotate.ask')}>
            {t('settings.app.rotate.why')}
          </ConfirmButton>
        </Group>
      </Stack>
    </Section>
  );
}
