import test from 'ava';
import { systemCtx } from '../../domain/platform/kernel/context.ts';
import { askQuestion, QUESTION_MS } from '../../domain/platform/kernel/question.ts';
import { asUnavailable } from '../../domain/platform/kernel/over-time.ts';
import { reader, transact } from '../../domain/platform/kernel/transact.ts';
import { ShareUsedUp } from '../../lib/fair-queue.ts';
import { createApiKey } from '../harness/factories.ts';
import { eventually } from '../harness/eventually.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../harness/world.ts';

/**
 * Number of connections in the pool of a world, and the maximum numbers for one organization and for its searches and
 * reports.
 */
const [POOL, SHARE, QUESTIONS] = [20, 15, 2];
/** Maximum number of open requests of one credential. */
const UNDER_WAY = 128;

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

/** Runs work while nobody can read or write a table. */
async function whileLocked<T>(table: string, work: () => Promise<T>): Promise<T> {
  const held = await world.deps.db.transaction();
  await held.raw(`lock table ${table} in access exclusive mode`);
  try {
    return await work();
  } finally {
    await held.rollback();
  }
}

/** Waits until `count` statements wait for a lock. */
async function assertWaiting(count: number): Promise<void> {
  await eventually(async () => (await waiting()) === count);
}

async function waiting(): Promise<number> {
  const { rows } = await world.deps.db.raw(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows[0].count;
}

test.serial('the requests of one workspace leave a quarter of the connections to others', async (t) => {
  const [flood, other] = [await world.tenant(), await world.tenant()];
  const keys = await Promise.all(
    [1, 2, 3].map(() => createApiKey(world.deps, flood.organizationId, flood.userId, { ratePerMinute: 1_000 })),
  );
  let asked: Promise<Answer>[] = [];
  await whileLocked('labels', async () => {
    asked = Array.from({ length: 3 * POOL }, (_, n) =>
      call(world, 'POST', '/v1/categories', { token: keys[n % keys.length]!.apiKey, body: { title: `flood ${n}` } }),
    );
    await assertWaiting(SHARE);
    for (let n = 0; n < 3; n += 1)
      assertStatus(t, await call(world, 'GET', '/v1/segments', { token: other.apiKey }), 200);
    t.is(await waiting(), SHARE);
  });
  for (const answer of await Promise.all(asked)) assertStatus(t, answer, 200);
});

test.serial('a workspace stops something while its share is in use', async (t) => {
  const tenant = await world.tenant();
  const spare = await createApiKey(world.deps, tenant.organizationId, tenant.userId);
  let asked: Promise<Answer>[] = [];
  await whileLocked('labels', async () => {
    asked = Array.from({ length: 2 * SHARE }, (_, n) =>
      call(world, 'POST', '/v1/categories', { token: tenant.apiKey, body: { title: `busy ${n}` } }),
    );
    await assertWaiting(SHARE);
    const revoked = await call(world, 'DELETE', `/v1/api-keys/${spare.apiKeyId}?reason=`, {
      token: tenant.sessionToken,
    });
    assertStatus(t, revoked, 200);
  });
  for (const answer of await Promise.all(asked)) assertStatus(t, answer, 200);
});

test.serial('a credential has a bound on its requests under way; what stops something is not among them', async (t) => {
  const { organizationId, userId } = await world.tenant();
  const { apiKey: token } = await createApiKey(world.deps, organizationId, userId, { ratePerMinute: 1_000 });
  const answered: Answer[] = [];
  let asked: Promise<Answer>[] = [];
  await whileLocked('labels', async () => {
    asked = Array.from({ length: UNDER_WAY + 2 }, async () => {
      const answer = await call(world, 'GET', '/v1/categories', { token });
      answered.push(answer);
      return answer;
    });
    await eventually(async () => answered.length === 2);
    for (const refused of answered) {
      assertStatus(t, refused, 429);
      t.is(refused.headers.get('retry-after'), '1');
    }
    const stopped = await call(world, 'POST', '/v1/suppressions', {
      token,
      body: { entries: [{ value: 'nobody@example.com' }] },
    });
    assertStatus(t, stopped, 200);
  });
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  t.deepEqual([statuses.filter((status) => status === 200).length, answered.length], [UNDER_WAY, UNDER_WAY + 2]);
});

test.serial(
  'the questions of a workspace have a small share, and its other requests do not wait for them',
  async (t) => {
    const tenant = await world.tenant();
    let asked: Promise<Answer>[] = [];
    await whileLocked('contact_outreach', async () => {
      asked = Array.from({ length: 8 }, () =>
        call(world, 'POST', '/v1/lead-database/people', { token: tenant.apiKey, body: {} }),
      );
      await assertWaiting(QUESTIONS);
      assertStatus(t, await call(world, 'GET', '/v1/segments', { token: tenant.apiKey }), 200);
      t.is(await waiting(), QUESTIONS);
    });
    for (const answer of await Promise.all(asked)) assertStatus(t, answer, 200);
  },
);

test.serial('a question cannot write, and has less time than other statements', async (t) => {
  const { organizationId } = await world.tenant();
  const ctx = systemCtx(world.deps, organizationId, 'test');
  const limit = await askQuestion(ctx, (inner) =>
    reader(inner).sql<{ ms: string }>(
      `select setting as ms from pg_settings where name = 'statement_timeout' and :org::text is not null`,
    ),
  );
  t.deepEqual(limit, [{ ms: String(QUESTION_MS) }]);
  await t.throwsAsync(
    askQuestion(ctx, (inner) => transact(inner, async (tx) => tx.audit({ action: 'export', entityType: 'contact' }))),
    { code: '25006' } as never,
  );
});

test.serial('work with an open transaction gets its further connections, whatever the share', async (t) => {
  const { organizationId } = await world.tenant();
  const ctx = systemCtx(world.deps, organizationId, 'test');
  const nested = Array.from({ length: SHARE }, () =>
    transact(ctx, async () => {
      const [row] = await reader(ctx).sql<{ one: number }>('select 1 as one where :org::text is not null');
      return row!.one;
    }),
  );
  t.deepEqual(
    await Promise.all(nested),
    nested.map(() => 1),
  );
});

test('who waits too long for the share of its workspace is asked to come again', (t) => {
  const refused = asUnavailable(new ShareUsedUp());
  t.like(refused, { status: 503, said: { code: 'database.share' } });
  t.is(refused!.headers!['Retry-After'], '5');
});
