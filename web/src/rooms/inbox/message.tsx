import { Badge, Button, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import IconFile from '@tabler/icons-react/dist/esm/icons/IconPaperclip.mjs';
import { useState } from 'react';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useAct } from '../../parts/act.ts';
import { Ago } from '../../parts/time.tsx';
import { textOf, toNumber, useText } from '../../text/index.ts';
import { Letter } from './letter.tsx';

export type Message = RowOf<'/v1/unibox/thread'>;

/** One message of a conversation; `isFolded` shows its beginning alone until it is opened. */
export function MessageCard({ message, isFolded }: { message: Message; isFolded: boolean }) {
  const t = useText();
  const [isOpen, setOpen] = useState(!isFolded);
  const isOurs = message.direction === 'sent';
  const who = isOurs
    ? t('inbox.from.us', { address: message.from_addr[0] ?? '' })
    : (message.from_addr[0] ?? t('inbox.nobody'));
  return (
    <article className="inbox-message" data-ours={isOurs || undefined} aria-label={who}>
      <UnstyledButton className="inbox-message-head" onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
        <bdi className="clip inbox-who">{who}</bdi>
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
            {t('inbox.to', { addresses: [...message.to_addr, ...message.cc].join(', ') })}
          </Text>
          {message.body_html ? <Letter html={message.body_html} /> : <PlainLetter text={message.body_plain} />}
          {message.rendered_again ? (
            <Text size="xs" c="dimmed">
              {t('inbox.renderedAgain')}
            </Text>
          ) : null}
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

/** Plain words; what they quote at their end is folded away. */
export function PlainLetter({ text }: { text: string }) {
  const t = useText();
  const [isShown, setShown] = useState(false);
  const { words, quote } = splitQuote(text);
  return (
    <div dir="auto">
      <Text size="sm" className="inbox-words">
        {words || t('inbox.noText')}
      </Text>
      {quote ? (
        <>
          <Button
            size="compact-xs"
            variant="default"
            mt="xs"
            onClick={() => setShown(!isShown)}
            aria-expanded={isShown}
          >
            {t('inbox.quote')}
          </Button>
          {isShown ? (
            <Text size="sm" c="dimmed" mt="xs" className="inbox-words">
              {quote}
            </Text>
          ) : null}
        </>
      ) : null}
    </div>
  );
}

/** The words of a message, and the lines at its end that all begin with `>`, with the line above them that ends in a colon. */
export function splitQuote(text: string): { words: string; quote: string } {
  const lines = text.trimEnd().split('\n');
  let from = lines.length;
  while (from > 0 && (/^\s*>/.test(lines[from - 1]!) || (from < lines.length && lines[from - 1]!.trim() === '')))
    from -= 1;
  if (from === lines.length || from === 0) return { words: text.trim(), quote: '' };
  if (lines[from - 1]!.trim().endsWith(':')) from -= 1;
  return { words: lines.slice(0, from).join('\n').trim(), quote: lines.slice(from).join('\n').trim() };
}

function Files({ message }: { message: Message }) {
  const t = useText();
  const save = useAct(async ({ url, filename }: { url: string; filename: string }) => {
    const fileId = url.split('/').at(-1)!;
    const bytes = await dataOf(
      heron.GET('/v1/unibox/{id}/attachments/{fileId}', {
        params: { path: { id: message.id, fileId } },
        parseAs: 'blob',
      }),
    );
    const link = document.createElement('a');
    link.href = URL.createObjectURL(bytes as unknown as Blob);
    link.download = filename;
    link.click();
    URL.revokeObjectURL(link.href);
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
