import { Button, Skeleton, Text, useComputedColorScheme } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron } from '../app/api.ts';
import { STYLE_NONCE } from '../app/meta.ts';
import { useText } from '../text/index.ts';
import style from './email-body.module.css';
import { splitMarked } from './marked.ts';
import { ErrorNote } from './states.tsx';

const NOTHING: readonly string[] = [];
/**
 * Sizes (px) for estimating the height of a message: width of the text (smaller on a narrow screen), width of a
 * character, height of a line.
 */
const WIDTH_PX = 460;
const CHARACTER_PX = 7.6;
const LINE_PX = 22.4;
const TALLEST_PX = 1_400;
const BLOCKS = 'p, div, li, tr, h1, h2, h3, h4, h5, h6, blockquote, pre';
const SPACED = 'p, ul, ol, h1, h2, h3, h4, h5, h6, blockquote, pre';

/**
 * Shows untrusted HTML of an email. The API has sanitized it; this component sanitizes it again and shows it in a frame
 * without origin or scripts. Links open in a new window. The page's policy prevents external resources. The words in
 * `marked` are underlined. Images of a received message (`messageId`) are loaded by a button: the server fetches them,
 * and they are inserted as data.
 */
export function EmailBody({
  html,
  messageId,
  marked = NOTHING,
}: {
  html: string;
  messageId?: string | undefined;
  marked?: readonly string[] | undefined;
}) {
  const t = useText();
  const scheme = useComputedColorScheme('light');
  const [isShown, setShown] = useState(false);
  const images = useQuery({
    queryKey: ['email-body', 'images', messageId],
    enabled: isShown,
    staleTime: Infinity,
    queryFn: () => dataOf(heron.GET('/v1/unibox/{id}/images', { params: { path: { id: messageId! } } })),
  });
  const clean = useQuery({
    queryKey: ['email-body', html, images.data, marked],
    staleTime: Infinity,
    gcTime: 60_000,
    placeholderData: keepPreviousData,
    queryFn: () => sanitize(html, images.data?.data ?? [], marked),
  });
  if (!clean.data) return <Skeleton height={120} aria-label={t('loading')} role="status" />;
  return (
    <div>
      <iframe
        className={style.frame}
        title={t('email.title')}
        sandbox="allow-popups allow-popups-to-escape-sandbox"
        referrerPolicy="no-referrer"
        srcDoc={toPage(clean.data.html, scheme)}
        style={{ height: clean.data.height }}
      />
      <ErrorNote error={images.error} />
      {messageId && clean.data.hasImages && !images.data ? (
        <Button
          size="compact-xs"
          variant="default"
          mt="xs"
          onClick={() => setShown(true)}
          loading={images.isFetching}
          title={t('email.images.why')}
        >
          {t('email.images')}
        </Button>
      ) : null}
    </div>
  );
}

/**
 * Shows plain text with the words in `marked` underlined. Quoted text at its end is collapsed. `isDeleted` means that
 * the text is no longer stored.
 */
export function PlainTextBody({
  text,
  marked = NOTHING,
  isDeleted = false,
}: {
  text: string;
  marked?: readonly string[] | undefined;
  isDeleted?: boolean;
}) {
  const t = useText();
  const [isShown, setShown] = useState(false);
  const { words, quote } = splitQuote(text);
  return (
    <div dir="auto">
      <Text size="sm" className={style.words}>
        {words
          ? splitMarked(words, marked).map((part, at) =>
              part.isMarked ? (
                <u key={at} className={style.marked}>
                  {part.text}
                </u>
              ) : (
                part.text
              ),
            )
          : t(isDeleted ? 'email.deleted' : 'email.empty')}
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
            {t('email.quote')}
          </Button>
          {isShown ? (
            <Text size="sm" c="dimmed" mt="xs" className={style.words}>
              {quote}
            </Text>
          ) : null}
        </>
      ) : null}
    </div>
  );
}

interface Image {
  src: string;
  content_type: string;
  content: string;
}

/** Removes active content from a message. An image that was not fetched is replaced by its description. */
async function sanitize(
  html: string,
  images: readonly Image[],
  marked: readonly string[],
): Promise<{ html: string; height: number; hasImages: boolean }> {
  const { default: purify } = await import('dompurify');
  const body = purify.sanitize(withoutStyles(html), {
    USE_PROFILES: { html: true },
    FORBID_TAGS: ['style', 'form', 'input', 'button', 'textarea', 'select', 'picture', 'video', 'audio', 'source'],
    FORBID_ATTR: ['style', 'class', 'id', 'background', 'srcset', 'src'],
    RETURN_DOM: true,
  }) as HTMLElement;
  for (const link of body.querySelectorAll('a')) {
    link.setAttribute('target', '_blank');
    link.setAttribute('rel', 'noopener noreferrer nofollow');
  }
  underline(body, marked);
  const places = [...body.querySelectorAll('img')];
  const heights = await Promise.all(
    places.map(async (place) => {
      const found = images.find(({ src }) => src === place.dataset.src);
      if (!found) {
        place.replaceWith(place.alt && `[${place.alt}]`);
        return 0;
      }
      place.src = `data:${found.content_type};base64,${found.content}`;
      const whole = new Image();
      whole.src = place.src;
      await whole.decode().catch(() => undefined);
      return whole.naturalHeight * Math.min(1, readWidth() / Math.max(1, whole.naturalWidth));
    }),
  );
  const height = heights.reduce((sum, one) => sum + one, heightOf(body));
  return {
    html: body.innerHTML,
    height: Math.min(Math.round(height), TALLEST_PX),
    hasImages: places.some(({ dataset }) => dataset.src !== undefined),
  };
}

/** Removes style attributes before the HTML is parsed, because the page's policy reports each one that a parser meets. */
function withoutStyles(html: string): string {
  return html.replaceAll(/<[a-z][^>]*>/gi, (tag) => tag.replaceAll(/\sstyle\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/gi, ''));
}

/** Underlines words outside of quotes. */
function underline(body: HTMLElement, marked: readonly string[]): void {
  if (marked.length === 0) return;
  const { ownerDocument: document } = body;
  const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  const texts: Node[] = [];
  while (walker.nextNode())
    if (!walker.currentNode.parentElement?.closest('blockquote')) texts.push(walker.currentNode);
  for (const text of texts) {
    const parts = splitMarked(text.nodeValue ?? '', marked);
    if (!parts.some(({ isMarked }) => isMarked)) continue;
    const pieces = parts.map((part) => {
      if (!part.isMarked) return part.text;
      const line = document.createElement('u');
      line.textContent = part.text;
      return line;
    });
    (text as Text).replaceWith(...pieces);
  }
}

function readWidth(): number {
  return Math.min(WIDTH_PX, window.innerWidth - 64);
}

/**
 * Estimates the height of the content, because the sandboxed frame cannot be measured. Taller content scrolls in its
 * frame.
 */
function heightOf(body: HTMLElement): number {
  const perLine = readWidth() / CHARACTER_PX;
  const lengthOf = (element: Element) => (element.textContent ?? '').replace(/\s+/g, ' ').trim().length;
  const leaves = [...body.querySelectorAll(BLOCKS)].filter((one) => one.querySelector(BLOCKS) === null).map(lengthOf);
  const between = Math.max(0, lengthOf(body) - leaves.reduce((sum, length) => sum + length, 0));
  const lines = [between, ...leaves].reduce((sum, length) => sum + Math.max(1, Math.ceil(length / perLine)), 0);
  const spaces = body.querySelectorAll(SPACED).length * 0.65 + body.querySelectorAll('br').length;
  return (lines + spaces) * LINE_PX;
}

function toPage(body: string, scheme: 'light' | 'dark'): string {
  const [text, link, line] = scheme === 'dark' ? ['#dfe3e8', '#8ab6f5', '#4a515a'] : ['#1d2329', '#1c5fb8', '#d5dae0'];
  return `<!doctype html><html><head><meta charset="utf-8"><meta name="color-scheme" content="${scheme}"><style nonce="${STYLE_NONCE ?? ''}">
    html { background: transparent; }
    body { margin: 0; font: 14px/1.6 system-ui, sans-serif; color: ${text}; overflow-wrap: anywhere; }
    body > :first-child, body > :first-child:empty + * { margin-top: 0; } body > :last-child { margin-bottom: 0; }
    a { color: ${link}; } blockquote { margin: 0.5em 0; padding-left: 0.8em; border-left: 2px solid ${line}; }
    u { text-decoration-thickness: 2px; text-underline-offset: 3px; }
    table, img { max-width: 100%; } img { height: auto; } pre { white-space: pre-wrap; }
  </style></head><body>${body}</body></html>`;
}

/**
 * Splits a message into its text and the quote at its end. The quote consists of lines that begin with `>`, and of a
 * line above them that ends in a colon.
 */
function splitQuote(text: string): { words: string; quote: string } {
  const lines = text.trimEnd().split('\n');
  let from = lines.length;
  while (from > 0 && (/^\s*>/.test(lines[from - 1]!) || (from < lines.length && lines[from - 1]!.trim() === '')))
    from -= 1;
  if (from === lines.length || from === 0) return { words: text.trim(), quote: '' };
  if (lines[from - 1]!.trim().endsWith(':')) from -= 1;
  return { words: lines.slice(0, from).join('\n').trim(), quote: lines.slice(from).join('\n').trim() };
}
