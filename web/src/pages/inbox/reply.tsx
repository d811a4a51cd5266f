import { Button, Kbd } from '@mantine/core';
import IconReply from 'tabler:arrow-back-up';
import { useEffect, useRef } from 'react';
import { useText } from '../../text/index.ts';
import { useDraft, type Draft } from './draft.ts';
import { Writing } from './writing.tsx';

/** Reply area of a conversation: a button until the person writes or a draft exists. */
export function Reply({
  threadId,
  to,
  draft,
  variables,
  isOpen,
  onOpen,
}: {
  threadId: string;
  to: string;
  draft: Draft | undefined;
  variables: Record<string, string>;
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
}) {
  const t = useText();
  if (isOpen)
    return <ReplyForm threadId={threadId} to={to} draft={draft} variables={variables} onDone={() => onOpen(false)} />;
  return (
    <Button
      variant="default"
      leftSection={<IconReply size={16} />}
      rightSection={
        <Kbd size="xs" visibleFrom="sm">
          R
        </Kbd>
      }
      onClick={() => onOpen(true)}
      style={{ alignSelf: 'flex-start' }}
    >
      {t(draft ? 'inbox.reply.goOn' : 'inbox.reply')}
    </Button>
  );
}

function ReplyForm({
  threadId,
  to,
  draft: kept,
  variables,
  onDone,
}: {
  threadId: string;
  to: string;
  draft: Draft | undefined;
  variables: Record<string, string>;
  onDone: () => void;
}) {
  const t = useText();
  const field = useRef<HTMLTextAreaElement>(null);
  const draft = useDraft({ thread_id: threadId, body_plain: kept?.body_plain ?? '' }, kept);
  useEffect(() => {
    field.current?.focus();
    field.current?.scrollIntoView({ block: 'center' });
  }, []);
  return (
    <Writing
      draft={draft}
      variables={variables}
      label={t('inbox.reply.to', { address: to })}
      onDone={onDone}
      field={field}
    />
  );
}
