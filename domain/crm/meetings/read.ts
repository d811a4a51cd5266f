import { decodeCursor, encodeCursor, type Page } from '../../../lib/cursor.ts';
import { notFound, refuseProblems } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { isIanaZone } from '../../platform/scheduling/zone.ts';
import type { Meeting } from './record.ts';

/** A meeting with the name of its contact. */
export type MeetingView = Meeting & { contact_name: string };

/** Time filter. `upcoming` excludes past meetings, and `past` selects only them. An empty text selects all. */
type Timeframe = '' | 'upcoming' | 'past';

interface MeetingQuery {
  timeframe: Timeframe;
  /** Selects only meetings of this contact. */
  contactId?: string | undefined;
  /** First day of the meetings, as YYYY-MM-DD in `timezone`. `to` is the last day. */
  from?: string | undefined;
  to?: string | undefined;
  /** IANA time zone of the days. */
  timezone: string;
  limit: number;
  cursor?: string | undefined;
}

const VIEW = `m.*, coalesce(trim(c.first_name || ' ' || c.last_name), '') as contact_name
  from meetings m left join contacts c on c.id = m.contact_id`;
const LIST = 'meetings.list';
/** Maximum offset of a page. Nobody pages that far, because filters find other meetings faster. */
const MAX_OFFSET = 100_000;

/**
 * Lists meetings. Upcoming meetings are listed with the next one first, others with the latest one first. Cancelled
 * meetings are not upcoming. The cursor contains an offset. Each page contains the exact total.
 * @throws AppError bad_request for an unknown zone, or a cursor of another list
 */
export async function listMeetings(ctx: Ctx, query: MeetingQuery): Promise<Page<MeetingView>> {
  const { timeframe, contactId, from, to, timezone, limit } = query;
  if (!isIanaZone(timezone)) refuseProblems([{ path: 'query.timezone', message: message('directory.not_time_zone') }]);
  const filters = { timeframe, contactId, from, to, timezone };
  const position = decodeCursor<[number]>(LIST, filters, query.cursor, [isOffset]);
  const offset = position?.[0] ?? 0;
  const where = `(cast(:contact as uuid) is null or m.contact_id = :contact)
    and (cast(:from as date) is null or m.scheduled_for >= cast(cast(:from as date) as timestamp) at time zone :zone)
    and (cast(:to as date) is null or m.scheduled_for < cast(cast(:to as date) + 1 as timestamp) at time zone :zone)
    ${CONDITIONS[timeframe]}`;
  const bindings = {
    contact: contactId ?? null,
    from: from ?? null,
    to: to ?? null,
    zone: timezone,
    now: ctx.clock.now(),
  };
  const org = reader(ctx);
  const order = timeframe === 'upcoming' ? 'm.scheduled_for, m.id' : 'm.scheduled_for desc nulls last, m.id desc';
  const [rows, [counted]] = await Promise.all([
    org.sql<MeetingView>(
      `select ${VIEW} where m.organization_id = :org and ${where} order by ${order} limit :limit offset :offset`,
      {
        ...bindings,
        limit: limit + 1,
        offset,
      },
    ),
    org.sql<{ total: number }>(
      `select count(*)::int as total from meetings m where m.organization_id = :org and ${where}`,
      bindings,
    ),
  ]);
  const hasMore = rows.length > limit && offset + limit <= MAX_OFFSET;
  return {
    rows: rows.slice(0, limit),
    nextCursor: hasMore ? encodeCursor(LIST, filters, [offset + limit]) : null,
    total: counted!.total,
  };
}

/** SQL condition for each timeframe. A meeting without an end is past as soon as it has begun. */
const CONDITIONS: Record<Timeframe, string> = {
  '': '',
  upcoming: `and coalesce(m.end_time, m.scheduled_for) >= :now and m.status in ('booked', 'rescheduled')`,
  past: `and (coalesce(m.end_time, m.scheduled_for) < :now or m.status in ('completed', 'no_show', 'canceled'))`,
};

/** Returns one meeting. @throws AppError not_found */
export async function getMeeting(ctx: Ctx, id: string): Promise<MeetingView> {
  const [row] = await reader(ctx).sql<MeetingView>(`select ${VIEW} where m.organization_id = :org and m.id = :id`, {
    id,
  });
  if (!row) throw notFound('meeting');
  return row;
}

/** Lists the most recently booked meetings (GET /integrations/bookings). */
export async function listBookings(ctx: Ctx, limit: number): Promise<MeetingView[]> {
  return reader(ctx).sql<MeetingView>(
    `select ${VIEW} where m.organization_id = :org order by m.created_at desc, m.id desc limit :limit`,
    { limit },
  );
}

function isOffset(part: unknown): part is number {
  return Number.isSafeInteger(part) && Number(part) >= 0;
}
