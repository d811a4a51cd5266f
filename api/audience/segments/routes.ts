import { z } from 'zod';
import {
  createSegment,
  deleteSegment,
  getSegment,
  listSegmentFields,
  listSegments,
  updateSegment,
  type SegmentRow,
} from '../../../domain/audience/segments/segments.ts';
import { conditionProblems } from '../../../domain/directory/segments/compile.ts';
import { render } from '../../../messages/render.ts';
import { route } from '../../http/route.ts';
import {
  expectedVersion,
  idParams,
  iso,
  paged,
  pageQuery,
  presentPage,
  resource,
  timestamp,
  uuid,
} from '../../http/schemas.ts';
import { conditions, match } from './schemas.ts';

const area = 'segments';
const read = { area, scope: ['READ_CONTACTS'], permission: 'view_contacts' } as const;
const write = { area, scope: ['WRITE_CONTACTS'], permission: 'manage_contacts' } as const;

const name = z.string().trim().min(1).max(100);

const segment = resource('Segment', {
  id: uuid,
  name: z.string(),
  match,
  conditions: z.array(z.strictObject({ field: z.string(), operator: z.string(), values: z.array(z.string()) })),
  created_at: timestamp,
  updated_at: timestamp,
});

function present(row: SegmentRow): z.input<typeof segment> {
  return {
    id: row.id,
    name: row.name,
    match: row.match,
    conditions: row.conditions,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** Routes of segments (saved audiences). */
export const segmentRoutes = [
  route({
    ...read,
    operationId: 'segments.listFields',
    method: 'get',
    path: '/segments/fields',
    summary: 'List the fields and operators of conditions',
    description: 'Each field is listed with its operators.',
    success: {
      status: 200,
      body: z.strictObject({
        fields: z.array(
          resource('SegmentField', {
            name: z.string(),
            label: z.string().meta({ description: 'Text in the language of the request; the key of a custom field' }),
            type: z.enum(['text', 'choice', 'label', 'campaign', 'flag', 'time']),
            operators: z.array(z.string()),
            values: z.array(z.string()).optional(),
          }),
        ),
      }),
    },
    handler: async (ctx) => ({
      fields: (await listSegmentFields(ctx)).map(({ label, values, operators, ...field }) => ({
        ...field,
        label: render(label, ctx.language),
        operators: [...operators],
        ...(values ? { values: [...values] } : {}),
      })),
    }),
  }),
  route({
    ...read,
    operationId: 'segments.list',
    method: 'get',
    path: '/segments',
    summary: 'Saved segments, newest first',
    query: z.object(pageQuery(100)),
    success: { status: 200, body: paged(segment) },
    handler: async (ctx, { query }) => presentPage(await listSegments(ctx, query), present),
  }),
  route({
    ...write,
    operationId: 'segments.create',
    method: 'post',
    path: '/segments',
    summary: 'Save a segment',
    description:
      'Several values of one condition are alternatives. A segment without conditions contains every contact.',
    body: z.strictObject({ name, match: match.default('all'), conditions: conditions.default([]) }),
    furtherProblems: async (_ctx, { conditions: given = [] }) => conditionProblems(given, 'body.conditions'),
    success: { status: 201, body: segment },
    handler: async (ctx, { body }) => present(await createSegment(ctx, body)),
  }),
  route({
    ...read,
    operationId: 'segments.get',
    method: 'get',
    path: '/segments/:id',
    summary: 'One segment',
    description: 'Includes its conditions.',
    params: idParams,
    success: { status: 200, body: segment },
    handler: async (ctx, { params }) => present(await getSegment(ctx, params.id)),
  }),
  route({
    ...write,
    operationId: 'segments.update',
    method: 'patch',
    path: '/segments/:id',
    summary: 'Change a segment',
    description:
      'Omitted fields keep their values. With `expected_updated_at`, a concurrent change is not overwritten: the answer is 409.',
    params: idParams,
    body: z.strictObject({
      name: name.optional(),
      match: match.optional(),
      conditions: conditions.optional(),
      ...expectedVersion,
    }),
    furtherProblems: async (_ctx, { conditions: given = [] }) => conditionProblems(given, 'body.conditions'),
    success: { status: 200, body: segment },
    errors: ['conflict'],
    handler: async (ctx, { params, body: { expected_updated_at: expectedUpdatedAt, ...edit } }) =>
      present(await updateSegment(ctx, params.id, edit, { expectedUpdatedAt })),
  }),
  route({
    ...write,
    operationId: 'segments.delete',
    method: 'delete',
    path: '/segments/:id',
    summary: 'Delete a segment; its contacts are kept',
    params: idParams,
    success: { status: 204 },
    handler: async (ctx, { params }) => {
      await deleteSegment(ctx, params.id);
    },
  }),
];
