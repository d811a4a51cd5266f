import { Button, Group, JsonInput, Modal, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import { useAction } from '../../components/action.ts';
import { Form } from '../../components/form.tsx';
import { Section } from '../../components/section.tsx';
import { toTriggerChoice, triggerName } from '../../components/trigger-names.ts';
import { TRIGGERS } from '../../components/triggers.ts';
import { textOf, useText } from '../../text/index.ts';

type Read = AnswerOf<'/v1/integrations/connections/{id}'>;
type Provider = AnswerOf<'/v1/integrations/catalog'>['catalog'][number];

/** List of an account's actions for events. */
export function Subscriptions({
  connection,
  provider,
  events,
  mayChange,
}: {
  connection: Read['connection'];
  provider: Provider;
  events: Read['events'];
  mayChange: boolean;
}) {
  const t = useText();
  const stale: readonly Key[] = [['integrations', connection.id]];
  const remove = useAction(
    (eventId: string) =>
      dataOf(
        heron.DELETE('/v1/integrations/connections/{id}/events/{eventId}', {
          params: { path: { id: connection.id, eventId } },
        }),
      ),
    { stale, done: t('integrations.event.removed') },
  );
  return (
    <Section
      title={t('integrations.events')}
      action={mayChange && provider.action_types.length > 0 ? <Add id={connection.id} provider={provider} /> : null}
    >
      {events.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('integrations.events.none')}
        </Text>
      ) : (
        <Stack gap="xs">
          {events.map((event) => (
            <Group key={event.id} justify="space-between" gap="md" wrap="nowrap" align="flex-start">
              <Text size="sm" className="wrap-anywhere">
                {t('integrations.event', { event: triggerName(event.event_type), action: actionName(event.action) })}
                {typeof event.config.message === 'string' ? (
                  <Text span inherit c="dimmed">{` ${event.config.message}`}</Text>
                ) : null}
                {event.enabled ? null : <Text span inherit c="dimmed">{` ${t('integrations.event.off')}`}</Text>}
              </Text>
              {mayChange ? (
                <Button
                  size="compact-xs"
                  variant="subtle"
                  color="red"
                  flex="none"
                  onClick={() => remove.mutate(event.id)}
                  loading={remove.isPending && remove.variables === event.id}
                >
                  {t('integrations.event.remove')}
                </Button>
              ) : null}
            </Group>
          ))}
        </Stack>
      )}
    </Section>
  );
}

/** Returns the name of an action without its provider. */
function actionName(action: string): string {
  return textOf('integrations.action', action.slice(action.indexOf('.') + 1), action);
}

function Add({ id, provider }: { id: string; provider: Provider }) {
  const t = useText();
  const [isOpen, dialog] = useDisclosure();
  const [event, setEvent] = useState<string | null>(provider.events[0] ?? null);
  const [action, setAction] = useState<string | null>(provider.action_types[0] ?? null);
  const [message, setMessage] = useState('');
  const [channel, setChannel] = useState('');
  const [json, setJson] = useState('{}');
  const isNotice = action?.endsWith('.notify') ?? false;
  const add = useAction(
    async () =>
      dataOf(
        heron.POST('/v1/integrations/connections/{id}/events', {
          params: { path: { id } },
          body: {
            event_type: event ?? '',
            action: action ?? '',
            enabled: true,
            config: isNotice
              ? { message, ...(provider.provider === 'slack' ? { channel } : {}) }
              : (JSON.parse(json) as Record<string, unknown>),
          },
        }),
      ),
    { stale: [['integrations', id]], done: t('integrations.event.added'), isShown: true, onDone: dialog.close },
  );
  const useful = provider.events as readonly string[];
  return (
    <>
      <Button size="xs" variant="default" aria-haspopup="dialog" onClick={dialog.open}>
        {t('integrations.event.add')}
      </Button>
      <Modal opened={isOpen} onClose={dialog.close} title={t('integrations.event.add')}>
        <Form act={add} submit={t('integrations.event.add')}>
          <Select
            label={t('integrations.event.when')}
            data={[
              { group: t('integrations.event.useful'), items: useful.map(toTriggerChoice) },
              {
                group: t('integrations.event.others'),
                items: TRIGGERS.filter((one) => !useful.includes(one)).map(toTriggerChoice),
              },
            ]}
            value={event}
            onChange={setEvent}
            searchable
            allowDeselect={false}
          />
          <Select
            label={t('integrations.event.then')}
            data={provider.action_types.map((value) => ({ value, label: actionName(value) }))}
            value={action}
            onChange={setAction}
            allowDeselect={false}
          />
          {isNotice ? (
            <>
              {provider.provider === 'slack' ? (
                <TextInput
                  label={t('integrations.event.channel')}
                  placeholder="#sales"
                  required
                  value={channel}
                  onChange={(change) => setChannel(change.currentTarget.value)}
                />
              ) : null}
              <Textarea
                label={t('integrations.event.message')}
                description={t('integrations.event.message.why')}
                autosize
                minRows={2}
                required
                value={message}
                onChange={(change) => setMessage(change.currentTarget.value)}
              />
            </>
          ) : (
            <JsonInput
              label={t('integrations.event.config')}
              description={t('integrations.event.config.why')}
              validationError={t('integrations.event.config.bad')}
              autosize
              minRows={3}
              value={json}
              onChange={setJson}
            />
          )}
        </Form>
      </Modal>
    </>
  );
}
