import test from 'ava';
import { newId, ZERO_UUID } from '../../../lib/ids.ts';
import { silentLogger } from '../../../lib/log.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { noWorkflows } from '../../../test/harness/world.ts';
import { FAMILIES } from '../../../activities/index.ts';
import { reconcile, reconciledFamilies, type FamilyReport } from './reconcile.ts';

let database: TestDatabase;
test.before(async () => {
  database = await createTestDatabase();
});
test.after.always(() => database?.drop());

const RECONCILED = reconciledFamilies({ families: FAMILIES });

const BATCHES = 7;
const ENDPOINTS = 5;

test.serial('batches and endpoints with something to deliver are found once each, in pages of any size', async (t) => {
  const { db } = database;
  const ids = (count: number) => Array.from({ length: count }, () => newId());
  const [batches, endpoints] = [ids(BATCHES), ids(ENDPOINTS)];
  const delivery = (batch: string | null, endpoint: string, status: string) => ({
    id: newId(),
    organization_id: newId(),
    endpoint_id: endpoint,
    event_id: newId(),
    event_type: 'contact.created',
    batch_id: batch,
    status,
    created_at: new Date(),
    updated_at: new Date(),
  });
  await db.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica');
    for (const id of endpoints)
      await trx('webhook_endpoints').insert({
        id,
        organization_id: newId(),
        url: 'https://example.com',
        description: '',
        created_at: new Date(),
        updated_at: new Date(),
      });
    for (const [n, batch] of batches.entries())
      for (const endpoint of endpoints)
        await trx('webhook_deliveries').insert([
          delivery(batch, endpoint, 'delivered'),
          ...(n === 2 ? [] : [delivery(batch, endpoint, 'pending'), delivery(batch, endpoint, 'in_flight')]),
        ]);
    for (const [n, endpoint] of endpoints.entries())
      await trx('webhook_deliveries').insert([
        delivery(endpoint, endpoint, n === 1 ? 'abandoned' : 'pending'),
        delivery(null, endpoint, 'failed'),
      ]);
  });
  const expected = {
    'webhook-batch': batches.filter((_, n) => n !== 2).sort(),
    'webhook-endpoint': endpoints.filter((_, n) => n !== 1).sort(),
  };
  for (const [name, wanted] of Object.entries(expected)) {
    const family = RECONCILED.find(({ contract }) => contract.kind === name)!.mustBeOpen;
    for (const limit of [1, 2, 3, 100]) {
      const found: string[] = [];
      for (let after = ZERO_UUID; ;) {
        const page = await family.page(db, after, limit);
        found.push(...page.map(({ position }) => position));
        if (page.length < limit) break;
        after = page.at(-1)!.position;
      }
      t.deepEqual(found, wanted, `${name}, ${limit} a page`);
    }
    const still = await family.only(db, [...batches, ...endpoints]);
    t.deepEqual(
      still.map(({ position }) => position),
      wanted,
    );
    t.true(still.every(({ intent, position }) => intent.workflowId === `${name}/${position}`));
  }
});

const NAMES = RECONCILED.map(({ contract }) => contract.kind);
const [FIRST, ...OTHERS] = NAMES as [string, ...string[]];

/** Searches with a Temporal that has no open run. Calls `meet` with each family before its search. */
async function look(meet: (family: string) => void, signal?: AbortSignal) {
  const turns: string[] = [];
  const reports: FamilyReport[] = [];
  const workflows = {
    ...noWorkflows,
    isOpen: async () => false,
    async *openRuns({ type }: { type: string }) {
      const name = RECONCILED.find(({ contract }) => contract.type === type)!.contract.kind;
      turns.push(name);
      meet(name);
      yield [];
    },
  };
  const failure = await reconcile(
    { db: database.db, log: silentLogger, families: FAMILIES, workflows },
    { resume: true, onFamily: (report) => reports.push(report), ...(signal ? { signal } : {}) },
  ).then(
    () => undefined,
    (error: unknown) => error as Error,
  );
  return { turns, reports, failure };
}

test.serial('a family that fails keeps none of the others from their search', async (t) => {
  const { db } = database;
  const id = newId();
  await db.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica');
    await trx('contact_imports').insert({
      id,
      organization_id: newId(),
      status: 'queued',
      filename: 'x.csv',
      created_at: new Date(),
      updated_at: new Date(),
    });
  });
  const { turns, reports, failure } = await look((family) => {
    if (family === FIRST) throw new Error('this one fails');
  });
  t.is(failure?.message, `1 of ${NAMES.length} failed`);
  t.deepEqual(turns, NAMES);
  t.deepEqual(
    reports.map(({ family }) => family),
    OTHERS,
  );
  t.is((await db('outbox').where({ workflow_id: `contact-import/${id}` })).length, 1, 'what is missing was started');
});

test.serial('a family that takes all the time has its next turn after the others', async (t) => {
  await database.db('reconciliations').delete();
  const untilFirst = async () => {
    const cut = new AbortController();
    const { turns } = await look((family) => family === FIRST && cut.abort(), cut.signal);
    return turns;
  };
  t.deepEqual(await untilFirst(), [FIRST]);
  t.deepEqual(await untilFirst(), [...OTHERS, FIRST]);
  t.deepEqual(await untilFirst(), [...OTHERS, FIRST]);
});
