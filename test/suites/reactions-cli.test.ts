import test from 'ava';
import { registerSubscribers } from '../../domain/platform/events/register.ts';
import { SUBSCRIBERS } from '../../domain/operations/subscribers/index.ts';
import { newId } from '../../lib/ids.ts';
import { heron } from '../harness/heron.ts';
import { emitEvents, fanOut } from '../harness/webhooks.ts';
import { createWorld, type World } from '../harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

/** Runs the command line on the world's database and returns its output. */
async function printed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await heron(args, { PRIMARY_DB: world.databaseUrl });
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`);
  return stdout;
}

test('heron reactions lists parked events, and replays and discards them', async (t) => {
  const { organizationId } = await world.tenant();
  await registerSubscribers(world.deps, SUBSCRIBERS);
  const { name } = SUBSCRIBERS[0]!;
  const eventIds = await emitEvents(world.deps, organizationId, 2, 'deliverability.complaint');
  await fanOut(world.deps);
  const parked = eventIds.map((eventId, index) => ({
    id: newId(),
    organization_id: organizationId,
    subscriber: name,
    event_id: eventId,
    event_type: 'deliverability.complaint',
    position: index + 1,
    attempts: 10,
    last_error: 'it was ill',
    state: 'parked' as const,
    parked_at: new Date(),
  }));
  await world.deps.db('reaction_parked_events').insert(parked);
  const text = await printed('reactions');
  t.regex(text, new RegExp(`${name}: `));
  for (const { id } of parked) t.true(text.includes(id));
  t.regex(text, /10 attempts: it was ill/);
  t.is(JSON.parse(await printed('reactions', '--json')).parked.length, 2);
  t.is(await printed('reactions', 'replay', parked[0]!.id), `${parked[0]!.id} replayed\n`);
  t.is(await printed('reactions', 'discard', parked[1]!.id), `${parked[1]!.id} discarded\n`);
  await t.throwsAsync(printed('reactions', 'replay', parked[0]!.id), { message: /replayed or discarded already/ });
  t.regex(await printed('reactions'), /No event is parked/);
  t.deepEqual(await world.deps.db('reaction_parked_events').orderBy('position').pluck('state'), [
    'replayed',
    'discarded',
  ]);
});
