import { z } from 'zod';
import { listMeetings } from '../../domain/meetings/read.ts';
import { route, type AnyRoute } from '../http/route.ts';
import { pageQuery, paged, presentPage } from '../http/schemas.ts';
import { presentBooking } from '../integrations/present.ts';
import { booking } from '../integrations/schemas.ts';

const day = z.iso.date();

/** Meetings: booked at connected scheduling providers, and logged by hand. */
export const meetingRoutes: readonly AnyRoute[] = [
  route({
    area: 'meetings',
    scope: ['READ_CONTACTS'],
    permission: 'view_contacts',
    operationId: 'meetings.list',
    method: 'get',
    path: '/meetings',
    summary: 'Meetings, those to come or those that are over',
    description:
      '`upcoming` has the next one first and leaves out what was called off; `past`, and all of them, have the latest first. Days are those of `timezone`. Pages go by an offset under an ' +
      'opaque cursor, with the exact total.',
    query: z.object({
      timeframe: z.enum(['', 'upcoming', 'past']).default(''),
      contact_id: z.uuid().optional(),
      from: day.optional().meta({ description: 'First day, as YYYY-MM-DD' }),
      to: day.optional().meta({ description: 'Last day, as YYYY-MM-DD' }),
      timezone: z.string().max(100).default('UTC').meta({ description: 'IANA name, such as Europe/Budapest' }),
      ...pageQuery(100, 50),
    }),
    success: { status: 200, body: paged(booking) },
    handler: async (ctx, { query }) =>
      presentPage(await listMeetings(ctx, { ...query, contactId: query.contact_id }), (row) =>
        presentBooking(row, ctx),
      ),
  }),
];
