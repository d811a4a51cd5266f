import { Alert, Button, Group, Kbd, Menu } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { shownAddress } from '../../components/address.ts';
import { useAction } from '../../components/action.ts';
import { textOf, useText } from '../../text/index.ts';
import { correctReading, declineOptOut } from './actions.ts';
import { isCorrectable, KINDS } from './kinds.ts';
import type { Message } from './address.ts';

/**
 * Shows the classification of a received message, and offers the actions that follow: a decision about a doubtful
 * opt-out, a pause, a new contact.
 */
export function Reading({ message }: { message: Message }) {
  const mayWrite = useCan('send_campaigns');
  if (!isCorrectable(message)) return null;
  return (
    <>
      {message.asks_to_stop ? <AsksToStop message={message} mayWrite={mayWrite} /> : null}
      <Group gap="xs">
        {mayWrite ? <KindMenu message={message} /> : null}
        <PauseOffer message={message} />
        <ReferralOffer message={message} />
      </Group>
    </>
  );
}

/** Shows that a message may be an opt-out. No email is sent to its address until a person decides. */
function AsksToStop({ message, mayWrite }: { message: Message; mayWrite: boolean }) {
  const t = useText();
  return (
    <Alert color="yellow" variant="light" role="note" title={t('inbox.asks')}>
      {t('inbox.asks.why')}
      {mayWrite ? (
        <Group gap="xs" mt="xs">
          <Button
            size="compact-sm"
            color="red"
            variant="light"
            rightSection={<Kbd size="xs">6</Kbd>}
            onClick={() => void correctReading(message.id, 'opt_out', message.answer?.kind)}
          >
            {t('inbox.asks.yes')}
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            rightSection={<Kbd size="xs">0</Kbd>}
            onClick={() => void declineOptOut(message.id)}
          >
            {t('inbox.asks.no')}
          </Button>
        </Group>
      ) : null}
    </Alert>
  );
}

/** Menu with the kind of the message, and the other kinds that a person can choose. */
function KindMenu({ message }: { message: Message }) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  const { answer } = message;
  return (
    <Menu opened={isOpen} onChange={setOpen} position="bottom-start" width={230} withinPortal>
      <Menu.Target>
        <Button size="compact-xs" variant="default" title={t('inbox.reading.why')}>
          {answer ? textOf('inbox.kind', answer.kind) : t('inbox.reading.none')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('inbox.reading.correct')}</Menu.Label>
        {KINDS.map((kind, at) => (
          <Menu.Item
            key={kind}
            role="menuitemradio"
            aria-checked={answer?.kind === kind}
            rightSection={<Kbd size="xs">{at + 1}</Kbd>}
            onClick={() => void correctReading(message.id, kind, answer?.kind)}
          >
            {textOf('inbox.kind', kind)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Offers to pause the lead until the day that a "not now" reply names. */
function PauseOffer({ message: { answer, campaign_id: id, contact_id: contactId } }: { message: Message }) {
  const t = useText();
  const mayWrite = useCan('send_campaigns');
  const pause = useAction(
    (until: string) =>
      dataOf(
        heron.POST('/v1/campaigns/{id}/leads/{contactId}/pause', {
          params: { path: { id: id!, contactId: contactId! } },
          body: { until, reason: t('inbox.pause.reason') },
        }),
      ),
    { done: t('inbox.pause.done'), stale: [['campaigns'], ['contacts']] },
  );
  const until = answer?.kind === 'not_now' ? answer.until : null;
  if (!mayWrite || !until || !id || !contactId || Date.parse(until) <= Date.now()) return null;
  return (
    <Button
      size="compact-xs"
      variant="light"
      loading={pause.isPending}
      disabled={pause.isSuccess}
      onClick={() => pause.mutate(until)}
    >
      {t('inbox.pause', { at: until })}
    </Button>
  );
}

/** Offers to add the person whom a referral or an out-of-office note names. */
function ReferralOffer({ message: { id, answer } }: { message: Message }) {
  const t = useText();
  const mayAdd = useCan('manage_contacts');
  const add = useAction(() => dataOf(heron.POST('/v1/unibox/{id}/contact', { params: { path: { id } } })), {
    done: t('inbox.referral.done'),
    stale: [['contacts']],
  });
  const person = answer?.kind === 'referral' || answer?.kind === 'out_of_office' ? answer.person : null;
  if (!mayAdd || !person?.email) return null;
  return (
    <Button
      size="compact-xs"
      variant="light"
      loading={add.isPending}
      disabled={add.isSuccess}
      title={person.email}
      onClick={() => add.mutate()}
    >
      {t('inbox.referral', { name: person.name ?? shownAddress(person.email) })}
    </Button>
  );
}
