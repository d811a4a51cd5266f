/**
 * Returns SQL that partitions a table by time: one partition for all rows before next month, and one for all later
 * rows. Maintenance splits months off the later partition (domain/operations/system/partitions.ts).
 * @param table existing table, created with `partition by range` over its time column
 * @param by `id`: the column is an id, which begins with its time; `moment`: the column is a timestamptz
 * @param fillfactor fillfactor of the partitions, percent
 */
export function divided(table: string, by: 'id' | 'moment', fillfactor = 100): string {
  const bound = by === 'id' ? 'pg_temp.first_id(pg_temp.next_month())' : 'pg_temp.next_month()';
  const options = fillfactor === 100 ? '' : ` with (fillfactor = ${fillfactor})`;
  return `create table ${table}_before partition of ${table} for values from (minvalue) to (${bound})${options};
create table ${table}_rest partition of ${table} for values from (${bound}) to (maxvalue)${options};
call heron_guard_rows('${table}_before');
call heron_guard_rows('${table}_rest');`;
}
