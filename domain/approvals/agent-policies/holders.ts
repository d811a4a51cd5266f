import { across } from '../../../db/across.ts';
import type { Columns } from '../../../db/rows.ts';
import { organizationOf, type Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';

/** An API key or an OAuth grant, to which a policy may apply. */
interface PolicyHolder {
  kind: 'api_key' | 'oauth_grant';
  id: string;
  /** Name of the key or application. */
  name: string;
  /** Email address of the person who granted it. Null for a key. */
  granted_by: string | null;
  last_used_at: Date | null;
  created_at: Date;
  /** Id of the policy of this key or grant. Null if it has none. */
  policy_id: string | null;
}

/** Maximum number of keys, and of grants, that are listed. */
const LISTED = 500;

/** Lists usable API keys and active OAuth grants of the workspace, each with its policy: keys first, newest first. */
export async function listHolders(ctx: Ctx): Promise<PolicyHolder[]> {
  const org = reader(ctx);
  const [policies, keys, grants] = await Promise.all([
    org.table('agent_policies').select('id', 'api_key_id', 'oauth_grant_id'),
    org.sql<Columns<'api_keys', 'id' | 'name' | 'last_used_at' | 'created_at'>>(
      `select id, name, last_used_at, created_at from api_keys
       where organization_id = :org and status = 'active' and (expires_at is null or expires_at > :now) order by id desc limit ${LISTED}`,
      { now: ctx.clock.now() },
    ),
    // Reads across organizations, because an application may belong to another workspace, and people belong to no
    // organization.
    across(ctx.db, 'person').sql<
      Columns<'oauth_grants', 'id' | 'last_used_at' | 'created_at'> & { name: string; granted_by: string }
    >(
      `select g.id, a.name, u.email as granted_by, g.last_used_at, g.created_at
       from oauth_grants g join oauth_applications a on a.id = g.application_id join users u on u.id = g.user_id
       where g.organization_id = :organization and g.revoked_at is null order by g.id desc limit ${LISTED}`,
      { organization: organizationOf(ctx) },
    ),
  ]);
  const policyOf = (credential: string) =>
    policies.find((one) => one.api_key_id === credential || one.oauth_grant_id === credential)?.id ?? null;
  return [
    ...keys.map((key) => ({ kind: 'api_key' as const, granted_by: null, ...key, policy_id: policyOf(key.id) })),
    ...grants.map((grant) => ({ kind: 'oauth_grant' as const, ...grant, policy_id: policyOf(grant.id) })),
  ];
}
