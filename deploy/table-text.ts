/** A column of a table for people: its heading, and what a row shows there. */
export type Column<Row> = readonly [heading: string, cell: (row: Row) => string | number | null | undefined];

/** The longest cell; what is longer is cut. */
const MAX_CELL = 60;

/** Rows as lines of a terminal: a heading, and columns as wide as what stands in them. Without rows it is one line that says so. */
export function tableLines<Row>(rows: readonly Row[], columns: readonly Column<Row>[], none: string): string[] {
  if (rows.length === 0) return [none];
  const cells = [
    columns.map(([heading]) => heading),
    ...rows.map((row) => columns.map(([, cell]) => shown(cell(row)))),
  ];
  const widths = columns.map((_unused, index) => Math.max(...cells.map((line) => [...line[index]!].length)));
  return cells.map((line) =>
    line
      .map((cell, index) => cell + ' '.repeat(widths[index]! - [...cell].length))
      .join('  ')
      .trimEnd(),
  );
}

/** What others wrote is one line, and moves no cursor. */
function shown(value: string | number | null | undefined): string {
  const text = String(value ?? '')
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  const letters = [...text];
  return letters.length > MAX_CELL ? `${letters.slice(0, MAX_CELL - 1).join('')}…` : text;
}
