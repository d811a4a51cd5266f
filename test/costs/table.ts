import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Numbers, or nested tables of them, by name. */
export interface Table {
  [name: string]: number | Table;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Folder of the latest measurements, under the same names as the committed tables. */
const MEASURED = '.heron/costs';

/**
 * Compares a measurement with a committed table, and stores the measurement.
 * @param path path of the committed table, relative to the project's folder
 * @returns one line for each different number and an instruction to change the table; empty if all numbers are equal
 */
export function differences(path: string, measured: Table): string[] {
  const committed = JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as Table;
  const kept = join(MEASURED, relative('bench', path));
  mkdirSync(dirname(join(ROOT, kept)), { recursive: true });
  writeFileSync(join(ROOT, kept), written(measured));
  const lines = changes(committed, measured);
  if (lines.length === 0) return [];
  return [
    ...lines,
    `A cost has changed. Where it must: change ${path} by hand (what was measured is in ${kept}) and give the reason in the commit.`,
  ];
}

/** Lists the numbers that differ between two tables (changed, added or removed): path, before and after. */
export function changes(before: Table, after: Table): string[] {
  const [from, to] = [flat(before), flat(after)];
  return [...new Set([...from.keys(), ...to.keys()])]
    .sort()
    .filter((name) => from.get(name) !== to.get(name))
    .map((name) => `${name}: ${from.get(name) ?? 'none'} -> ${to.get(name) ?? 'none'}`);
}

/** Serializes a table with sorted names, so that a changed number changes one line. */
function written(table: Table): string {
  return `${JSON.stringify(inOrder(table), null, 2)}\n`;
}

function inOrder(table: Table): Table {
  return Object.fromEntries(
    Object.keys(table)
      .sort()
      .map((name) => {
        const value = table[name]!;
        return [name, typeof value === 'number' ? value : inOrder(value)];
      }),
  );
}

function flat(table: Table, prefix = ''): Map<string, number> {
  return new Map(
    Object.entries(table).flatMap(([name, value]) => {
      const path = prefix ? `${prefix} > ${name}` : name;
      return typeof value === 'number' ? [[path, value] as const] : [...flat(value, path)];
    }),
  );
}
