import { MailParser } from 'mailparser';
import type { AttachmentStream, HeaderLines, Headers } from 'mailparser';
import { unflowed } from './flowed.ts';
import { loadTextReader } from './charset.ts';
import type { TextReader } from './charset.ts';
import { readableHeader } from './header-text.ts';

const MAX_HEAD = 64 * 1024;
const BOUNDARY = /\bboundary\s*=\s*(?:"([^"\r\n]{1,70})"|([^\s";]{1,70}))/gi;

/** A file or a part of a report, with its transfer encoding decoded. */
interface MimePart {
  readonly contentType: string;
  readonly filename?: string | undefined;
  readonly content: Buffer;
}

/** A message with decoded parts. `text` and `html` each contain all parts of their type, joined. */
export interface MimeMessage {
  readonly headers: Headers;
  readonly headerLines: HeaderLines;
  readonly text: string;
  readonly html: string;
  readonly parts: readonly MimePart[];
}

/**
 * Parses MIME. Decodes texts only after all charset information of the message is known. The MIME parser alone would
 * decode each text by its own label.
 * @throws Error when the message has more parts than the parser accepts
 */
export async function parseMime(raw: Buffer): Promise<MimeMessage> {
  const parser = new ByteKeepingParser(await loadTextReader(), raw);
  const parts: MimePart[] = [];
  let text = '';
  let html = '';
  return new Promise((resolve, reject) => {
    parser.on('error', reject);
    parser.on('data', (data: AttachmentStream | { type: 'text'; text?: string; html?: string | false }) => {
      if (data.type === 'text') {
        text = data.text ?? '';
        html = data.html || '';
        return;
      }
      const chunks: Buffer[] = [];
      data.content.on('data', (chunk: Buffer) => chunks.push(chunk));
      data.content.on('end', () => {
        parts.push({ contentType: data.contentType, filename: data.filename, content: Buffer.concat(chunks) });
        data.release?.();
      });
    });
    parser.on('end', () => {
      resolve({ headers: parser.headers || new Map(), headerLines: parser.readableLines, text, html, parts });
    });
    parser.end(withPlainBoundaries(raw));
  });
}

/** Removes blanks behind the boundaries between parts, which the parser does not accept (RFC 2046, section 5.1.1). */
function withPlainBoundaries(raw: Buffer): Buffer {
  const head = raw.toString('latin1', 0, MAX_HEAD);
  const names = new Set(Array.from(head.matchAll(BOUNDARY), ([, quoted, bare]) => quoted ?? bare ?? ''));
  const padded = [...names].filter((name) => [' ', '\t', '-- ', '--\t'].some((end) => raw.includes(`--${name}${end}`)));
  if (padded.length === 0) return raw;
  const lines = new Set(padded.flatMap((name) => [`--${name}`, `--${name}--`]));
  return Buffer.from(
    raw
      .toString('latin1')
      .replace(/^(--.{1,74}?)[ \t]+(?=\r?$)/gm, (line, boundary: string) => (lines.has(boundary) ? boundary : line)),
    'latin1',
  );
}

/** A node of the parser's tree. Its members are undocumented; `charset.test.ts` fails when they change. */
interface MimeNode {
  contentType?: string | false;
  charset?: string;
  textContent?: string;
  node: { flowed?: boolean; delSp?: boolean; charset?: string | false; contentType?: string | false };
  children: MimeNode[];
  label?: string | undefined;
  flow?: { delSp: boolean } | undefined;
}

interface ParserInternals {
  tree: MimeNode | false;
  createNode(node: MimeNode['node']): MimeNode;
  getTextContent(): unknown;
  processHeaders(lines: { key: string; line: string }[]): unknown;
}

const Parser = MailParser as unknown as new (options: object) => MailParser & ParserInternals;

class ByteKeepingParser extends Parser {
  /** Header lines of the message. */
  readableLines: HeaderLines = [];
  readonly #read: TextReader;
  readonly #firstLabel: string | undefined;

  constructor(read: TextReader, raw: Buffer) {
    super({
      keepDeliveryStatus: true,
      // Keeps returned and forwarded messages as whole parts, so that their words are not taken for the sender's own.
      ignoreEmbedded: true,
      skipHtmlToText: true,
      skipTextToHtml: true,
      checksumAlgo: false,
    });
    this.#read = read;
    this.#firstLabel = /charset\s*=\s*"?([\w.:-]{2,40})/i.exec(raw.toString('latin1', 0, 64 * 1024))?.[1];
  }

  override createNode(node: MimeNode['node']): MimeNode {
    const flow = node.flowed ? { delSp: node.delSp === true } : undefined;
    node.flowed = false;
    // A type without a subtype is text (RFC 2045, section 5.2).
    if (node.contentType && !node.contentType.includes('/')) node.contentType = 'text/plain';
    const made = super.createNode(node);
    if (!/^text\//i.test(made.contentType || '')) return made;
    made.label = made.charset;
    made.flow = flow;
    // Makes the decoder return one character per byte, so that the bytes can be decoded later.
    made.charset = 'binary';
    return made;
  }

  override getTextContent(): unknown {
    if (this.tree) this.#decode(this.tree);
    return super.getTextContent();
  }

  override processHeaders(lines: { key: string; line: string }[]): unknown {
    const label = this.#firstLabel;
    const readable = lines.map(({ key, line }) => ({ key, line: readableHeader(key, line, this.#read, label) }));
    // The first block is that of the message.
    if (this.readableLines.length === 0) this.readableLines = readable;
    return super.processHeaders(readable);
  }

  #decode(node: MimeNode): void {
    if (node.textContent !== undefined && node.charset === 'binary') {
      const bytes = Buffer.from(node.textContent, 'latin1');
      const labels = [node.label, node.contentType === 'text/html' ? headLabel(node.textContent) : undefined];
      const text = this.#read(bytes, labels).replace(/\r\n?/g, '\n');
      node.textContent = node.flow ? unflowed(text, node.flow.delSp) : text;
    }
    node.children.forEach((child) => this.#decode(child));
  }
}

/** Returns the charset named in the head of an HTML document. */
function headLabel(html: string): string | undefined {
  return /<meta\b[^>]{0,200}\bcharset\s*=\s*["']?([\w.:-]{2,40})/i.exec(html.slice(0, 4096))?.[1];
}
