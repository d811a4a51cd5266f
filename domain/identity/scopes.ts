import { ALL_PERMISSIONS, maskOf, namesOf, PERMISSIONS, type Permission } from '../../lib/permissions.ts';

/** Scopes that a self-registered client can never get. */
const NEVER_SELF_REGISTERED: readonly Permission[] = ['SEND_CAMPAIGNS', 'API_KEYS'];

/** Mask of all other scopes: the maximum of a self-registered client. */
export const SELF_REGISTERED_MAX = ALL_PERMISSIONS & ~maskOf(NEVER_SELF_REGISTERED);

const BY_SCOPE = new Map(PERMISSIONS.map((entry) => [entry.name.toLowerCase(), entry.name]));

/** Returns a permission as an OAuth scope: its name in lower case. */
export function scopeName(permission: Permission): string {
  return permission.toLowerCase();
}

/** Returns the scopes of a mask, in the order of the permission catalogue. */
export function scopesOf(mask: number): string[] {
  return namesOf(mask).map(scopeName);
}

/** Returns the scopes of a mask in OAuth's form, separated by spaces. */
export function scopeText(mask: number): string {
  return scopesOf(mask).join(' ');
}

/** Reads scope names. Unknown names are in `unknown`. Names are case-sensitive (RFC 6749, section 3.3). */
export function readScopes(names: readonly string[]): { mask: number; unknown: string[] } {
  const known = names.flatMap((name) => BY_SCOPE.get(name) ?? []);
  return { mask: maskOf(known), unknown: [...new Set(names.filter((name) => !BY_SCOPE.has(name)))] };
}

/** Parses a `scope` parameter: names separated by spaces. */
export function readScopeText(text: string): { mask: number; unknown: string[] } {
  return readScopes(text.split(' ').filter(Boolean));
}
