/** Maximum length (characters) of compared names, because the computing time grows with the length. */
const MAX_LENGTH = 64;

/**
 * Returns the known name that is nearest to a misspelt name. Undefined if more than a third of its characters would
 * have to change.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const near = known
    .map((candidate) => ({ candidate, edits: editsBetween(name, candidate) }))
    .filter(({ candidate, edits }) => edits <= Math.max(name.length, candidate.length) / 3)
    .toSorted((a, b) => a.edits - b.edits);
  return near[0]?.candidate;
}

/** Counts the inserted, deleted, replaced and swapped characters between two names (optimal string alignment). */
function editsBetween(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? rows[i - 2]![j - 2]! + 1 : Infinity;
      row.push(Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, replaced, swapped));
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
