import { ActionIcon, Button, Group, Stack, Text, Title, Tooltip } from '@mantine/core';
import IconArchive from 'tabler:archive';
import IconArrowLeft from 'tabler:arrow-left';
import IconInbox from 'tabler:inbox';
import IconMail from 'tabler:mail';
import IconSnooze from 'tabler:clock-pause';
import IconTag from 'tabler:tag';
import IconTrash from 'tabler:trash';
import IconUser from 'tabler:user';
import { useQuery } from '@tanstack/react-query';
import { forwardRef, useEffect, useRef, useState, type ReactNode } from 'react';
import { dataOf, eachOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';
import { fileThread, markSeen, snoozeThread, targetOf, unsnoozeThread } from './actions.ts';
import type { Message, Thread } from './address.ts';
import { ContactPanel, useContact, variablesOf } from './contact-panel.tsx';
import { draftsQuery } from './draft.ts';
import { LabelMenu } from './labels.tsx';
import { MessageCard } from './message.tsx';
import { Reply, type ReplyMode } from './reply.tsx';
import { useWaiting, WaitingCard } from './waiting.tsx';
import { WhenMenu } from './when.tsx';

/** Panel that is open in a conversation; shortcuts can open it, too. */
export type Panel = ReplyMode | 'snooze' | 'labels' | undefined;
/** Maximum number of messages shown in one conversation. */
const MOST_MESSAGES = 500;

/** Loads the messages of a conversation, oldest first. */
export function useMessages(threadId: string) {
  return useQuery({
    queryKey: ['inbox', 'thread', threadId],
    enabled: threadId !== '',
    queryFn: async ({ signal }) => {
      const messages: Message[] = [];
      for await (const one of eachOf((cursor) =>
        heron.GET('/v1/unibox/thread', {
          params: { query: { thread_id: threadId, limit: 100, ...(cursor ? { cursor } : {}) } },
          signal,
        }),
      )) {
        messages.push(one);
        if (messages.length === MOST_MESSAGES) break;
      }
      return messages;
    },
  });
}

/** Returns the ids of the received messages. */
export function receivedIds(messages: readonly Message[] | undefined): string[] {
  return (messages ?? []).filter(({ direction }) => direction === 'received').map(({ id }) => id);
}

/** Pane of one conversation: actions, messages, reply and sender. */
export function ThreadPane({
  threadId,
  row,
  panel,
  onPanel,
  onClose,
  onLeave,
}: {
  threadId: string;
  /** Row of the conversation in the list. Undefined if the conversation was opened by a link. */
  row: Thread | undefined;
  panel: Panel;
  onPanel: (panel: Panel) => void;
  onClose: () => void;
  /** Called before the conversation leaves the list, to show the next one. */
  onLeave: () => void;
}) {
  const t = useText();
  const mayWrite = useCan('send_campaigns');
  const [isBeside, setBeside] = useState(false);
  const messages = useMessages(threadId);
  const drafts = useQuery(draftsQuery);
  const waiting = useWaiting(threadId);
  const incoming = messages.data?.filter(({ direction }) => direction === 'received') ?? [];
  const newest = incoming.at(-1);
  const contactId = messages.data?.findLast(({ contact_id: id }) => id !== null)?.contact_id ?? undefined;
  const contact = useContact(contactId);
  useMarkShownAsRead(threadId, messages.data, mayWrite);
  const subject = messages.data?.at(-1)?.subject;
  const folder = row?.folder ?? 'inbox';
  const file = (to: 'inbox' | 'archive' | 'trash') => {
    onLeave();
    void fileThread(threadId, receivedIds(messages.data), to, targetOf(folder));
  };
  return (
    <section className="inbox-thread" aria-label={t('inbox.thread')}>
      <header className="inbox-thread-head">
        <ActionIcon variant="subtle" size="lg" className="inbox-back" aria-label={t('inbox.back')} onClick={onClose}>
          <IconArrowLeft size={18} />
        </ActionIcon>
        <Title order={2} size="h5" className="clip" title={subject} dir="auto" flex={1}>
          {subject === '' ? t('inbox.noSubject') : (subject ?? t('loading'))}
        </Title>
        {mayWrite && newest ? (
          <Group gap={2} wrap="nowrap">
            <Act
              label={t(folder === 'inbox' ? 'inbox.key.archive' : 'inbox.restore')}
              onClick={() => file(folder === 'inbox' ? 'archive' : 'inbox')}
            >
              {folder === 'inbox' ? <IconArchive size={17} /> : <IconInbox size={17} />}
            </Act>
            <WhenMenu
              label={t('inbox.key.snooze')}
              isOpen={panel === 'snooze'}
              onOpen={(isOpen) => onPanel(isOpen ? 'snooze' : undefined)}
              onChoose={(until) => {
                onLeave();
                void snoozeThread(threadId, until);
              }}
            >
              <Act label={t('inbox.key.snooze')}>
                <IconSnooze size={17} />
              </Act>
            </WhenMenu>
            <LabelMenu
              threadId={threadId}
              isOpen={panel === 'labels'}
              onOpen={(isOpen) => onPanel(isOpen ? 'labels' : undefined)}
            >
              <Act label={t('inbox.key.label')}>
                <IconTag size={17} />
              </Act>
            </LabelMenu>
            <Act label={t('inbox.key.unread')} onClick={() => void markSeen(threadId, [newest.id], { seen: false })}>
              <IconMail size={17} />
            </Act>
            {folder === 'trash' ? null : (
              <Act label={t('inbox.key.trash')} onClick={() => file('trash')}>
                <IconTrash size={17} />
              </Act>
            )}
          </Group>
        ) : null}
        <ActionIcon
          variant={isBeside ? 'light' : 'subtle'}
          size="lg"
          color="gray"
          className="inbox-who-button"
          aria-label={t('inbox.contact')}
          aria-expanded={isBeside}
          onClick={() => setBeside(!isBeside)}
        >
          <IconUser size={17} />
        </ActionIcon>
      </header>
      <div className="inbox-thread-body" data-beside={isBeside || undefined}>
        <div className="inbox-messages" tabIndex={0} role="group" aria-label={t('inbox.messages')}>
          <Answered query={messages} skeleton={<ListSkeleton rows={3} height={140} />}>
            {(data) => (
              <Stack gap="sm">
                {row === undefined ? null : <SnoozedNote threadId={threadId} />}
                {data.map((message, at) => (
                  <MessageCard key={message.id} message={message} isFolded={at < data.length - 2 && message.seen} />
                ))}
                {waiting.data?.data.map((email) => (
                  <WaitingCard key={email.task_id} email={email} />
                ))}
                {mayWrite && newest && drafts.data ? (
                  <Reply
                    key={threadId}
                    message={newest}
                    draft={drafts.data.data.find((one) => one.thread_id === threadId)}
                    variables={variablesOf(contact.data)}
                    mode={panel === 'reply' || panel === 'replyAll' ? panel : undefined}
                    onOpen={onPanel}
                  />
                ) : null}
              </Stack>
            )}
          </Answered>
        </div>
        <aside className="inbox-beside" aria-label={t('inbox.contact')}>
          {messages.data ? (
            <ContactPanel id={contactId} address={newest?.from_addr[0] ?? messages.data.at(-1)?.to_addr[0] ?? ''} />
          ) : null}
        </aside>
      </div>
    </section>
  );
}

/** Note that a conversation is snoozed, with a button to end it. */
function SnoozedNote({ threadId }: { threadId: string }) {
  const t = useText();
  const snoozes = useQuery({
    queryKey: ['inbox', 'snoozes'],
    queryFn: () => dataOf(heron.GET('/v1/unibox/snoozes')),
  });
  const found = snoozes.data?.data.find((one) => one.thread_id === threadId);
  if (!found) return null;
  return (
    <Group gap="xs">
      <Text size="sm" c="dimmed">
        {t('inbox.snoozed.now')}
      </Text>
      <Button size="compact-xs" variant="default" onClick={() => void unsnoozeThread(threadId)}>
        {t('inbox.wake')}
      </Button>
    </Group>
  );
}

/** Icon button of a conversation's action, with an accessible name. */
const Act = forwardRef<HTMLButtonElement, { label: string; onClick?: () => void; children: ReactNode }>(
  function ActButton({ label, children, ...button }, ref) {
    return (
      <Tooltip label={label}>
        <ActionIcon ref={ref} variant="subtle" color="gray" size="lg" aria-label={label} {...button}>
          {children}
        </ActionIcon>
      </Tooltip>
    );
  },
);

/**
 * Marks received messages as read once when they are shown. Messages that the person marks as unread afterwards stay
 * unread.
 */
function useMarkShownAsRead(threadId: string, messages: readonly Message[] | undefined, mayWrite: boolean): void {
  const done = useRef(new Set<string>());
  useEffect(() => {
    const unseen = (messages ?? []).filter(
      ({ id, direction, seen }) => direction === 'received' && !seen && !done.current.has(id),
    );
    if (!mayWrite || unseen.length === 0) return;
    for (const { id } of messages!) done.current.add(id);
    void markSeen(
      threadId,
      unseen.map(({ id }) => id),
      { seen: true },
    );
  }, [messages, mayWrite]);
  // Also handles messages that were already read, because the person may mark them as unread while the conversation is
  // open.
  useEffect(() => {
    for (const { id, seen } of messages ?? []) if (seen) done.current.add(id);
  }, [messages]);
}
