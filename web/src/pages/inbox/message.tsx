import { Badge, Button, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import IconFile from 'tabler:paperclip';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { shownAddress } from '../../components/address.ts';
import { useAction } from '../../components/action.ts';
import { saveAs } from '../../components/download.ts';
import { Ago } from '../../components/time.tsx';
import { textOf, toNumber, useText } from '../../text/index.ts';
import { EmailBody, PlainTextBody } from '../../components/email-body.tsx';
import type { Message } from './address.ts';
import { Reading } from './reading.tsx';

/** One message of a conversation; `isFolded` shows only its beginning until it is opened. */
export function MessageCard({ message, isFolded }: { message: Message; isFolded: boolean }) {
  const t = useText();
  const [isOpen, setOpen] = useState(!isFolded);
  const isOurs = message.direction === 'sent';
  const [address] = message.from_addr;
  const who = isOurs
    ? t('inbox.from.us', { address: shownAddress(address ?? '') })
    : shownAddress(address ?? t('inbox.nobody'));
  return (
    <article className="inbox-message" data-ours={isOurs || undefined} aria-label={who}>
      <UnstyledButton className="inbox-message-head" onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
        <bdi className="clip inbox-who" title={address}>
          {who}
        </bdi>
        {message.asks_to_stop ? (
          <Badge size="xs" variant="light" color="yellow" tt="none">
            {t('inbox.asks')}
          </Badge>
        ) : null}
        {message.kind && message.kind !== 'reply' ? (
          <Badge size="xs" variant="light" color="gray" tt="none">
            {textOf('inbox.kind', message.kind)}
          </Badge>
        ) : null}
        <Ago at={message.internal_date} size="xs" c="dimmed" className="inbox-when" />
      </UnstyledButton>
      {isOpen ? (
        <Stack gap="sm">
          <Text size="xs" c="dimmed" className="wrap-anywhere">
            <Addressed message={message} />
          </Text>
          <Reading message={message} />
          {message.body_html ? (
            <EmailBody
              html={message.body_html}
              messageId={isOurs ? undefined : message.id}
              marked={message.answer?.words}
            />
          ) : (
            <PlainTextBody text={message.body_plain} marked={message.answer?.words} isDeleted={!message.content_kept} />
          )}
          <Files message={message} />
        </Stack>
      ) : (
        <Text size="sm" c="dimmed" className="clip">
          {message.snippet}
        </Text>
      )}
    </article>
  );
}

/** Shows the headers with addresses, one per line. Reply-To is shown only if it differs from the sender. */
function Addressed({ message }: { message: Message }) {
  const t = useText();
  const { to_addr: to, cc, bcc, reply_to: replyTo, from_addr: from } = message;
  const shown = (addresses: readonly string[]) => ({ addresses: addresses.map(shownAddress).join(', ') });
  const lines = [
    [t('inbox.to', shown(to)), to],
    [t('inbox.cc', shown(cc)), cc],
    [t('inbox.bcc', shown(bcc)), bcc],
    [t('inbox.replyTo', shown(replyTo)), replyTo.filter((address) => !from.includes(address))],
  ] as const;
  return lines
    .filter(([, addresses]) => addresses.length > 0)
    .map(([line, addresses]) => (
      <span key={line} className="inbox-addressed" title={addresses.join(', ')}>
        {line}
      </span>
    ));
}

function Files({ message }: { message: Message }) {
  const t = useText();
  const save = useAction(async ({ url, filename }: { url: string; filename: string }) => {
    const fileId = url.split('/').at(-1)!;
    const bytes = await dataOf(
      heron.GET('/v1/unibox/{id}/attachments/{fileId}', {
        params: { path: { id: message.id, fileId } },
        parseAs: 'blob',
      }),
    );
    saveAs(bytes as unknown as Blob, filename);
  });
  if (message.attachments.length === 0) return null;
  return (
    <Group gap="xs" component="ul" className="inbox-files" aria-label={t('inbox.files')}>
      {message.attachments.map((file, at) => {
        const size = t('inbox.file.size', { size: toNumber(Math.max(1, Math.round(file.size_bytes / 1024))) });
        return (
          <li key={`${file.filename}-${at}`}>
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<IconFile size={14} />}
              disabled={file.url === null}
              title={file.left_out ? textOf('inbox.file', file.left_out) : t('inbox.file.unchecked')}
              onClick={() => save.mutate({ url: file.url!, filename: file.filename })}
              maw={260}
            >
              <span className="clip">{file.filename}</span>
              <Text span size="xs" c="dimmed" ml={6} style={{ flex: 'none' }}>
                {file.left_out ? textOf('inbox.file', file.left_out) : size}
              </Text>
            </Button>
          </li>
        );
      })}
    </Group>
  );
}
