import type { Capability } from '../../db/models/agent-policy.ts';
import type { Columns } from '../../db/rows.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { AppError } from '../../lib/errors.ts';
import { grantableWith } from '../../lib/grantable.ts';
import { ALL_PERMISSIONS, holds, namesOf, ORG_PERMISSIONS } from '../../lib/permissions.ts';
import type { OrgPermission, Permission } from '../../lib/permissions.ts';
import { message } from '../../messages/index.ts';
import { DEFAULT_KEY_RATE, freerLimits, type KeyLimits } from './key-limits.ts';
import type { Actor } from './kernel/actor.ts';

/**
 * Nobody can grant more rights than they have, by keys, applications, grants, roles, invitations, policies, approvals,
 * automations or campaign steps. `beyondHeld` compares the rights; test/suites/handed-out.test.ts checks all routes.
 */

/** Right that an action requires: a permission of a person, or a scope of a key or application. */
interface Right {
  permission: OrgPermission;
  /** Scopes of a key or application. One of them is enough. */
  scopes: readonly Permission[];
}

/** Right to each action that a policy can allow. */
const CAPABILITY_RIGHTS: Record<Capability, Right> = {
  'campaign.launch': { permission: 'send_campaigns', scopes: ['SEND_CAMPAIGNS', 'EXECUTE_RUNS'] },
  'email.compose': { permission: 'send_campaigns', scopes: ['SEND_DIRECT_EMAIL'] },
  'inbox.reply': { permission: 'send_campaigns', scopes: ['SEND_INBOX_REPLY'] },
  'mailbox.provision': { permission: 'manage_settings', scopes: ['MANAGE_MAILBOX_PROVISIONING'] },
};

/**
 * Rights that actions of automations and campaign steps require, equal to those of the routes for the same actions. The
 * names are stored: never rename a published one.
 */
const AUTHOR_RIGHTS = {
  contacts: { permission: 'manage_contacts', scopes: ['WRITE_CONTACTS'] },
  crm: { permission: 'manage_contacts', scopes: ['WRITE_CRM'] },
  campaigns: { permission: 'manage_campaigns', scopes: ['WRITE_CAMPAIGNS'] },
  inbox: { permission: 'send_campaigns', scopes: ['WRITE_UNIBOX'] },
  // Right to add leads without a policy. Only people have this right, because a policy limits keys and applications.
  leads: null,
} as const satisfies Record<string, Right | null>;

/** Name of a right that an action of an automation may require. */
export type ActionRight = keyof typeof AUTHOR_RIGHTS;

/** Rights that an actor wants to grant. An absent field grants nothing. */
export interface GivenRights {
  /** Permissions of a role. */
  permissions?: readonly string[];
  /** True for the role of an owner. */
  isOwner?: boolean;
  /** Scopes of a key, an application or a grant, as a bit mask (lib/permissions.ts). */
  scopes?: number;
  /** Limits of a key. */
  limits?: KeyLimits;
  /** Actions that a key or application may perform without a person's approval. */
  capabilities?: readonly Capability[];
  /** Actions that an automation or a step does on behalf of its author. */
  actions?: readonly ActionRight[];
}

/** Current rights of an actor. */
interface HeldRights {
  isCredential: boolean;
  permissions: ReadonlySet<string>;
  isOwner: boolean;
  /** Scopes that the actor may grant, as a bit mask (lib/permissions.ts). */
  scopes: number;
  /** Limits of a key or grant. Null for people and for the system. */
  limits: KeyLimits | null;
}

/**
 * Returns the names of granted rights that the actor does not have. Every route that grants rights uses this function.
 * A person has a scope if their role may use every route of the scope.
 */
export function beyondHeld(held: HeldRights, given: GivenRights): string[] {
  const { permissions = [], isOwner = false, scopes = 0, limits, capabilities = [], actions = [] } = given;
  return [
    ...(isOwner && !held.isOwner ? ['owner'] : []),
    ...permissions.filter((name) => !held.permissions.has(name)),
    ...namesOf(scopes & ~held.scopes),
    ...(limits && held.limits ? freerLimits(held.limits, limits) : []),
    ...capabilities.filter((name) => !holdsRight(held, CAPABILITY_RIGHTS[name])),
    ...actions.filter((name) => !holdsRight(held, AUTHOR_RIGHTS[name])),
  ];
}

function holdsRight({ isCredential, permissions, scopes }: HeldRights, right: Right | null): boolean {
  if (!right) return !isCredential;
  return isCredential ? right.scopes.some((scope) => holds(scopes, [scope])) : permissions.has(right.permission);
}

/**
 * Refuses to grant rights that the actor does not have.
 * @param refusal creates the error from the names of the missing rights
 * @throws the error of `refusal`; AppError unauthorized as {@link readHeld} does
 */
export async function assertHeld(
  org: OrgScope,
  actor: Actor,
  given: GivenRights,
  refusal: (beyond: string[]) => AppError,
): Promise<void> {
  const beyond = beyondHeld(await readHeld(org, actor), given);
  if (beyond.length > 0) throw refusal(beyond);
}

/** Returns those of the given capabilities that an actor has. */
export function heldCapabilities(held: HeldRights, of: readonly Capability[]): Capability[] {
  return of.filter((capability) => beyondHeld(held, { capabilities: [capability] }).length === 0);
}

/** Returns the rights to actions that an actor has. */
export function heldActions(held: HeldRights): ActionRight[] {
  return (Object.keys(AUTHOR_RIGHTS) as ActionRight[]).filter(
    (action) => beyondHeld(held, { actions: [action] }).length === 0,
  );
}

/** Returns the name of an action's right for the caller's kind. Returns undefined for a right that only people have. */
export function actionRightName({ isCredential }: Pick<HeldRights, 'isCredential'>, action: ActionRight) {
  const right = AUTHOR_RIGHTS[action];
  return right ? (isCredential ? right.scopes[0] : right.permission) : undefined;
}

/** Returns the permissions of a role that may decide on an approval of an action. */
export function approverPermissions(capability: Capability): OrgPermission[] {
  return [...new Set<OrgPermission>(['send_campaigns', CAPABILITY_RIGHTS[capability].permission])];
}

/**
 * Reads the actor's current rights. The rights loaded with the request may be outdated: a key is cached for a short
 * time, and a role may change during the request.
 * @throws AppError unauthorized when the acting key or grant was just revoked; a stolen key could otherwise still
 * create a credential that stays valid
 */
export async function readHeld(org: OrgScope, actor: Actor): Promise<HeldRights> {
  if (actor.kind === 'system') return INSTALLATION;
  if (actor.kind === 'session') return readPerson(org, actor.userId);
  const credential = { isCredential: true, permissions: new Set<string>(), isOwner: false };
  if (actor.apiKeyId) {
    const [key] = await org.sql<KeyLimits & Columns<'api_keys', 'permissions'>>(
      `select permissions, allowed_ips, allowed_email_accounts, expires_at, rate_limit_per_minute from api_keys
       where organization_id = :org and id = :id and status = 'active'`,
      { id: actor.apiKeyId },
    );
    if (!key) throw new AppError('unauthorized', message('credential.revoked'));
    return { ...credential, scopes: actor.permissions & Number(key.permissions), limits: key };
  }
  const [grant] = await org.sql(
    'select 1 from oauth_grants where organization_id = :org and id = :id and revoked_at is null',
    {
      id: actor.oauthGrantId ?? null,
    },
  );
  if (!grant) throw new AppError('unauthorized', message('credential.revoked'));
  return { ...credential, scopes: actor.permissions, limits: GRANT_LIMITS };
}

/** Reads the rights of a member. A person who is not a member has no rights. */
export async function readPerson(org: OrgScope, userId: string | null): Promise<HeldRights> {
  const [role] = await org.sql<Columns<'roles', 'permissions' | 'is_owner'>>(
    `select r.permissions, r.is_owner from memberships m join roles r on r.id = m.role_id
     where m.organization_id = :org and m.user_id = :user`,
    { user: userId },
  );
  const permissions = new Set<string>(role?.permissions);
  return {
    isCredential: false,
    permissions,
    isOwner: role?.is_owner ?? false,
    scopes: grantableWith(permissions),
    limits: null,
  };
}

const INSTALLATION: HeldRights = {
  isCredential: false,
  permissions: new Set(ORG_PERMISSIONS),
  isOwner: true,
  scopes: ALL_PERMISSIONS,
  limits: null,
};

/** Limits of an OAuth grant. Only its request rate is limited. */
const GRANT_LIMITS: KeyLimits = {
  allowed_ips: [],
  allowed_email_accounts: [],
  expires_at: null,
  rate_limit_per_minute: DEFAULT_KEY_RATE,
};
