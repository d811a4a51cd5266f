/**
 * Returns the end of an insert statement that replaces the row with the same key if its measures differ. An equal row
 * is not written.
 */
export function replacingDifferent(table: string, key: string, measures: readonly string[]): string {
  const all = (row: string) => measures.map((name) => `${row}.${name}`).join(', ');
  return `on conflict (${key}) do update set ${measures.map((name) => `${name} = excluded.${name}`).join(', ')}
     where (${all(table)}) is distinct from (${all('excluded')})`;
}
