import type { Db } from '../db/connection.ts';
import { MeasuredClock, type Clock } from '../lib/clock.ts';
import { loadConfig, type Config } from '../lib/config/index.ts';
import { silentLogger } from '../lib/log.ts';
import type { Assembly } from './assemble.ts';
import { asDatabaseFault, reachDatabase, requireCurrentSchema } from './waiting.ts';

/*
 * Connections of an operator's command: opened for this command alone, and closed at its end. Modules are loaded on
 * demand, so that help and completion are fast.
 */

/**
 * Calls `work` with the configured database, regardless of its schema. A database fault becomes an error that contains
 * the address.
 */
export async function withDatabase(work: (db: Db, clock: Clock) => Promise<void>): Promise<void> {
  const config: Config = loadConfig();
  const { connect } = await import('../db/connection.ts');
  const clock = new MeasuredClock();
  const db = connect({ url: config.PRIMARY_DB, max: 2, name: 'heron-cli', rowSecurity: config.ROW_SECURITY, clock });
  try {
    await reachDatabase(db, config.PRIMARY_DB);
    await work(db, clock);
  } catch (error) {
    throw asDatabaseFault(error, config.PRIMARY_DB) ?? error;
  } finally {
    await db.destroy();
  }
}

/** Runs work on a database with this build's schema. @throws OperatorError when its schema has another version */
export async function withCurrentDatabase(work: (db: Db, clock: Clock) => Promise<void>): Promise<void> {
  await withDatabase(async (db, clock) => {
    await requireCurrentSchema(db);
    await work(db, clock);
  });
}

/**
 * Calls `work` with all dependencies of domain functions, on a database with this build's schema. @throws OperatorError
 * when its schema has another version
 */
export async function withAssembly<T>(work: (assembly: Assembly) => Promise<T>): Promise<T> {
  const config = loadConfig();
  await withDatabase(requireCurrentSchema);
  const { assemble } = await import('./assemble.ts');
  const assembly = assemble(config, 'heron', { log: silentLogger });
  try {
    return await work(assembly);
  } finally {
    await assembly.close();
  }
}
