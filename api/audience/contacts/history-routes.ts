import { z } from 'zod';
import { readContactData } from '../../../domain/audience/contacts/data.ts';
import { listContactEmails, type ContactEmail } from '../../../domain/audience/contacts/emails.ts';
import { readContactTimeline, TIMELINE_TYPES, type TimelineEntry } from '../../../domain/audience/contacts/timeline.ts';
import { EXPORT_FIELDS, exportContacts, exportFieldProblems } from '../../../domain/audience/contacts/export.ts';
import { utcDay } from '../../../lib/clock.ts';
import type { Language } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';
import { contactSearch, FILTER_ERRORS } from './schemas.ts';
import { route } from '../../http/route.ts';
import {
  idParams,
  inputTimestamp,
  iso,
  paged,
  pageQuery,
  presentPage,
  resource,
  timestamp,
  uuid,
} from '../../http/schemas.ts';

const read = { area: 'contacts', scope: ['READ_CONTACTS'], permission: 'view_contacts' } as const;

const names = {
  email_account_id: uuid.nullable(),
  email_account_email: z.string().nullable(),
  email_account_name: z.string().nullable(),
  campaign_id: uuid.nullable(),
  campaign_name: z.string().nullable(),
  step_id: uuid.nullable(),
  step_name: z.string().nullable(),
};

const contactEmail = resource('ContactSentEmail', {
  task_id: uuid,
  status: z.enum(['sent', 'uncertain', 'bounced', 'failed']),
  message_id: z.string(),
  subject: z.string(),
  sent_at: timestamp.meta({ description: 'For an email that was not sent, the planned time' }),
  ...names,
  opened_at: timestamp.nullable(),
  clicked_at: timestamp.nullable(),
  replied_at: timestamp.nullable(),
  bounced_at: timestamp.nullable(),
});
const contactEmailPage = resource('ContactSentEmailPage', {
  data: z.array(contactEmail),
  pagination: z.strictObject({
    has_more: z.boolean(),
    before_at: timestamp.nullable().meta({ description: '`before_at` of the next page' }),
    before_id: uuid.nullable().meta({ description: '`before_id` of the next page' }),
  }),
});

const timelineEvent = resource('ContactTimelineEvent', {
  type: z.enum(TIMELINE_TYPES),
  at: timestamp,
  ...names,
  task_id: uuid.nullable(),
  subject: z.string().nullable(),
  reason: z.string().nullable(),
  source: z.string().nullable().meta({ description: 'Origin of a contact, suppression, meeting or bounce' }),
  intent: z.string().nullable().meta({ description: 'Intent of a reply' }),
  content: z.string().nullable().meta({ description: 'Text of a note' }),
  user_id: uuid.nullable().meta({ description: 'Author of a note, or member who entered a meeting' }),
  machine: z.boolean().nullable().meta({ description: 'True for an open or click by a program' }),
  machine_reason: z.string().nullable(),
});

const exportBody = z.strictObject({
  format: z.enum(['csv', 'json']),
  scope: z.enum(['all', 'filtered', 'selected']),
  contact_ids: z.array(z.string()).max(1000).optional().meta({ description: 'With scope `selected`' }),
  filters: contactSearch.optional().meta({ description: 'With scope `filtered`' }),
  fields: z
    .array(z.string().max(200))
    .max(600)
    .optional()
    .meta({ description: `Columns: ${EXPORT_FIELDS.join(', ')}, or \`custom:<key>\`. Default: all` }),
  filename: z
    .string()
    .regex(/^[\w .()-]{1,100}$/)
    .optional()
    .meta({ description: 'Without extension. Default: contacts- and the day' }),
});

/** Routes for a contact's history, for a file with all data about a contact, and for the export of contacts. */
export const contactHistoryRoutes = [
  route({
    ...read,
    operationId: 'contacts.export',
    method: 'post',
    path: '/contacts/export',
    readOnly: true,
    summary: 'Export contacts as CSV or JSON',
    description:
      'Newest first, at most 50,000 rows; X-Total-Rows has the number. CSV cells that a spreadsheet could read as formulas begin with an apostrophe. The export is recorded in the audit log.',
    body: exportBody,
    furtherProblems: async (_ctx, { fields }) => exportFieldProblems(fields ?? []),
    success: {
      status: 200,
      body: 'stream',
      contentType: 'text/csv',
      headers: { 'X-Total-Rows': { description: 'Number of rows, without the heading', schema: { type: 'integer' } } },
    },
    errors: FILTER_ERRORS,
    handler: async (ctx, { body: { filename, ...request } }) => {
      const { rows, text } = await exportContacts(ctx, request);
      const name = filename ?? `contacts-${utcDay(ctx.clock.now())}`;
      return {
        stream: text,
        contentType: request.format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8',
        headers: {
          'X-Total-Rows': String(rows),
          'Content-Disposition': `attachment; filename="${name}.${request.format}"`,
        },
      };
    },
  }),
  route({
    ...read,
    operationId: 'contacts.listEmails',
    method: 'get',
    path: '/contacts/:id/emails',
    summary: 'List the emails to a contact, newest first',
    description:
      'Emails that were sent or attempted. The next page has `before_at` and `before_id` of `pagination`, both together.',
    params: idParams,
    query: z.object({
      limit: pageQuery(200).limit,
      before_at: inputTimestamp.optional().meta({ description: '`pagination.before_at` of the previous page' }),
      before_id: z.uuid().optional().meta({ description: '`pagination.before_id` of the previous page' }),
    }),
    success: { status: 200, body: contactEmailPage },
    handler: async (ctx, { params, query: { limit, before_at: at, before_id: id } }) => {
      const { rows, hasMore } = await listContactEmails(ctx, params.id, { limit, before: { at, id } });
      const last = hasMore ? rows.at(-1) : undefined;
      return {
        data: rows.map(presentEmail),
        pagination: { has_more: hasMore, before_at: iso(last?.created_at ?? null), before_id: last?.id ?? null },
      };
    },
  }),
  route({
    ...read,
    operationId: 'contacts.getTimeline',
    method: 'get',
    path: '/contacts/:id/timeline',
    summary: 'Show what happened with a contact, latest first',
    description:
      'Emails and responses to them, suppressions, notes, meetings, and campaigns that the contact was added to. Opens and clicks of programs have `machine`.',
    params: idParams,
    query: z.object(pageQuery(200)),
    success: { status: 200, body: paged(timelineEvent) },
    handler: async (ctx, { params, query }) =>
      presentPage(await readContactTimeline(ctx, params.id, query), (entry) => presentEntry(entry, ctx.language)),
  }),
  route({
    area: 'contacts',
    scope: ['WRITE_CONTACTS', 'READ_UNIBOX', 'READ_CRM', 'READ_AUDIT_LOGS'],
    permission: { allOf: ['manage_contacts', 'view_campaigns', 'view_analytics'] },
    everyMailbox: true,
    operationId: 'contacts.downloadData',
    method: 'get',
    path: '/contacts/:id/data',
    summary: 'Download everything that the workspace holds about a contact',
    description:
      'One JSON file for a person who asks for their data: a list of rows for each part, such as `emails` with their text, `replies`, `product_events`, `deals`, `suppressions` and `audit`. Attached files are listed by name, without their content. Deleting the contact deletes or empties the same rows. The audit log records the download.',
    params: idParams,
    success: {
      status: 200,
      body: 'stream',
      contentType: 'application/json',
      schema: { type: 'object', additionalProperties: true },
    },
    handler: async (ctx, { params: { id } }) => ({
      stream: await readContactData(ctx, id),
      contentType: 'application/json; charset=utf-8',
      headers: { 'Content-Disposition': `attachment; filename="contact-${id}.json"` },
    }),
  }),
];

function presentEmail(row: ContactEmail): z.input<typeof contactEmail> {
  return {
    task_id: row.id,
    status: row.state as 'sent',
    message_id: row.message_id ?? '',
    subject: row.subject,
    sent_at: iso(row.sent_at ?? row.created_at),
    email_account_id: row.mailbox_id,
    email_account_email: row.mailbox_email,
    email_account_name: row.mailbox_name,
    campaign_id: row.campaign_id,
    campaign_name: row.campaign_name,
    step_id: row.step_id,
    step_name: row.step_name,
    opened_at: iso(row.opened_at),
    clicked_at: iso(row.clicked_at),
    replied_at: iso(row.replied_at),
    bounced_at: iso(row.bounced_at),
  };
}

function presentEntry(
  { id: _id, position: _position, at, reason_message: said, ...entry }: TimelineEntry,
  language: Language | undefined,
): z.input<typeof timelineEvent> {
  return { ...entry, ...(said ? { reason: render(said, language) } : {}), at: iso(at) };
}
