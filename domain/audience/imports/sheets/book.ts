/** A row of a sheet with cells. `row` is its number, from 1. */
export interface SheetRow {
  row: number;
  cells: string[];
}

/** A workbook whose sheets are read row by row. */
export interface Workbook {
  sheets: { name: string; isHidden: boolean }[];
  /** Yields the rows of a sheet, in groups. @throws SheetError */
  rows(sheet: string): AsyncGenerator<SheetRow[]>;
}
