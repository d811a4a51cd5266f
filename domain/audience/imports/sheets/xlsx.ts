import { posix } from 'node:path';
import type { Archive } from './archive.ts';
import { attribute, MarkupReader, type Attributes } from './markup.ts';
import { numberText, type NumberFormat } from './number-text.ts';
import type { SheetRow, Workbook } from './book.ts';

const WORKBOOK = 'xl/workbook.xml';
/** Maximum numbers of columns and rows of an Excel sheet. */
const MAX_COLUMNS = 16_384;
const MAX_ROWS = 1_048_576;

/** Opens an XLSX workbook: its sheets, shared texts and number formats. */
export async function openXlsx(archive: Archive): Promise<Workbook> {
  const root = await archive.read('_rels/.rels', new Relations(''));
  const at = root.first('/officeDocument') ?? WORKBOOK;
  const folder = posix.dirname(at);
  const [book, parts] = [
    await archive.read(at, new Sheets()),
    await archive.read(posix.join(folder, '_rels', `${posix.basename(at)}.rels`), new Relations(folder)),
  ];
  const styles = await archive.read(parts.first('/styles') ?? '', new Styles());
  const strings = await archive.read(parts.first('/sharedStrings') ?? '', new SharedStrings());
  return {
    sheets: book.sheets.map(({ name, isHidden }) => ({ name, isHidden })),
    rows: (name) => {
      const sheet = book.sheets.find((each) => each.name === name);
      const part = sheet && parts.target(sheet.relation);
      return rowsOf(archive, part ?? '', new Cells(strings.texts, styles, book.is1904));
    },
  };
}

async function* rowsOf(archive: Archive, part: string, cells: Cells): AsyncGenerator<SheetRow[]> {
  for await (const { rows } of archive.stream(part, cells)) if (rows.length > 0) yield rows.splice(0);
}

class Relations extends MarkupReader {
  readonly #folder: string;
  readonly #targets = new Map<string, { type: string; target: string }>();

  constructor(folder: string) {
    super();
    this.#folder = folder;
  }

  target(id: string): string | undefined {
    return this.#targets.get(id)?.target;
  }

  first(type: string): string | undefined {
    return [...this.#targets.values()].find((each) => each.type.endsWith(type))?.target;
  }

  protected open(name: string, { Id, Type = '', Target = '' }: Attributes): void {
    if (name !== 'Relationship' || Id === undefined) return;
    const target = Target.startsWith('/') ? Target.slice(1) : posix.join(this.#folder, Target);
    this.#targets.set(Id, { type: Type, target });
  }

  protected text(): void {}
  protected close(): void {}
}

class Sheets extends MarkupReader {
  readonly sheets: { name: string; relation: string; isHidden: boolean }[] = [];
  is1904 = false;

  protected open(name: string, attributes: Attributes): void {
    if (name === 'workbookPr') this.is1904 = /^(?:1|true)$/.test(attribute(attributes, 'date1904') ?? '');
    if (name !== 'sheet') return;
    this.sheets.push({
      name: attributes.name ?? '',
      relation: attribute(attributes, 'id') ?? '',
      isHidden: (attributes.state ?? 'visible') !== 'visible',
    });
  }

  protected text(): void {}
  protected close(): void {}
}

class Styles extends MarkupReader {
  readonly #patterns = new Map<number, string>();
  readonly #formats: number[] = [];
  #isInCells = false;

  formatOf(style: string | undefined): NumberFormat {
    const id = this.#formats[Number(style ?? 0)] ?? 0;
    return { id, pattern: this.#patterns.get(id) };
  }

  protected open(name: string, attributes: Attributes): void {
    if (name === 'numFmt') this.#patterns.set(Number(attributes.numFmtId), attributes.formatCode ?? '');
    else if (name === 'cellXfs') this.#isInCells = true;
    else if (name === 'xf' && this.#isInCells) this.#formats.push(Number(attributes.numFmtId ?? 0));
  }

  protected text(): void {}

  protected close(name: string): void {
    if (name === 'cellXfs') this.#isInCells = false;
  }
}

/** Reads the text of rich or plain strings: all `t` elements except phonetic readings. */
abstract class TextReader extends MarkupReader {
  #isText = false;
  #isPronunciation = false;
  protected written = '';

  protected open(name: string): void {
    if (name === 't') this.#isText = true;
    else if (name === 'rPh') this.#isPronunciation = true;
  }

  protected text(text: string): void {
    if (this.#isText && !this.#isPronunciation) this.written += text;
  }

  protected close(name: string): void {
    if (name === 't') this.#isText = false;
    else if (name === 'rPh') this.#isPronunciation = false;
  }
}

class SharedStrings extends TextReader {
  readonly texts: string[] = [];

  protected override open(name: string): void {
    if (name === 'si') this.written = '';
    super.open(name);
  }

  protected override close(name: string): void {
    super.close(name);
    if (name === 'si') this.texts.push(unescaped(this.written));
  }
}

/** End of a date without a time of day. */
const MIDNIGHT = /T00:00(?::00(?:\.0+)?)?Z?$/;

class Cells extends TextReader {
  readonly rows: SheetRow[] = [];
  readonly #strings: readonly string[];
  readonly #styles: Styles;
  readonly #is1904: boolean;
  #row = 0;
  #cells: string[] = [];
  #column = 0;
  #attributes: Attributes = {};
  #isValue = false;
  #value = '';

  constructor(strings: readonly string[], styles: Styles, is1904: boolean) {
    super();
    this.#strings = strings;
    this.#styles = styles;
    this.#is1904 = is1904;
  }

  protected override open(name: string, attributes: Attributes = {}): void {
    if (name === 'row') {
      this.#row = Math.min(MAX_ROWS, Number(attributes.r ?? this.#row + 1) || this.#row + 1);
      this.#cells = [];
      this.#column = 0;
    } else if (name === 'c') {
      this.#attributes = attributes;
      this.#column = attributes.r ? columnOf(attributes.r) : this.#column;
      this.#value = '';
      this.written = '';
    } else if (name === 'v') this.#isValue = true;
    else super.open(name);
  }

  protected override text(text: string): void {
    if (this.#isValue) this.#value += text;
    else super.text(text);
  }

  protected override close(name: string): void {
    if (name === 'v') this.#isValue = false;
    else if (name === 'c') this.#addCell();
    else if (name === 'row') this.rows.push({ row: this.#row, cells: this.#cells });
    else super.close(name);
  }

  #addCell(): void {
    const text = this.#cellText();
    const at = this.#column;
    this.#column += 1;
    if (text === '' || at >= MAX_COLUMNS) return;
    while (this.#cells.length < at) this.#cells.push('');
    this.#cells[at] = text;
  }

  #cellText(): string {
    const value = this.#value;
    switch (this.#attributes.t) {
      case 's':
        return this.#strings[Number(value)] ?? '';
      case 'inlineStr':
        return unescaped(this.written);
      case 'str':
        return unescaped(value);
      case 'd':
        return value.replace(MIDNIGHT, '');
      case 'b':
        return value === '1' ? 'TRUE' : 'FALSE';
      // The reader of rows recognizes the text of a failed formula, such as #N/A.
      case 'e':
        return value;
      default:
        return value === ''
          ? ''
          : numberText(value, this.#styles.formatOf(this.#attributes.s), { is1904: this.#is1904 });
    }
  }
}

/** Returns the column index of a reference such as `AB12`. */
function columnOf(reference: string): number {
  let column = 0;
  for (const char of reference) {
    const letter = char.charCodeAt(0) - 64;
    if (letter < 1 || letter > 26) break;
    column = column * 26 + letter;
  }
  return Math.min(MAX_COLUMNS, Math.max(0, column - 1));
}

/** Decodes characters that XML cannot contain, which are escaped as `_x000D_`. */
function unescaped(text: string): string {
  return text.includes('_x')
    ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text;
}
