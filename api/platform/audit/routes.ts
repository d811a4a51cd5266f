import { z } from 'zod';
import { beginOf, endOf, listAuditLogs, type AuditEntryRow } from '../../../domain/platform/audit/read.ts';
import { route } from '../../http/route.ts';
import { iso, paged, pageDescriptions, presentPage, requestId, resource, timestamp, uuid } from '../../http/schemas.ts';

const moment = z.union([z.iso.date(), z.iso.datetime({ offset: true })], 'Is neither a day nor a moment of RFC 3339');

const query = z.object({
  limit: z.coerce.number().int().min(10).max(200).default(50).meta({ description: pageDescriptions.limit }),
  cursor: z
    .union([z.literal(''), z.uuid()])
    .optional()
    .meta({ description: pageDescriptions.cursor }),
  actor_id: z.uuid().optional().meta({ description: 'Only actions of this person' }),
  entity_id: z.uuid().optional().meta({ description: 'Id of the affected record' }),
  entity_type: z
    .string()
    .min(1)
    .max(60)
    .optional()
    .meta({ description: 'campaign, contact, email_account, api_key, webhook …' }),
  action: z.string().min(1).max(60).optional().meta({ description: 'create, update, delete, send, revoke …' }),
  request_id: requestId.optional().meta({ description: 'Only changes made by the request with this X-Request-Id' }),
  date: z.iso.date().optional().meta({ description: 'One UTC day, YYYY-MM-DD' }),
  start_date: moment.optional().meta({ description: 'First day (UTC) or time, in place of date' }),
  end_date: moment.optional().meta({ description: 'Last day (UTC, included) or time, in place of date' }),
});

const entry = resource('AuditEntry', {
  id: uuid,
  org_id: uuid,
  user_id: uuid.nullable(),
  actor: z
    .strictObject({ id: uuid, first_name: z.string(), last_name: z.string(), email: z.string() })
    .nullable()
    .meta({ description: 'Null for actions without a person, and if the person was deleted' }),
  action_date: timestamp,
  action: z.string(),
  entity_type: z.string(),
  entity_id: uuid.optional(),
  ip_address: z.string(),
  user_agent: z.string(),
  request_id: z.string().optional().meta({ description: 'X-Request-Id of the request that made the change' }),
  changes: z
    .record(z.string(), z.strictObject({ from: z.unknown(), to: z.unknown() }))
    .optional()
    .meta({ description: 'Values before and after, by field; for secrets only the fact that they changed' }),
  metadata: z.record(z.string(), z.unknown()).optional(),
  timestamp,
});

/** Routes of the audit log. */
export const auditRoutes = [
  route({
    operationId: 'auditLogs.list',
    method: 'get',
    path: '/audit-logs',
    area: 'audit',
    summary: 'List audit records, newest first',
    description: 'Changes by people, keys and applications. Use either `date` or `start_date` and `end_date`.',
    scope: ['READ_AUDIT_LOGS'],
    permission: 'view_analytics',
    everyMailbox: true,
    query,
    success: { status: 200, body: paged(entry) },
    handler: async (ctx, { query: asked }) => {
      const day = asked.start_date || asked.end_date ? undefined : asked.date;
      const [from, to] = [asked.start_date ?? day, asked.end_date ?? day];
      const page = await listAuditLogs(
        ctx,
        {
          actorId: asked.actor_id,
          entityId: asked.entity_id,
          entityType: asked.entity_type,
          action: asked.action,
          requestId: asked.request_id,
          since: from === undefined ? undefined : beginOf(from),
          before: to === undefined ? undefined : endOf(to),
        },
        { limit: asked.limit, cursor: asked.cursor },
      );
      return presentPage(page, present);
    },
  }),
];

function present(row: AuditEntryRow): z.input<typeof entry> {
  const isFull = (value: object | null) => value !== null && Object.keys(value).length > 0;
  return {
    id: row.id,
    org_id: row.organization_id,
    user_id: row.user_id,
    actor: row.actor,
    action_date: iso(row.created_at),
    action: row.action,
    entity_type: row.entity_type,
    ...(row.entity_id ? { entity_id: row.entity_id } : {}),
    ip_address: row.ip_address,
    user_agent: row.user_agent,
    ...(row.request_id ? { request_id: row.request_id } : {}),
    ...(isFull(row.changes) ? { changes: row.changes! } : {}),
    ...(isFull(row.metadata) ? { metadata: row.metadata! } : {}),
    timestamp: iso(row.created_at),
  };
}
