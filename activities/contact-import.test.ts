import test from 'ava';
import { newId } from '../lib/ids.ts';
import { startEngine, type Engine } from '../test/harness/engine.ts';
import { eventually } from '../test/harness/eventually.ts';
import { call, createWorld, type World } from '../test/harness/world.ts';

let world: World;
let engine: Engine;
test.before(async () => {
  world = await createWorld();
  engine = await startEngine(world);
});
test.after.always(async () => {
  await engine?.stop();
  await world?.close();
});

async function start(token: string, text: string, options = {}): Promise<string> {
  const body = new FormData();
  body.append('file', new Blob([text]), 'people.csv');
  body.append('options', JSON.stringify(options));
  const answer = await call(world, 'POST', '/v1/contacts/import', { token, body });
  if (answer.status !== 202) throw new Error(answer.text);
  return answer.body.id;
}

async function ended(token: string, id: string) {
  return eventually(async () => {
    const { body } = await call(world, 'GET', `/v1/contacts/imports/${id}`, { token });
    return body.ended_at !== null && body;
  });
}

test.serial('an import that dies in a batch is tried again behind its checkpoint, and ends', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  const { db } = world.deps;
  await db.raw(
    `create function die() returns trigger language plpgsql as $$ begin raise exception 'killed in a batch'; end $$`,
  );
  await db.raw(
    `create trigger die before insert on contacts for each row when (new.email = 'p2500@example.com') execute function die()`,
  );
  const id = await start(token, `email\n${Array.from({ length: 4000 }, (_, i) => `p${i}@example.com`).join('\n')}\n`);
  const handle = engine.temporal.workflow.getHandle(`contact-import/${id}`);
  await eventually(async () => {
    const { raw } = await handle.describe().catch(() => ({ raw: undefined }));
    return (raw?.pendingActivities?.[0]?.attempt ?? 0) > 1;
  });
  const stuck = (await call(world, 'GET', `/v1/contacts/imports/${id}`, { token })).body;
  t.deepEqual([stuck.status, stuck.total], ['running', 2000]);
  await db.raw('drop trigger die on contacts');
  const job = await ended(token, id);
  t.deepEqual([job.status, job.total, job.imported, job.skipped], ['completed', 4000, 4000, 0]);
  t.is(Number((await db('contacts').where({ organization_id: organizationId }).count())[0]!.count), 4000);
  t.is(await handle.result(), 'ended');
});

test.serial('an import into a campaign that is gone ends as failed, with the reason', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  const campaignId = newId();
  const now = world.deps.clock.now();
  await world.deps
    .db('campaigns')
    .insert({ id: campaignId, organization_id: organizationId, name: 'Gone', created_at: now, updated_at: now });
  await world.deps.db.raw(
    `create function lose() returns trigger language plpgsql as $$ begin delete from campaigns where id = '${campaignId}'; return new; end $$`,
  );
  await world.deps.db.raw(`create trigger lose before insert on contacts for each row execute function lose()`);
  const id = await start(token, 'email\na@example.com\n', { campaign_id: campaignId });
  const job = await ended(token, id);
  t.deepEqual([job.status, job.error, job.imported], ['failed', 'Campaign not found', 0]);
});
