import { Tokenizer, type Token } from 'parse5';
import { setTokenizerMode } from '../raw-text.ts';

/**
 * This file converts an HTML body to text, token by token. The work depends only on the length of the source,
 * regardless of nesting, and no tree is built.
 */

/** Maximum length (characters) of the HTML source that is read. */
export const MAX_HTML = 256 * 1024;
const MAX_TEXT = 64 * 1024;
/**
 * Maximum number of open elements that are tracked. Deeper elements are treated as part of the innermost tracked
 * element.
 */
const MAX_DEPTH = 500;

/** Number of the latest text pieces in which the introduction of a quote is searched. */
const LAST_PARTS = 60;
const LAST_CHARACTERS = 1200;
/** Maximum number of indented blocks for which an introduction is searched. */
const MAX_LOOKS = 10;

interface HtmlTextOptions {
  /** `keep` returns quotes as text. `mark` replaces each quote by one line `>`. */
  readonly quotes: 'keep' | 'mark';
  /**
   * Returns true if a text ends in a line that introduces a quote. An indented block after such a line is a quote; any
   * other is the writer's own text.
   */
  readonly introduces?: (text: string) => boolean;
  /** Called for every token and every closed element, to measure the work. */
  readonly onStep?: () => void;
}

const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));
/** Elements whose text is not displayed. */
const UNSEEN = new Set([
  'head',
  'style',
  'script',
  'title',
  'template',
  'noscript',
  'iframe',
  'object',
  'svg',
  'textarea',
  'select',
]);
const BLOCKS = new Set(
  'address article aside blockquote body center dd div dl dt fieldset footer form h1 h2 h3 h4 h5 h6 header hr html li main ol p pre section table tbody tfoot thead tr ul'.split(
    ' ',
  ),
);
/** Blocks that are separated from their neighbours by an empty line. */
const SPACED = new Set(['p', 'blockquote', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'table', 'ul', 'ol', 'pre']);

/** Classes of elements that contain a quote, its introduction or a signature (Gmail, Thunderbird, Yahoo, Proton …). */
const QUOTE_CLASS =
  /(?:^|\s)(?:gmail_attr|gmail_signature|gmail_signature_prefix|moz-cite-prefix|moz-signature|moz-forward-container|yahoo_quoted|yahoo-quoted-begin|protonmail_quote|protonmail_signature_block\S*|tutanota_quote|zmail_extra|ms-outlook-mobile-reference-message|mail_quote|fastmail_signature|WordSection\d+_quoted|quote|OutlookMessageHeader)(?=\s|$)/i;
const QUOTE_ID =
  /^(?:x_)*(?:divRplyFwdMsg|Signature|ms-outlook-mobile-signature|yahoo_quoted_\d+|ymail_android_signature|isForwardContent|isReplyContent|mailContentContainer_quote)$/i;
/**
 * Ids of elements after which all content is quoted. Outlook puts the answered message after such an element, not into
 * it.
 */
const QUOTE_FROM_ID =
  /^(?:x_)*(?:divRplyFwdMsg|appendonsend|stopSpelling|mail-editor-reference-message-container|OLK_SRC_BODY_SECTION|replySplit)$/i;
const QUOTE_FROM_STYLE = /border(?:-top)?:\s?(?:none;\s?border-top:\s?)?solid #(?:e1e1e1|b5c4df|c8c8c8)/i;
const QUOTE_CUES =
  /<blockquote|gmail_quote|gmail_attr|moz-cite-prefix|yahoo_quoted|protonmail_quote|tutanota_quote|divRplyFwdMsg|appendonsend|stopSpelling|border-top:\s?solid #(?:e1e1e1|b5c4df)|OLK_SRC_BODY_SECTION|mail-editor-reference/i;

/** Matches styles that hide an element. Senders use them for the preview line of an email. */
const HIDING_STYLE =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0?\.?0*\s*(?:!|;|$))/i;
/** Style of an element without height or width. Its text is hidden if {@link CUT_OFF} matches too. */
const EMPTY_BOX = /(?:^|;)\s*(?:max-)?(?:height|width)\s*:\s*0(?:\.0*)?[a-z%]*\s*(?:!|;|$)/i;
const CUT_OFF = /(?:^|;)\s*overflow\s*:\s*hidden/i;
const FONT_SIZE = /(?:^|;)\s*font-size\s*:\s*([\d.]*)([a-z%]*)/i;
/** Maximum font size (pixels or points) of text that is treated as hidden. */
const UNREADABLE = 1;

/** Returns true if an HTML body marks its quotes, for example by known classes or ids. */
export function hasQuoteMarks(html: string): boolean {
  return QUOTE_CUES.test(html.slice(0, MAX_HTML));
}

/**
 * Converts an HTML body to plain text: no link targets, no images, no wrapping, one line per block. Reads at most 256
 * KiB and returns at most 64 KiB. Never throws.
 */
export function htmlToPlain(
  html: string,
  { quotes, introduces, onStep }: HtmlTextOptions = { quotes: 'keep' },
): string {
  const writer = createWriter();
  const open: { name: string; hides: boolean; isReadable: boolean }[] = [];
  const counts = new Map<string, number>();
  let hidden = 0;
  /** False inside an element whose font is too small to read. A nested element may set a larger font. */
  let isReadable = true;
  let cut = false;
  let isInterleaved = false;
  let looks = 0;

  /**
   * Returns true if an introduction precedes this quote or an earlier one. In a reply written between the parts of a
   * quote, only the first part has an introduction.
   */
  const isIntroduced = (): boolean => {
    if (!introduces) return true;
    if (!isInterleaved && looks < MAX_LOOKS) isInterleaved = introduces(writer.lastLines());
    looks += 1;
    return isInterleaved;
  };
  const startTag = (token: Token.TagToken): void => {
    onStep?.();
    const name = token.tagName;
    setTokenizerMode(tokenizer, name);
    if (cut) return;
    const quoting = quotes === 'mark' && hidden === 0 ? quotingOf(token, isIntroduced) : null;
    if (quoting === 'from') {
      cut = hidden === 0;
      if (cut) writer.quote();
      return;
    }
    if (hidden === 0) {
      if (BLOCKS.has(name)) writer.block(SPACED.has(name));
      if (name === 'br') writer.lineBreak();
      if (name === 'li') writer.text('* ');
      if (name === 'td' || name === 'th') writer.text(' ');
    }
    if (VOID.has(name) || token.selfClosing || open.length >= MAX_DEPTH) return;
    const style = attributeOf(token, 'style') ?? '';
    const hides = UNSEEN.has(name) || quoting === 'element' || isHidden(token, style);
    if (hides && hidden === 0 && quoting === 'element') writer.quote();
    if (hides) hidden += 1;
    open.push({ name, hides, isReadable });
    isReadable = hasReadableFont(style, isReadable);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
  const endTag = (name: string): void => {
    onStep?.();
    if ((counts.get(name) ?? 0) > 0) {
      // Closes all remaining elements. Every element is opened and closed once, so the total work stays linear.
      for (let last = open.pop(); last; last = open.pop()) {
        onStep?.();
        counts.set(last.name, (counts.get(last.name) ?? 1) - 1);
        if (last.hides) hidden -= 1;
        isReadable = last.isReadable;
        if (last.name === name) break;
      }
    }
    if (hidden === 0 && !cut && BLOCKS.has(name)) writer.block(SPACED.has(name));
  };
  const characters = ({ chars }: Token.CharacterToken): void => {
    if (hidden === 0 && isReadable && !cut) writer.text(chars);
  };
  const ignore = (): void => undefined;
  const tokenizer: Tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: false },
    {
      onStartTag: startTag,
      onEndTag: ({ tagName }) => endTag(tagName),
      onCharacter: characters,
      onWhitespaceCharacter: characters,
      onNullCharacter: ignore,
      onComment: ignore,
      onDoctype: ignore,
      onEof: ignore,
    },
  );
  tokenizer.write(html.slice(0, MAX_HTML), true);
  return writer.end();
}

/**
 * Returns the role of an element in a quote: `element` is itself a quote, and after `from` all content is quoted. A
 * `blockquote` alone does not prove a quote, because mail programs also use it for indentation.
 */
function quotingOf({ tagName, attrs }: Token.TagToken, isIntroduced: () => boolean): 'element' | 'from' | null {
  const isBlockQuote = tagName === 'blockquote';
  for (const { name, value } of attrs) {
    if (name === 'id') {
      if (QUOTE_FROM_ID.test(value)) return 'from';
      if (QUOTE_ID.test(value)) return 'element';
    }
    if (name === 'class' && QUOTE_CLASS.test(value)) return 'element';
    if (name === 'style' && tagName === 'div' && QUOTE_FROM_STYLE.test(value)) return 'from';
    if (isBlockQuote && (name === 'cite' || (name === 'type' && /^cite$/i.test(value)))) return 'element';
  }
  if (!isBlockQuote) return null;
  const marked = attrs.some(({ name, value }) => name === 'class' && /\bgmail_quote\b/.test(value));
  const isIndent = attrs.some(({ name, value }) => name === 'style' && /\bborder:\s?(?:none|0)/i.test(value));
  return (marked && !isIndent) || isIntroduced() ? 'element' : null;
}

function attributeOf({ attrs }: Token.TagToken, wanted: string): string | undefined {
  return attrs.find(({ name }) => name === wanted)?.value;
}

/**
 * Returns true if the attributes or the inline style of an element hide the element and its content. Style sheets are
 * not read.
 */
function isHidden(token: Token.TagToken, style: string): boolean {
  if (attributeOf(token, 'hidden') !== undefined) return true;
  return HIDING_STYLE.test(style) || (EMPTY_BOX.test(style) && CUT_OFF.test(style));
}

/**
 * Returns true if the font of an element is large enough to read. A relative size depends on the font around the
 * element.
 */
function hasReadableFont(style: string, isAround: boolean): boolean {
  const [, size, unit = ''] = FONT_SIZE.exec(style) ?? [];
  if (size === undefined) return isAround;
  if (size === '') return isAround || !/^(?:smaller|larger|inherit)$/i.test(unit);
  if (/^(?:em|%|ex|ch)$/i.test(unit)) return isAround && Number(size) > 0;
  return Number(size) > (/^rem$/i.test(unit) ? 0 : UNREADABLE);
}

/**
 * Creates a writer that collects text in the layout of a browser: white space becomes one space, and blocks begin on a
 * new line.
 */
function createWriter() {
  const parts: string[] = [];
  let length = 0;
  /** Number of line breaks to write before the next text. */
  let due = 0;
  let space = false;
  const push = (text: string): void => {
    if (length >= MAX_TEXT) return;
    parts.push(text);
    length += text.length;
  };
  const flush = (): void => {
    if (length > 0 && due > 0) push('\n'.repeat(due));
    else if (space && length > 0) push(' ');
    due = 0;
    space = false;
  };
  return {
    text(raw: string): void {
      const text = raw.replace(/[^\S\u00a0]+/g, ' ').replaceAll('\u00a0', ' ');
      const trimmed = text.trim();
      if (trimmed === '') {
        space ||= due === 0;
        return;
      }
      if (text.startsWith(' ') && due === 0) space = true;
      flush();
      push(trimmed);
      space = text.endsWith(' ');
    },
    block(spaced: boolean): void {
      due = Math.max(due, spaced ? 2 : 1);
    },
    lineBreak(): void {
      due = Math.min(due + 1, 3);
    },
    quote(): void {
      due = Math.max(due, 1);
      flush();
      push('>');
      due = 1;
    },
    /** Returns the last lines, enough to contain an introduction. */
    lastLines: (): string => parts.slice(-LAST_PARTS).join('').slice(-LAST_CHARACTERS),
    end: (): string => parts.join('').slice(0, MAX_TEXT).trim(),
  };
}
