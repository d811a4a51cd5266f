import { Alert, Button, Code, List, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { Dialog } from '../../components/dialog.tsx';
import { useAction } from '../../components/action.ts';
import { Form } from '../../components/form.tsx';
import { useGoTo } from '../../components/page-link.tsx';
import { useText } from '../../text/index.ts';

type Provider = AnswerOf<'/v1/integrations/catalog'>['catalog'][number];

/** Connects an account with a pasted key, which is first verified at the provider, or by consent at the provider. */
export function Connect({ provider, onClose }: { provider: Provider; onClose: () => void }) {
  const t = useText();
  const go = useGoTo();
  const [label, setLabel] = useState('');
  const [secret, setSecret] = useState('');
  const isOAuth = provider.auth_method === 'oauth';
  const named = label ? { label } : {};
  const consent = useAction(
    () => dataOf(heron.POST('/v1/integrations/oauth/start', { body: { provider: provider.provider, ...named } })),
    { isShown: true, onDone: ({ authorize_url }) => window.location.assign(authorize_url) },
  );
  const connect = useAction(
    () =>
      dataOf(
        heron.POST('/v1/integrations/connections', {
          body: {
            provider: provider.provider,
            ...named,
            config: provider.auth_method === 'webhook' ? { webhook_url: secret } : { api_key: secret },
          },
        }),
      ),
    {
      stale: [['integrations']],
      done: t('integrations.connected', { name: provider.name }),
      isShown: true,
      onDone: ({ id, inbound_webhook_url }) => (inbound_webhook_url ? undefined : go(`/integrations/${id}`)),
    },
  );
  const address = connect.data?.inbound_webhook_url;
  return (
    <Dialog onClose={onClose} title={t('integrations.connectTo', { name: provider.name })}>
      {connect.data && address ? (
        <Stack>
          <Alert role="note" variant="light" color="teal" title={t('integrations.inbound')}>
            <Text size="sm">{t('integrations.inbound.why', { name: provider.name })}</Text>
          </Alert>
          <Code block className="wrap-anywhere">
            {address}
          </Code>
          <Button onClick={() => go(`/integrations/${connect.data.id}`)}>{t('integrations.open')}</Button>
        </Stack>
      ) : (
        <Form act={isOAuth ? consent : connect} submit={t(isOAuth ? 'integrations.consent' : 'integrations.connect')}>
          <List size="sm">
            {provider.highlights.map((one) => (
              <List.Item key={one}>{one}</List.Item>
            ))}
          </List>
          {isOAuth ? (
            <Text size="sm" c="dimmed">
              {t('integrations.consent.why', { name: provider.name })}
            </Text>
          ) : (
            <PasswordInput
              label={t(provider.auth_method === 'webhook' ? 'integrations.webhookUrl' : 'integrations.key')}
              description={provider.webhook_hint}
              required
              autoComplete="off"
              data-autofocus
              value={secret}
              onChange={(event) => setSecret(event.currentTarget.value)}
            />
          )}
          <TextInput
            label={t('integrations.label')}
            description={t('integrations.label.why')}
            maxLength={100}
            value={label}
            onChange={(event) => setLabel(event.currentTarget.value)}
          />
        </Form>
      )}
    </Dialog>
  );
}
