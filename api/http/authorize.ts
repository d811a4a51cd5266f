import type { Actor } from '../../domain/platform/kernel/actor.ts';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import type { Config } from '../../lib/config/index.ts';
import { AppError } from '../../lib/errors.ts';
import { holds, type OrgPermission } from '../../lib/permissions.ts';
import { insufficientScope } from './challenge.ts';
import { assertWorkspaceStays } from '../../domain/platform/workspace-deletion.ts';
import { assertPaidPlan } from '../../domain/identity/paid-plan.ts';
import type { GuardParts } from './guard-parts.ts';
import { countWrite } from './rate-limit.ts';
import { isWrite, type AnyRoute, type PermissionRule } from './route.ts';
import { message } from '../../messages/index.ts';

/**
 * Refuses a caller who may not use a route, or whose workspace writes too often.
 * @param options.asked route that the client called; the challenge in a refusal refers to this route
 * @throws AppError no_organization, forbidden, workspace_deletion_scheduled, rate_limit_exceeded; unauthorized if the
 * session is too old for its workspace; not_found if the installation does not serve the route
 */
export async function authorize(
  spec: AnyRoute,
  { deps, limiter }: GuardParts,
  actor: Actor,
  { asked = spec, reportQuota }: { asked?: AnyRoute } & Pick<Ctx, 'reportQuota'> = {},
): Promise<void> {
  assertServed(spec, deps.config);
  if (spec.scope === 'public') return;
  if (spec.organization !== false && !actor.organizationId) {
    if (actor.mustSignInAgain)
      throw new AppError('unauthorized', message('session.too_old'), { fix: message('session.too_old.fix') });
    throw new AppError('no_organization', message('access.no_workspace'), {
      fix: message('access.no_workspace.fix'),
    });
  }
  assertPermitted(spec, deps.config, actor, asked);
  if (spec.everyMailbox && actor.allowedMailboxes)
    throw new AppError('forbidden', message('access.every_mailbox'), {
      fix: message('access.every_mailbox.fix'),
    });
  if (spec.organization !== false && isWrite(spec) && spec.stops === undefined && !spec.duringDeletion)
    assertWorkspaceStays(actor);
  if (spec.needsPaidPlan) await assertPaidPlan(deps, actor);
  if (isWrite(spec) && actor.organizationId && spec.stops === undefined)
    await countWrite(limiter, actor, deps.config.ORG_WRITES_PER_MINUTE, reportQuota);
}

/** Areas that the setting EXTENDED_SURFACES enables. */
const EXTENDED: ReadonlySet<string> = new Set(['automations', 'crm', 'integrations', 'reply-templates']);

/**
 * Refuses a route of an area that is disabled in this installation, as if its path did not exist.
 * @throws AppError not_found
 */
export function assertServed(spec: Pick<AnyRoute, 'area'>, config: Pick<Config, 'EXTENDED_SURFACES'>): void {
  if (config.EXTENDED_SURFACES || !EXTENDED.has(spec.area)) return;
  throw new AppError('not_found', message('request.not_served'), {
    fix: message('request.not_served.fix'),
  });
}

/** Returns true if the caller has the route's scope (key, token) or permission (session). */
export function isPermitted(spec: AnyRoute, actor: Actor): boolean {
  if (spec.scope === 'public') return true;
  if (actor.kind === 'anonymous') return false;
  if (actor.kind === 'session')
    return (
      (!spec.platformAdmin || actor.isPlatformAdmin) && (spec.permission === null || allows(actor, spec.permission))
    );
  return spec.scope === 'any' || (spec.scope !== 'session' && holds(actor.permissions, spec.scope));
}

/** @throws AppError forbidden when the scope (key, token) or the permission (session) is missing */
function assertPermitted(spec: AnyRoute, config: Config, actor: Actor, asked: AnyRoute): void {
  if (isPermitted(spec, actor)) return;
  if (actor.kind === 'session') {
    if (spec.platformAdmin && !actor.isPlatformAdmin)
      throw new AppError('forbidden', message('access.admins_only'), {
        fix: message('access.admins_only.fix'),
      });
    throw new AppError(
      'forbidden',
      message('access.lacks_permission', { permission: permissionText(spec.permission) }),
    );
  }
  if (!Array.isArray(spec.scope)) throw new AppError('forbidden', message('access.people_only'));
  throw insufficientScope(asked, config, actor, spec.scope);
}

function allows(actor: Actor, rule: PermissionRule): boolean {
  const has = (permission: OrgPermission | 'owner') =>
    permission === 'owner' ? actor.isOwner : actor.orgPermissions.has(permission);
  if (typeof rule === 'string') return has(rule);
  return 'anyOf' in rule ? rule.anyOf.some(has) : rule.allOf.every(has);
}

/** Formats a permission rule for the OpenAPI document: `a|b` if one permission is enough, `a+b` if all are needed. */
export function permissionText(rule: PermissionRule | null): string {
  if (rule === null) return '-';
  if (typeof rule === 'string') return rule;
  return 'anyOf' in rule ? rule.anyOf.join('|') : rule.allOf.join('+');
}
