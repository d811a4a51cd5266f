import { DAY_MS } from '../../lib/clock.ts';
import { tooManyRequests } from '../../lib/errors.ts';
import { isCredential } from '../kernel/actor.ts';
import type { Ctx } from '../kernel/context.ts';
import type { Tx } from '../kernel/transact.ts';

/**
 * Keeps a key or application from mailing many strangers by tests, which no policy and no person stands in front of: it may start CREDENTIAL_TESTS_PER_DAY
 * tests a UTC day, over all campaigns. People who are signed in are not counted. The audit trail is what is counted: unlike the tests themselves it
 * outlives a campaign that is deleted to begin the day anew. Parallel tests of one credential wait for each other here, so that the last one allowed is one.
 * @throws AppError rate_limit_exceeded until the next UTC midnight
 */
export async function assertTestsLeft({ config }: Pick<Ctx, 'config'>, tx: Tx): Promise<void> {
  const limit = config.CREDENTIAL_TESTS_PER_DAY;
  if (limit === 0 || !isCredential(tx.actor)) return;
  const credential = { key: tx.actor.apiKeyId ?? null, grant: tx.actor.oauthGrantId ?? null };
  await tx.org.sql(
    `select pg_advisory_xact_lock(hashtextextended('test-runs/' || cast(:org as text) || cast(coalesce(:key::uuid, :grant::uuid) as text), 0))`,
    credential,
  );
  const midnight = Math.floor(tx.now.getTime() / DAY_MS) * DAY_MS;
  const [begun] = await tx.org.sql<{ tests: number }>(
    `select count(*)::int as tests from audit_logs
     where organization_id = :org and created_at >= :since and action = 'test' and entity_type = 'campaign'
       and (api_key_id = :key::uuid or oauth_grant_id = :grant::uuid)`,
    { ...credential, since: new Date(midnight) },
  );
  if (begun!.tests >= limit)
    throw tooManyRequests(
      midnight + DAY_MS - tx.now.getTime(),
      `the credential may start ${limit} tests of campaigns a day`,
    );
}
