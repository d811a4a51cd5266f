import { systemCtx } from '../domain/platform/kernel/context.ts';
import { transact } from '../domain/platform/kernel/transact.ts';
import { claimDeliveries } from '../domain/connect/integrations/claim.ts';
import { settleDelivery } from '../domain/connect/integrations/settle.ts';
import {
  createSubscription,
  enqueueForEvents,
  type EventOccurrence,
} from '../domain/connect/integrations/subscriptions.ts';
import { sampleData } from '../domain/connect/triggers/vocabulary.ts';
import { createTenant } from '../test/harness/factories.ts';
import { createConnectionRow } from '../test/harness/integrations.ts';
import type { BenchContext, BenchResult } from './context.ts';

/** Number of connections with waiting deliveries in the workspace. One of them is measured. */
const CONNECTIONS = 10;
const SIDE_BY_SIDE = 8;
/** Rate limit that is never reached, so that the provider's limit does not affect the measurement. */
const UNLIMITED = { capacity: 1_000_000, perSecond: 1_000_000 };
const PAGE = 500;
const TARGET_ADDED = 1_000;
const TARGET_SETTLED = 100;
const TARGET_CLAIM_MS = 20;

/**
 * Measures Heron's own cost around provider calls with 100,000 waiting deliveries. The figures are: events per second
 * that are queued, the time and plans of claiming, and deliveries per second that one worker claims and settles.
 */
export async function run({ assembly, quick, scale, log }: BenchContext): Promise<BenchResult> {
  const { deps } = assembly;
  const { db } = deps;
  const tenant = await createTenant(deps);
  const { organizationId: org } = tenant;
  const ctx = systemCtx(deps, org, 'bench');
  const world = { deps, system: () => ctx } as unknown as Parameters<typeof createConnectionRow>[0];
  const connections: string[] = [];
  for (let n = 0; n < CONNECTIONS; n += 1) connections.push(await createConnectionRow(world, tenant));
  const [measured] = connections as [string];
  // Sets a status for which the installation's own workers make no deliveries.
  await db('integration_connections').where({ organization_id: org }).update({ status: 'reauth_required' });
  const waiting = quick ? 10_000 : Math.round(100_000 * scale);
  const contacts = waiting / CONNECTIONS / 2;
  await db.raw(
    `insert into contacts (id, organization_id, email, first_name, last_name, company, phone, custom_fields, created_at, updated_at)
     select gen_random_uuid(), ?, 'c' || n || '@lead.test', '', '', '', '', '{}', now(), now() from generate_series(1, ?::int) n`,
    [org, contacts],
  );
  await db.raw(
    `insert into integration_deliveries (id, organization_id, connection_id, lane_id, contact_id, action, config, data, occurred_at, state, created_at)
     select gen_random_uuid(), ?, k.id, c.id, c.id, 'n8n.send_webhook', '{}', '{}', now(), 'pending', now()
     from unnest(cast(? as uuid[])) k(id) cross join contacts c cross join generate_series(1, 2) where c.organization_id = ?`,
    [org, connections, org],
  );
  await db.raw(
    `insert into integration_lanes (connection_id, lane_id, organization_id, due_at)
     select distinct connection_id, lane_id, organization_id, now() from integration_deliveries`,
  );
  await db.raw('analyze integration_deliveries, integration_lanes, contacts');
  log(`${waiting} deliveries wait, of ${contacts} contacts at ${CONNECTIONS} connections`);

  // With this subscription each event creates one delivery.
  await createSubscription(ctx, measured, { event_type: 'email.opened', action: 'n8n.send_webhook' });
  const ids: string[] = await db('contacts').where({ organization_id: org }).pluck('id');
  const events = quick ? 1_000 : Math.round(10_000 * scale);
  const data = sampleData('email.opened');
  const happening = (n: number): EventOccurrence => ({
    trigger: 'email.opened',
    contactId: ids[n % ids.length]!,
    data,
    occurredAt: deps.clock.now(),
  });
  let startedAt = performance.now();
  for (let from = 0; from < events; from += PAGE)
    await transact(ctx, (tx) =>
      enqueueForEvents(
        tx,
        Array.from({ length: PAGE }, (_unused, n) => happening(from + n)),
      ),
    );
  const addedPerSecond = Math.round((events / (performance.now() - startedAt)) * 1_000);
  log(`${addedPerSecond} added a second`);

  const settled = quick ? 400 : Math.round(4_000 * scale);
  const claims: number[] = [];
  startedAt = performance.now();
  for (let done = 0; done < settled;) {
    const before = performance.now();
    const claimed = await claimDeliveries(ctx, measured, UNLIMITED, SIDE_BY_SIDE);
    claims.push(performance.now() - before);
    if (claimed.kind !== 'claimed') throw new Error(`nothing to claim after ${done}`);
    await Promise.all(
      claimed.deliveries.map((delivery) => settleDelivery(ctx, delivery, claimed.lease, { kind: 'done' })),
    );
    done += claimed.deliveries.length;
  }
  const settledPerSecond = Math.round((settled / (performance.now() - startedAt)) * 1_000);
  claims.sort((a, b) => a - b);
  const claimMs = claims[Math.floor(claims.length * 0.95)]!;
  log(`${settledPerSecond} claimed and settled a second; a claim p95 ${claimMs.toFixed(1)} ms`);

  const explained = await db.raw(
    `explain (analyze, buffers) select d.lane_id, h.id from (
       select lane_id from integration_lanes where organization_id = ? and connection_id = ? and due_at <= now()
       order by due_at limit ${SIDE_BY_SIDE} for update skip locked) d
     left join lateral (select i.id from integration_deliveries i
       where i.connection_id = ? and i.lane_id = d.lane_id and i.state = 'pending' order by i.position limit 1) h on true`,
    [org, measured, measured],
  );
  const plan = (explained.rows as Record<string, string>[]).map((row) => row['QUERY PLAN']!);
  const byIndex = ['integration_lanes_due', 'integration_deliveries_lane'].every((index) =>
    plan.some((line) => line.includes(index)),
  );
  return {
    figures: [
      { label: `events that add a delivery each, ${waiting} waiting`, value: `${addedPerSecond} events/s` },
      { label: `deliveries claimed and settled by one worker, without the calls`, value: `${settledPerSecond}/s` },
      { label: `a claim of ${SIDE_BY_SIDE} deliveries, p95`, value: `${claimMs.toFixed(1)} ms` },
    ],
    targets: [
      {
        what: 'events/s that add a delivery',
        target: `${TARGET_ADDED}/s`,
        got: `${addedPerSecond}/s`,
        met: addedPerSecond >= TARGET_ADDED,
      },
      {
        what: 'deliveries/s of one connection, more than any provider allows',
        target: `${TARGET_SETTLED}/s`,
        got: `${settledPerSecond}/s`,
        met: settledPerSecond >= TARGET_SETTLED,
      },
      {
        what: `a claim with ${waiting} waiting, p95`,
        target: `<= ${TARGET_CLAIM_MS} ms`,
        got: `${claimMs.toFixed(1)} ms`,
        met: claimMs <= TARGET_CLAIM_MS,
      },
      { what: 'a claim reads by its indexes', target: 'yes', got: byIndex ? 'yes' : 'no', met: byIndex },
    ],
    raw: { plan, claims },
  };
}
