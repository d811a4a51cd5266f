import { across } from '../../db/across.ts';
import type { Columns, Nullable, Row } from '../../db/rows.ts';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { SECRET_PREFIX, sha256 } from '../../lib/crypto.ts';
import { grantableWith } from '../../lib/grantable.ts';
import { AppError } from '../../lib/errors.ts';
import type { OrgPermission } from '../../lib/permissions.ts';
import type { Actor } from '../platform/kernel/actor.ts';
import type { Deps } from '../platform/kernel/context.ts';
import { DEFAULT_KEY_RATE } from '../platform/key-limits.ts';
import { assertWorkspaceStays } from '../platform/workspace-deletion.ts';
import { createKeyUsage } from './key-usage.ts';
import { verifySessionToken } from './session-token.ts';
import { message } from '../../messages/index.ts';

/**
 * Time (ms) for which a resolved key or access token is cached. After revocation it becomes invalid within one second
 * in every process. Sessions are read for every request, because a person expects the next request to reflect a
 * selected workspace or a sign-out.
 */
const TRUST_MS = 900;
const CACHE_MAX = 10_000;

/** A caller with the rate limit of its key or token. */
export interface Caller {
  actor: Actor;
  rate: { key: string; perMinute: number } | null;
  expiresAt: Date | null;
  allowedIps: readonly string[];
}

export interface Origin {
  ipAddress: string;
  userAgent: string;
}

/** Finds the caller of a bearer token. Create one resolver per process. */
export interface ActorResolver {
  /**
   * @param identified called with the actor as soon as it is known, even if the request is refused afterwards
   * @throws AppError unauthorized (401) unknown, expired or revoked; forbidden (403) source IP not allowed;
   * workspace_deletion_scheduled (403) for a key or token of a workspace that will be erased
   */
  resolve(token: string, origin: Origin, identified?: (actor: Actor) => void): Promise<Caller>;
  /** Empties the cache; for tests. */
  forget(): void;
  /** Writes the last uses of keys and grants that are still in memory. Call it when the process stops. */
  flush(): Promise<void>;
}

/** Creates the resolver of one process. */
export function createActorResolver(deps: Pick<Deps, 'db' | 'clock' | 'config' | 'log'>): ActorResolver {
  const keyUse = createKeyUsage(deps);
  const grantUse = createKeyUsage(deps, 'oauth_grants');
  const cache = new LRUCache<string, { caller: Caller | null }>({ max: CACHE_MAX, ttl: TRUST_MS });

  async function trusted(
    token: string,
    find: (deps: Pick<Deps, 'db'>, hash: string) => Promise<Caller | null>,
  ): Promise<Caller | null> {
    const hash = sha256(token);
    // Measures the start before the look-up. Otherwise a caller who is revoked directly after the look-up would be
    // cached for longer than {@link TRUST_MS}.
    const start = performance.now();
    const known = cache.get(hash);
    if (known) return known.caller;
    const caller = await find(deps, hash);
    cache.set(hash, { caller }, { start });
    return caller;
  }

  async function lookup(token: string): Promise<Caller | null> {
    if (token.startsWith(SECRET_PREFIX.apiKey)) return trusted(token, apiKeyCaller);
    if (token.startsWith(SECRET_PREFIX.accessToken)) return trusted(token, accessTokenCaller);
    const sessionId = await verifySessionToken(deps.config, deps.clock, token);
    if (!sessionId) return null;
    const caller = await sessionCaller(deps, sessionId);
    const perMinute = deps.config.SESSION_REQUESTS_PER_MINUTE;
    return caller && { ...caller, rate: { key: `session/${sessionId}`, perMinute } };
  }

  return {
    async resolve(token, origin, identified) {
      const caller = await lookup(token);
      if (!caller || (caller.expiresAt && caller.expiresAt <= deps.clock.now())) {
        throw new AppError('unauthorized', message('credential.invalid'));
      }
      identified?.(caller.actor);
      if (caller.allowedIps.length > 0 && !ipAllowed(origin.ipAddress, caller.allowedIps)) {
        throw new AppError('forbidden', message('credential.address'));
      }
      if (caller.actor.kind !== 'session') assertWorkspaceStays(caller.actor);
      if (caller.actor.apiKeyId) keyUse.touch(caller.actor.apiKeyId, origin.ipAddress);
      if (caller.actor.oauthGrantId) grantUse.touch(caller.actor.oauthGrantId, origin.ipAddress);
      return { ...caller, actor: { ...caller.actor, ...origin } };
    },
    forget: () => cache.clear(),
    async flush() {
      try {
        await keyUse.flush();
      } finally {
        await grantUse.flush();
      }
    },
  };
}

/** Scheduled time at which a workspace is erased. Null if no deletion is scheduled. */
type Ending = Nullable<Columns<'organizations', 'deletion_scheduled_for'>>;

const FIND_KEY = `
  select k.*, o.deletion_scheduled_for
  from api_keys k join organizations o on o.id = k.organization_id
  where k.secret_hash = :secretHash and k.status = 'active'`;

async function apiKeyCaller({ db }: Pick<Deps, 'db'>, secretHash: string): Promise<Caller | null> {
  const [row] = await across(db, 'credential').sql<Row<'api_keys'> & Ending>(FIND_KEY, { secretHash });
  if (!row) return null;
  return {
    actor: {
      kind: 'api_key',
      userId: row.user_id,
      organizationId: row.organization_id,
      apiKeyId: row.id,
      permissions: row.permissions,
      orgPermissions: new Set(),
      isOwner: false,
      isPlatformAdmin: false,
      ...endOf(row),
      allowedMailboxes: row.allowed_email_accounts.length > 0 ? row.allowed_email_accounts : null,
      ipAddress: '',
      userAgent: '',
    },
    rate: { key: `key/${row.id}`, perMinute: row.rate_limit_per_minute || DEFAULT_KEY_RATE },
    expiresAt: row.expires_at,
    allowedIps: row.allowed_ips,
  };
}

function endOf({ deletion_scheduled_for: at }: Ending): Pick<Actor, 'workspaceEndsAt'> {
  return at ? { workspaceEndsAt: at } : {};
}

type StandingToken = Columns<'oauth_tokens', 'scopes' | 'expires_at'> &
  Ending &
  Columns<'oauth_grants', 'id' | 'user_id' | 'organization_id'> &
  Columns<'roles', 'permissions'> & { granted: number; registered: number };

const FIND_TOKEN = `
  select t.scopes, t.expires_at, g.id, g.user_id, g.organization_id, g.scopes as granted, a.scopes as registered, r.permissions, o.deletion_scheduled_for
  from oauth_tokens t
  join oauth_grants g on g.id = t.grant_id
  join oauth_applications a on a.id = g.application_id
  join memberships m on m.user_id = g.user_id and m.organization_id = g.organization_id
  join roles r on r.id = m.role_id
  join organizations o on o.id = m.organization_id
  where t.token_hash = :tokenHash and t.kind = 'access' and t.revoked_at is null and g.revoked_at is null`;

/**
 * Returns the caller of an access token. A token is valid while its grant is active and the granting person is a
 * member. Its scopes are limited to those for which the application is still registered, that the newest approval
 * includes, and that the person may still grant.
 */
async function accessTokenCaller({ db }: Pick<Deps, 'db'>, tokenHash: string): Promise<Caller | null> {
  const [row] = await across(db, 'credential').sql<StandingToken>(FIND_TOKEN, { tokenHash });
  if (!row) return null;
  return {
    actor: {
      kind: 'oauth',
      userId: row.user_id,
      organizationId: row.organization_id,
      oauthGrantId: row.id,
      permissions: row.scopes & row.granted & row.registered & grantableWith(row.permissions),
      orgPermissions: new Set(),
      isOwner: false,
      isPlatformAdmin: false,
      ...endOf(row),
      allowedMailboxes: null,
      ipAddress: '',
      userAgent: '',
    },
    rate: { key: `grant/${row.id}`, perMinute: DEFAULT_KEY_RATE },
    expiresAt: row.expires_at,
    allowedIps: [],
  };
}

/** A session with the person's role in the selected organization. The role is null if no organization is selected. */
type StandingSession = Columns<'sessions', 'id' | 'user_id' | 'created_at' | 'expires_at'> &
  Columns<'users', 'is_platform_admin'> &
  Nullable<
    Columns<'memberships', 'organization_id'> &
      Columns<'roles', 'permissions' | 'is_owner'> &
      Columns<'organizations', 'session_max_hours'>
  > &
  Ending;

const FIND_SESSION = `
  select s.id, s.user_id, s.created_at, s.expires_at, u.is_platform_admin, m.organization_id, r.permissions, r.is_owner,
    o.session_max_hours, o.deletion_scheduled_for
  from sessions s
  join users u on u.id = s.user_id
  left join memberships m on m.user_id = s.user_id and m.organization_id = s.organization_id
  left join roles r on r.id = m.role_id
  left join organizations o on o.id = m.organization_id
  where s.id = :sessionId and s.revoked_at is null`;

/**
 * Returns the person of an open session, in the workspace that the session has selected. If the session is older than
 * the workspace allows, the person acts in no workspace. The person can still select another one.
 */
export async function sessionCaller(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  sessionId: string,
): Promise<Caller | null> {
  const [row] = await across(db, 'credential').sql<StandingSession>(FIND_SESSION, { sessionId });
  if (!row) return null;
  const maxHours = row.session_max_hours ?? Infinity;
  if (clock.now().getTime() - row.created_at.getTime() >= maxHours * 3600_000)
    return callerOf({ ...row, organization_id: null, permissions: null, is_owner: null }, { mustSignInAgain: true });
  return callerOf(row);
}

function callerOf(row: StandingSession, more: Pick<Actor, 'mustSignInAgain'> = {}): Caller {
  return {
    actor: {
      kind: 'session',
      userId: row.user_id,
      organizationId: row.organization_id ?? null,
      ...more,
      sessionId: row.id,
      permissions: 0,
      orgPermissions: new Set((row.permissions ?? []) as OrgPermission[]),
      isOwner: row.is_owner ?? false,
      isPlatformAdmin: row.is_platform_admin,
      ...endOf(row),
      allowedMailboxes: null,
      ipAddress: '',
      userAgent: '',
    },
    rate: null,
    expiresAt: row.expires_at,
    allowedIps: [],
  };
}

/** Returns true if an address is one of the allowed addresses or in an allowed CIDR range. */
function ipAllowed(address: string, allowed: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const source = ipaddr.process(address);
  return allowed.some((entry) => {
    const [base, bits] = entry.includes('/') ? ipaddr.parseCIDR(entry) : [ipaddr.process(entry), null];
    if (base.kind() !== source.kind()) return false;
    const width = bits ?? (base.kind() === 'ipv4' ? 32 : 128);
    return (source as ipaddr.IPv4).match(base as ipaddr.IPv4, width);
  });
}
