import test from 'ava';
import { openDesk } from '../../test/harness/campaign-desk.ts';
import { createWorld, type World } from '../../test/harness/world.ts';
import { transact } from '../platform/kernel/transact.ts';
import { addLeads } from '../audience/leads/add.ts';
import { deleteCampaign } from './remove.ts';
import { startCampaign, stopCampaign } from './start.ts';
import { completeCampaign } from '../sending/control/status.ts';

const ROUNDS = 12;

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test('starts and stops at once end in one truth: status, epoch, log and events agree', async (t) => {
  const desk = await openDesk(world);
  const ctx = world.system(desk.tenant.organizationId);
  const {
    campaign: { id },
  } = await desk.ready(1);
  let moves = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const results = await Promise.allSettled([
      startCampaign(ctx, id),
      stopCampaign(ctx, id),
      startCampaign(ctx, id),
      stopCampaign(ctx, id),
    ]);
    moves += results.filter((result) => result.status === 'fulfilled').length;
    const row = await desk.row(id);
    t.is(row.control_epoch, moves);
    const told = (await desk.logs(id)).filter((type) => /started|paused/.test(type));
    t.is(told.length, moves);
    t.is(row.status === 'active', told.at(-1) === 'campaign_started');
    told.forEach((type, index) => t.is(type, index % 2 === 0 ? 'campaign_started' : 'campaign_paused'));
  }
  t.true(moves >= ROUNDS);
  t.is((await desk.events()).filter((type) => /started|paused/.test(type)).length, moves);
});

test('a lead added while the campaign completes is never left in a completed one', async (t) => {
  const desk = await openDesk(world);
  const ctx = world.system(desk.tenant.organizationId);
  for (let round = 0; round < ROUNDS; round += 1) {
    const {
      campaign: { id },
    } = await desk.ready(1);
    await startCampaign(ctx, id);
    await world.deps.db('enrollments').where({ campaign_id: id }).update({ state: 'completed' });
    const contact = await desk.contact();
    const add = () => transact(ctx, (tx) => addLeads(tx, world.deps.config, id, [contact]));
    const complete = () => transact(ctx, (tx) => completeCampaign(tx, id));
    await Promise.all(round % 2 ? [add(), complete()] : [complete(), add()]);
    t.is((await desk.row(id)).status, 'active', `round ${round}`);
    t.is((await world.deps.db('enrollments').where({ campaign_id: id, state: 'pending' })).length, 1);
  }
});

test('starting, adding leads and deleting at once leaves a campaign or nothing, never a part', async (t) => {
  const desk = await openDesk(world);
  const ctx = world.system(desk.tenant.organizationId);
  for (let round = 0; round < ROUNDS; round += 1) {
    const {
      campaign: { id },
    } = await desk.ready(1);
    const contact = await desk.contact();
    const results = await Promise.allSettled([
      startCampaign(ctx, id),
      transact(ctx, (tx) => addLeads(tx, world.deps.config, id, [contact])),
      deleteCampaign(ctx, id),
    ]);
    t.is(results[2]!.status, 'fulfilled');
    for (const result of results.slice(0, 2))
      if (result.status === 'rejected') t.is(result.reason.code, 'not_found', String(result.reason));
    t.is(await desk.row(id), undefined);
    for (const table of ['enrollments', 'campaign_steps', 'campaign_logs'])
      t.deepEqual(await world.deps.db(table).where({ campaign_id: id }), []);
  }
});
