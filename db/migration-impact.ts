/** PostgreSQL's table locks that block others, weakest first; see "Explicit Locking" in its manual. */
export const HEAVY_LOCKS = [
  'ShareUpdateExclusiveLock',
  'ShareLock',
  'ShareRowExclusiveLock',
  'ExclusiveLock',
  'AccessExclusiveLock',
] as const;
export type HeavyLock = (typeof HEAVY_LOCKS)[number];

/**
 * What a migration does to an installation that has data. A test compares `locks` with those the migration really takes;
 * `npm run bench -- migrations` measures the time.
 */
export interface MigrationImpact {
  /**
   * The strongest lock on each table that was there before, held until the migration commits. ShareLock stops writes,
   * AccessExclusiveLock reads as well; ShareRowExclusiveLock comes with a foreign key to the table.
   */
  locks: Record<string, HeavyLock>;
  /** Seconds that the locks are held when each of these tables has a million rows. */
  secondsAtMillionRows: number;
  /** It changes the catalogue alone and takes as long on empty tables: the bench fills none for it. */
  rowsDoNotMatter?: true;
}
