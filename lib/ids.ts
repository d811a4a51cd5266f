import { v7 } from 'uuid';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns a new time-ordered UUID (version 7). Lists page by id, so newest-first needs no second sort column. */
export function newId(): string {
  return v7();
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

/** UUID for "all" in a response that requires an id (analytics over all API keys). */
export const ZERO_UUID = '00000000-0000-0000-0000-000000000000';
