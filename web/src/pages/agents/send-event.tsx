import { Alert, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { CopyBox } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { useText } from '../../text/index.ts';

/** Dialog that sends a product event, and shows the request that a program would send. */
export function SendEvent({ onClose }: { onClose: () => void }) {
  const t = useText();
  const [name, setName] = useState('test.event');
  const [email, setEmail] = useState('');
  const [userId, setUserId] = useState('');
  const [data, setData] = useState('{}');
  const values = parsed(data);
  const body = { name, email, ...(userId ? { user_id: userId } : {}), data: values ?? {} };
  const send = useAction(
    () => {
      if (!values) throw new Error(t('agents.event.notJson'));
      // Sets this header because the route's type requires it, although the client would add it.
      const key = crypto.randomUUID();
      return dataOf(heron.POST('/v1/events', { params: { header: { 'Idempotency-Key': key } }, body }));
    },
    { stale: [['events']], isShown: true },
  );
  const sent = send.data;
  return (
    <Dialog onClose={onClose} title={t('agents.event.send')} size="lg">
      <Form
        act={send}
        submit={t('agents.event.send.do')}
        note={
          sent ? (
            <Alert color="teal" variant="light" role="status">
              {t('agents.event.accepted', { count: sent.matched_waits })}
            </Alert>
          ) : undefined
        }
      >
        <TextInput
          label={t('agents.event.name')}
          description={t('agents.event.name.why')}
          required
          maxLength={120}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        <TextInput
          label={t('team.email')}
          description={t('agents.event.email.why')}
          type="email"
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <TextInput
          label={t('agents.event.user')}
          description={t('agents.event.user.why')}
          maxLength={255}
          value={userId}
          onChange={(event) => setUserId(event.currentTarget.value)}
        />
        <Textarea
          label={t('agents.event.data')}
          description={t('agents.event.data.why')}
          error={values ? null : t('agents.event.notJson')}
          autosize
          minRows={3}
          maxRows={12}
          value={data}
          onChange={(event) => setData(event.currentTarget.value)}
        />
        <Stack gap={4}>
          <Text size="sm" c="dimmed">
            {t('agents.event.request')}
          </Text>
          <CopyBox label={t('agents.event.request')} value={requestOf(body)} />
        </Stack>
      </Form>
    </Dialog>
  );
}

/** Parses the data of an event; undefined unless it is a JSON object. */
function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the same request as a shell command. */
function requestOf(body: object): string {
  const json = JSON.stringify(body).replaceAll("'", String.raw`'\''`);
  return [
    `curl -X POST ${window.location.origin}/v1/events`,
    `-H "Authorization: Bearer $HERON_KEY" -H "Idempotency-Key: $(uuidgen)"`,
    `-H "Content-Type: application/json" -d '${json}'`,
  ].join(' \\\n  ');
}
