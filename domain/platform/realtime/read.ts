import { DAY_MS } from '../../../lib/clock.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Ctx } from '../kernel/context.ts';
import type { EventType } from '../kernel/events.ts';
import { reader } from '../kernel/transact.ts';

/** A reader's position in an organization's stream: everything up to `position` has been read. */
export interface StreamCursor {
  /** 0 before the first event. */
  position: number;
  /** The event at the position; null before the first. */
  eventId: string | null;
  /** All events emitted before this moment have been read, except those of transactions that were open then. */
  at: Date;
}

/** An event with its stream position. */
export interface StreamEvent {
  id: string;
  position: number;
  type: EventType;
  created_at: Date;
  /** JSON text of the payload; null for a type that was not requested. */
  data: string | null;
  /** The mailbox in the payload, if there is one and the type was requested. */
  mailbox_id: string | null;
  /** Whether the payload is about a mailbox, also one that is not known or was removed. */
  of_mailbox: boolean;
}

export interface StreamPage {
  events: StreamEvent[];
  /** True when there may be more. */
  full: boolean;
}

/** How long before events are deleted (ms) their cursors count as expired: a transaction that was open may commit after them. */
const MARGIN_MS = 3600_000;

/** Reading cannot resume before this moment: events after it may have been deleted (EVENT_RETENTION_DAYS). */
export function streamBegin({ clock, config }: Pick<Ctx, 'clock' | 'config'>): Date {
  return new Date(clock.now().getTime() - config.EVENT_RETENTION_DAYS * DAY_MS + MARGIN_MS);
}

/** Events read at once. */
const STREAM_PAGE = 500;

/**
 * The next events after a position, in order. Events become visible in the order of their positions (the fan-out assigns
 * them under one lock), so a reader that continues after the last one misses none. Payloads are read for `types` only; the
 * others only advance the cursor.
 */
export async function readStream(ctx: Ctx, after: number, types: readonly string[]): Promise<StreamPage> {
  const events = await reader(ctx).sql<StreamEvent>(
    `select id, position, type, created_at,
       case when type = any(cast(:types as text[])) then data::text end as data,
       case when type = any(cast(:types as text[])) then data ->> 'email_account_id' end as mailbox_id,
       jsonb_exists(data, 'email_account_id') as of_mailbox
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

/** The cursor of an event; undefined when it is deleted or soon to be, has no position yet, or belongs to another organization. */
export async function findCursor(ctx: Ctx, eventId: string): Promise<StreamCursor | undefined> {
  if (!isUuid(eventId)) return undefined;
  const [row] = await reader(ctx).sql<{ position: number; created_at: Date }>(
    `select position, created_at from domain_events where organization_id = :org and id = :id and position is not null`,
    { id: eventId },
  );
  if (!row || row.created_at < streamBegin(ctx)) return undefined;
  return { position: row.position, eventId: eventId.toLowerCase(), at: row.created_at };
}
