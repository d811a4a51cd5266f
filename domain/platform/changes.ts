import type { AuditChanges } from '../../db/json-columns.ts';

/** Returns the fields of a new object for the audit trail. */
export function created(fields: object): AuditChanges {
  return changed({}, fields);
}

/** Returns the fields of a deleted object for the audit trail. */
export function deleted(fields: object): AuditChanges {
  return Object.fromEntries(Object.entries(fields).map(([name, from]) => [name, { from: kept(from), to: null }]));
}

/**
 * Returns the fields of `after` that differ from those of `before`, as JSON, for the audit trail. Undefined fields of
 * `after` are skipped.
 */
export function changed(before: object, after: object): AuditChanges {
  const known = before as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(after).flatMap(([name, to]: [string, unknown]) => {
      const from = known[name] ?? null;
      return to === undefined || JSON.stringify(from) === JSON.stringify(to)
        ? []
        : [[name, { from: kept(from), to: kept(to) }]];
    }),
  );
}

/** Returns the change of a secret for the audit trail, with placeholders in place of the values. */
export function secretChanged(name: string): AuditChanges {
  return { [name]: { from: HIDDEN, to: HIDDEN } };
}

/** Returns a value as stored in the audit trail. Long texts are shortened. */
function kept(value: unknown): unknown {
  return typeof value === 'string' && value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
}

const MAX_TEXT = 500;
const HIDDEN = '(hidden)';
