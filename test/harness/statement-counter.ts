import { AsyncLocalStorage } from 'node:async_hooks';
import { activityInfo } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { BY_CLOCK, followPaths } from '../../lib/cost-paths.ts';
import type { RawDb } from './database.ts';

/** Numbers of statements by code path and by label ({@link labelOf}). */
export type StatementCounts = Record<string, Record<string, number>>;

export interface StatementCounter {
  /** Returns the counts since the last call. */
  take(): StatementCounts;
  /** Returns the size (bytes) of the text parameters sent since the last call, by code path. */
  takeBytes(): Record<string, number>;
  stop(): void;
}

const paths = new AsyncLocalStorage<string>();

/**
 * Runs work whose statements count for a path, including those of all code that it calls or starts. A nested call with
 * another path has priority.
 */
export function inPath<T>(path: string, work: () => Promise<T>): Promise<T> {
  return paths.run(path, work);
}

/** Enables the tracking of code paths in this process. Returns a function that disables it. */
export function startPaths(): () => void {
  return followPaths(inPath);
}

/** Counts the statements of an activity under its name; those of `advanceEnrollment` count as `advance`. */
export const PATHS_OF_ACTIVITIES: ActivityInboundCallsInterceptor = {
  execute(input, next) {
    const { activityType } = activityInfo();
    return inPath(activityType === 'advanceEnrollment' ? 'advance' : activityType, () => next(input));
  },
};

/** Statements that open and end transactions; each is counted under its own label. */
const CONTROL = /^(begin|commit|rollback|savepoint|release)\b/;

interface Counted {
  query(config: string | { text: string; values?: unknown[] }, ...rest: unknown[]): unknown;
}

/**
 * Counts each statement on a pool's connections when it is sent, for its code path. Statements of other processes and
 * pools, and those that set up a connection, are not counted.
 */
export function countStatements(db: RawDb): StatementCounter {
  let counts: StatementCounts = {};
  let bytes: Record<string, number> = {};
  let isOn = true;
  const note = (text: string, values: readonly unknown[]): void => {
    const path = paths.getStore() ?? BY_CLOCK;
    const label = labelOf(text);
    const ofPath = (counts[path] ??= {});
    ofPath[label] = (ofPath[label] ?? 0) + 1;
    for (const value of values)
      if (typeof value === 'string') bytes[path] = (bytes[path] ?? 0) + Buffer.byteLength(value);
  };
  const known = new WeakSet<Counted>();
  const watch = (_event: number, connection: Counted): void => {
    if (known.has(connection)) return;
    known.add(connection);
    const { query } = connection;
    connection.query = function (config, ...rest) {
      if (isOn)
        note(
          typeof config === 'string' ? config : config.text,
          typeof config === 'string' ? [] : (config.values ?? []),
        );
      return query.call(this, config, ...rest);
    };
  };
  db.client.pool.on('acquireSuccess', watch);
  return {
    take() {
      const taken = counts;
      counts = {};
      return taken;
    },
    takeBytes() {
      const taken = bytes;
      bytes = {};
      return taken;
    },
    stop() {
      isOn = false;
      db.client.pool.removeListener('acquireSuccess', watch);
    },
  };
}

/** Sums the counts of some or all paths. */
export function sumOf(counts: StatementCounts, takes: (path: string) => boolean = () => true): number {
  return Object.entries(counts)
    .filter(([path]) => takes(path))
    .flatMap(([, labels]) => Object.values(labels))
    .reduce((sum, count) => sum + count, 0);
}

/**
 * Labels a statement by its tables: the tables that it writes, or else the first table that it reads. Rewording it does
 * not change the label.
 */
export function labelOf(text: string): string {
  const plain = text.toLowerCase().replace(/--.*$/gm, '').replaceAll('"', '').replace(/\s+/g, ' ').trim();
  const control = CONTROL.exec(plain);
  if (control) return control[1]!;
  const writes = plain.matchAll(/(?<!for |for no key |do )\b(insert into|update|delete from) (?:only )?([a-z_]+)/g);
  const written = new Set([...writes].map(([, verb, table]) => `${verb!.split(' ')[0]} ${table}`));
  if (written.size > 0) return [...written].join(' + ');
  const ctes = new Set(
    [...plain.matchAll(/\b([a-z_]+)(?: \([^)]*\))? as (?:not )?(?:materialized )?\(/g)].map(([, name]) => name),
  );
  const read = [...plain.matchAll(/\b(?:from|join) (?:only )?([a-z_]+)\b(?! ?\()/g)].map(([, table]) => table!);
  const table = read.find((name) => !ctes.has(name) && !NO_TABLES.has(name));
  if (table) return `select ${table}`;
  const call = /\b(pg_\w+|set_config)\(/.exec(plain);
  return call ? `select ${call[1]}()` : (plain.split(' ')[0] ?? '');
}

/** Words that can follow `from` without being a table. */
const NO_TABLES = new Set(['lateral', 'unnest', 'jsonb_to_recordset', 'now', 'select']);
