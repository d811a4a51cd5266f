import test from 'ava';
import { parse } from 'csv-parse/sync';
import { csvLines } from './csv.ts';

test('no cell is a formula, whichever of comma, semicolon and tab a spreadsheet takes for the end of a cell', (t) => {
  const hostile = [
    '=1+1',
    '＝1+1',
    "Acme;=cmd|' /C calc'!A0;",
    'a;\u00a0+1',
    'a\t@x',
    'a\n-1',
    'a,=1',
    '-',
    'words; a-b = c',
  ];
  const lines = csvLines([hostile, ['x', ...hostile.slice(1)]]);
  for (const delimiter of [',', ';', '\t']) {
    const rows: string[][] = parse(lines, { delimiter, relax_quotes: true, relax_column_count: true });
    for (const cell of rows.flat()) t.notRegex(cell, /^\s*[=+\-@＝＋－＠]/, `${delimiter} ${cell}`);
  }
  t.true(lines.includes('words; a-b = c'), 'other text stays as it is');
});
