import type { FileTime } from './notes.ts';

/** Time (s) that every file may take, even if it was faster before. */
const LEAST_BUDGET_SECONDS = 10;
/** Factor by which a file's time may grow, because other machines are slower and busier. */
const PATIENCE = 3;

/** Returns a line for each file that took much longer than before. */
export function overBudget(times: readonly FileTime[], before: Record<string, number>): string[] {
  return times.flatMap(({ file, seconds }) => {
    const budget = Math.max(LEAST_BUDGET_SECONDS, PATIENCE * (before[`${file}.test.ts`] ?? 0));
    return seconds > budget ? [`${file}: ${seconds.toFixed(0)} s, its budget is ${budget.toFixed(0)} s`] : [];
  });
}

/** Returns the removed and the new tests, a line for each. */
export function compareTitles(titles: readonly string[], before: readonly string[]): string[] {
  const [now, then] = [new Set(titles), new Set(before)];
  return [
    ...before.filter((title) => !now.has(title)).map((title) => `- ${title}`),
    ...titles.filter((title) => !then.has(title)).map((title) => `+ ${title}`),
  ];
}
