import type { Columns } from '../../db/rows.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import type { SuppressionSource } from '../../db/models/suppression.ts';
import { addressKey, asciiHost } from '../../lib/address.ts';
import type { Message } from '../../messages/index.ts';

/** Suppression entry that applies to an address. */
export interface SuppressionHit {
  id: string;
  kind: 'email' | 'domain';
  source: SuppressionSource;
  reason: Message | null;
  expiresAt: Date | null;
  createdAt: Date;
}

type EntryRow = Columns<'suppressions', 'id' | 'kind' | 'email' | 'source' | 'reason' | 'expires_at' | 'created_at'>;

/**
 * Returns the entry's id if removing the entry subscribes its contact again, otherwise null. Null for the entry of a
 * domain, and for an entry with an opt-out or a complaint as its source.
 */
export function soleCause({ id, kind, source }: SuppressionHit): string | null {
  return kind === 'email' && source !== 'unsubscribe' && source !== 'complaint' ? id : null;
}

/** Returns the canonical host part of an address, or an empty text if there is none. */
export function hostOf(email: string): string {
  return asciiHost(email.slice(email.lastIndexOf('@') + 1));
}

/**
 * Returns the SQL condition that the address in column `email` is suppressed at `:now`. {@link suppressedAmong} also
 * returns the reason.
 */
export const suppressedNow = (organization: string, email: string): string =>
  `exists (select 1 from suppressions x where x.organization_id = ${organization} and (x.expires_at is null or x.expires_at > :now)
     and ((x.kind = 'email' and x.email = ${email}) or (x.kind = 'domain' and x.email = split_part(${email}, '@', -1))))`;

/** Returns the SQL condition that a person must decide if the owner of the address in column `email` has opted out. */
export const askedNow = (organization: string, email: string): string =>
  `exists (select 1 from opt_out_questions q where q.organization_id = ${organization} and q.email = ${email})`;

/**
 * Returns the suppressed addresses among the given ones, with the given spelling as the key. A domain entry covers
 * exactly its host, not subdomains. If both the address and its domain are listed, the address entry is returned.
 * Expired entries are ignored.
 * @param now time for the expiry check, UTC
 */
export async function suppressedAmong(
  org: OrgScope,
  emails: readonly string[],
  now: Date,
): Promise<Map<string, SuppressionHit>> {
  const hits = new Map<string, SuppressionHit>();
  if (emails.length === 0) return hits;
  const addresses = [...new Set(emails.map(addressKey))];
  const hosts = [...new Set(addresses.map(hostOf))];
  const rows = await org.sql<EntryRow>(
    `select id, kind, email, source, reason, expires_at, created_at from suppressions
     where organization_id = :org and kind = 'email' and email = any(:addresses) and (expires_at is null or expires_at > :now)
     union all
     select id, kind, email, source, reason, expires_at, created_at from suppressions
     where organization_id = :org and kind = 'domain' and email = any(:hosts) and (expires_at is null or expires_at > :now)`,
    { addresses, hosts, now },
  );
  if (rows.length === 0) return hits;
  const byAddress = new Map<string, EntryRow>();
  const byHost = new Map<string, EntryRow>();
  for (const row of rows) (row.kind === 'email' ? byAddress : byHost).set(row.email, row);
  for (const email of emails) {
    const row = byAddress.get(addressKey(email)) ?? byHost.get(hostOf(addressKey(email)));
    if (row) {
      hits.set(email, {
        id: row.id,
        kind: row.kind,
        source: row.source,
        reason: row.reason,
        expiresAt: row.expires_at,
        createdAt: row.created_at,
      });
    }
  }
  return hits;
}
