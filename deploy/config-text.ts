import type { SettingReport } from '../lib/config/index.ts';

/** Formats each setting as a line with the columns name, value and source. */
export function configLines(settings: readonly SettingReport[]): string[] {
  const rows = settings.map(({ name, value, source }) => [name, shown(value), source] as const);
  const width = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length));
  return rows.map(([name, value, source]) => `${name.padEnd(width(0))}  ${value.padEnd(width(1))}  ${source}`);
}

function shown(value: unknown): string {
  if (value === null) return '-';
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.join(',');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
