import { z } from 'zod';
import {
  cancelMeeting,
  changeMeeting,
  logMeeting,
  meetingChangeProblems,
  meetingProblems,
} from '../../../domain/crm/meetings/manual.ts';
import { listMeetings } from '../../../domain/crm/meetings/read.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import {
  expectedVersion,
  besideFaults,
  emailAddress,
  idParams,
  inputDay,
  inputTimestamp,
  pageQuery,
  paged,
  presentPage,
} from '../../http/schemas.ts';
import { presentBooking } from './present.ts';
import { booking } from './schemas.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';

const write = { area: 'meetings', scope: ['WRITE_CONTACTS'], permission: 'manage_contacts' } as const;
const text = z.string().trim().max(500);

const details = {
  event_name: text.min(1),
  scheduled_for: inputTimestamp.meta({ description: 'Start of the meeting; may be in the past' }),
  end_time: inputTimestamp.nullish(),
  join_url: z.union([z.literal(''), z.url({ protocol: /^https?$/ }).max(2_000)]).optional(),
  location: text.optional(),
  status: z
    .enum(['booked', 'completed', 'no_show'])
    .optional()
    .meta({ description: '`completed`: it took place. `no_show`: the invitee did not come' }),
};

/** Returns true if an end is given and is not after the start. */
const endsEarly = ({
  scheduled_for: begin,
  end_time: end,
}: {
  scheduled_for?: Date | undefined;
  end_time?: Date | null | undefined;
}) => begin !== undefined && end !== undefined && end !== null && end <= begin;

const createBody = z
  .strictObject({
    contact_id: z.uuid().optional().meta({ description: 'Contact of the meeting; or use `invitee_email`' }),
    invitee_email: emailAddress
      .optional()
      .meta({ description: 'Address of the invitee; matched to a contact if there is one' }),
    invitee_name: text.optional().meta({ description: "Default: the contact's name" }),
    ...details,
  })
  .superRefine((given, context) => {
    if ((given.contact_id === undefined) === (given.invitee_email === undefined))
      context.addIssue({
        code: 'custom',
        path: ['contact_id'],
        message: ruleMessage('crm.meeting_with_whom'),
      });
    if (endsEarly(given))
      context.addIssue({ code: 'custom', path: ['end_time'], message: ruleMessage('crm.meeting_ends_early') });
  }, besideFaults);

const updateBody = z
  .strictObject({
    ...details,
    event_name: details.event_name.optional(),
    scheduled_for: details.scheduled_for.optional(),
  })
  .refine((given) => !endsEarly(given), {
    path: ['end_time'],
    message: ruleMessage('crm.meeting_ends_early'),
    ...besideFaults,
  });

/** Routes of meetings: booked at connected scheduling providers, or logged by hand. */
export const meetingRoutes: readonly AnyRoute[] = [
  route({
    area: 'meetings',
    scope: ['READ_CONTACTS'],
    permission: 'view_contacts',
    operationId: 'meetings.list',
    method: 'get',
    path: '/meetings',
    summary: 'List upcoming or past meetings',
    description:
      '`upcoming` lists the next one first, without cancelled ones. `past` and the full list have the latest first. Days are days of `timezone`. The cursor is opaque; `total` is exact.',
    query: z.object({
      timeframe: z.enum(['', 'upcoming', 'past']).default('').meta({ description: 'upcoming or past; empty for all' }),
      contact_id: z.uuid().optional().meta({ description: 'Only meetings with this contact' }),
      from: inputDay.optional().meta({ description: 'First day, as YYYY-MM-DD' }),
      to: inputDay.optional().meta({ description: 'Last day, as YYYY-MM-DD' }),
      timezone: z.string().max(100).default('UTC').meta({ description: 'IANA name, such as Europe/Budapest' }),
      ...pageQuery(100, 50),
    }),
    success: { status: 200, body: paged(booking) },
    handler: async (ctx, { query }) =>
      presentPage(await listMeetings(ctx, { ...query, contactId: query.contact_id }), (row) =>
        presentBooking(row, ctx),
      ),
  }),
  route({
    ...write,
    operationId: 'meetings.create',
    method: 'post',
    path: '/meetings',
    summary: 'Log a meeting by hand',
    description:
      "For a meeting that no connected calendar knows. It has the same effects as a booking there: `meeting.booked` is emitted, it appears in the contact's log, and campaigns that stop on a reply end for its contact. Its `source` is `manual`.",
    body: createBody,
    furtherProblems: (ctx, body) => meetingProblems(ctx, body),
    success: { status: 201, body: booking },
    handler: async (ctx, { body }) => presentBooking(await logMeeting(ctx, body), ctx),
  }),
  route({
    ...write,
    operationId: 'meetings.update',
    method: 'patch',
    path: '/meetings/:id',
    summary: 'Change a meeting that was logged by hand',
    description:
      'A new `scheduled_for` moves it: `meeting.rescheduled` is emitted. Answers 409 for a meeting booked at a provider, which is moved there, and for a cancelled one, which must be logged again. With `expected_updated_at`, a concurrent change is not overwritten: the answer is 409.',
    params: idParams,
    body: updateBody.safeExtend(expectedVersion),
    furtherProblems: (ctx, body, { id }) => meetingChangeProblems(ctx, id!, body),
    success: { status: 200, body: booking },
    errors: ['conflict'],
    handler: async (ctx, { params, body: { expected_updated_at: expectedUpdatedAt, ...edit } }) =>
      presentBooking(await changeMeeting(ctx, params.id, edit, { expectedUpdatedAt }), ctx),
  }),
  route({
    ...write,
    operationId: 'meetings.cancel',
    method: 'post',
    path: '/meetings/:id/cancel',
    summary: 'Cancel a meeting that was logged by hand',
    description:
      '`meeting.canceled` is emitted. Campaigns that ended because of the meeting do not resume. Answers 409 for a meeting booked at a provider, which is cancelled there. A meeting that is already cancelled is returned unchanged.',
    params: idParams,
    body: z.strictObject({ reason: text.default('') }),
    stops: true,
    success: { status: 200, body: booking },
    errors: ['conflict'],
    handler: async (ctx, { params, body }) => presentBooking(await cancelMeeting(ctx, params.id, body.reason), ctx),
  }),
];
