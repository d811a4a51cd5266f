import type { FactsReport } from '../domain/reporting/aggregates/verify.ts';

/** Formats reports of type {@link FactsReport} as lines for a terminal. */
export function factLines(reports: readonly FactsReport[]): string[] {
  return reports.flatMap((report) => [
    `${report.organization_id}: ${report.emails} emails, ${report.total === 0 ? 'no difference' : `${report.total} differences`}` +
      (report.behind > 0 ? `; ${report.behind} events are not applied yet` : ''),
    ...report.differences.flatMap(({ table, key, stored, expected }) => [
      `  ${table}  ${Object.entries(key)
        .map(([name, value]) => `${name} ${value}`)
        .join(', ')}`,
      `    stored ${JSON.stringify(stored)}, expected ${JSON.stringify(expected)}`,
    ]),
  ]);
}
