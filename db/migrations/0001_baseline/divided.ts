/**
 * Returns SQL that divides a table by the time in its ids: a partition for all rows before next month, and one for all later rows. Maintenance takes
 * months out of the later one (domain/operations/system/partitions.ts).
 * @param table created `partition by range` over its id, before
 */
export function divided(table: string): string {
  return `create table ${table}_before partition of ${table} for values from (minvalue) to (pg_temp.next_month());
create table ${table}_rest partition of ${table} for values from (pg_temp.next_month()) to (maxvalue);
call heron_guard_rows('${table}_before');
call heron_guard_rows('${table}_rest');`;
}
