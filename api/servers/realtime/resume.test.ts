import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { connectRaw } from '../../../db/connection.ts';
import type { EventType } from '../../../domain/platform/kernel/events.ts';
import { assignPositions } from '../../../domain/connect/delivery/fan-out.ts';
import { newId } from '../../../lib/ids.ts';
import { createMetrics, type Metrics } from '../../../lib/metrics.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import type { Tenant } from '../../../test/harness/factories.ts';
import { openStream, type StreamClient } from '../../../test/harness/stream-client.ts';
import { emit, assignPositionsTo } from '../../../test/harness/stream-events.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { startRealtime, type RealtimeOptions } from '../realtime.ts';
import { seeded, type Random } from '../../../test/faults/random.ts';

interface Stage {
  world: World;
  metrics: Metrics;
  url: string;
  follow(tenant: Tenant, message?: object): Promise<StreamClient>;
}

/** Creates a separate world and gateway, because positions are one sequence for the whole database. */
async function stage(t: ExecutionContext, options: RealtimeOptions = {}): Promise<Stage> {
  const world = await createWorld();
  const metrics = createMetrics();
  const gateway = await startRealtime(world.deps, metrics, { port: 0, ...options });
  t.teardown(async () => {
    await gateway.close();
    await world.close();
  });
  return {
    world,
    metrics,
    url: gateway.url,
    async follow(tenant, message = {}) {
      const client = await openStream(gateway.url, { token: tenant.apiKey });
      client.say({ type: 'subscribe', ...message });
      await client.next('subscribed');
      return client;
    },
  };
}

const SEED = 20_261_128;

/** Returns the ids of the stored events in the order of the stream. */
async function positionedIds(world: World, organizationId: string, types?: EventType[]): Promise<string[]> {
  const query = world.deps
    .db('domain_events')
    .where({ organization_id: organizationId })
    .whereNotNull('position')
    .orderBy('position');
  if (types) void query.whereIn('type', types);
  return (await query.select('id')).map(({ id }) => id as string);
}

/** Creates overlapping transactions, so that the order of ids differs from the order of commits. */
async function write(world: World, organizationId: string, transactions: number, draws: Random): Promise<void> {
  const types: EventType[] = ['contact.created', 'contact.updated', 'campaign.started', 'campaign.email_opened'];
  for (let n = 0; n < transactions; n += 1) {
    const count = Math.floor(draws.between(1, 5));
    await world.deps.db.transaction(async (trx) => {
      for (let m = 0; m < count; m += 1) {
        const type = draws.pick(types);
        await trx('domain_events').insert({
          id: newId(),
          organization_id: organizationId,
          type,
          data: '{}',
          created_at: new Date(),
        });
        if (draws.next() < 0.3) await sleep(draws.between(0, 10));
      }
    });
  }
}

test('whoever resumes, however often, gets every event once and in order, while others write', async (t) => {
  const { world, follow } = await stage(t);
  const [tenant, stranger] = [await world.tenant(), await world.tenant()];
  await emit(world, tenant.organizationId, 'contact.created', 5);
  await assignPositions(world.deps, { open: undefined });
  const all: EventType[] = ['contact.created', 'contact.updated', 'campaign.started', 'campaign.email_opened'];
  const filters: (EventType[] | undefined)[] = [all, ['campaign.email_opened'], undefined];
  const before = new Set(await positionedIds(world, tenant.organizationId));

  let writing = true;
  const fanOut = (async () => {
    const memory = { open: undefined };
    for (let left = true; left || writing;) left = (await assignPositions(world.deps, memory)).positioned > 0;
  })();

  /** Runs a client that disconnects and reconnects repeatedly, and resumes after its last event each time. */
  const restless = async (filter: EventType[] | undefined, draws: Random): Promise<string[]> => {
    const heard: string[] = [];
    let after: string | undefined = [...before].at(-1);
    for (let round = 0; ; round += 1) {
      const last = !writing;
      const client = await follow(tenant, { ...(filter ? { event_types: filter } : {}), ...(after ? { after } : {}) });
      if (last) {
        const expected = (
          await positionedIds(
            world,
            tenant.organizationId,
            filter ?? all.filter((type) => type !== 'campaign.email_opened'),
          )
        ).filter((id) => !before.has(id));
        await eventually(async () => heard.length + client.ids().length >= expected.length);
      } else {
        await sleep(draws.between(0, 80));
        if (round % 3 === 2) {
          // The same socket resumes from an earlier event. All later events are sent again, so the test drops those
          // already received.
          const seen = client.ids();
          const again = seen[Math.floor(seen.length / 2)];
          if (again) {
            client.say({ type: 'subscribe', ...(filter ? { event_types: filter } : {}), after: again });
            await client.next('subscribed');
            const marks = client.messages.map(({ type }) => type);
            const from = marks.lastIndexOf('subscribed');
            await sleep(draws.between(0, 40));
            await client.close();
            heard.push(
              ...seen.slice(0, seen.indexOf(again) + 1),
              ...client.messages
                .slice(from)
                .filter(({ type }) => type === 'event')
                .map(({ id }) => id),
            );
            after = heard.at(-1) ?? after;
            continue;
          }
        }
      }
      await client.close();
      heard.push(...client.ids());
      after = heard.at(-1) ?? after;
      if (last) return heard;
    }
  };

  const steady = await follow(tenant, { event_types: all });
  const readers = filters.map((filter, index) => restless(filter, seeded(SEED).fork(`reader ${index}`)));
  const { organizationId } = tenant;
  await Promise.all(
    [organizationId, organizationId, organizationId, stranger.organizationId].map((org, index) =>
      write(world, org, 60, seeded(SEED).fork(`writer ${index}`)),
    ),
  );
  writing = false;
  await fanOut;
  const results = await Promise.all(readers);
  for (const [index, filter] of filters.entries()) {
    const expected = (
      await positionedIds(
        world,
        tenant.organizationId,
        filter ?? all.filter((type) => type !== 'campaign.email_opened'),
      )
    ).filter((id) => !before.has(id));
    t.true(expected.length > 20);
    t.deepEqual(results[index], expected);
  }
  const everything = (await positionedIds(world, tenant.organizationId)).filter((id) => !before.has(id));
  await eventually(async () => steady.ids().length >= everything.length);
  t.deepEqual(steady.ids(), everything);
  await steady.close();
});

test('an event that is not stored, or of another organization, cannot be resumed from', async (t) => {
  const { world, url } = await stage(t);
  const [mine, theirs] = [await world.tenant(), await world.tenant()];
  const foreign = await emit(world, theirs.organizationId, 'contact.created', 1);
  const withoutPosition = await emit(world, mine.organizationId, 'contact.created', 1);
  await assignPositionsTo(world.deps, foreign);
  const client = await openStream(url, { token: mine.apiKey });
  for (const after of [newId(), foreign[0], withoutPosition[0], 'nonsense']) {
    client.say({ type: 'subscribe', after });
    t.is((await client.next('error')).code, 'resume_expired');
  }
  client.say({ type: 'subscribe' });
  t.is((await client.next('subscribed')).last_event_id, null);
  await assignPositionsTo(world.deps, withoutPosition);
  await eventually(async () => client.ids().length === 1);
  t.deepEqual(client.ids(), withoutPosition);
  await client.close();
});

test('a slow reader is waited for: it holds a bounded buffer and misses nothing; others are not kept', async (t) => {
  const { world, follow, metrics } = await stage(t);
  const tenant = await world.tenant();
  const [slow, quick] = [await follow(tenant), await follow(tenant)];
  slow.socket.pause();
  const sent = () => metrics.realtimeEvents.get().then(({ values }) => values[0]?.value ?? 0);
  const start = await sent();
  const ids: string[] = [];
  const total = 600;
  for (let n = 0; n < total; n += 50) {
    const some = await emit(world, tenant.organizationId, 'contact.created', 50, { text: 'x'.repeat(60_000) });
    await assignPositionsTo(world.deps, some);
    ids.push(...some);
  }
  await eventually(async () => quick.ids().length === total, 60_000);
  t.deepEqual(quick.ids(), ids);
  // The events have 36 MB. Heron has sent only as much as the buffers of the server, the client and the operating
  // system hold.
  t.true((await sent()) - start - total < total / 2, `the slow reader was given ${(await sent()) - start - total}`);
  slow.socket.resume();
  await eventually(async () => slow.ids().length >= total, 60_000);
  t.deepEqual(slow.ids(), ids);
  await Promise.all([slow.close(), quick.close()]);
});

test('a reader that takes nothing at all is given up', async (t) => {
  const { world, metrics, follow } = await stage(t, { stallMs: 500, checkMs: 100 });
  const tenant = await world.tenant();
  const client = await follow(tenant);
  client.socket.pause();
  const ids = await emit(world, tenant.organizationId, 'contact.created', 400, { text: 'x'.repeat(60_000) });
  await assignPositionsTo(world.deps, ids);
  await eventually(async () =>
    (await metrics.realtimeClosed.get()).values.some(({ labels, value }) => labels.code === '4413' && value === 1),
  );
  await eventually(async () => (await metrics.realtimeConnections.get()).values[0]?.value === 0);
  client.socket.terminate();
  t.true(client.ids().length < ids.length);
});

test('a gateway that lost the database for a while goes on where it was', async (t) => {
  const { world, follow } = await stage(t);
  const tenant = await world.tenant();
  const client = await follow(tenant);
  const first = await emit(world, tenant.organizationId, 'contact.created', 3);
  await assignPositionsTo(world.deps, first);
  await eventually(async () => client.ids().length === 3);
  // Ends every connection to this database, including the listening one. The events are stored while no connection
  // listens.
  const admin = connectRaw({ url: world.databaseUrl, max: 1 });
  const second = await admin.transaction(async (trx) => {
    await trx.raw(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    return emit({ deps: { ...world.deps, db: trx } }, tenant.organizationId, 'contact.created', 3);
  });
  await assignPositionsTo({ db: admin }, second);
  await admin.destroy();
  await eventually(async () => client.ids().length >= 6, 60_000);
  t.deepEqual(client.ids(), [...first, ...second]);
  await client.close();
});

test('what may have been deleted cannot be gone on from, however its last event is still there', async (t) => {
  const { world, url, follow } = await stage(t);
  const tenant = await world.tenant();
  const days = (n: number) => new Date(Date.now() - n * 86_400_000);
  const [old, edge, young] = await emit(world, tenant.organizationId, 'contact.created', 3);
  const kept = world.deps.config.EVENT_RETENTION_DAYS;
  for (const [id, at] of [
    [old, days(kept + 1)],
    [edge, days(kept - 0.02)],
    [young, days(kept - 1)],
  ] as const) {
    await world.deps.db('domain_events').where({ id }).update({ created_at: at });
  }
  await assignPositionsTo(world.deps, [old!, edge!, young!]);
  const client = await openStream(url, { token: tenant.apiKey });
  for (const after of [old, edge]) {
    client.say({ type: 'subscribe', after });
    t.is((await client.next('error')).code, 'resume_expired');
  }
  await client.close();
  const resumed = await follow(tenant, { after: young });
  const fresh = await emit(world, tenant.organizationId, 'contact.created', 1);
  await assignPositionsTo(world.deps, fresh);
  await eventually(async () => resumed.ids().length === 1);
  t.deepEqual(resumed.ids(), fresh);
  await resumed.close();
  // If an organization had no event for longer than the retention, its clients are still at the end of its stream.
  const quiet = await world.tenant();
  const [last] = await emit(world, quiet.organizationId, 'contact.created', 1);
  await world.deps
    .db('domain_events')
    .where({ id: last })
    .update({ created_at: days(kept + 1) });
  await assignPositionsTo(world.deps, [last!]);
  const waiting = await follow(quiet);
  waiting.say({ type: 'subscribe', event_types: ['contact.deleted'] });
  await waiting.next('subscribed');
  const deleted = await emit(world, quiet.organizationId, 'contact.deleted', 1);
  await assignPositionsTo(world.deps, deleted);
  await eventually(async () => waiting.ids().length === 1);
  await waiting.close();
});

test('a socket whose stream could not be read when it signed in is closed, and not left without events', async (t) => {
  const { world, url } = await stage(t);
  const { apiKey: token } = await world.tenant();
  const { db } = world.deps;
  await db.raw('alter table domain_events rename to away');
  const early = await openStream(url, { token });
  await early.next('authenticated');
  // The read for the second client is queued after the first client's read, so it fails later.
  const other = await openStream(url, { token });
  other.say({ type: 'subscribe' });
  t.is((await other.closed).code, 1011);
  await db.raw('alter table away rename to domain_events');
  early.say({ type: 'subscribe' });
  t.is((await early.closed).code, 1011);
  const anew = await openStream(url, { token });
  anew.say({ type: 'subscribe' });
  await anew.next('subscribed');
  await anew.close();
});
