/** Column of a table: its heading, and a function that returns the cell of a row. */
export type Column<Row> = readonly [heading: string, cell: (row: Row) => string | number | null | undefined];

/** Maximum length (characters) of a cell. Longer text is cut. */
const MAX_CELL = 60;

/**
 * Formats rows as lines for a terminal, with a heading and columns as wide as their content. If there are no rows,
 * returns `none` as the only line.
 */
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

/** Converts text from outside to one line without control characters. */
function shown(value: string | number | null | undefined): string {
  const text = String(value ?? '')
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  const letters = [...text];
  return letters.length > MAX_CELL ? `${letters.slice(0, MAX_CELL - 1).join('')}…` : text;
}
