import { across } from '../db/across.ts';
import { isDatabaseUnavailable } from '../db/errors.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import type { Db } from '../db/connection.ts';
import { migrate, pendingMigrations } from '../db/migrations/index.ts';
import { prepareTenantRole, requireRowSecurity, RowSecurityError } from '../db/row-security.ts';
import { grantTrackingRole } from '../db/tracking-role.ts';

/** Fault that an operator can fix. The error is reported in one line, without a stack. */
export class OperatorError extends Error {}

/** Target of waiting messages: a process's log or a terminal. */
interface WaitLog {
  info(line: string): void;
  warn(line: string): void;
}

/**
 * Time (ms) for which a starting process waits for PostgreSQL and Temporal. After that it exits, so that a supervisor
 * restarts it.
 */
const PATIENCE_MS = 60_000;
const RETRY_MS = 1_000;

/**
 * Sends one query to the database, to check that it answers.
 * @throws OperatorError that names host and reason, never the password
 */
export async function reachDatabase(db: Db, url: string): Promise<void> {
  try {
    await across(db, 'operator').sql('select 1');
  } catch (error) {
    throw databaseFault(error, url);
  }
}

/**
 * Waits for the database, at most a minute. Permanent errors, such as a wrong password, are thrown immediately.
 * @throws OperatorError
 */
export async function waitForDatabase(db: Db, url: string, log: WaitLog, patienceMs = PATIENCE_MS): Promise<void> {
  await patiently('the database', log, patienceMs, async () => {
    try {
      await across(db, 'operator').sql('select 1');
    } catch (error) {
      return { fault: databaseFault(error, url), passes: isDatabaseUnavailable(error) };
    }
    return undefined;
  });
}

/**
 * Waits for Temporal, at most a minute.
 * @throws OperatorError
 */
export async function waitForTemporal(
  connection: Connection,
  address: string,
  log: WaitLog,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  await patiently('Temporal', log, patienceMs, async () => {
    try {
      await connection.withDeadline(Date.now() + 5_000, () => connection.ensureConnected());
    } catch (error) {
      return {
        fault: new OperatorError(`Temporal at ${address} cannot be reached: ${firstLine(error)} (TEMPORAL_ADDRESS)`),
        passes: true,
      };
    }
    return undefined;
  });
}

/** @throws OperatorError naming missing migrations, or missing parts of row-level security if that is enabled */
export async function requireCurrentSchema(db: Db): Promise<void> {
  const pending = await pendingMigrations(db);
  if (pending.length > 0)
    throw new OperatorError(
      `the database lacks ${pending.length} migration${pending.length === 1 ? '' : 's'} (${pending.join(', ')}): run \`heron migrate\` first`,
    );
  if (db.userParams.rowSecurity) await requireRowSecurity(db).catch(refuse);
}

/**
 * Migrates the database, and updates the grants of the tenant role if ROW_SECURITY is on, and of the tracking role if
 * it exists. Returns the names of the applied migrations.
 * @throws OperatorError when the role is missing and must not be created
 */
export async function migrateDatabase(db: Db): Promise<string[]> {
  const applied = await migrate(db);
  if (db.userParams.rowSecurity) await prepareTenantRole(db).catch(refuse);
  await grantTrackingRole(db);
  return applied;
}

function refuse(error: unknown): never {
  throw error instanceof RowSecurityError ? new OperatorError(error.message) : error;
}

/** Returns an error that describes a failed connection to PostgreSQL in one line. Undefined for any other error. */
export function asDatabaseFault(error: unknown, url: string): OperatorError | undefined {
  return isDatabaseUnavailable(error) ? databaseFault(error, url) : undefined;
}

async function patiently(
  what: string,
  log: WaitLog,
  patienceMs: number,
  attempt: () => Promise<{ fault: OperatorError; passes: boolean } | undefined>,
): Promise<void> {
  const deadline = Date.now() + patienceMs;
  let reported = '';
  for (;;) {
    const refusal = await attempt();
    if (!refusal) {
      if (reported) log.info(`${what} is there`);
      return;
    }
    if (!refusal.passes || Date.now() >= deadline) throw refusal.fault;
    if (refusal.fault.message !== reported)
      log.warn(`${refusal.fault.message}; waiting for it, at most ${Math.round(patienceMs / 1000)} s`);
    reported = refusal.fault.message;
    await sleep(RETRY_MS);
  }
}

function databaseFault(error: unknown, url: string): OperatorError {
  return new OperatorError(`the database at ${hostAndPort(url)} cannot be used: ${firstLine(error)} (PRIMARY_DB)`);
}

function hostAndPort(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url);
    return `${hostname}:${port || 5432}${pathname}`;
  } catch {
    return 'the given address';
  }
}

/**
 * Returns the first line of an error. If several addresses refuse, Node throws an AggregateError without a message, so
 * its code is returned.
 */
function firstLine(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  return message?.split('\n', 1)[0] || code || String(error);
}
