import { z } from 'zod';
import { listAllowances, revokeAllowance } from '../../../domain/approvals/lead-allowances/list.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { idParams, iso, paged, pageQuery, presentPage } from '../../http/schemas.ts';
import { leadAllowance } from './schemas.ts';

const people = {
  area: 'lead-allowances',
  scope: 'session',
  permission: { anyOf: ['manage_settings', 'send_campaigns'] },
} as const;

/** Routes of allowances: the number of leads that a credential may add to one campaign each day without an approval. */
export const leadAllowanceRoutes: readonly AnyRoute[] = [
  route({
    ...people,
    operationId: 'leadAllowances.list',
    method: 'get',
    path: '/lead-allowances',
    summary: 'Leads that credentials may add to campaigns each day, newest first',
    description:
      'A person grants an allowance with the decision on held leads (`leads_per_day`). It applies in addition to the policy of the credential: leads beyond the policy count against it. It ends with its key, grant or campaign, and is not listed from then on.',
    query: z.object(pageQuery(200, 100)),
    success: { status: 200, body: paged(leadAllowance) },
    handler: async (ctx, { query }) =>
      presentPage(await listAllowances(ctx, query), (row) => ({
        ...row,
        created_at: iso(row.created_at),
        updated_at: iso(row.updated_at),
      })),
  }),
  route({
    ...people,
    operationId: 'leadAllowances.revoke',
    method: 'delete',
    path: '/lead-allowances/:id',
    summary: 'Revoke an allowance; leads beyond the policy then wait for a person again',
    params: idParams,
    success: { status: 204 },
    handler: async (ctx, { params }) => revokeAllowance(ctx, params.id),
  }),
];
