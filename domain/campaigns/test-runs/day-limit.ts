import { DAY_MS } from '../../../lib/clock.ts';
import { tooManyRequests } from '../../../lib/errors.ts';
import { isCredential } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { message } from '../../../messages/index.ts';

/**
 * Limits the tests of a key or application, because neither a policy nor a person controls them. It may start
 * CREDENTIAL_TESTS_PER_DAY tests per UTC day over all campaigns. Tests by keys that it created, and by the key that
 * created it, are included. Signed-in people are not limited. The count comes from the audit log, which survives the
 * deletion of a campaign and names the creator of a deleted key for AUDIT_RETENTION_DAYS. A lock allows only one start
 * of a test at a time in a workspace, so that concurrent starts cannot exceed the limit.
 * @throws AppError rate_limit_exceeded until the next UTC midnight
 */
export async function assertTestsLeft(
  { config, reportQuota }: Pick<Ctx, 'config' | 'reportQuota'>,
  tx: Tx,
): Promise<void> {
  const limit = config.CREDENTIAL_TESTS_PER_DAY;
  if (limit === 0 || !isCredential(tx.actor)) return;
  await tx.org.lock(`test-runs/${tx.org.organizationId}`);
  const midnight = Math.floor(tx.now.getTime() / DAY_MS) * DAY_MS;
  const begun = await testsOfFamily(tx, (tx.actor.apiKeyId ?? tx.actor.oauthGrantId)!, new Date(midnight));
  const resetMs = midnight + DAY_MS - tx.now.getTime();
  reportQuota?.({ policy: 'tests', limit, windowMs: DAY_MS, remaining: Math.max(0, limit - begun - 1), resetMs });
  if (begun >= limit) throw tooManyRequests(resetMs, message('tests.per_day', { limit }));
}

/**
 * Counts the tests since a time that this key or application started. Includes tests by all other keys that were
 * created, directly or indirectly, with the same key.
 */
async function testsOfFamily(tx: Tx, credential: string, since: Date): Promise<number> {
  const [row] = await tx.org.sql<{ tests: number }>(
    `with recursive tested as (
       select coalesce(api_key_id, oauth_grant_id) as id, count(*)::int as tests from audit_logs
       where organization_id = :org and created_at >= :since and action = 'test' and entity_type = 'campaign'
         and coalesce(api_key_id, oauth_grant_id) is not null
       group by 1
     ), ancestors (of, id, generation) as (
       select id, id, 0 from (select id from tested union select cast(:credential as uuid)) as known(id)
       union all
       select x.of, coalesce(a.api_key_id, a.oauth_grant_id), x.generation + 1
       from ancestors x join audit_logs a on a.organization_id = :org and a.entity_id = x.id and a.action = 'create' and a.entity_type = 'api_key'
       where coalesce(a.api_key_id, a.oauth_grant_id) is not null
     ), first_ones as (
       select distinct on (of) of, id from ancestors order by of, generation desc
     )
     select coalesce(sum(t.tests), 0)::int as tests from first_ones own
     join first_ones family on family.id = own.id join tested t on t.id = family.of
     where own.of = :credential`,
    { credential, since },
  );
  return row!.tests;
}
