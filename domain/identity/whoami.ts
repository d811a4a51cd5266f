import { across } from '../../db/across.ts';
import { namesOf } from '../../lib/permissions.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { scopeName } from './scopes.ts';

/** Person, workspace and scopes of the API key, application or session that sent the request. */
interface Identity {
  userId: string | null;
  email: string | null;
  firstName: string | null;
  lastName: string | null;
  organizationId: string | null;
  organizationName: string | null;
  /** True in a test workspace, whose emails are never delivered. */
  isTest: boolean;
  /** Scopes of the API key or application. Empty for a session, whose rights depend on the person's role. */
  scopes: string[];
}

/** Returns the person, workspace and scopes of the caller. */
export async function whoAmI({ db, actor }: Pick<Ctx, 'db' | 'actor'>): Promise<Identity> {
  const { userId, organizationId, permissions } = actor;
  const all = across(db, 'credential');
  const [user, organization] = await Promise.all([
    userId ? all.table('users').where({ id: userId }).first('email', 'first_name', 'last_name') : undefined,
    organizationId ? all.table('organizations').where({ id: organizationId }).first('name', 'is_test') : undefined,
  ]);
  return {
    userId,
    email: user?.email ?? null,
    firstName: user?.first_name ?? null,
    lastName: user?.last_name ?? null,
    organizationId,
    organizationName: organization?.name ?? null,
    isTest: organization?.is_test ?? false,
    scopes: actor.kind === 'session' ? [] : namesOf(permissions).map(scopeName),
  };
}
