import { across } from '../db/across.ts';
import type { RawDb } from '../test/harness/database.ts';
import { enterSql, knownSubscribers } from '../domain/platform/events/enter-events.ts';
import { declareSubscriber } from '../domain/platform/events/subscriber.ts';
import type { BenchResult } from './context.ts';

interface Plans extends Pick<BenchResult, 'figures' | 'targets'> {
  raw: Record<string, string[]>;
}

const FOLLOWER = declareSubscriber({
  name: 'plan_follower',
  types: ['campaign.email_sent', 'campaign.email_bounced'],
  startsFrom: 'now',
  apply: () => Promise.resolve(),
});

/** Fills the stream and explains the queries of a subscriber's cursor. The events stay in the database. */
export async function explainCursors(
  db: RawDb,
  { events, organizations, log }: { events: number; organizations: number; log: (line: string) => void },
): Promise<Plans> {
  await fill(db, events, organizations);
  log(`${events} events of ${organizations} organizations are there`);
  const indexMs = await rebuildIndex(db);
  await db.raw('vacuum analyze domain_events');
  const top = Number((await db('domain_events').max({ top: 'position' }).first())!.top);
  const known = { known: knownSubscribers([FOLLOWER]) };
  const enter = async (behind: number): Promise<string[]> => {
    const trx = await db.transaction();
    try {
      await trx('reaction_subscribers').insert({
        name: FOLLOWER.name,
        types: [...FOLLOWER.types].sort(),
        position: top - behind,
        seen_at: new Date(),
        created_at: new Date(),
      });
      const { rows } = await across(trx, 'operator').run<{ 'QUERY PLAN': string }>(
        `explain (analyze, buffers) ${enterSql([FOLLOWER])}`,
        known,
      );
      return rows.map((row) => row['QUERY PLAN']);
    } finally {
      await trx.rollback();
    }
  };
  // Compares 500 events, the number of one fan-out iteration, with the many events that a subscriber far behind must
  // process.
  await enter(500);
  const near = await enter(500);
  const far = await enter(Math.min(events - 1, 500_000));
  const next = await explainNext(db, top);
  const isIndexed =
    [near, far].every((plan) => plan.some((line) => line.includes('domain_events_stream'))) &&
    next.some((line) => line.includes('domain_events_position')) &&
    ![near, far, next].flat().some((line) => line.includes('Seq Scan on domain_events'));
  const ms = (plan: string[]): string => /Execution Time: ([\d.]+) ms/.exec(plan.join('\n'))?.[1] ?? '?';
  return {
    figures: [
      {
        label: `${events} events, ${organizations} organizations: entering 500 new ones for a subscriber`,
        value: `${ms(near)} ms`,
      },
      { label: 'entering a page of 5,000, from far behind', value: `${ms(far)} ms` },
      { label: "reading an organization's next 500 events", value: `${ms(next)} ms` },
      { label: `migration: index of ${events} events`, value: `${indexMs.toFixed(0)} ms` },
    ],
    targets: [
      {
        what: `cursor queries use their indexes at ${events} events`,
        target: 'no sequential scan',
        got: isIndexed ? 'indexes only' : 'see results/',
        met: isIndexed,
      },
    ],
    raw: { near, far, next },
  };
}

async function fill(db: RawDb, events: number, organizations: number): Promise<void> {
  await db.raw(
    `insert into organizations (id, name, created_by, created_at, updated_at)
     select gen_random_uuid(), 'Plan ' || n, (select id from users limit 1), now(), now() from generate_series(1, :organizations) n`,
    { organizations },
  );
  await db.raw(
    `insert into domain_events (id, organization_id, type, data, created_at, position)
     select gen_random_uuid(), o.ids[1 + (random() * (:organizations - 1))::int],
       (array['campaign.email_sent', 'campaign.email_opened', 'inbox.email_received', 'campaign.email_clicked', 'contact.updated'])[1 + n % 5],
       jsonb_build_object('campaign_id', gen_random_uuid(), 'contact_id', gen_random_uuid(), 'message_id', '<' || n || '@ours.test>'), now(), nextval('domain_event_positions')
     from generate_series(1, :events) n, (select array_agg(id) as ids from organizations where name like 'Plan %') o`,
    { events, organizations },
  );
}

async function rebuildIndex(db: RawDb): Promise<number> {
  await db.raw('drop index domain_events_stream');
  const startedAt = performance.now();
  await db.raw('create index domain_events_stream on domain_events (position) where position is not null');
  return performance.now() - startedAt;
}

/** Explains the query that reads events of a claimed stream. */
async function explainNext(db: RawDb, top: number): Promise<string[]> {
  const { organization_id: org } = await db('domain_events').where({ position: top }).first('organization_id');
  const { rows } = await across(db, 'operator').run<{ 'QUERY PLAN': string }>(
    `explain (analyze, buffers) select id, type, position, created_at, data, hops from domain_events
     where organization_id = :org and position > :after and position <= :top and type = any(:types::text[])
     order by position limit 500`,
    { org, after: 0, top, types: [...FOLLOWER.types].sort() },
  );
  return rows.map((row) => row['QUERY PLAN']);
}
