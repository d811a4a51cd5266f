import { Button, Group, Kbd } from '@mantine/core';
import IconReply from 'tabler:arrow-back-up';
import IconReplyAll from 'tabler:arrow-back-up-double';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useText } from '../../text/index.ts';
import type { Message } from './address.ts';
import { AddressesInput } from './addresses-input.tsx';
import { useDraft, writtenOf, type Draft } from './draft.ts';
import { Writing } from './writing.tsx';

/** Form of a reply: to the correspondent, or with copies to all recipients of the message. */
export type ReplyMode = 'reply' | 'replyAll';

/** Reply area of a conversation: buttons until the person writes or a draft exists. */
export function Reply({
  message,
  draft,
  variables,
  mode,
  onOpen,
}: {
  /** Newest received message, to which the reply is written. */
  message: Message;
  draft: Draft | undefined;
  variables: Record<string, string>;
  mode: ReplyMode | undefined;
  onOpen: (mode: ReplyMode | undefined) => void;
}) {
  const t = useText();
  const others = useOthers(message);
  if (mode && others)
    return (
      <ReplyForm
        message={message}
        copies={mode === 'replyAll' ? others : []}
        draft={draft}
        variables={variables}
        onDone={() => onOpen(undefined)}
      />
    );
  return (
    <Group gap="xs">
      <Button
        variant="default"
        leftSection={<IconReply size={16} />}
        rightSection={<KeyHint name="R" />}
        onClick={() => onOpen('reply')}
      >
        {t(draft ? 'inbox.reply.goOn' : 'inbox.reply')}
      </Button>
      {!draft && others && others.length > 0 ? (
        <Button
          variant="default"
          leftSection={<IconReplyAll size={16} />}
          rightSection={<KeyHint name="A" />}
          onClick={() => onOpen('replyAll')}
        >
          {t('inbox.replyAll')}
        </Button>
      ) : null}
    </Group>
  );
}

function KeyHint({ name }: { name: string }) {
  return (
    <Kbd size="xs" visibleFrom="sm">
      {name}
    </Kbd>
  );
}

/** Returns the addresses that a reply goes to: Reply-To or, without it, the sender. */
function correspondentsOf({ reply_to: replyTo, from_addr: from }: Message): string[] {
  return replyTo.length > 0 ? replyTo : from;
}

/**
 * Returns the other recipients of a message, without the mailbox that received it; undefined while the mailbox is being
 * loaded. The API's `reply_all` uses the same recipients. They are listed here so that the person can remove some.
 */
function useOthers(message: Message): string[] | undefined {
  const addressed = [...new Set([...message.to_addr, ...message.cc])];
  const mailbox = useQuery({
    queryKey: ['mailboxes', message.email_id],
    enabled: message.email_id !== null && addressed.length > 1,
    queryFn: () => dataOf(heron.GET('/v1/emails/{id}', { params: { path: { id: message.email_id! } } })),
  });
  if (mailbox.isLoading) return undefined;
  const taken = [...correspondentsOf(message), mailbox.data?.email, mailbox.data?.send_as_email];
  return addressed.length > 1 ? addressed.filter((address) => !taken.includes(address)) : [];
}

function ReplyForm({
  message,
  copies,
  draft: kept,
  variables,
  onDone,
}: {
  message: Message;
  copies: string[];
  draft: Draft | undefined;
  variables: Record<string, string>;
  onDone: () => void;
}) {
  const t = useText();
  const field = useRef<HTMLTextAreaElement>(null);
  const initial = { ...writtenOf(kept), ...(kept ? {} : { cc: copies }), thread_id: message.thread_id };
  const draft = useDraft(initial, kept);
  const { written, write } = draft;
  const hasCopies = useRef(initial.cc.length > 0);
  useEffect(() => {
    field.current?.focus();
    field.current?.scrollIntoView({ block: 'center' });
  }, []);
  const to = initial.to.length > 0 ? initial.to : correspondentsOf(message);
  return (
    <Writing
      draft={draft}
      variables={variables}
      label={t('inbox.reply.to', { address: to.join(', ') })}
      onDone={onDone}
      field={field}
    >
      {hasCopies.current ? (
        <AddressesInput
          label={t('inbox.compose.cc')}
          value={written.cc ?? []}
          onChange={(cc) => write({ cc })}
          mb="xs"
        />
      ) : null}
    </Writing>
  );
}
