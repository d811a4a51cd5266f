import { DAY_MS } from '../../../lib/clock.ts';
import { tooManyRequests } from '../../../lib/errors.ts';
import { isCredential } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { message } from '../../../messages/index.ts';

/**
 * Keeps a key or application from mailing many strangers by tests, which no policy and no person stands in front of: it may start CREDENTIAL_TESTS_PER_DAY
 * tests a UTC day, over all campaigns, together with the keys that it has made and the one that has made it. People who are signed in are not counted.
 * The audit trail is what is counted: unlike the tests themselves it outlives a campaign that is deleted to begin the day anew, and it says of a key that is deleted too
 * who has made it, for as long as AUDIT_RETENTION_DAYS keeps the entry. Parallel tests of a workspace wait for each other here, so that the last one allowed is one.
 * @throws AppError rate_limit_exceeded until the next UTC midnight
 */
export async function assertTestsLeft({ config }: Pick<Ctx, 'config'>, tx: Tx): Promise<void> {
  const limit = config.CREDENTIAL_TESTS_PER_DAY;
  if (limit === 0 || !isCredential(tx.actor)) return;
  await tx.org.lock(`test-runs/${tx.org.organizationId}`);
  const midnight = Math.floor(tx.now.getTime() / DAY_MS) * DAY_MS;
  const begun = await testsOfFamily(tx, (tx.actor.apiKeyId ?? tx.actor.oauthGrantId)!, new Date(midnight));
  if (begun >= limit) throw tooManyRequests(midnight + DAY_MS - tx.now.getTime(), message('tests.per_day', { limit }));
}

/** Tests since a moment by all credentials that go back to the one of a person to which this one goes back. */
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
