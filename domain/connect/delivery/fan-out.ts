import { across } from '../../../db/across.ts';
import { json, type Trx } from '../../../db/connection.ts';
import { grantableWith } from '../../../lib/grantable.ts';
import { newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { start, writeIntents } from '../../../temporal/dispatch.ts';
import { webhookBatchWorkflow } from '../../../workflows/webhook-batch/contract.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { POSITIONS_CHANNEL } from '../../platform/kernel/events.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { FAILING_FROM } from './breaker.ts';
import { BATCH_CHANNEL } from './channel.ts';
import { endpointBatchIntents } from './endpoint-batch.ts';
import { isSubscribed } from './match.ts';
import { engineSql } from './sql.ts';
import { minuteOf, Throttle, type Count } from './throttle.ts';

/** Advisory lock that allows only one fan-out at a time, so that stream positions become visible in order. */
const FAN_OUT_LOCK = 7_201_950;
/**
 * Maximum number of events of an iteration. Each organization gets an equal share, divided by the number of its
 * endpoints.
 */
const MAX_EVENTS = 500;
/**
 * Maximum number of organizations named in one notification to the realtime gateways, because a notification may have
 * at most 8,000 bytes.
 */
const MAX_NAMED = 200;
/**
 * Maximum number of deliveries of a shared batch. A workflow costs as much as dozens of deliveries, so batches are
 * filled under load.
 */
export const BATCH_SIZE = 500;
/** Maximum time (ms) during which deliveries are added to a batch, if its workflow does not close it before. */
const BATCH_OPEN_MS = 60_000;
/**
 * Age (ms) at which a second batch is opened, so that its workflow has started before the first one closes. A batch of
 * SUCCESSOR_FROM_SIZE deliveries also gets a second one.
 */
const SUCCESSOR_AFTER_MS = 50_000;
const SUCCESSOR_FROM_SIZE = BATCH_SIZE / 2;
/**
 * Number of deliveries of one workspace in an iteration from which they get a batch of their own. This batch is filled
 * until it is closed, so that a workspace with many events has one workflow and not hundreds.
 */
const OWN_BATCH_FROM = 100;

/** Error stored for a delivery to a disabled endpoint. */
const OFF = json(message('connect.endpoint_off'));

/** A batch to which a process adds deliveries until it is full or closed. */
interface OpenBatch {
  id: string;
  /** Workspace whose deliveries the batch takes. Null for the shared batch of all workspaces with few events. */
  owner: string | null;
  openedAt: number;
  size: number;
}

/** Cache of one process between its fan-out iterations. The database remains authoritative. */
export interface FanOutMemory {
  /** Batches that are being filled, including the second ones opened early. */
  open: readonly OpenBatch[] | undefined;
}

interface FanOutIteration {
  /** True if another process has the lock and assigns the positions. */
  busy: boolean;
  positioned: number;
  /** True if the iteration reached its maximum of events, in total or for one workspace, so there may be more. */
  full: boolean;
  deliveries: number;
  drops: { reason: string; dropped: number }[];
}

interface NewEvent {
  id: string;
  organization_id: string;
  type: string;
}

interface Target {
  id: string;
  organization_id: string;
  application_id: string | null;
  event_types: string[];
  enabled: boolean;
  /**
   * Registered scopes of the application. Null for an endpoint of the workspace itself. `grants` contains, for each
   * person, the granted scopes and the scopes of the person's current role.
   */
  registered: number | null;
  grants: [scopes: number, role: string[]][] | null;
  failures: number;
}

interface Delivery {
  id: string;
  event: NewEvent;
  target: Target;
  /**
   * Batch of the delivery. Null for a disabled endpoint, because its deliveries are only stored, for a later
   * redelivery.
   */
  batchId: string | null;
}

/**
 * Assigns stream positions to new committed events, and creates deliveries for subscribed endpoints, in one transaction
 * with a constant number of statements. All workspaces have an equal share of an iteration's deliveries, so that the
 * events of one do not wait for those of another. The events of a workspace get positions in id order. Deliveries for a
 * disabled endpoint are abandoned from the start, so that they can be redelivered. Positions become visible in order,
 * so a reader misses no event before the position that it has read.
 */
export async function assignPositions(
  deps: Pick<Deps, 'db' | 'clock' | 'config'>,
  memory: FanOutMemory,
): Promise<FanOutIteration> {
  const now = deps.clock.now();
  const known = (memory.open ?? []).filter(
    ({ owner, size, openedAt }) => now.getTime() - openedAt < BATCH_OPEN_MS && (owner !== null || size < BATCH_SIZE),
  );
  return inTransaction(deps.db, async (trx) => {
    const [lock] = await across(trx, 'engine').sql<{ held: boolean }>(
      'select pg_try_advisory_xact_lock(:lock) as held',
      {
        lock: FAN_OUT_LOCK,
      },
    );
    if (!lock!.held) return { busy: true, positioned: 0, full: false, deliveries: 0, drops: [] };
    const minute = minuteOf(now);
    const { positioned, full, events, targets, counts, open } = await numberAndRead(
      trx,
      minute,
      known.map(({ id }) => id),
    );
    memory.open = known.filter(({ id }) => open.includes(id));
    if (events.length === 0) return { busy: false, positioned, full, deliveries: 0, drops: [] };

    const throttle = new Throttle(deps.config, counts);
    const batches = new BatchPicker(memory.open, now);
    const deliveries = chooseDeliveries(events, targets, throttle, batches);
    if (deliveries.length > 0 || throttle.drops.length > 0) {
      batches.provide();
      await store(trx, { deliveries, throttle, batches, minute, now, maxAttempts: deps.config.WEBHOOK_MAX_ATTEMPTS });
      await writeIntents(trx, [
        ...batches.opened.map(({ id, owner }) =>
          start(webhookBatchWorkflow, { batchId: id }, owner ? { attributes: { OrganizationId: owner } } : {}),
        ),
        ...(await endpointBatchIntents(trx, [...batches.ofEndpoints], now)),
      ]);
    }
    // Is set only after the commit. If the commit fails, the new batches do not exist, and the next iteration opens
    // others.
    memory.open = batches.open;
    return {
      busy: false,
      positioned,
      full,
      deliveries: deliveries.length,
      drops: throttle.drops,
    };
  });
}

interface Found {
  positioned: number;
  /** True if a workspace used up its share of the iteration, so that it may have more events. */
  full: boolean;
  /** Events of workspaces that have an endpoint. */
  events: NewEvent[];
  targets: Target[];
  counts: Count[];
  /** Ids of known batches that are still open. They are locked, so that nobody closes them before the commit. */
  open: string[];
}

/**
 * Assigns positions to new events and reads the data of this iteration, in one statement. For a workspace without
 * endpoints only its events are updated.
 */
async function numberAndRead(trx: Trx, minute: Date, known: readonly string[]): Promise<Found> {
  const [found] = await engineSql<{ [K in keyof Found]: Found[K] | null }>(
    trx,
    'assign_positions',
    `with recursive busy as (
       (select organization_id from domain_events where position is null order by organization_id limit 1)
       union all
       select n.organization_id from busy b cross join lateral (
         select organization_id from domain_events where position is null and organization_id > b.organization_id
         order by organization_id limit 1) n
     ), shares as materialized (
       select organization_id, ceil(ceil(${MAX_EVENTS}::float8 / count(*) over ()) / greatest(1, (
         select count(*) from webhook_endpoints e where e.organization_id = busy.organization_id and e.verified_at is not null
       )))::int as share from busy
     ), next as materialized (
       select e.id from shares s cross join lateral (
         select id from domain_events where position is null and organization_id = s.organization_id order by id limit s.share) e
       order by e.id limit ${MAX_EVENTS}
     ), numbered as materialized (
       select id, nextval('domain_event_positions') as position from (select id from next order by id) ordered
     ), positioned as (
       update domain_events e set position = n.position from numbered n where e.id = n.id
       returning e.id, e.organization_id, e.type, e.position
     ), organizations as materialized (
       select distinct organization_id from positioned
     ), targets as materialized (
       select e.id, e.organization_id, e.application_id, coalesce(a.webhook_events, e.event_types) as event_types, e.enabled, e.consecutive_failures as failures,
         a.scopes as registered,
         (select json_agg(json_build_array(g.scopes, r.permissions)) from oauth_grants g
          join memberships m on m.organization_id = g.organization_id and m.user_id = g.user_id join roles r on r.id = m.role_id
          where g.application_id = a.id and g.organization_id = e.organization_id and g.revoked_at is null) as grants
       from organizations o
       join webhook_endpoints e on e.organization_id = o.organization_id and e.verified_at is not null
       left join oauth_applications a on a.id = e.application_id
     ), open as (
       select id from webhook_batches where id = any(:known::uuid[]) order by id for share
     ), woken as (
       select pg_notify('${POSITIONS_CHANNEL}', case when count(*) <= ${MAX_NAMED} then string_agg(organization_id::text, ',') else '' end)
       from organizations having count(*) > 0
     )
     select (select count(*)::int from positioned) as positioned,
       (select count(*) >= ${MAX_EVENTS} from positioned) or exists (
         select from (select organization_id, count(*) as taken from positioned group by 1) p join shares s using (organization_id)
         where p.taken >= s.share) as full,
       (select json_agg(json_build_object('id', p.id, 'organization_id', p.organization_id, 'type', p.type) order by p.position)
        from positioned p where p.organization_id in (select organization_id from targets)) as events,
       (select json_agg(t order by t.id) from targets t) as targets,
       (select json_agg(json_build_object('organization_id', c.organization_id, 'subject', c.subject, 'admitted', c.admitted))
        from (select distinct organization_id from targets) o join webhook_counts c on c.organization_id = o.organization_id and c.minute = :minute::timestamptz) as counts,
       (select json_agg(id) from open) as open,
       (select count(*) from woken) as woken`,
    { minute, known },
  );
  const { positioned, full, events, targets, counts, open } = found!;
  return {
    positioned: positioned!,
    full: full!,
    events: events ?? [],
    targets: targets ?? [],
    counts: counts ?? [],
    open: open ?? [],
  };
}

function chooseDeliveries(
  events: readonly NewEvent[],
  targets: readonly Target[],
  throttle: Throttle,
  batches: BatchPicker,
): Delivery[] {
  const byOrganization = new Map<string, Target[]>();
  for (const target of targets)
    byOrganization.set(target.organization_id, [...(byOrganization.get(target.organization_id) ?? []), target]);
  const upTo = new Map<string, number>();
  for (const { organization_id: id } of events)
    upTo.set(id, (upTo.get(id) ?? 0) + (byOrganization.get(id)?.length ?? 0));
  const deliveries: Delivery[] = [];
  for (const event of events) {
    const listening = (byOrganization.get(event.organization_id) ?? []).filter((target) =>
      isSubscribed({ eventTypes: target.event_types, grantedScopes: scopesGranted(target) }, event.type),
    );
    const admitted = new Set(
      throttle.admit(
        { id: event.id, organizationId: event.organization_id, type: event.type },
        listening.map(({ id }) => id),
      ),
    );
    const owner = batches.ownerFor(event.organization_id, upTo.get(event.organization_id)!);
    for (const target of listening) {
      if (admitted.has(target.id))
        deliveries.push({ id: newId(), event, target, batchId: target.enabled ? batches.pick(target, owner) : null });
    }
  }
  return deliveries;
}

/**
 * Returns the scopes that an application currently has in a workspace. A grant covers only the rights of the person's
 * current role. Null for an endpoint of the workspace itself.
 */
function scopesGranted({ registered, grants }: Target): number | null {
  if (registered === null) return null;
  const granted = (grants ?? []).reduce((mask, [scopes, role]) => mask | (scopes & grantableWith(role)), 0);
  return registered & granted;
}

/** Chooses the batch of a delivery: an open one, a new one, or the endpoint's own. */
class BatchPicker {
  readonly #now: Date;
  /** Batches created in this iteration. */
  readonly opened: OpenBatch[] = [];
  /** Endpoints whose own batch has new deliveries. */
  readonly ofEndpoints = new Set<string>();
  /**
   * Ids of batches from earlier iterations that got more deliveries in this one. Their running activities must be
   * notified.
   */
  readonly extended = new Set<string>();
  /**
   * Batches that can take more deliveries, one per owner. The shared batch may have a second one, which is filled after
   * the first.
   */
  open: OpenBatch[];

  constructor(open: readonly OpenBatch[], now: Date) {
    this.#now = now;
    this.open = open.map((batch) => ({ ...batch }));
  }

  /**
   * Returns the owner of the batch for a workspace's deliveries: the workspace, or null for the shared batch. `count`
   * is the maximum number of its deliveries in this iteration.
   */
  ownerFor(organizationId: string, count: number): string | null {
    const hasOwn = count >= OWN_BATCH_FROM || this.open.some(({ owner }) => owner === organizationId);
    return hasOwn ? organizationId : null;
  }

  pick(target: Target, owner: string | null): string {
    if (target.failures >= FAILING_FROM) {
      this.ofEndpoints.add(target.id);
      return target.id;
    }
    this.open = this.open.filter((each) => each.owner !== null || each.size < BATCH_SIZE);
    const batch = this.open.find((each) => each.owner === owner) ?? this.#start(owner);
    if (!this.opened.includes(batch)) this.extended.add(batch.id);
    batch.size += 1;
    return batch.id;
  }

  /** Opens the second shared batch early, because starting a workflow takes longer than delivering. */
  provide(): void {
    const [current, successor] = this.open.filter(({ owner }) => owner === null);
    if (!current || successor) return;
    if (current.size >= SUCCESSOR_FROM_SIZE || this.#now.getTime() - current.openedAt >= SUCCESSOR_AFTER_MS)
      this.#start(null);
  }

  #start(owner: string | null): OpenBatch {
    const batch = { id: newId(), owner, openedAt: this.#now.getTime(), size: 0 };
    this.opened.push(batch);
    this.open.push(batch);
    return batch;
  }
}

interface Stored {
  deliveries: readonly Delivery[];
  throttle: Throttle;
  batches: BatchPicker;
  minute: Date;
  now: Date;
  maxAttempts: number;
}

/**
 * Writes bodies, deliveries, counts, drops and open batches in one statement. Creates no delivery for an endpoint
 * deleted concurrently, because the iteration serves all organizations and must not fail. The other endpoints are
 * locked against deletion until the commit.
 */
async function store(trx: Trx, { deliveries, throttle, batches, minute, now, maxAttempts }: Stored): Promise<void> {
  const { admitted, drops } = throttle;
  await engineSql(
    trx,
    'store',
    `with standing as materialized (
       select id from webhook_endpoints where id = any(:endpoints::uuid[] || :dropEndpoints::uuid[]) order by id for key share
     ), bodies as (
       insert into webhook_payloads (event_id, organization_id, event_type, body, created_at)
       select id, organization_id, type,
         '{"id":"' || id::text || '","event_type":' || to_json(type)::text || ',"organization_id":"' || organization_id::text
           || '","created_at":"' || :createdAt::text || '","data":' || data::text || '}', :now::timestamptz
       from domain_events where id = any(:eventIds::uuid[])
     ), batches as (
       insert into webhook_batches (id, opened_at) select unnest(:batchIds::uuid[]), :now::timestamptz
     ), counted as (
       insert into webhook_counts (organization_id, minute, subject, admitted)
       select * from (select unnest(:countOrganizations::uuid[]) as organization_id, :minute::timestamptz, unnest(:subjects::text[]) as subject, unnest(:admitted::int[])) c
       order by organization_id, subject
       on conflict (organization_id, minute, subject) do update set admitted = webhook_counts.admitted + excluded.admitted
     ), dropped as (
       insert into webhook_throttle_drops (id, organization_id, endpoint_id, event_type, reason, minute, dropped, last_event_id, created_at, updated_at)
       select d.id, d.organization_id, d.endpoint_id, d.event_type, d.reason, :minute::timestamptz, d.dropped, d.last_event_id, :now::timestamptz, :now::timestamptz
       from unnest(:dropIds::uuid[], :dropOrganizations::uuid[], :dropEndpoints::uuid[], :dropTypes::text[], :dropReasons::text[], :dropCounts::int[], :dropEvents::uuid[])
         as d(id, organization_id, endpoint_id, event_type, reason, dropped, last_event_id)
       where d.endpoint_id in (select id from standing)
       on conflict (endpoint_id, event_type, reason, minute) do update
         set dropped = webhook_throttle_drops.dropped + excluded.dropped, last_event_id = excluded.last_event_id, updated_at = excluded.updated_at
     ), made as (
       insert into webhook_deliveries (id, organization_id, endpoint_id, application_id, event_id, event_type, batch_id, status, error_reason, max_attempts, next_attempt_at, created_at, updated_at)
       select d.*, case when d.batch_id is null then 'abandoned' else 'pending' end, case when d.batch_id is null then :off::jsonb end, :maxAttempts::int,
         case when d.batch_id is not null then :now::timestamptz end, :now::timestamptz, :now::timestamptz
       from unnest(:ids::uuid[], :organizations::uuid[], :endpoints::uuid[], :applications::uuid[], :events::uuid[], :types::text[], :batches::uuid[])
         as d(id, organization_id, endpoint_id, application_id, event_id, event_type, batch_id)
       where d.endpoint_id in (select id from standing)
     )
     select pg_notify('${BATCH_CHANNEL}', id) from unnest(:extended::text[]) as t(id)`,
    {
      now,
      minute,
      maxAttempts,
      off: OFF,
      createdAt: now.toISOString(),
      eventIds: [...new Set(deliveries.map(({ event }) => event.id))],
      batchIds: batches.opened.map(({ id }) => id),
      extended: [...batches.extended],
      countOrganizations: admitted.map(({ organization_id }) => organization_id),
      subjects: admitted.map(({ subject }) => subject),
      admitted: admitted.map((count) => count.admitted),
      dropIds: drops.map(() => newId()),
      dropOrganizations: drops.map(({ organizationId }) => organizationId),
      dropEndpoints: drops.map(({ endpointId }) => endpointId),
      dropTypes: drops.map(({ eventType }) => eventType),
      dropReasons: drops.map(({ reason }) => reason),
      dropCounts: drops.map(({ dropped }) => dropped),
      dropEvents: drops.map(({ lastEventId }) => lastEventId),
      ids: deliveries.map(({ id }) => id),
      organizations: deliveries.map(({ target }) => target.organization_id),
      endpoints: deliveries.map(({ target }) => target.id),
      applications: deliveries.map(({ target }) => target.application_id),
      events: deliveries.map(({ event }) => event.id),
      types: deliveries.map(({ event }) => event.type),
      batches: deliveries.map(({ batchId }) => batchId),
    },
  );
}
