import type { ApprovalRow } from '../../db/models/approval.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { DELETION_SCHEDULED } from '../platform/workspace-deletion.ts';
import type { Requester } from './authorize.ts';

/**
 * Returns true if the key or grant that requested an action is still valid. Otherwise the action must not be executed.
 * In a workspace whose deletion is scheduled, no key or grant is valid.
 */
export async function isRequesterValid(
  tx: Tx,
  { api_key_id: key, oauth_grant_id: grant }: Pick<ApprovalRow, 'api_key_id' | 'oauth_grant_id'>,
): Promise<boolean> {
  const rows = await tx.org.sql(
    `select 1 from api_keys
     where organization_id = :org and id = :key and status = 'active' and (expires_at is null or expires_at > :now) and not ${DELETION_SCHEDULED}
     union all
     select 1 from oauth_grants g join memberships m on m.organization_id = :org and m.user_id = g.user_id
     where g.organization_id = :org and g.id = :grant and g.revoked_at is null and not ${DELETION_SCHEDULED}`,
    { key, grant, now: tx.now },
  );
  return rows.length > 0;
}

/** Returns the key or application that requested an approval or other stored work. */
export function requesterOf({
  api_key_id: key,
  oauth_grant_id: grant,
}: Pick<ApprovalRow, 'api_key_id' | 'oauth_grant_id'>): Requester {
  return key ? { kind: 'api_key', apiKeyId: key } : { kind: 'oauth', oauthGrantId: grant! };
}
