import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const RANDOM_BYTES = 16;
/**
 * Random bytes for the next ids. They are fetched in advance, because a system call per id would take most of the time.
 */
const pool = Buffer.alloc(RANDOM_BYTES * 256);
let used = pool.length;
/** Time (ms) and counter of the last id. The counter orders the ids of one millisecond. */
const last = { msecs: 0, seq: 0 };

/**
 * Returns a new time-ordered UUID (version 7). Lists are paged by id, so the order newest-first needs no second sort
 * column.
 */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.subarray(used, (used += RANDOM_BYTES));
  const now = Date.now();
  if (now > last.msecs) {
    last.msecs = now;
    last.seq = random.readUInt32BE(6) & 0x7fff_ffff;
  } else {
    last.seq = (last.seq + 1) | 0;
    // The counter has overflowed, so the next millisecond begins early.
    if (last.seq === 0) last.msecs += 1;
  }
  return v7({ ...last, random });
}

/** Returns the lowest id that {@link newId} creates at a time. Rows created before that time have lower ids. */
export function firstIdAt(moment: Date): string {
  const hex = moment.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/**
 * Returns true for a UUID of any version. Routes use it to answer 404 for malformed ids instead of a database error.
 */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

/** UUID that means "all" in a response that requires an id, such as analytics of all API keys. */
export const ZERO_UUID = '00000000-0000-0000-0000-000000000000';
