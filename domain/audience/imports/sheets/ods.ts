import type { Archive } from './archive.ts';
import { attribute, MarkupReader, type Attributes } from './markup.ts';
import type { SheetRow, Workbook } from './book.ts';

const CONTENT = 'content.xml';
const MAX_COLUMNS = 16_384;
const MAX_ROWS = 1_048_576;
/** Maximum number of repetitions of a row with content. A sheet with more repetitions is not a list of contacts. */
const MAX_REPEATS = 1_000;

/** Opens an ODS workbook, whose sheets are all in one part. */
export async function openOds(archive: Archive): Promise<Workbook> {
  const names = new TableNames();
  for await (const _ of archive.stream(CONTENT, names)) continue;
  return {
    sheets: names.tables.map(({ name, style }) => ({ name, isHidden: names.hiddenStyles.has(style) })),
    rows: (name) => rowsOf(archive, new Table(name)),
  };
}

async function* rowsOf(archive: Archive, table: Table): AsyncGenerator<SheetRow[]> {
  for await (const { rows, isOver } of archive.stream(CONTENT, table)) {
    if (rows.length > 0) yield rows.splice(0);
    if (isOver) return;
  }
}

class TableNames extends MarkupReader {
  readonly tables: { name: string; style: string }[] = [];
  /** Styles of hidden tables. */
  readonly hiddenStyles = new Set<string>();
  #style = '';
  #depth = 0;

  protected open(name: string, attributes: Attributes): void {
    if (name === 'style') this.#style = attribute(attributes, 'name') ?? '';
    else if (name === 'table-properties' && attribute(attributes, 'display') === 'false')
      this.hiddenStyles.add(this.#style);
    if (name !== 'table') return;
    const [title = '', style = ''] = [attribute(attributes, 'name'), attribute(attributes, 'style-name')];
    if (this.#depth === 0) this.tables.push({ name: title, style });
    this.#depth += 1;
  }

  protected text(): void {}

  protected close(name: string): void {
    if (name === 'table') this.#depth -= 1;
  }
}

/** Reads the rows of one table. Cells contain the visible text, without comments. */
class Table extends MarkupReader {
  readonly rows: SheetRow[] = [];
  isOver = false;
  readonly #name: string;
  #isInside = false;
  #row = 0;
  #rowRepeats = 1;
  #cells: string[] = [];
  /** Number of blank cells read since the last filled one. They are added only if a filled cell follows. */
  #blanks = 0;
  #cell: Attributes = {};
  #written = '';
  #paragraphs = 0;
  #isParagraph = false;
  #comments = 0;

  constructor(name: string) {
    super();
    this.#name = name;
  }

  protected open(name: string, attributes: Attributes): void {
    if (name === 'table' && !this.isOver) this.#isInside = attribute(attributes, 'name') === this.#name;
    if (!this.#isInside) return;
    if (name === 'table-row') {
      this.#rowRepeats = repeats(attributes, 'number-rows-repeated');
      this.#cells = [];
      this.#blanks = 0;
    } else if (name === 'table-cell' || name === 'covered-table-cell') {
      this.#cell = attributes;
      this.#written = '';
      this.#paragraphs = 0;
    } else if (name === 'annotation') this.#comments += 1;
    else if (this.#comments === 0) this.#openText(name, attributes);
  }

  #openText(name: string, attributes: Attributes): void {
    if (name === 'p' || name === 'h') {
      if (this.#paragraphs > 0) this.#written += '\n';
      this.#paragraphs += 1;
      this.#isParagraph = true;
    } else if (name === 's') this.#written += ' '.repeat(Math.min(100, Number(attribute(attributes, 'c') ?? 1)));
    else if (name === 'tab') this.#written += '\t';
    else if (name === 'line-break') this.#written += '\n';
  }

  protected text(text: string): void {
    if (this.#isParagraph && this.#comments === 0) this.#written += text;
  }

  protected close(name: string): void {
    if (!this.#isInside) return;
    if (name === 'table') [this.#isInside, this.isOver] = [false, true];
    else if (name === 'annotation') this.#comments -= 1;
    else if (name === 'p' || name === 'h') this.#isParagraph = false;
    else if (name === 'table-cell' || name === 'covered-table-cell') this.#addCell();
    else if (name === 'table-row') this.#addRow();
  }

  #addCell(): void {
    const text = this.#cellText();
    const times = repeats(this.#cell, 'number-columns-repeated');
    if (text === '') {
      this.#blanks += times;
      return;
    }
    while (this.#blanks > 0 && this.#cells.length < MAX_COLUMNS) {
      this.#cells.push('');
      this.#blanks -= 1;
    }
    for (let n = 0; n < times && this.#cells.length < MAX_COLUMNS; n += 1) this.#cells.push(text);
  }

  #cellText(): string {
    const type = attribute(this.#cell, 'value-type');
    const value = attribute(this.#cell, 'value');
    // Uses the stored value of a number that is shown as a power of ten, because digits are missing in the shown text.
    if (type === 'float' && value !== undefined && /\de[+-]?\d/i.test(this.#written)) return wholeNumber(value);
    return this.#written || (type === 'boolean' ? (attribute(this.#cell, 'boolean-value') ?? '').toUpperCase() : '');
  }

  #addRow(): void {
    const filled = this.#cells.length > 0;
    const times = filled ? Math.min(MAX_REPEATS, this.#rowRepeats) : 0;
    for (let n = 0; n < times; n += 1)
      this.rows.push({ row: Math.min(MAX_ROWS, this.#row + n + 1), cells: this.#cells });
    this.#row += this.#rowRepeats;
  }
}

function repeats(attributes: Attributes, name: string): number {
  const times = Number(attribute(attributes, name) ?? 1);
  return Number.isInteger(times) && times > 0 ? Math.min(times, MAX_ROWS) : 1;
}

function wholeNumber(value: string): string {
  const number = Number(value);
  return Number.isInteger(number) && Math.abs(number) < 1e21 ? BigInt(number).toString() : value;
}
