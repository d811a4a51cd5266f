import { z } from 'zod';
import {
  addSuppressions,
  listSuppressions,
  removeSuppression,
  type SuppressionRow,
} from '../../../domain/audience/suppressions/entries.ts';
import { SUPPRESSION_FAULTS } from '../../../domain/directory/suppression-value.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { route } from '../../http/route.ts';
import { idParams, iso, paged, pageQuery, presentPage, resource, timestamp, uuid } from '../../http/schemas.ts';
import { presentReason, shownReason } from '../../http/stored-message.ts';

const MAX_ENTRIES = 5000;
const area = 'suppressions';

const reason = z.string().max(500);
const suppression = resource('Suppression', {
  id: uuid,
  organization_id: uuid,
  email: z.string().meta({ description: 'Bare host if kind is domain' }),
  kind: z.enum(['email', 'domain']),
  ...shownReason,
  source: z.enum(['bounce', 'complaint', 'unsubscribe', 'manual', 'import']),
  campaign_id: uuid.nullable(),
  metadata: z.record(z.string(), z.unknown()),
  expires_at: timestamp.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

function present(row: SuppressionRow, { language }: Pick<Ctx, 'language'>): z.input<typeof suppression> {
  return {
    id: row.id,
    organization_id: row.organization_id,
    email: row.email,
    kind: row.kind,
    ...presentReason(row.reason, language),
    source: row.source,
    campaign_id: row.campaign_id,
    metadata: row.metadata,
    expires_at: iso(row.expires_at),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** Routes of suppressions: addresses and hosts that must not get mail. */
export const suppressionRoutes = [
  route({
    operationId: 'suppressions.list',
    method: 'get',
    path: '/suppressions',
    area,
    summary: 'Suppressed addresses and domains, newest first',
    description: 'Includes source and reason.',
    scope: ['READ_CONTACTS'],
    permission: 'view_contacts',
    query: z.object({
      ...pageQuery(200),
      q: z.string().max(254).optional().meta({ description: 'Part of the address or domain' }),
    }),
    success: { status: 200, body: paged(suppression) },
    handler: async (ctx, { query: { limit, cursor, q } }) =>
      presentPage(await listSuppressions(ctx, { limit, cursor }, q), (row) => present(row, ctx)),
  }),
  route({
    operationId: 'suppressions.add',
    method: 'post',
    path: '/suppressions',
    area,
    summary: 'Suppress addresses and domains',
    description:
      'A value containing `@` is one or several addresses. A bare host, with or without a leading `@`, covers every address at it. Punctuation around an address and invisible characters are removed. `problems` lists refused values with their reasons. Repeating the request is safe.',
    scope: ['WRITE_CONTACTS'],
    permission: 'manage_contacts',
    body: z.strictObject({
      entries: z
        .array(z.strictObject({ value: z.string().max(500), reason: reason.optional() }))
        .min(1)
        .max(MAX_ENTRIES),
      reason: reason.optional().meta({ description: 'Reason of entries without their own' }),
    }),
    bodyLimit: 8 * 1024 * 1024,
    stops: true,
    success: {
      status: 200,
      body: z.strictObject({
        added: z.int(),
        skipped: z.array(z.string()).meta({ description: 'Number of values that are neither address nor domain' }),
        problems: z
          .array(z.strictObject({ index: z.int(), value: z.string(), reason: z.enum(SUPPRESSION_FAULTS) }))
          .meta({ description: 'Skipped values with position and reason' }),
      }),
    },
    handler: async (ctx, { body }) => addSuppressions(ctx, body.entries, body.reason ?? ''),
  }),
  route({
    operationId: 'suppressions.remove',
    method: 'delete',
    path: '/suppressions/:id',
    area,
    summary: 'Remove a suppression',
    description: 'The address may be emailed again.',
    scope: ['WRITE_CONTACTS'],
    permission: 'manage_contacts',
    params: idParams,
    success: { status: 204 },
    handler: async (ctx, { params }) => {
      await removeSuppression(ctx, params.id);
    },
  }),
];
