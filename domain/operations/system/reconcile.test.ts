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

/** Searches with a stub of Temporal that has no open workflow. Calls `meet` with each family when its search begins. */
async function look(meet: (family: string) => void, signal?: AbortSignal) {
  const turns: string[] = [];
  const reports: FamilyReport[] = [];
  const workflows = {
    ...noWorkflows,
    isOpen: async () => false,
    async *openRuns() {
      yield [];
    },
  };
  const families = RECONCILED.map((family) => ({
    ...family,
    mustBeOpen: {
      ...family.mustBeOpen,
      page: async (...args: Parameters<typeof family.mustBeOpen.page>) => {
        turns.push(family.contract.kind);
        meet(family.contract.kind);
        return family.mustBeOpen.page(...args);
      },
    },
  }));
  const failure = await reconcile(
    { db: database.db, log: silentLogger, families, workflows },
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

/** Returns a stub of Temporal with these open workflows, which records the requested ranges of ids. */
function temporalWith(open: readonly string[]) {
  const ranges: { from: string; to: string }[] = [];
  const asked: string[] = [];
  const workflows = {
    ...noWorkflows,
    isOpen: async (id: string) => {
      asked.push(id);
      return open.includes(id);
    },
    async *openRuns(_contract: unknown, { from, to }: { from: string; to: string }) {
      ranges.push({ from, to });
      yield open.filter((id) => from <= id && id <= to);
    },
  };
  return { workflows, ranges, asked };
}

const only = (kind: string) => FAMILIES.filter(({ contract }) => contract.kind === kind);

test.serial('a search that is cut off goes on with its next page, and asks for each range of ids once', async (t) => {
  const { db } = database;
  await db('reconciliations').delete();
  await db('outbox').delete();
  await db.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica');
    await trx('contact_imports').delete();
    await trx.raw(`insert into contact_imports (id, organization_id, status, filename, created_at, updated_at)
      select gen_random_uuid(), gen_random_uuid(), 'queued', 'f', now(), now() from generate_series(1, 2500)`);
  });
  const ids: string[] = (await db('contact_imports').orderBy('id').pluck('id')).map(
    (id: string) => `contact-import/${id}`,
  );
  const [lost, ...open] = ids;
  const { workflows, ranges, asked } = temporalWith(open);
  const parts = { db, log: silentLogger, families: only('contact-import'), workflows };
  const reports: FamilyReport[] = [];
  for (let cuts = 0; cuts < 10 && !reports.at(-1)?.finished; cuts += 1) {
    const cut = new AbortController();
    reports.push(...(await reconcile(parts, { resume: true, signal: cut.signal, onPage: () => cut.abort() })));
  }
  t.is(reports.length, 3, 'a page each');
  t.like(reports.at(-1), { finished: true, checked: 2_500, missing: 1 });
  t.deepEqual(
    ranges,
    [0, 1_000, 2_000].map((from) => ({ from: ids[from]!, to: ids[Math.min(from + 999, 2_499)]! })),
  );
  t.deepEqual(asked, [lost!]);
  t.deepEqual(await db('outbox').pluck('workflow_id'), [lost]);
});

test.serial('runs whose id has two parts are found in the order of their ids, in pages of any size', async (t) => {
  const { db } = database;
  const campaigns = [newId(), newId(), newId()];
  await db.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica');
    for (const campaign_id of campaigns)
      for (let n = 0; n < 4; n += 1)
        await trx.raw(
          `insert into enrollments (id, organization_id, campaign_id, contact_id, state, entered_at, last_activity_at)
           values (gen_random_uuid(), gen_random_uuid(), ?, gen_random_uuid(), ?, now(), now())`,
          [campaign_id, n === 3 ? 'completed' : 'active'],
        );
  });
  const rows = await db('enrollments').where({ state: 'active' }).select('campaign_id', 'contact_id');
  const wanted = rows.map((row) => `enrollment/${row.campaign_id}/${row.contact_id}`).sort();
  t.is(wanted.length, 9);
  const { mustBeOpen } = RECONCILED.find(({ contract }) => contract.kind === 'enrollment')!;
  for (const limit of [1, 2, 4, 100]) {
    const found: string[] = [];
    for (let after = ZERO_UUID; ;) {
      const page = await mustBeOpen.page(db, after, limit);
      found.push(...page.map(({ intent }) => intent.workflowId));
      if (page.length < limit) break;
      after = page.at(-1)!.position;
    }
    t.deepEqual(found, wanted, `${limit} a page`);
  }
  const page = await mustBeOpen.page(db, ZERO_UUID, 100);
  t.deepEqual(
    await mustBeOpen.only(
      db,
      page.map(({ position }) => position),
    ),
    page,
  );
});

test.serial('an email that is being sent keeps exactly one run open, whoever owns it', async (t) => {
  const { db } = database;
  const email = { recipient: 'x', slot_at: new Date(), slot_day: '2026-01-01', created_at: new Date() };
  const owners = await db.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica');
    for (const table of ['enrollments', 'sends', 'direct_sends', 'test_runs', 'test_run_steps'])
      await trx(table).delete();
    const at = { created_at: new Date(), updated_at: new Date() };
    const send = async (fields: { id?: string; enrollment_id?: string }) => {
      const id = newId();
      await trx('sends').insert({
        id,
        organization_id: newId(),
        state: 'sending',
        updated_at: new Date(),
        ...email,
        ...fields,
      });
      return id;
    };
    const found: string[] = [];
    for (const state of ['pending', 'active', 'completed', 'replied', 'bounced', 'failed']) {
      const [id, campaign_id, contact_id] = [newId(), newId(), newId()];
      const lead = { id, campaign_id, contact_id, state, entered_at: new Date(), last_activity_at: new Date() };
      await trx('enrollments').insert({ ...lead, organization_id: newId() });
      await send({ enrollment_id: id });
      await send({ enrollment_id: id });
      found.push(`enrollment/${campaign_id}/${contact_id}`);
    }
    for (const state of ['awaiting_approval', 'queued', 'sent', 'cancelled', null]) {
      const id = await send({});
      const written = {
        kind: 'compose',
        to_emails: ['x'],
        subject: '',
        body_plain: '',
        message_id: id,
        thread_id: id,
        send_mode: 'instant',
        scheduled_at: new Date(),
      };
      if (state) await trx('direct_sends').insert({ id, organization_id: newId(), state, ...written, ...at });
      found.push(`direct-send/${id}`);
    }
    for (const state of ['running', 'waiting_for_event', 'completed', 'failed', 'cancelled']) {
      const [id, test_run_id] = [await send({}), newId()];
      const run = { campaign_id: newId(), contact_id: newId(), prospect_email: 'x', ends_at: new Date() };
      await trx('test_runs').insert({ id: test_run_id, organization_id: newId(), state, ...run, ...at });
      const step = { step_id: newId(), contact_id: newId(), seq: 1, name: '', kind: 'email', started_at: new Date() };
      await trx('test_run_steps').insert({ id, organization_id: newId(), test_run_id, state: 'skipped', ...step });
      found.push(`test-run/${test_run_id}`);
    }
    return found;
  });
  const found: string[] = [];
  for (const { contract, mustBeOpen } of RECONCILED) {
    if (!['enrollment', 'direct-send', 'test-run'].includes(contract.kind)) continue;
    const page = await mustBeOpen.page(db, ZERO_UUID, 100);
    found.push(...page.map(({ intent }) => intent.workflowId));
    const positions = page.map(({ position }) => position);
    t.deepEqual(await mustBeOpen.only(db, positions), page);
    t.deepEqual(await mustBeOpen.page(db, page[0]!.position, 100), page.slice(1));
    t.deepEqual(await mustBeOpen.page(db, ZERO_UUID, 2), page.slice(0, 2));
  }
  t.deepEqual(found.sort(), owners.sort());
});

test.serial('a run whose intent is parked counts as missing, and its intent is tried at once', async (t) => {
  const { db } = database;
  await db('outbox').delete();
  await db.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica');
    await trx('contact_imports').delete();
    await trx.raw(`insert into contact_imports (id, organization_id, status, filename, created_at, updated_at)
      select gen_random_uuid(), gen_random_uuid(), 'queued', 'f', now(), now() from generate_series(1, 2)`);
  });
  const [parked, waiting] = await db('contact_imports').orderBy('id').pluck('id');
  const later = db.raw(`now() + interval '1 hour'`);
  for (const [id, more] of [
    [parked, { parked_at: db.raw('now()'), attempts: 10, refusals: 10 }],
    [waiting, { attempts: 3 }],
  ] as const)
    await db('outbox').insert({
      kind: 'start',
      workflow_id: `contact-import/${id}`,
      payload: '{}',
      available_at: later,
      ...more,
    });
  const { workflows } = temporalWith([]);
  const [report] = await reconcile({ db, log: silentLogger, families: only('contact-import'), workflows });
  t.like(report, { checked: 2, missing: 1 });
  const rows = await db('outbox').orderBy('id');
  t.is(rows.length, 2, 'no second start behind the parked one');
  t.deepEqual(
    rows.map(({ available_at: at }) => at > new Date(Date.now() + 60_000)),
    [false, true],
  );
});
