import test from 'ava';
import { newId } from '../../../lib/ids.ts';
import { act, chain, openAutomationDesk } from '../../../test/harness/automations.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { registerSubscribers } from '../../platform/events/register.ts';
import { SUBSCRIBERS } from '../../operations/subscribers/index.ts';
import { render } from '../../../messages/render.ts';

// The clock does not advance, so that a failed subscriber is not retried and the test sees the failure.
const clock = new ManualClock(new Date('2026-05-04T10:00:00Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock, env: { ROW_SECURITY: 'true' } });
  await registerSubscribers(world.deps, SUBSCRIBERS);
});
test.after.always(() => world?.close());

const tell = act('tell', 'notify', { message: 'x' });
const lines = (run: { node_results: { node_id: string; status: string }[] }) =>
  run.node_results.map(({ node_id: id, status }) => `${id} ${status}`);

test.serial(
  'of two automations that make the same thing the second fails alone, and what it wrote is taken back',
  async (t) => {
    const { automate, org, label, reply, settle, runs, rows, tags, events } = await openAutomationDesk(world);
    const { db } = world.deps;
    const [pipeline, stage] = [newId(), newId()];
    const stamps = { created_at: clock.now(), updated_at: clock.now() };
    await db('crm_pipelines').insert({ id: pipeline, organization_id: org, name: 'Sales', position: 0, ...stamps });
    await db('crm_stages').insert({
      id: stage,
      organization_id: org,
      pipeline_id: pipeline,
      name: 'New',
      color: '#000000',
      position: 0,
      ...stamps,
    });
    await db.raw('create unique index one_of_a_name on crm_deals (organization_id, name)');
    const tag = await label();
    const deal = act('deal', 'create_deal', { name: 'The same', pipeline_id: pipeline, stage_id: stage });
    const [first, second] = [await automate(chain(deal, tell)), await automate(chain(deal, tell))];
    const third = await automate(chain(act('tag', 'add_tag', { category_id: tag })));
    await reply();
    await settle();
    t.deepEqual(lines((await runs(first))[0]), ['trigger success', 'deal success', 'tell success']);
    const [failed] = await runs(second);
    t.deepEqual([failed.status, render(failed.error_detail)], ['error', 'Node "deal": This already exists']);
    t.deepEqual(lines((await runs(second))[0]), ['trigger success', 'deal error', 'tell skipped']);
    t.like((await runs(third))[0], { status: 'success' });
    t.deepEqual(await tags(), [tag]);
    t.deepEqual([(await rows('crm_deals')).length, (await events('crm.deal_created')).length], [1, 1]);
    await db.raw('drop index one_of_a_name');
  },
);

test.serial('an action that loses a race is done again, and sees what the winner has made', async (t) => {
  const { automate, label, reply, settle, runs, tags } = await openAutomationDesk(world);
  const { db } = world.deps;
  const tag = await label();
  const id = await automate(chain(act('tag', 'add_tag', { category_id: tag }), tell));
  await reply();
  const winner = await db.transaction();
  await winner('labels').where({ id: tag }).delete();
  const settled = settle();
  await eventually(async () => {
    const { rows } = await db.raw(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  });
  await winner.commit();
  await settled;
  t.deepEqual(lines((await runs(id))[0]), ['trigger success', 'tag error', 'tell skipped']);
  t.is(render((await runs(id))[0].error_detail), 'Node "tag": The category was deleted');
  t.deepEqual(await tags(), []);
});

test.serial(
  'a row that the database always refuses is the error of its node; a deadlock begins the turn again',
  async (t) => {
    const { automate, reply, settle, runs, rows } = await openAutomationDesk(world);
    const { db } = world.deps;
    await db.raw(`
    create sequence locked;
    grant usage on sequence locked to heron_tenant;
    create function refused() returns trigger language plpgsql as $$
    begin
      if new.title = 'too much' then raise exception 'a value' using errcode = '22003'; end if;
      if new.title = 'locked' and nextval('locked') = 1 then raise exception 'locked' using errcode = '40P01'; end if;
      return new;
    end $$;
    create trigger refused before insert on crm_tasks for each row execute function refused()`);
    const refused = await automate(chain(act('task', 'create_task', { title: 'too much' })));
    const locked = await automate(chain(act('task', 'create_task', { title: 'locked' })));
    await reply();
    await settle();
    const [failed] = await runs(refused);
    t.is(failed.status, 'error');
    t.is(render(failed.error_detail), 'Node "task": The database rejected the data of the action (PostgreSQL 22003)');
    t.like((await runs(locked))[0], { status: 'success' });
    t.deepEqual(
      (await rows('crm_tasks')).map(({ title }) => title),
      ['locked'],
    );
    await db.raw('drop function refused cascade; drop sequence locked');
  },
);
