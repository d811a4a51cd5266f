import ipaddr from 'ipaddr.js';
import { ApiKeys, type ApiKeyRow } from '../../../db/models/api-key.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { AppError, type Problem } from '../../../lib/errors.ts';
import { isDefinedMask, namesOf } from '../../../lib/permissions.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { idProblems } from '../../platform/references.ts';
import { assertActorGrants } from '../acting.ts';
import { DEFAULT_KEY_RATE } from '../resolve-actor.ts';
import { message } from '../../../messages/index.ts';

/** Limits of an API key: permissions, source addresses, mailboxes, rate, and expiry. */
export interface Restrictions {
  permissions: number;
  allowed_ips: string[];
  allowed_email_accounts: string[];
  expires_at: Date | null;
  /** Maximum requests per minute. 0 means the default. */
  rate_limit_per_minute: number;
}

/** Returns true for a usable entry of `allowed_ips`: an address or a CIDR range. */
function isIpRange(entry: string): boolean {
  if (entry.includes('/')) return ipaddr.isValidCIDR(entry);
  // The library accepts short forms such as 10.1, but most people read them differently.
  return ipaddr.isValid(entry) && (entry.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(entry));
}

type Given<T> = { [K in keyof T]?: T[K] | undefined };

/**
 * Returns the problems of a key's given restrictions: permission bits, source addresses, unknown mailboxes, an expiry
 * in the past.
 */
export async function restrictionProblems(org: OrgScope, key: Given<Restrictions>, now: Date): Promise<Problem[]> {
  return [
    ...shapeProblems(key),
    ...(key.expires_at && key.expires_at <= now ? [{ path: 'body.expires_at', message: message('field.past') }] : []),
    ...(await idProblems(
      org,
      'mailboxes',
      key.allowed_email_accounts ?? [],
      'body.allowed_email_accounts',
      message('field.no_mailbox'),
    )),
  ];
}

/** Returns the problems of a mask and of source addresses that can be found without the database. */
function shapeProblems(key: Given<Pick<Restrictions, 'permissions' | 'allowed_ips'>>): Problem[] {
  const problems: Problem[] = [];
  if (key.permissions !== undefined && !isDefinedMask(key.permissions)) {
    problems.push({ path: 'body.permissions', message: message('field.permission_bits') });
  }
  key.allowed_ips?.forEach((entry, index) => {
    if (!isIpRange(entry)) problems.push({ path: `body.allowed_ips.${index}`, message: message('field.ip_range') });
  });
  return problems;
}

/**
 * Refuses a key that could do more than the caller who creates or changes it. The limit of a person is their role, the
 * limit of a key or token is itself.
 * @throws AppError forbidden naming the wider parts; unauthorized when the acting key or grant has just been revoked
 */
export async function assertNotWiderThanActor(tx: Tx, actor: Actor, result: Restrictions): Promise<void> {
  if (!actor.apiKeyId) {
    await assertActorGrants(tx, actor, result.permissions);
    if (actor.kind === 'oauth') assertNoFaster(DEFAULT_KEY_RATE, result);
    return;
  }
  const acting = await tx.org.query(ApiKeys).findById(actor.apiKeyId).where('status', 'active');
  // The actor may be cached for a moment after its revocation, long enough for a thief to create a key that outlives
  // it.
  if (!acting) throw new AppError('unauthorized', message('api_key.revoked'));
  assertNotWider(acting, result);
}

/**
 * Refuses a key that can do more than its parent key: more permissions, source addresses, mailboxes or days, or a
 * higher rate.
 * @throws AppError forbidden naming the wider parts
 */
export function assertNotWider(parent: ApiKeyRow, child: Restrictions): void {
  const wider = namesOf(child.permissions & ~parent.permissions).map((name) => `permissions.${name}`);
  if (beyond(parent.allowed_ips, child.allowed_ips, coversRange)) wider.push('allowed_ips');
  if (beyond(parent.allowed_email_accounts, child.allowed_email_accounts, (a, b) => a === b.toLowerCase()))
    wider.push('allowed_email_accounts');
  if (parent.expires_at && (!child.expires_at || child.expires_at > parent.expires_at)) wider.push('expires_at');
  if (perMinute(child) > perMinute(parent)) wider.push('rate_limit_per_minute');
  if (wider.length > 0) throw widerThanItself(wider);
}

function assertNoFaster(limit: number, child: Restrictions): void {
  if (perMinute(child) > limit) throw widerThanItself(['rate_limit_per_minute']);
}

function perMinute({ rate_limit_per_minute: limit }: Pick<Restrictions, 'rate_limit_per_minute'>): number {
  return limit || DEFAULT_KEY_RATE;
}

function widerThanItself(wider: readonly string[]): AppError {
  return new AppError('forbidden', message('api_key.wider', { what: wider }), {
    fix: message('credential.beyond_itself.fix'),
  });
}

/** Returns true if a child list permits more than its parent list. An empty list permits everything. */
function beyond(
  parent: readonly string[],
  child: readonly string[],
  covers: (outer: string, inner: string) => boolean,
): boolean {
  if (parent.length === 0) return false;
  return child.length === 0 || child.some((inner) => !parent.some((outer) => covers(outer, inner)));
}

function coversRange(outer: string, inner: string): boolean {
  const [outerBase, outerBits] = range(outer);
  const [innerBase, innerBits] = range(inner);
  return (
    outerBase.kind() === innerBase.kind() &&
    innerBits >= outerBits &&
    (innerBase as ipaddr.IPv4).match(outerBase as ipaddr.IPv4, outerBits)
  );
}

function range(entry: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (entry.includes('/')) return ipaddr.parseCIDR(entry);
  const address = ipaddr.process(entry);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
