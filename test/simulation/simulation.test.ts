import test from 'ava';
import { createWorld, type World } from '../harness/world.ts';
import { drawPlainWorld, drawWorld } from './draw.ts';
import { widenWorld } from './draw-wide.ts';
import { compareEstimate } from './estimate.ts';
import { roomOf } from './oracle.ts';
import { playWorld, type Outcome } from './run.ts';

/** Minimum share of the oracle's emails that the engine must send. */
const SHARE = 0.97;
/** Number of worlds. It does not depend on the machine's speed; HERON_SIM_WORLDS changes it. */
const WORLDS = Number(process.env.HERON_SIM_WORLDS ?? 200);
const PLAIN_WORLDS = Number(process.env.HERON_SIM_PLAIN_WORLDS ?? 40);
/** Seed before the first world's seed. */
const FIRST = Number(process.env.HERON_SIM_AFTER ?? 0);
/** Returns true if a world also has the rarer properties: every fifth world, or all with HERON_SIM_WIDE=true. */
const isWide = (seed: number): boolean => seed % 5 === 0 || process.env.HERON_SIM_WIDE === 'true';
/**
 * Number of worlds played at the same time, each with its own clock and organization. More connections would only plan
 * every statement again.
 */
const SIDE_BY_SIDE = 3;

/** Seeds of the only worlds to play, separated by commas. */
const only = process.env.HERON_SIM_SEED?.split(',').map(Number);
let world: World;
test.before(async () => {
  world = await createWorld();
  // The worlds are too small for a plan to depend on a value, and planning would be a third of the database's work.
  // Plans made while the tables are almost empty are cached for 200 worlds, so they must use indexes from the
  // beginning.
  for (const setting of ['plan_cache_mode = force_generic_plan', 'enable_seqscan = off']) {
    await world.deps.db.raw(
      `do $$ begin execute format('alter database %I set ${setting}', current_database()); end $$`,
    );
    // Also sets it on this connection, which the worlds reuse.
    await world.deps.db.raw(`set ${setting}`);
  }
});
test.after.always(() => world?.close());

test.serial('random worlds: every rule is kept at every hour, and the room there is is used', async (t) => {
  t.timeout(10 * 60_000);
  const seeds = only ? [...only] : Array.from({ length: WORLDS }, (_, n) => n + 1 + FIRST);
  const faults: string[] = [];
  let sent = 0;
  let room = 0;
  const play = async (): Promise<void> => {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
      // Worlds with an odd seed have no events, so that their capacity can be computed exactly.
      const busy = seed % 2 === 0;
      const drawn = drawWorld(seed, busy);
      const outcome = await playWorld(world.deps, isWide(seed) ? widenWorld(drawn, busy) : drawn);
      const could = roomOf(outcome, SHARE);
      sent += outcome.emails.length;
      room += could;
      faults.push(...tell(outcome).map((fault) => `HERON_SIM_SEED=${seed} ${fault}`));
      if (outcome.emails.length < Math.floor(could * SHARE))
        faults.push(`HERON_SIM_SEED=${seed}: sent ${outcome.emails.length} where ${could} could have been`);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, play));
  t.log(`${only ? `seed ${only.join(', ')}` : `${WORLDS} worlds`}: ${sent} emails sent, the oracle sent ${room}`);
  t.deepEqual(faults, []);
  t.true(sent >= room * SHARE || only !== undefined, `${sent} of ${room} over all worlds`);
});

test.serial('an estimate is what the engine then does: emails of every day, days, and the end', async (t) => {
  t.timeout(10 * 60_000);
  const seeds = Array.from({ length: PLAIN_WORLDS }, (_, n) => n + 1 + FIRST);
  const faults: string[] = [];
  let sent = 0;
  const play = async (): Promise<void> => {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
      const compared = await compareEstimate(world.deps, drawPlainWorld(seed));
      sent += compared.emails;
      faults.push(...compared.faults.slice(0, 5).map((fault) => `plain world ${seed} ${fault}`));
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, play));
  t.log(`${PLAIN_WORLDS} worlds: ${sent} emails as estimated`);
  t.deepEqual(faults, []);
});

test.serial('a seed repeats its world to the millisecond', async (t) => {
  const other = await createWorld();
  t.teardown(() => other.close());
  const play = async ({ deps }: World) =>
    (await playWorld(deps, drawWorld(4242, true))).emails.map(({ at, mailbox, lead, step }) => [
      at,
      mailbox,
      lead,
      step,
    ]);
  const [first, second] = [await play(world), await play(other)];
  t.true(first.length > 5);
  t.deepEqual(first, second);
});

function tell({ faults }: Outcome): string[] {
  return faults.slice(0, 5).map(({ at, rule, detail }) => `${new Date(at).toISOString()} ${rule}: ${detail}`);
}
