import { DAY_MS } from '../../lib/clock.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Ctx } from '../kernel/context.ts';
import type { EventType } from '../kernel/events.ts';
import { reader } from '../kernel/transact.ts';

/** Where somebody stands in an organization's stream: everything up to `position` has been dealt with. */
export interface StreamCursor {
  /** 0 before the first event. */
  position: number;
  /** The event at the position; null before the first. */
  eventId: string | null;
  /** Nothing emitted before this moment is still to come, but for what was under way then. */
  at: Date;
}

/** An event the fan-out has placed. */
export interface StreamEvent {
  id: string;
  position: number;
  type: EventType;
  created_at: Date;
  /** JSON text of the payload; null for a type that was not asked for. */
  data: string | null;
  /** The mailbox the payload names, if it names one and was asked for. */
  mailbox_id: string | null;
}

export interface StreamPage {
  events: StreamEvent[];
  /** True when there may be more. */
  full: boolean;
}

/** How long before events are deleted (ms) a place at them counts as gone: a transaction that was under way may come after it. */
const MARGIN_MS = 3600_000;

/** A place before this moment cannot be gone on from: what follows it may have been deleted (EVENT_RETENTION_DAYS). */
export function streamBegin({ clock, config }: Pick<Ctx, 'clock' | 'config'>): Date {
  return new Date(clock.now().getTime() - config.EVENT_RETENTION_DAYS * DAY_MS + MARGIN_MS);
}

/** Events read at once. */
export const STREAM_PAGE = 500;

/**
 * The next placed events after a position, in order. Events appear in the order of their positions (the fan-out gives
 * them under one lock), so a reader who goes on from the last one misses none. Payloads come for `types` only; the
 * others are there to be counted as passed.
 */
export async function readStream(ctx: Ctx, after: number, types: readonly string[]): Promise<StreamPage> {
  const events = await reader(ctx).sql<StreamEvent>(
    `select id, position, type, created_at,
       case when type = any(cast(:types as text[])) then data::text end as data,
       case when type = any(cast(:types as text[])) then data ->> 'email_account_id' end as mailbox_id
     from domain_events where organization_id = :org and position > :after and position is not null
     order by position limit ${STREAM_PAGE}`,
    { after, types },
  );
  return { events, full: events.length === STREAM_PAGE };
}

/** The present end of an organization's stream. */
export async function streamHead(ctx: Ctx): Promise<StreamCursor> {
  const [last] = await reader(ctx).sql<{ id: string; position: number }>(
    `select id, position from domain_events where organization_id = :org and position is not null order by position desc limit 1`,
  );
  const at = ctx.clock.now();
  return last ? { position: last.position, eventId: last.id, at } : { position: 0, eventId: null, at };
}

/** Where an event stands; undefined when it is not on record any more, or not for long, not placed yet, or another organization's. */
export async function findCursor(ctx: Ctx, eventId: string): Promise<StreamCursor | undefined> {
  if (!isUuid(eventId)) return undefined;
  const [row] = await reader(ctx).sql<{ position: number; created_at: Date }>(
    `select position, created_at from domain_events where organization_id = :org and id = :id and position is not null`,
    { id: eventId },
  );
  if (!row || row.created_at < streamBegin(ctx)) return undefined;
  return { position: row.position, eventId: eventId.toLowerCase(), at: row.created_at };
}
