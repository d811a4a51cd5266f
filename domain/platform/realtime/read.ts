import { DAY_MS } from '../../../lib/clock.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Ctx } from '../kernel/context.ts';
import type { EventType } from '../kernel/events.ts';
import { reader } from '../kernel/transact.ts';

/** A reader's position in an organization's stream. All events up to `position` have been read. */
export interface StreamCursor {
  /** Stream position. It is 0 before the first event. */
  position: number;
  /** Id of the event at the position. Null before the first. */
  eventId: string | null;
  /** All events emitted before this time have been read, except those of transactions that were still open. */
  at: Date;
}

/** An event with its stream position. */
export interface StreamEvent {
  id: string;
  position: number;
  type: EventType;
  created_at: Date;
  /** JSON text of the payload. Null for a type that was not requested. */
  data: string | null;
  /** Id of the mailbox in the payload. Null if there is none or the type was not requested. */
  mailbox_id: string | null;
  /** True if the payload is about a mailbox, even an unknown or deleted one. */
  of_mailbox: boolean;
}

export interface StreamPage {
  events: StreamEvent[];
  /** True when there may be more events. */
  full: boolean;
}

/**
 * Time (ms) by which cursors expire before their events are deleted. It covers transactions that are still open and
 * commit late.
 */
const MARGIN_MS = 3600_000;

/** Returns the earliest time from which reading can resume. Earlier events may be deleted (EVENT_RETENTION_DAYS). */
export function streamBegin({ clock, config }: Pick<Ctx, 'clock' | 'config'>): Date {
  return new Date(clock.now().getTime() - config.EVENT_RETENTION_DAYS * DAY_MS + MARGIN_MS);
}

/** Maximum number of events per read. */
const STREAM_PAGE = 500;

/**
 * Returns the next events after a position, in order. Events become visible in order of their positions, because the
 * fan-out assigns these under one lock. Therefore a reader that continues after the last event skips none. Only events
 * of `types` are returned with their payload; other events only advance the cursor.
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

/** Returns the current end of an organization's stream. */
export async function streamHead(ctx: Ctx): Promise<StreamCursor> {
  const [last] = await reader(ctx).sql<{ id: string; position: number }>(
    `select id, position from domain_events where organization_id = :org and position is not null order by position desc limit 1`,
  );
  const at = ctx.clock.now();
  return last ? { position: last.position, eventId: last.id, at } : { position: 0, eventId: null, at };
}

/**
 * Returns the cursor of an event. Undefined when the event is deleted or will be deleted soon, has no position yet, or
 * belongs to another organization.
 */
export async function findCursor(ctx: Ctx, eventId: string): Promise<StreamCursor | undefined> {
  if (!isUuid(eventId)) return undefined;
  const [row] = await reader(ctx).sql<{ position: number; created_at: Date }>(
    `select position, created_at from domain_events where organization_id = :org and id = :id and position is not null`,
    { id: eventId },
  );
  if (!row || row.created_at < streamBegin(ctx)) return undefined;
  return { position: row.position, eventId: eventId.toLowerCase(), at: row.created_at };
}
