import test from 'ava';
import { createWorld, type World } from '../harness/world.ts';
import { drawWorld } from './draw.ts';
import { playWorld } from './run.ts';
import { WarmupCompany } from './warmup.ts';

/** Number of worlds; HERON_SIM_WORLDS changes it. */
const WORLDS = Number(process.env.HERON_SIM_WORLDS ?? 12);
const FIRST = Number(process.env.HERON_SIM_AFTER ?? 0);
const only = process.env.HERON_SIM_SEED?.split(',').map(Number);
const SIDE_BY_SIDE = 3;

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test('random worlds whose mailboxes are warmed: emails of both kinds together keep every cap and gap', async (t) => {
  t.timeout(5 * 60_000);
  const seeds = only ?? Array.from({ length: WORLDS }, (_, n) => n + 1 + FIRST);
  const faults: string[] = [];
  const sent = { warmup: 0, campaign: 0 };
  const queue = [...seeds];
  const play = async (): Promise<void> => {
    for (let seed = queue.shift(); seed !== undefined; seed = queue.shift()) {
      const company = new WarmupCompany(seed, (seed % 4) / 4);
      const { emails, faults: found } = await playWorld(
        world.deps,
        drawWorld(seed, seed % 2 === 0),
        undefined,
        undefined,
        company,
      );
      sent.warmup += company.sent;
      sent.campaign += emails.length;
      for (const { at, rule, detail } of found.slice(0, 3))
        faults.push(`HERON_SIM_SEED=${seed} ${new Date(at).toISOString()} ${rule}: ${detail}`);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, play));
  t.log(`${seeds.length} worlds: ${sent.warmup} warmup emails beside ${sent.campaign} of campaigns`);
  t.deepEqual(faults, []);
  t.true(only !== undefined || (sent.warmup > seeds.length && sent.campaign > seeds.length), JSON.stringify(sent));
});
