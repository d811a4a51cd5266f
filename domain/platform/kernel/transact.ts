import { json, type Trx } from '../../../db/connection.ts';
import { notifyAfterCommit } from '../../../db/notify.ts';
import { isToRepeat, isRefusedRow, translateDbError } from '../../../db/errors.ts';
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

/** Events, audit rows, intents and end-of-transaction work collected by a transaction. */
interface Collected {
  events: EmittedEvent[];
  audits: AuditEntry[];
  intents: Intent[];
  endings: Map<string, () => Promise<void>>;
}

/** Items collected by each open transaction, to which all functions in the transaction add. */
const COLLECTED = new WeakMap<Tx, Collected>();

/**
 * Calls `work` in one transaction, or in the request's open one. If the function throws, all its writes are rolled
 * back.
 * @throws AppError for constraint violations that have a code (`db/errors.ts`)
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
    // Sends all statements together to save round trips. PostgreSQL runs them in order.
    await Promise.all([
      writeEvents(tx, events),
      writeAudits(ctx, tx, audits),
      writeIntents(trx, intents, { organizationId }),
    ]);
    return result;
  };
  try {
    return ctx.trx ? await run(ctx.trx) : await inTransaction(ctx.db, run);
  } catch (error) {
    throw ctx.trx ? translateWithin(error) : translateDbError(error);
  }
}

/**
 * Calls `work` as part of an open transaction. If it throws, its collected events, audit rows and intents are
 * discarded. Its rows are rolled back by {@link withSavepoint}.
 */
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

/** Returns errors of a repeatable transaction unchanged, because `inTransaction` recognizes them and retries. */
function translateWithin(error: unknown): unknown {
  return isToRepeat(error) ? error : translateDbError(error);
}

/** Maximum number of attempts of a {@link withSavepoint} part if PostgreSQL rejects one of its rows. */
const PART_TRIES = 2;

/**
 * Runs an optional part of an open transaction in a savepoint. If it throws, its rows, events, audit rows and intents
 * are discarded, and the transaction can continue. If PostgreSQL rejects a row, `part` is repeated once: when two
 * transactions create the same row, the second one then sees the row of the first.
 * @throws errors of `part`; AppError for constraint violations that have a code
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

/** @throws Error when the payload does not match the published schema of its type, which is a bug */
function assertFits({ type, data }: EmittedEvent): void {
  const checked = EVENT_PAYLOADS[type].safeParse(JSON.parse(json(data)));
  if (!checked.success) throw new Error(`${type}: the payload does not fit its schema: ${checked.error.message}`);
}

/** Start of the SQL statement that stores events. Conditions can follow. */
const WRITE_EVENTS = `insert into domain_events (id, organization_id, type, data, created_at, hops)
     select t.id, :org, t.type, t.data::jsonb, :now, nullif(:hops::smallint, 0)
     from unnest(:eventIds::uuid[], :eventTypes::text[], :eventData::text[]) as t(id, type, data)`;

/** Stores events and wakes the fan-out after the commit. */
async function writeEvents(tx: Tx, events: readonly EmittedEvent[]): Promise<void> {
  if (events.length === 0) return;
  notifyAfterCommit(tx.trx, EVENTS_CHANNEL);
  await tx.org.sql(WRITE_EVENTS, { ...eventBindings(events, tx.hops), now: tx.now });
}

function eventBindings(events: readonly EmittedEvent[], hops: number) {
  return {
    eventIds: events.map(() => newId()),
    eventTypes: events.map(({ type }) => type),
    eventData: events.map(({ data }) => json(data)),
    hops,
  };
}

/** SQL statement of {@link writeSingleStatement} and its event. */
interface StatementWithEvent<T extends StoredEventType> {
  /** CTEs, without `with`. `:org` and `:now` are bound. */
  ctes: `${string}:org${string}`;
  bindings: Bindings;
  /** Event that is emitted once if the CTE named by `when` returns a row. */
  event: { type: T; data: EventData<T>; when: string };
}

/**
 * Runs a write and its event as one SQL statement, which is atomic without a transaction. Only for frequent writes; use
 * {@link transact} for all others.
 * @returns true if the event was emitted
 */
export async function writeSingleStatement<T extends StoredEventType>(
  ctx: Ctx,
  now: Date,
  { ctes, bindings, event: { when, ...event } }: StatementWithEvent<T>,
): Promise<boolean> {
  if (ctx.strictEvents) assertFits(event);
  const rows = await singleStatement(ctx).sql(
    `with ${ctes} ${WRITE_EVENTS} where exists (select from ${when}) returning id`,
    { ...bindings, ...eventBindings([event], ctx.hops ?? 0), now },
  );
  if (rows.length > 0) notifyAfterCommit(ctx.trx ?? ctx.db, EVENTS_CHANNEL);
  return rows.length > 0;
}

/**
 * Returns a scope for a write that consists of one SQL statement and emits no event. Such a write is atomic without a
 * transaction.
 */
export function singleStatement(ctx: Ctx): OrgScope {
  return reader(ctx);
}

/** Returns a scope for reading the organization's rows. Inside a guarded write, reads in that transaction. */
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
