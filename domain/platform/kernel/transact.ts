import { json, type Trx } from '../../../db/connection.ts';
import { isDeadlock, isRefusedRow, translateDbError } from '../../../db/errors.ts';
import type { Bindings } from '../../../db/statement.ts';
import { OrgScope } from '../../../db/tenancy.ts';
import { inSavepoint, inTransaction } from '../../../db/transaction.ts';
import { newId } from '../../../lib/ids.ts';
import { writeIntents, type Intent } from '../../../temporal/dispatch.ts';
import { organizationOf, type Ctx } from './context.ts';
import { EVENT_PAYLOADS, type EventData } from './event-payloads.ts';
import { EVENTS_CHANNEL, type StoredEventType } from './events.ts';
import type { AuditEntry, Tx } from './tx.ts';

export type { AuditEntry, Tx } from './tx.ts';

/** What a transaction has collected so far. */
interface Collected {
  events: EmittedEvent[];
  audits: AuditEntry[];
  intents: Intent[];
  endings: Map<string, () => Promise<void>>;
}

/** Of transactions that others may join. */
const COLLECTED = new WeakMap<Tx, Collected>();

/**
 * Runs a verb's work in one transaction, or joins the one the guard has opened. When it throws, nothing is written.
 * @throws AppError for constraint violations that have a code (db/errors.ts)
 */
export async function transact<T>(ctx: Ctx, work: (tx: Tx) => Promise<T>): Promise<T> {
  if (ctx.joined) return join(ctx.joined, work);
  const organizationId = organizationOf(ctx);
  const run = async (trx: Trx): Promise<T> => {
    const collected: Collected = { events: [], audits: [], intents: [], endings: new Map() };
    const { events, audits, intents, endings } = collected;
    const tx: Tx = {
      trx,
      org: new OrgScope(trx, organizationId),
      families: ctx.families,
      actor: ctx.actor,
      now: ctx.clock.now(),
      hops: ctx.hops ?? 0,
      emit: (type, data) => void events.push({ type, data }),
      audit: (entry) => void audits.push(entry),
      intend: (intent) => void intents.push(intent),
      atEnd: (key, ending) => void endings.set(key, ending),
    };
    COLLECTED.set(tx, collected);
    const result = await work(tx);
    for (const key of [...endings.keys()].sort()) await endings.get(key)!();
    if (ctx.strictEvents) for (const event of events) assertFits(event);
    // Sent together.
    await Promise.all([writeEvents(tx, events), writeAudits(ctx, tx, audits), writeIntents(trx, intents)]);
    return result;
  };
  try {
    return ctx.trx ? await run(ctx.trx) : await inTransaction(ctx.db, run);
  } catch (error) {
    throw ctx.trx ? translateWithin(error) : translateDbError(error);
  }
}

/** Has a verb's work add to a transaction that is open. What it has collected is dropped when it throws; its rows are those of {@link apart}. */
async function join<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  const { events, audits, intents, endings } = COLLECTED.get(tx)!;
  const marks = [events.length, audits.length, intents.length] as const;
  const known = new Map(endings);
  try {
    return await work(tx);
  } catch (error) {
    [events.length, audits.length, intents.length] = marks;
    for (const key of endings.keys()) if (!known.has(key)) endings.delete(key);
    throw translateWithin(error);
  }
}

/** Whoever opened the transaction runs it again after a deadlock, and has to see it as such. */
function translateWithin(error: unknown): unknown {
  return isDeadlock(error) ? error : translateDbError(error);
}

/** How often a part that PostgreSQL refuses is done. */
const PART_TRIES = 2;

/**
 * Does a part of an open transaction that may fail without it: rows, events, audit rows and intents of a part that throws are taken back, and the
 * transaction goes on. Where PostgreSQL refuses a row the part is done once more: of two that make the same thing at once, the second then sees what the
 * first has made.
 * @throws what the work throws; AppError for constraint violations that have a code
 */
export async function withSavepoint<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await inSavepoint(tx.trx, () => join(tx, work));
    } catch (error) {
      if (tries === PART_TRIES || !isRefusedRow(error)) throw error;
    }
  }
}

interface EmittedEvent {
  type: StoredEventType;
  data: object;
}

/** @throws Error when the payload does not fit the published schema of its type: a fault of code */
function assertFits({ type, data }: EmittedEvent): void {
  const checked = EVENT_PAYLOADS[type].safeParse(JSON.parse(json(data)));
  if (!checked.success) throw new Error(`${type}: the payload does not fit its schema: ${checked.error.message}`);
}

/** CTE that stores events. What ends with {@link WAKE_FANOUT} has the fan-out look when they commit. */
const WRITTEN_EVENTS = `written as (
       insert into domain_events (id, organization_id, type, data, created_at, hops)
       select t.id, :org, t.type, t.data::jsonb, :now, nullif(:hops::smallint, 0)
       from unnest(:eventIds::uuid[], :eventTypes::text[], :eventData::text[]) as t(id, type, data)`;
const WAKE_FANOUT = `select pg_notify('${EVENTS_CHANNEL}', '') from written limit 1`;

/** Stores events and wakes the fan-out when they commit. */
async function writeEvents(tx: Tx, events: readonly EmittedEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.org.sql(`with ${WRITTEN_EVENTS} returning id) ${WAKE_FANOUT}`, {
    ...eventBindings(events, tx.hops),
    now: tx.now,
  });
}

function eventBindings(events: readonly EmittedEvent[], hops: number) {
  return {
    eventIds: events.map(() => newId()),
    eventTypes: events.map(({ type }) => type),
    eventData: events.map(({ data }) => json(data)),
    hops,
  };
}

/** What {@link writeAtOnce} runs. */
interface StatementWithEvent<T extends StoredEventType> {
  /** CTEs, without `with`; `:org` and `:now` are bound. */
  ctes: `${string}:org${string}`;
  bindings: Bindings;
  /** Emitted once, if the CTE `when` has a row. */
  event: { type: T; data: EventData<T>; when: string };
}

/**
 * A write that is one SQL statement, its event included, and so atomic without a transaction. For hot paths; everything
 * else uses {@link transact}.
 * @returns whether the event was emitted
 */
export async function writeSingleStatement<T extends StoredEventType>(
  ctx: Ctx,
  now: Date,
  { ctes, bindings, event: { when, ...event } }: StatementWithEvent<T>,
): Promise<boolean> {
  if (ctx.strictEvents) assertFits(event);
  const rows = await singleStatement(ctx).sql(
    `with ${ctes}, ${WRITTEN_EVENTS} where exists (select from ${when}) returning id) ${WAKE_FANOUT}`,
    { ...bindings, ...eventBindings([event], ctx.hops ?? 0), now },
  );
  return rows.length > 0;
}

/** A scope for a write that is one SQL statement without an event, and so atomic without a transaction. */
export function singleStatement(ctx: Ctx): OrgScope {
  return reader(ctx);
}

/** The organization's rows for a read; inside a guarded write it sees that transaction. */
export function reader(ctx: Ctx): OrgScope {
  return new OrgScope(ctx.trx ?? ctx.db, organizationOf(ctx));
}

async function writeAudits({ actor, requestId }: Ctx, tx: Tx, audits: readonly AuditEntry[]): Promise<void> {
  if (audits.length === 0) return;
  const jsonOrNull = (value: object | undefined): string | null => (value ? json(value) : null);
  await tx.org.sql(
    `insert into audit_logs (id, organization_id, user_id, actor_kind, api_key_id, oauth_grant_id, action, entity_type, entity_id,
       ip_address, user_agent, changes, metadata, request_id, created_at)
     select t.id, :org, :user, :kind, :key, :grant, t.action, t.entity_type, t.entity_id,
       :ip, :agent, t.changes::jsonb, t.metadata::jsonb, :request, :now
     from unnest(:ids::uuid[], :actions::text[], :types::text[], :entities::uuid[], :changes::text[], :metadata::text[])
       as t(id, action, entity_type, entity_id, changes, metadata)`,
    {
      user: actor.userId,
      kind: actor.kind,
      key: actor.apiKeyId ?? null,
      grant: actor.oauthGrantId ?? null,
      ip: actor.ipAddress,
      agent: actor.userAgent,
      request: requestId,
      now: tx.now,
      ids: audits.map(() => newId()),
      actions: audits.map(({ action }) => action),
      types: audits.map(({ entityType }) => entityType),
      entities: audits.map(({ entityId }) => entityId ?? null),
      changes: audits.map(({ changes }) => jsonOrNull(changes)),
      metadata: audits.map(({ metadata }) => jsonOrNull(metadata)),
    },
  );
}
