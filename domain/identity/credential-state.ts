import { across } from '../../db/across.ts';
import { grantableWith } from '../../lib/grantable.ts';
import type { Deps } from '../platform/kernel/context.ts';
import type { Caller } from './resolve-actor.ts';

/** Credential of an open connection: an API key or session by its id, an OAuth token by its hash. */
export interface OpenCredential {
  kind: 'api_key' | 'session' | 'oauth';
  /** Id of the key or session, or SHA-256 hash of the access token. */
  id: string;
}

/** Returns a unique text for a key, session or token. */
export function credentialKey({ kind, id }: OpenCredential): string {
  return `${kind}/${id}`;
}

/** Returns the rights of a caller as a text. Two texts are equal only if the rights are equal. */
export function rightsOf({ actor, allowedIps }: Caller): string {
  if (actor.kind === 'api_key') return keyRights(actor.permissions, actor.allowedMailboxes ?? [], allowedIps);
  if (actor.kind === 'session') return sessionRights(actor.organizationId, [...actor.orgPermissions]);
  return tokenRights(actor.permissions);
}

function keyRights(permissions: number, mailboxes: readonly string[], ips: readonly string[]): string {
  return JSON.stringify([permissions, mailboxes, ips]);
}

function tokenRights(permissions: number): string {
  return JSON.stringify([permissions]);
}

function sessionRights(organizationId: string | null, permissions: readonly string[]): string {
  return JSON.stringify([organizationId, [...permissions].sort()]);
}

/**
 * Returns the current rights of many credentials, as a map from {@link credentialKey} to the text of {@link rightsOf}.
 * Contains no revoked, deleted, expired or unknown credentials, and no keys and tokens of a workspace whose deletion is
 * scheduled.
 */
export async function credentialStates(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  held: readonly OpenCredential[],
): Promise<Map<string, string>> {
  const now = clock.now();
  const states = new Map<string, string>();
  const idsOf = (kind: OpenCredential['kind']) => [
    ...new Set(held.filter((one) => one.kind === kind).map(({ id }) => id)),
  ];
  const [keys, sessions, tokens] = [idsOf('api_key'), idsOf('session'), idsOf('oauth')];
  if (keys.length > 0) {
    const rows = await across(db, 'credential').sql(
      `select k.id, k.permissions, k.allowed_email_accounts, k.allowed_ips
       from api_keys k join organizations o on o.id = k.organization_id and o.deletion_scheduled_for is null
       where k.id = any(:ids::uuid[]) and k.status = 'active' and (k.expires_at is null or k.expires_at > :now)`,
      { ids: keys, now },
    );
    for (const row of rows)
      states.set(
        credentialKey({ kind: 'api_key', id: row.id }),
        keyRights(row.permissions, row.allowed_email_accounts, row.allowed_ips),
      );
  }
  if (sessions.length > 0) {
    const rows = await across(db, 'credential').sql(
      // A session gives no rights in an organization that does not allow sessions of its age, as in resolve-actor.ts.
      `select s.id, m.organization_id, r.permissions from sessions s
       left join organizations o on o.id = s.organization_id
       left join memberships m on m.user_id = s.user_id and m.organization_id = s.organization_id
         and (o.session_max_hours is null or s.created_at + make_interval(hours => o.session_max_hours) > :now)
       left join roles r on r.id = m.role_id
       where s.id = any(:ids::uuid[]) and s.revoked_at is null and s.expires_at > :now`,
      { ids: sessions, now },
    );
    for (const row of rows)
      states.set(
        credentialKey({ kind: 'session', id: row.id }),
        sessionRights(row.organization_id, row.permissions ?? []),
      );
  }
  if (tokens.length > 0) {
    const rows = await across(db, 'credential').sql(
      `select t.token_hash, t.scopes & g.scopes & a.scopes as scopes, r.permissions
       from oauth_tokens t
       join oauth_grants g on g.id = t.grant_id
       join oauth_applications a on a.id = g.application_id
       join memberships m on m.user_id = g.user_id and m.organization_id = g.organization_id
       join roles r on r.id = m.role_id
       join organizations o on o.id = m.organization_id and o.deletion_scheduled_for is null
       where t.token_hash = any(:hashes::text[]) and t.kind = 'access' and t.revoked_at is null and t.expires_at > :now and g.revoked_at is null`,
      { hashes: tokens, now },
    );
    for (const row of rows)
      states.set(
        credentialKey({ kind: 'oauth', id: row.token_hash }),
        tokenRights(row.scopes & grantableWith(row.permissions)),
      );
  }
  return states;
}
