import type { Requester } from '../../approvals/authorize.ts';
import { isRequesterValid } from '../../approvals/standing.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { RunError } from './end.ts';
import type { RunRow } from './states.ts';
import { message } from '../../../messages/index.ts';

/** Returns the requester of a run, for the policy check. */
export function requesterOf(run: Pick<RunRow, 'actor_kind' | 'api_key_id' | 'oauth_grant_id'>): Requester {
  return {
    kind: run.actor_kind,
    ...(run.api_key_id ? { apiKeyId: run.api_key_id } : {}),
    ...(run.oauth_grant_id ? { oauthGrantId: run.oauth_grant_id } : {}),
  };
}

/**
 * Returns the reason why a run may no longer be launched for its requester, or undefined if the launch is allowed.
 * Possible reasons: the key or grant was revoked or has expired, or the person is no longer a member with the right to
 * send.
 */
export async function refusedRequester(tx: Tx, run: RunRow): Promise<RunError | undefined> {
  if (run.actor_kind === 'system' || (await mayStillSend(tx, run))) return undefined;
  return CREDENTIAL_REVOKED;
}

export const CREDENTIAL_REVOKED: RunError = {
  code: 'credential_revoked',
  message: message('runs.credential_revoked'),
  fix: message('runs.credential_revoked.fix'),
};

async function mayStillSend(tx: Tx, run: RunRow): Promise<boolean> {
  if (run.actor_kind !== 'session') return isRequesterValid(tx, run);
  const rows = await tx.org.sql(
    `select 1 from memberships m join roles r on r.id = m.role_id
     where m.organization_id = :org and m.user_id = :user and (r.is_owner or r.permissions @> array['send_campaigns'])`,
    { user: run.user_id },
  );
  return rows.length > 0;
}
