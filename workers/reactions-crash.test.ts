import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { createMetrics } from '../lib/metrics.ts';
import { forkSource } from '../local/typescript.ts';
import { COUNTED_EVENT, createReactionTables, readLedger } from '../test/harness/counting-subscribers.ts';
import { eventually } from '../test/harness/eventually.ts';
import { emitEvents } from '../test/harness/webhooks.ts';
import { createWorld, type World } from '../test/harness/world.ts';
import { startFanOut } from './fanout.ts';

const PROCESS = fileURLToPath(new URL('../test/harness/reaction-process.ts', import.meta.url));
const ORGANIZATIONS = 8;
const EVENTS = 2_000;
const VICTIMS = ['one', 'two'];

let world: World;
const children = new Set<ChildProcess>();
test.before(async () => {
  world = await createWorld();
  await createReactionTables(world.deps.db);
});
test.after.always(async () => {
  for (const child of children) child.kill('SIGKILL');
  await world?.close();
});

async function startProcess(name: string): Promise<ChildProcess> {
  const child = forkSource(PROCESS, [], {
    env: { ...process.env, PRIMARY_DB: world.databaseUrl, PROCESS_NAME: name, LOG_LEVEL: 'silent' },
  });
  children.add(child);
  const [first] = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [undefined])]);
  if (!first) throw new Error('the process ended before it worked');
  return child;
}

/** Kills a process during one of its transactions, after a write and before the commit. */
async function killInTransaction(child: ChildProcess, name: string): Promise<void> {
  await eventually(
    async () => {
      const open = await world.deps
        .db('pg_stat_activity')
        .where({ application_name: `heron-${name}` })
        .whereNotNull('backend_xid')
        .first('pid');
      return open !== undefined;
    },
    30_000,
    0,
  );
  child.kill('SIGKILL');
  children.delete(child);
  await once(child, 'exit');
}

test('processes that are killed in the middle of their transactions lose nothing and repeat nothing', async (t) => {
  const { deps } = world;
  const tenants = await Promise.all(Array.from({ length: ORGANIZATIONS }, () => world.tenant()));
  const fanOut = await startFanOut(deps, createMetrics());
  const [survivor, ...victims] = await Promise.all(['survivor', ...VICTIMS].map(startProcess));
  t.truthy(survivor);
  let emitted = 0;
  let killed = false;
  const emit = async () => {
    // Emits events until all processes have been killed.
    while (emitted < EVENTS || !killed) {
      await emitEvents(deps, tenants[emitted % ORGANIZATIONS]!.organizationId, 20, COUNTED_EVENT);
      emitted += 20;
    }
  };
  const kill = async () => {
    for (const [index, victim] of victims.entries()) await killInTransaction(victim, VICTIMS[index]!);
    killed = true;
  };
  await Promise.all([emit(), kill()]);
  const ledger = await eventually(async () => {
    const found = await readLedger(deps.db);
    return found.events > 0 && Math.min(found.tasks.effects, found.facts.effects, found.ledger.effects) >= found.events
      ? found
      : undefined;
  }, 60_000);
  await fanOut.stop();
  t.deepEqual(ledger, {
    events: emitted,
    tasks: { effects: emitted, repeated: 0, misplaced: 0 },
    facts: { effects: emitted },
    ledger: { effects: emitted, repeated: 0, misplaced: 0 },
  });
  t.deepEqual(await deps.db('reaction_streams').whereRaw('head > position or attempts > 0'), []);
  t.deepEqual(await deps.db('reaction_parked_events'), []);
});
