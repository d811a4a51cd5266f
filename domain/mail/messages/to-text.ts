import { compile, type DomNode, type FormatCallback } from 'html-to-text';
import { isWebUrl } from './text-links.ts';

/** Elements that begin and end a line, in addition to those known to the converter. */
const LINES = ['address', 'caption', 'center', 'dd', 'details', 'dialog', 'dt', 'fieldset', 'figcaption', 'figure'];
const MORE_LINES = ['hgroup', 'legend', 'menu', 'option', 'search', 'summary', 'td', 'th', 'tr'];
/** Elements whose content is not part of the text. */
const HIDDEN = ['head', 'noscript', 'template', 'title'];
const line = { leadingLineBreaks: 1, trailingLineBreaks: 1 };

/** Maximum length (characters) of a table cell that is joined with other cells on one line. */
const MAX_CELL_LENGTH = 60;
/** Maximum number of a table's nodes that are read to distinguish data from layout. */
const MAX_TABLE_NODES = 2_000;
/** Maximum number of columns or rows of a spanning cell, because the converter lays out a grid of all of them. */
const MAX_SPAN = 20;
const INLINE = new Set([
  'b',
  'big',
  'code',
  'em',
  'font',
  'i',
  'mark',
  's',
  'small',
  'span',
  'strong',
  'sub',
  'sup',
  'u',
]);
const SECTIONS = new Set(['thead', 'tbody', 'tfoot']);
const NO_DATA = new Set(['table', 'ul', 'ol', 'dl', 'pre', 'blockquote', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6']);

/** The URLs that the author wrote, by the URLs that replace them in the HTML. */
type OriginalUrls = ReadonlyMap<string, string>;

/**
 * Formats a link as its label and its URL in angle brackets (RFC 3986, appendix C), which end a URL for every mail
 * reader. A label that equals the URL is not repeated. The label of an image is its alternative text.
 */
const formatLink: FormatCallback = (element, walk, builder) => {
  const { metadata: originals } = builder as unknown as { metadata: OriginalUrls };
  const href = (attributeOf(element, 'href') ?? '').replace(/[\t\n\r]/g, '').trim();
  const original = originals.get(href) ?? href;
  const url = plainUrl(href);
  if (url === '') return walk(element.children, builder);
  const label = textOf(element);
  if (label === plainUrl(original) || label === original)
    return builder.addInline(touchesWords(element) ? `<${url}>` : url, { noWordTransform: true });
  if (element.name === 'area') builder.addInline(attributeOf(element, 'alt') ?? '');
  walk(element.children, builder);
  builder.addInline(` <${url}>`, { noWordTransform: true });
};

/** Returns true if text directly adjoins an element, so that both would form one URL. */
function touchesWords(element: DomNode): boolean {
  const before = neighbourOf(element, 'prev');
  const behind = neighbourOf(element, 'next');
  const isInline = (node: DomNode | null) => node?.name !== undefined && (node.name === 'a' || INLINE.has(node.name));
  if (isInline(before) || isInline(behind)) return true;
  return /[\p{L}\p{N}_]$/u.test(before?.data ?? '') || /^(?![.,;:!?)\]]*(?:\s|$))/.test(behind?.data ?? ' ');
}

/**
 * Returns the node beside an element. For the first or last child of an inline element, returns the node beside that
 * element.
 */
function neighbourOf(element: DomNode, side: 'prev' | 'next'): DomNode | null {
  let node = element as DomNode & Partial<Record<'prev' | 'next', DomNode | null>>;
  while (!node[side] && node.parent?.name !== undefined && INLINE.has(node.parent.name)) node = node.parent;
  return node[side] ?? null;
}

const formatImage: FormatCallback = (element, _walk, builder) => {
  for (let parent = element.parent; parent; parent = parent.parent)
    if (parent.name === 'a') return builder.addInline(attributeOf(element, 'alt') ?? '', { noWordTransform: true });
};

/** Formats a data table in columns, and a layout table cell by cell, one below the other. */
const formatTable: FormatCallback = (element, walk, builder, options) => {
  const { formatters } = builder.options as unknown as { formatters: Record<string, FormatCallback> };
  const isData = isDataTable(element);
  const caption = isData ? element.children.find(({ name }) => name === 'caption') : undefined;
  if (caption) walk([caption], builder);
  formatters[isData ? 'dataTable' : 'block']!(element, walk, builder, options);
};

const convert: (html: string, originals: OriginalUrls) => string = compile({
  wordwrap: false,
  // Limits the converter's recursion. Markup nested deeper than in any real email becomes an ellipsis.
  limits: { maxDepth: 200 },
  formatters: { emailLink: formatLink, emailImage: formatImage, emailTable: formatTable },
  selectors: [
    ...['a', 'area'].map((selector) => ({ selector, format: 'emailLink' })),
    { selector: 'img', format: 'emailImage' },
    { selector: 'table', format: 'emailTable', options: { uppercaseHeaderCells: false } },
    { selector: 'dl', format: 'block', options: { leadingLineBreaks: 2, trailingLineBreaks: 2 } },
    ...[...LINES, ...MORE_LINES].map((selector) => ({ selector, format: 'block', options: line })),
    ...HIDDEN.map((selector) => ({ selector, format: 'skip' })),
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
  ],
});

/** Converts an HTML source to plain text, with the URL of each link after its label. */
export function htmlToText(html: string, originals: OriginalUrls = new Map()): string {
  // Adds a space between a link and a word that directly follows it. In HTML, the end of the link separates them.
  return convert(html, originals)
    .replace(/(<https?:\/\/[^\s<>]+>)(?=[\p{L}\p{N}([{<"'“‘«])/gu, '$1 ')
    .trim();
}

/**
 * Returns a link's target for plain text, without blanks and characters that end a URL for mail readers. Empty for a
 * fragment.
 */
function plainUrl(href: string): string {
  if (href.startsWith('#')) return '';
  const target = href.replace(/^mailto:/i, '');
  if (/^[\x21-\x7e]*$/.test(target) && !/[<>"`\\^{|}]/.test(target)) return target;
  return isWebUrl(target) ? new URL(target).href : encodeURI(target.replace(/\p{Surrogate}/gu, ''));
}

function isDataTable(table: DomNode): boolean {
  if (/^(?:presentation|none)$/i.test(attributeOf(table, 'role')?.trim() ?? '')) return false;
  const rows: DomNode[] = [];
  const parts = [...table.children];
  for (const part of parts) {
    if (part.name === 'tr') rows.push(part);
    else if (part.name !== undefined && SECTIONS.has(part.name)) parts.push(...part.children);
    else if (!isBetweenCells(part, ['caption', 'colgroup'])) return false;
    if (parts.length > MAX_TABLE_NODES) return false;
  }
  const cells = rows.flatMap(({ children }) => children);
  if (cells.length > MAX_TABLE_NODES || !cells.every((cell) => isDataCell(cell))) return false;
  const columns = (row: DomNode) => row.children.filter(({ type }) => type === 'tag').length;
  const wideRows = rows.filter((row) => columns(row) > 1).length;
  return wideRows > 1 || (wideRows === 1 && cells.some(({ name }) => name === 'th'));
}

function isDataCell(cell: DomNode): boolean {
  if (cell.name !== 'td' && cell.name !== 'th') return isBetweenCells(cell, []);
  if (['colspan', 'rowspan'].some((name) => Number(attributeOf(cell, name)) > MAX_SPAN)) return false;
  let length = 0;
  for (const node of descendantsOf(cell)) {
    if (node.name !== undefined && NO_DATA.has(node.name)) return false;
    length += node.type === 'text' ? (node.data ?? '').trim().length : 0;
    if (length > MAX_CELL_LENGTH) return false;
  }
  return true;
}

function isBetweenCells({ type, name, data }: DomNode, known: readonly string[]): boolean {
  return type === 'text'
    ? (data ?? '').trim() === ''
    : type === 'comment' || (name !== undefined && known.includes(name));
}

/** Returns the text below an element on one line. Reads at most a few hundred nodes, which suffices for any URL. */
function textOf(element: DomNode): string {
  let text = '';
  for (const node of descendantsOf(element)) if (node.type === 'text') text += node.data ?? '';
  return text.trim();
}

/**
 * Yields the nodes below an element in order, but only the first nodes of a large tree. Does not use recursion, because
 * trees can be deep.
 */
function* descendantsOf(element: DomNode): Generator<DomNode> {
  const open = [...element.children].reverse();
  for (let read = 0; open.length > 0 && read < MAX_TABLE_NODES; read += 1) {
    const node = open.pop()!;
    yield node;
    for (let index = (node.children ?? []).length - 1; index >= 0; index -= 1) open.push(node.children[index]!);
  }
}

function attributeOf(element: DomNode, name: string): string | undefined {
  return (element.attribs as Record<string, string> | undefined)?.[name];
}
