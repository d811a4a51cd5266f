import { newId } from '../../lib/ids.ts';
import { declareSubscriber, type Subscriber } from '../../domain/platform/events/subscriber.ts';
import { rawDb, type RawDb } from './database.ts';
import { createEffects, recordEffects } from './reactions.ts';

/** Event of the counting subscribers; nothing else in benchmarks and tests emits it. */
export const COUNTED_EVENT = 'team.member_role_changed';

/**
 * Subscribers of three kinds: one writes a row per event, one adds up counts per batch, and one writes rows per batch
 * in order.
 */
export const COUNTING_SUBSCRIBERS: readonly Subscriber[] = [
  declareSubscriber({
    name: 'counting_tasks',
    types: [COUNTED_EVENT],
    startsFrom: 'now',
    apply: (tx, event) =>
      rawDb(tx.trx)
        .raw('insert into counting_tasks (id, organization_id, event_id, position) values (?, ?, ?, ?)', [
          newId(),
          event.organizationId,
          event.id,
          event.position,
        ])
        .then(() => undefined),
  }),
  declareSubscriber({
    name: 'counting_facts',
    types: [COUNTED_EVENT],
    startsFrom: 'now',
    applyBatch: (tx, events) =>
      rawDb(tx.trx)
        .raw(
          `insert into counting_facts (organization_id, day, events) values (?, ?, ?)
           on conflict (organization_id, day) do update set events = counting_facts.events + excluded.events`,
          [tx.org.organizationId, tx.now.toISOString().slice(0, 10), events.length],
        )
        .then(() => undefined),
  }),
  declareSubscriber({
    name: 'counting_ledger',
    types: [COUNTED_EVENT],
    startsFrom: 'now',
    applyBatch: (tx, events) => recordEffects(tx, 'counting_ledger', events),
  }),
];

/** Creates the tables of the counting subscribers, without constraints that would hide repeated effects. */
export async function createReactionTables(db: RawDb): Promise<void> {
  await createEffects(db);
  await db.raw(`
    create table counting_tasks (seq bigint generated always as identity, id uuid primary key, organization_id uuid not null, event_id uuid not null, position bigint not null);
    create table counting_facts (organization_id uuid not null, day date not null, events bigint not null, primary key (organization_id, day));
    grant all on counting_tasks, counting_facts to heron_tenant;
  `);
}

interface Ledger {
  events: number;
  /**
   * For each subscriber: number of effects, of repeated effects, and of effects applied before those of an earlier
   * event.
   */
  tasks: { effects: number; repeated: number; misplaced: number };
  facts: { effects: number };
  ledger: { effects: number; repeated: number; misplaced: number };
}

/** Reads the effects and compares them with the events. */
export async function readLedger(db: RawDb): Promise<Ledger> {
  const rows = async (table: string, where: string) => {
    const { rows: found } = (await db.raw(
      `select count(*)::int as effects, (count(*) - count(distinct event_id))::int as repeated, count(*) filter (where position <= before)::int as misplaced
       from (select event_id, position, lag(position) over (partition by organization_id order by seq) as before from ${table} where ${where}) done`,
    )) as { rows: { effects: number; repeated: number; misplaced: number }[] };
    return found[0]!;
  };
  const [events, tasks, facts, ledger] = await Promise.all([
    db('domain_events').where({ type: COUNTED_EVENT }).count({ n: '*' }).first(),
    rows('counting_tasks', 'true'),
    db('counting_facts').sum({ n: 'events' }).first(),
    rows('effects', `subscriber = 'counting_ledger'`),
  ]);
  return { events: Number(events!.n), tasks, facts: { effects: Number(facts!.n ?? 0) }, ledger };
}
