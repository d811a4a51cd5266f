import { across, type AcrossScope } from '../../../db/across.ts';
import { isOverTime } from '../../../db/errors.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { firstIdAt } from '../../../lib/ids.ts';
import type { Deps } from '../../platform/kernel/context.ts';

/** Tables that are partitioned by the same months. All tables after the first one refer to it. */
interface Division {
  tables: readonly [string, ...string[]];
  /** Partition column: an id, which begins with its time, or a timestamp (`moment`). */
  by: 'id' | 'moment';
  /** Setting with the number of days for which a month is kept after its end. If it is 0, all months are kept. */
  kept: 'EVENT_RETENTION_DAYS' | 'AUDIT_RETENTION_DAYS' | 'REPORT_HOUR_RETENTION_DAYS';
}

/**
 * Tables with monthly partitions. Each table also has the partitions `…_before` and `…_rest` for all earlier and later
 * rows, so that a row with any time can be stored. `docs/explanation/scale.md` names the unpartitioned tables and the
 * reasons.
 */
const DIVIDED: readonly Division[] = [
  { tables: ['domain_events'], by: 'id', kept: 'EVENT_RETENTION_DAYS' },
  { tables: ['webhook_payloads'], by: 'id', kept: 'EVENT_RETENTION_DAYS' },
  { tables: ['webhook_deliveries', 'webhook_attempts'], by: 'id', kept: 'EVENT_RETENTION_DAYS' },
  { tables: ['audit_logs'], by: 'moment', kept: 'AUDIT_RETENTION_DAYS' },
  { tables: ['fact_campaign_hours'], by: 'moment', kept: 'REPORT_HOUR_RETENTION_DAYS' },
  { tables: ['fact_mailbox_hours'], by: 'moment', kept: 'REPORT_HOUR_RETENTION_DAYS' },
];
/**
 * Maximum time (ms) to wait for a lock when a month is created or dropped. If it is exceeded, the next sweep tries
 * again.
 */
const MAX_WAIT_MS = 2_000;
/** Key of an advisory lock, so that concurrent sweeps wait for each other. The number is arbitrary. */
const PARTITIONS_LOCK = 7_201_949;

interface Partition {
  table: string;
  /** Suffix that follows the table's name in the partition's name. */
  suffix: string;
  /** Start of the partition's first month (UTC). Null if the partition contains all earlier rows. */
  from: Date | null;
  /** End of the partition's last month (UTC). Null if the partition contains all later rows. */
  to: Date | null;
}

/**
 * Creates the next month's partition in advance, and drops months that ended longer ago than the setting allows. Rows
 * are therefore kept for the set time and up to a month longer. A month with an event that was not processed or is
 * parked is kept, and a warning is logged.
 */
export async function maintainPartitions(deps: Pick<Deps, 'db' | 'clock' | 'config' | 'log'>): Promise<void> {
  for (const division of DIVIDED) {
    const { tables } = division;
    try {
      const changed = await inTransaction(deps.db, (trx) => maintainMonths(across(trx, 'maintenance'), division, deps));
      // Updates the statistics of the whole table, because PostgreSQL does this automatically only for partitions.
      for (const table of changed ? tables : []) await across(deps.db, 'maintenance').sql(`analyze ${table}`);
    } catch (error) {
      if (!isOverTime(error)) throw error;
      deps.log.warn(
        { tables, err: error },
        'the months of these tables are left for the next sweep: the tables were in use',
      );
    }
  }
}

/**
 * Creates the next month's partitions of a division, and drops unneeded partitions.
 * @returns true if a partition was created or dropped
 */
async function maintainMonths(
  scope: AcrossScope,
  division: Division,
  { clock, config, log }: Pick<Deps, 'clock' | 'config' | 'log'>,
): Promise<boolean> {
  // Sets the time zone, because PostgreSQL writes partition bounds as text in the session's time zone.
  await scope.sql(
    `select pg_advisory_xact_lock(${PARTITIONS_LOCK}), set_config('lock_timeout', '${MAX_WAIT_MS}', true), set_config('timezone', 'UTC', true)`,
  );
  const { tables, kept } = division;
  const now = clock.now();
  const past = new Date(config[kept] === 0 ? 0 : now.getTime() - config[kept] * DAY_MS);
  const partitions = await partitionsOf(scope, division);
  const rest = partitions.at(-1)!;
  const isNextMissing = rest.from! <= startOfMonth(now, 1);
  const over = await unneeded(
    scope,
    partitions.filter(({ to }) => to !== null && to <= past),
    log,
  );
  // Drops nothing if only an empty `…_before` partition is left.
  const isOver = over.length > 1 || (over.length === 1 && (await hasRows(scope, over[0]!)));
  if (!isNextMissing && !isOver) return false;
  await scope.sql(`lock table ${tables.join(', ')} in access exclusive mode`);
  if (isOver) {
    for (const { suffix } of over) await dropPartition(scope, tables, suffix);
    await addPartition(scope, division, '_before', null, over.at(-1)!.to);
    log.info({ tables, partitions: over.map(({ suffix }) => suffix) }, `months past ${kept} were dropped`);
  }
  if (isNextMissing) await divideRest(scope, division, rest.from!, startOfMonth(now, 2));
  return true;
}

/** Returns the partitions that come before the first one with a needed event. `ended` must be sorted, oldest first. */
async function unneeded(scope: AcrossScope, ended: readonly Partition[], log: Deps['log']): Promise<Partition[]> {
  const over: Partition[] = [];
  for (const partition of ended) {
    if (partition.table === 'domain_events' && !(await isApplied(scope, partition))) {
      log.warn(
        { partition: partition.suffix },
        'events are kept past EVENT_RETENTION_DAYS: the fan-out or a subscriber has not come to them, or they are parked (heron reactions)',
      );
      break;
    }
    over.push(partition);
  }
  return over;
}

/** Returns the partitions of a division's first table, oldest first. */
async function partitionsOf(scope: AcrossScope, { tables: [table], by }: Division): Promise<Partition[]> {
  const moment = (bound: string) =>
    by === 'moment'
      ? `cast(${bound} as timestamptz)`
      : `to_timestamp(('x' || left(replace(${bound}, '-', ''), 12))::bit(48)::bigint / 1000.0)`;
  return scope.sql<Partition>(
    `select cast(:table as text) as table, substring(name from length(:table) + 1) as suffix,
       ${moment(`substring(bounds from 'FROM \\(''([^'']+)''\\)')`)} as "from", ${moment(`substring(bounds from 'TO \\(''([^'']+)''\\)')`)} as "to"
     from (select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bounds
       from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = to_regclass(:table)) partitions
     order by "from" nulls first`,
    { table },
  );
}

async function hasRows(scope: AcrossScope, { table, suffix }: Partition): Promise<boolean> {
  const rows = await scope.sql(`select from ${table}${suffix} limit 1`);
  return rows.length > 0;
}

/**
 * Returns true if no event of a partition is needed any more. All events must have a position, every subscriber must
 * have processed them in every organization, and none may be parked.
 */
async function isApplied(scope: AcrossScope, { table, suffix }: Partition): Promise<boolean> {
  const partition = `${table}${suffix}`;
  const [found] = await scope.sql<{ applied: boolean }>(
    `select not exists (select from ${partition} where position is null)
       and coalesce((select max(position) from ${partition}), 0) <= coalesce((select min(position) from reaction_subscribers), ${Number.MAX_SAFE_INTEGER})
       and not exists (select from reaction_streams s
         join ${partition} e on e.organization_id = s.organization_id and e.position > s.position and e.position <= s.head)
       and not exists (select from reaction_parked_events p join ${partition} e on e.id = p.event_id where p.state = 'parked') as applied`,
  );
  return found!.applied;
}

/** Drops the partitions of one month of all tables. Begins with the tables that refer to another one. */
async function dropPartition(scope: AcrossScope, tables: readonly string[], suffix: string): Promise<void> {
  for (const table of tables.toReversed()) {
    await scope.sql(`alter table ${table} detach partition ${table}${suffix}`);
    await scope.sql(`drop table ${table}${suffix}`);
  }
}

/**
 * Moves the rows of a period from the `…_rest` partition into a new partition. `…_rest` is empty unless this function
 * was not called for months.
 */
async function divideRest(scope: AcrossScope, division: Division, from: Date, to: Date): Promise<void> {
  const { tables } = division;
  for (const table of tables)
    await scope.sql(`create temporary table ${table}_late on commit drop as select * from ${table}_rest`);
  await dropPartition(scope, tables, '_rest');
  await addPartition(scope, division, `_${from.toISOString().slice(0, 7).replace('-', '_')}`, from, to);
  await addPartition(scope, division, '_rest', to, null);
  for (const table of tables) await scope.sql(`insert into ${table} select * from ${table}_late`);
}

async function addPartition(
  scope: AcrossScope,
  { tables, by }: Division,
  suffix: string,
  from: Date | null,
  to: Date | null,
): Promise<void> {
  const bound = (moment: Date) => `'${by === 'id' ? firstIdAt(moment) : moment.toISOString()}'`;
  const [low, high] = [from ? bound(from) : 'minvalue', to ? bound(to) : 'maxvalue'];
  for (const table of tables) {
    const options = await optionsOf(scope, table);
    await scope.sql(
      `create table ${table}${suffix} partition of ${table} for values from (${low}) to (${high}) ${options}`,
    );
    await scope.sql(`call heron_guard_rows('${table}${suffix}')`);
  }
}

/** Returns the storage parameters of a table's partitions, as SQL. */
async function optionsOf(scope: AcrossScope, table: string): Promise<string> {
  const [partition] = await scope.sql<{ options: string | null }>(
    `select array_to_string(c.reloptions, ', ') as options
     from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = to_regclass(:table) limit 1`,
    { table },
  );
  return partition?.options ? `with (${partition.options})` : '';
}

function startOfMonth(moment: Date, later: number): Date {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + later));
}
