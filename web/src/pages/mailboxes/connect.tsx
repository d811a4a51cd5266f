import {
  Button,
  Fieldset,
  Group,
  NumberInput,
  Paper,
  PasswordInput,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { Form } from '../../components/form.tsx';
import { Page } from '../../components/page.tsx';
import { useGoTo } from '../../components/page-link.tsx';
import { ErrorNote } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';
import { RefusalNote } from './refusal.tsx';
import { serversOf, type Security, type Server } from './servers.ts';

/**
 * Page that connects a mailbox with address and password, or by consent at Google or Microsoft. The servers are guessed
 * from the address.
 */
export default function ConnectPage() {
  const t = useText();
  const go = useGoTo();
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [servers, setServers] = useState(serversOf(''));
  const [gap, setGap] = useState<number | string>(10);
  const connect = useAction(
    () =>
      dataOf(
        heron.POST('/v1/emails', {
          body: {
            provider: 'smtp_imap',
            email,
            name,
            smtp: { ...servers.smtp, username: servers.smtp.username || email, password },
            imap: { ...servers.imap, username: servers.imap.username || email, password },
            min_wait_time: Math.round(Number(gap) * 60),
          },
        }),
      ),
    {
      stale: [['mailboxes'], ['checklist']],
      done: t('connect.done'),
      isShown: true,
      onDone: ({ id }) => go(`/mailboxes/${id}`),
    },
  );
  return (
    <Page
      title={t('mailboxes.connect')}
      lead={t('connect.lead')}
      back={{ to: '/mailboxes', label: t('nav.mailboxes') }}
    >
      <Consent />
      <Paper withBorder radius="md" p="lg" maw={760}>
        <Form act={connect} submit={t('connect.submit')} note={<RefusalNote error={connect.error} />}>
          <SimpleGrid cols={{ base: 1, sm: 2 }} style={{ alignItems: 'end' }}>
            <TextInput
              label={t('connect.email')}
              type="email"
              required
              autoComplete="off"
              value={email}
              onChange={(event) => setEmail(event.currentTarget.value)}
              onBlur={() => setServers((before) => (before.smtp.host ? before : serversOf(email)))}
            />
            <TextInput
              label={t('connect.name')}
              description={t('connect.name.why')}
              required
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
            />
          </SimpleGrid>
          <PasswordInput
            label={t('connect.password')}
            description={t('connect.password.why')}
            required
            autoComplete="new-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <ServerFields
              legend={t('connect.smtp')}
              server={servers.smtp}
              email={email}
              onChange={(smtp) => setServers({ ...servers, smtp })}
            />
            <ServerFields
              legend={t('connect.imap')}
              server={servers.imap}
              email={email}
              onChange={(imap) => setServers({ ...servers, imap })}
            />
          </SimpleGrid>
          <NumberInput
            label={t('connect.gap')}
            description={t('connect.gap.why')}
            min={0}
            max={1440}
            value={gap}
            onChange={setGap}
            maw={320}
          />
        </Form>
      </Paper>
    </Page>
  );
}

function ServerFields({
  legend,
  server,
  email,
  onChange,
}: {
  legend: string;
  server: Server;
  email: string;
  onChange: (server: Server) => void;
}) {
  const t = useText();
  const securities: Security[] = ['tls', 'starttls', 'none'];
  return (
    <Fieldset legend={legend} radius="md" mx={0}>
      <Stack gap="xs">
        <TextInput
          label={t('connect.host')}
          required
          value={server.host}
          onChange={(event) => onChange({ ...server, host: event.currentTarget.value })}
        />
        <Group grow align="flex-start">
          <NumberInput
            label={t('connect.port')}
            required
            min={1}
            max={65_535}
            hideControls
            value={server.port}
            onChange={(port) => onChange({ ...server, port: Number(port) })}
          />
          <Select
            label={t('connect.security')}
            data={securities.map((value) => ({ value, label: t(`connect.security.${value}`) }))}
            value={server.security}
            onChange={(value) => onChange({ ...server, security: (value ?? 'tls') as Security })}
            allowDeselect={false}
          />
        </Group>
        <TextInput
          label={t('connect.username')}
          description={t('connect.username.why')}
          placeholder={email}
          value={server.username}
          onChange={(event) => onChange({ ...server, username: event.currentTarget.value })}
          autoComplete="off"
        />
      </Stack>
    </Fieldset>
  );
}

function Consent() {
  const t = useText();
  const start = useAction(
    (provider: 'gmail' | 'outlook') =>
      dataOf(heron.POST('/v1/emails/onboarding/oauth/cli-start', { body: { provider } })),
    { isShown: true, onDone: ({ url }) => window.location.assign(url) },
  );
  return (
    <Stack gap="xs" maw={760}>
      <Group>
        <Button
          variant="default"
          onClick={() => start.mutate('gmail')}
          loading={start.isPending && start.variables === 'gmail'}
        >
          {t('connect.google')}
        </Button>
        <Button
          variant="default"
          onClick={() => start.mutate('outlook')}
          loading={start.isPending && start.variables === 'outlook'}
        >
          {t('connect.microsoft')}
        </Button>
        <Text size="sm" c="dimmed">
          {t('connect.or')}
        </Text>
      </Group>
      <ErrorNote error={start.error} />
    </Stack>
  );
}
