/**
 * Table locks of PostgreSQL that block other statements, weakest first. See "Explicit Locking" in PostgreSQL's manual.
 */
export const HEAVY_LOCKS = [
  'ShareUpdateExclusiveLock',
  'ShareLock',
  'ShareRowExclusiveLock',
  'ExclusiveLock',
  'AccessExclusiveLock',
] as const;
export type HeavyLock = (typeof HEAVY_LOCKS)[number];

/**
 * Effect of a migration on an installation with data. A test compares `locks` with the locks that the migration takes.
 * `npm run bench -- migrations` measures the time.
 */
export interface MigrationImpact {
  /**
   * Strongest lock on each existing table, held until the migration commits. ShareLock blocks writes,
   * AccessExclusiveLock also blocks reads. A foreign key to a table takes ShareRowExclusiveLock.
   */
  locks: Record<string, HeavyLock>;
  /** Seconds for which the locks are held if each of these tables has a million rows. */
  secondsAtMillionRows: number;
  /**
   * True if the migration changes only PostgreSQL's catalogue, so that its duration does not depend on the rows. The
   * bench then fills no tables.
   */
  rowsDoNotMatter?: true;
}
