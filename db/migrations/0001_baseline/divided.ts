/**
 * Returns SQL that divides a table by time: a partition for all rows before next month, and one for all later rows. Maintenance takes months out of the
 * later one (domain/operations/system/partitions.ts).
 * @param table created before, `partition by range` over the column that holds its time
 * @param by `id`: that column is an id, which begins with its time; `moment`: it is a timestamptz
 * @param fillfactor of the partitions, percent
 */
export function divided(table: string, by: 'id' | 'moment', fillfactor = 100): string {
  const bound = by === 'id' ? 'pg_temp.first_id(pg_temp.next_month())' : 'pg_temp.next_month()';
  const options = fillfactor === 100 ? '' : ` with (fillfactor = ${fillfactor})`;
  return `create table ${table}_before partition of ${table} for values from (minvalue) to (${bound})${options};
create table ${table}_rest partition of ${table} for values from (${bound}) to (maxvalue)${options};
call heron_guard_rows('${table}_before');
call heron_guard_rows('${table}_rest');`;
}
