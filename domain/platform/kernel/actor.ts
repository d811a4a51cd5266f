import { AppError } from '../../../lib/errors.ts';
import { holds, type OrgPermission, type Permission } from '../../../lib/permissions.ts';
import { message } from '../../../messages/index.ts';

/** Maximum number of stored characters of a user agent. */
export const MAX_USER_AGENT = 512;

/**
 * The caller. API keys and OAuth tokens have a permission mask; sessions have the permissions of a role. `anonymous`
 * has no permissions. `system` is the installation itself, never a request.
 */
export interface Actor {
  kind: 'session' | 'api_key' | 'oauth' | 'anonymous' | 'system';
  userId: string | null;
  /** The organization of the caller. Null for a session without a selected organization. */
  organizationId: string | null;
  /** True if the selected organization requires a newer sign-in than the session's. `organizationId` is then null. */
  mustSignInAgain?: true;
  sessionId?: string;
  apiKeyId?: string;
  oauthGrantId?: string;
  /** Permission mask of a key or token. */
  permissions: number;
  orgPermissions: ReadonlySet<OrgPermission>;
  isOwner: boolean;
  isPlatformAdmin: boolean;
  /** Time at which the selected workspace is erased. Absent unless its deletion is scheduled. */
  workspaceEndsAt?: Date;
  /** Mailboxes that the key may use. Null for all. */
  allowedMailboxes: readonly string[] | null;
  ipAddress: string;
  userAgent: string;
}

/** Returns true if the caller is a key or an application, and not a person or the installation. */
export function isCredential({ kind }: Pick<Actor, 'kind'>): boolean {
  return kind !== 'session' && kind !== 'system';
}

/** Returns the actor of the installation itself: workflows, schedules, the operator's command line. */
export function systemActor(organizationId: string): Actor {
  return {
    kind: 'system',
    userId: null,
    organizationId,
    permissions: 0,
    orgPermissions: new Set(),
    isOwner: false,
    isPlatformAdmin: false,
    allowedMailboxes: null,
    ipAddress: '',
    userAgent: '',
  };
}

/** A caller without a session, key or token. Each request sets its own IP address and user agent. */
export const ANONYMOUS: Actor = { ...systemActor(''), kind: 'anonymous', organizationId: null };

/**
 * Returns true if the actor has one of the scopes (key, token) or of the permissions (session). The system may do
 * anything.
 */
export function may(actor: Actor, scopes: readonly Permission[], anyOf: readonly OrgPermission[]): boolean {
  if (actor.kind === 'system') return true;
  if (actor.kind === 'session') return anyOf.some((permission) => actor.orgPermissions.has(permission));
  return actor.kind !== 'anonymous' && holds(actor.permissions, scopes);
}

/**
 * Refuses a mailbox outside a key's `allowed_email_accounts`.
 * @throws AppError forbidden
 */
export function assertMailboxAllowed(actor: Actor, mailboxId: string): void {
  if (actor.allowedMailboxes && !actor.allowedMailboxes.includes(mailboxId)) {
    throw new AppError('forbidden', message('access.mailbox'), {
      fix: message('access.mailbox.fix'),
    });
  }
}
