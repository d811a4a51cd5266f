import test from 'ava';
import { DAY_MS } from '../../../lib/clock.ts';
import { firstIdAt, newId } from '../../../lib/ids.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createCampaign, createMailbox } from '../../../test/harness/factories.ts';
import { createEndpoint } from '../../../test/harness/webhooks.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { rebuildFacts } from '../../reporting/aggregates/rebuild.ts';
import { verifyFacts } from '../../reporting/aggregates/verify.ts';
import { maintainPartitions } from './partitions.ts';

const TABLES = ['domain_events', 'webhook_payloads', 'webhook_deliveries', 'webhook_attempts'] as const;
/**
 * The current month by the machine's clock. The database was created in it, so the partition `…_before` at first ends
 * with this month.
 */
const today = new Date();
const month = (later: number, days = 0): Date =>
  new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + later) + days * DAY_MS);

const clock = new ManualClock(today);
let world: World;
let organizationId: string;
let endpointId: string;
test.before(async () => {
  world = await createWorld({ clock });
  organizationId = (await world.tenant()).organizationId;
  endpointId = (await createEndpoint(world.deps, organizationId, 'https://hooks.test/')).id;
  await world.deps.db('domain_events').delete();
  await world.deps.db('reaction_subscribers').delete();
});
test.after.always(() => world?.close());

/** Inserts an event of a given time that all subscribers have applied, with a delivery and one attempt. */
async function eventOf(at: Date): Promise<string> {
  const id = firstIdAt(at).slice(0, -12) + newId().slice(-12);
  const common = { organization_id: organizationId, created_at: at };
  const { db } = world.deps;
  await db('domain_events').insert({ ...common, id, type: 'contact.created', data: '{}', position: 1 });
  await db('webhook_payloads').insert({ ...common, event_id: id, event_type: 'contact.created', body: '{}' });
  const delivery = { endpoint_id: endpointId, event_id: id, event_type: 'contact.created', status: 'delivered' };
  await db('webhook_deliveries').insert({ ...common, ...delivery, id, updated_at: at });
  const attempt = { organization_id: organizationId, delivery_id: id, attempt: 1, started_at: at, duration_ms: 1 };
  await db('webhook_attempts').insert(attempt);
  return id;
}

/** Returns the row ids by partition. */
async function stored(): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const table of TABLES) {
    const key = { webhook_payloads: 'event_id', webhook_attempts: 'delivery_id' }[table as string] ?? 'id';
    const rows = await world.deps.db(table).select(world.deps.db.raw(`tableoid::regclass::text as part, ${key} as id`));
    for (const { part, id } of rows) (found[part.slice(table.length + 1)] ??= []).push(id);
  }
  // The partitions of a month must contain the same events in every table.
  return Object.fromEntries(
    Object.entries(found).map(([part, ids]) => [
      part,
      ids.length === 4 * new Set(ids).size ? [...new Set(ids)].sort() : ids,
    ]),
  );
}

const partOf = (at: Date): string => at.toISOString().slice(0, 7).replace('-', '_');

test.serial(
  'months are made ahead, take rows that were there already, and go as a whole after their time',
  async (t) => {
    const [now, far, ancient] = [await eventOf(month(0, 3)), await eventOf(month(1, 3)), await eventOf(month(-30))];
    t.deepEqual(await stored(), { before: [ancient, now].sort(), rest: [far] });

    await maintainPartitions(world.deps);
    const first = { before: [ancient, now].sort(), [partOf(month(1))]: [far] };
    t.deepEqual(await stored(), first, 'what the rest had of the month is in it');
    await maintainPartitions(world.deps);
    t.deepEqual(await stored(), first);

    clock.set(month(1));
    await maintainPartitions(world.deps);
    const next = await eventOf(month(2, 1));
    t.deepEqual(await stored(), { ...first, [partOf(month(2))]: [next] });

    const kept = world.deps.config.EVENT_RETENTION_DAYS;
    clock.set(new Date(month(1, kept).getTime() - 1));
    await maintainPartitions(world.deps);
    t.deepEqual((await stored()).before, [ancient, now].sort(), 'a millisecond before its last row is old enough');
    clock.set(month(1, kept));
    await maintainPartitions(world.deps);
    t.deepEqual(await stored(), { [partOf(month(1))]: [far], [partOf(month(2))]: [next] });

    const late = await eventOf(month(0));
    t.deepEqual((await stored()).before, [late], 'a row of a month that is gone is taken all the same');
    clock.set(month(2, kept));
    await maintainPartitions(world.deps);
    t.deepEqual(await stored(), { [partOf(month(2))]: [next] });
  },
);

test.serial('after months without a run the rest is divided, and nothing of it is lost', async (t) => {
  clock.set(month(9, 10));
  const [old, recent] = [await eventOf(month(6)), await eventOf(month(9, 9))];
  await maintainPartitions(world.deps);
  const all = Object.values(await stored()).flat();
  t.true(all.includes(old) && all.includes(recent));
  t.is((await stored()).rest, undefined);
  clock.set(month(13));
  await maintainPartitions(world.deps);
  t.deepEqual(await stored(), {});
});

test.serial('tables that are in use are left for the next sweep', async (t) => {
  const event = await eventOf(clock.now());
  const holder = await world.deps.db.transaction();
  try {
    await holder.raw('lock table webhook_attempts in row exclusive mode');
    clock.set(month(18));
    await maintainPartitions(world.deps);
    const left = Object.values(await stored()).flat();
    t.deepEqual(left, [event, event], 'a delivery and its attempt, which somebody works with');
  } finally {
    await holder.rollback();
  }
  await maintainPartitions(world.deps);
  t.deepEqual(await stored(), {});
});

test.serial('the audit log and the counts by hour are kept for ever, or for the time of their setting', async (t) => {
  clock.set(month(50));
  const { deps } = world;
  const { db } = deps;
  const { organizationId: org } = await world.tenant();
  const mailboxId = await createMailbox(deps, org, 'ann@ours.test');
  const { campaignId } = await createCampaign(deps, org, [{ name: 'Opening', subject: 'Hello', body_plain: 'Hi' }]);
  for (const at of [month(-20, 3), month(48, 3), month(49, 3)]) {
    const row = { id: newId(), organization_id: org, created_at: at };
    await db('audit_logs').insert({ ...row, actor_kind: 'user', action: 'update', entity_type: 'campaign' });
    await db('sends').insert({
      ...row,
      campaign_id: campaignId,
      mailbox_id: mailboxId,
      state: 'sent',
      recipient: 'bob@theirs.test',
      slot_at: at,
      slot_day: at.toISOString().slice(0, 10),
      sent_at: at,
      updated_at: at,
    });
  }
  await rebuildFacts(deps, org);
  const left = async () => ({
    audit: await db('audit_logs')
      .where({ organization_id: org, action: 'update' })
      .orderBy('created_at')
      .pluck('created_at'),
    campaign: await db('fact_campaign_hours').where({ organization_id: org }).orderBy('hour').pluck('hour'),
    mailbox: await db('fact_mailbox_hours').where({ organization_id: org }).orderBy('hour').pluck('hour'),
    days: (await db('fact_campaign_days').where({ organization_id: org })).length,
  });
  const all = [month(-20, 3), month(48, 3), month(49, 3)];
  await maintainPartitions(deps);
  t.deepEqual(await left(), { audit: all, campaign: all, mailbox: all, days: 3 });

  const since = all.slice(1);
  const brief = { ...deps, config: { ...deps.config, AUDIT_RETENTION_DAYS: 40, REPORT_HOUR_RETENTION_DAYS: 40 } };
  await maintainPartitions(brief);
  t.deepEqual(await left(), { audit: since, campaign: since, mailbox: since, days: 3 });
  const differing = async (of: typeof deps) => [
    ...new Set((await verifyFacts(of, org)).flatMap(({ differences }) => differences.map(({ table }) => table))),
  ];
  t.deepEqual(await differing(brief), [], 'what the setting let go is no difference');
  t.deepEqual(await differing(deps), ['fact_campaign_hours', 'fact_mailbox_hours']);

  const { rows } = (await db.raw(
    `select distinct array_to_string(reloptions, ',') as options from pg_class where relispartition and relname like 'fact_%_hours_%' and relkind = 'r'`,
  )) as { rows: { options: string }[] };
  t.deepEqual(rows, [{ options: 'fillfactor=80' }], 'new partitions are stored as the first ones');
});

test.serial('what goes with its endpoint goes from every month', async (t) => {
  await eventOf(month(-1));
  await eventOf(clock.now());
  await eventOf(month(40));
  await world.deps.db('webhook_endpoints').where({ id: endpointId }).delete();
  t.is((await world.deps.db('webhook_deliveries')).length, 0);
  t.is((await world.deps.db('webhook_attempts')).length, 0);
  t.is((await world.deps.db('domain_events')).length, 3);
});
