import { z } from 'zod';
import { listDeals, searchDeals, summarizeDeals } from '../../domain/crm/deal-search.ts';
import {
  createDeal,
  DEAL_STATUSES,
  dealEditProblems,
  deleteDeal,
  listDealsOfContact,
  newDealProblems,
  readDeal,
  updateDeal,
} from '../../domain/crm/deals.ts';
import { listActivities } from '../../domain/crm/activities.ts';
import { reader } from '../../domain/platform/kernel/transact.ts';
import { route } from '../http/route.ts';
import { expectedVersion, idParams, paged, pageQuery, presentPage } from '../http/schemas.ts';
import { presentActivity, presentDeal, presentFoundDeal } from './present.ts';
import { activity, deal, dealCreate, dealFilters, dealsSummary, dealUpdate, foundDeal } from './schemas.ts';

const area = 'crm';
const read = { area, scope: ['READ_CRM'], permission: 'view_contacts' } as const;
const write = { area, scope: ['WRITE_CRM'], permission: 'manage_contacts' } as const;

/** Routes of deals and of the activities of a contact. */
export const dealRoutes = [
  route({
    ...read,
    operationId: 'crm.listDeals',
    method: 'get',
    path: '/crm/deals',
    summary: 'Deals, newest first',
    description: 'Use POST /crm/deals/search for other conditions and orders.',
    query: z.object({
      pipeline_id: z.uuid().optional().meta({ description: 'Only deals of this pipeline' }),
      stage_id: z.uuid().optional().meta({ description: 'Only deals in this stage' }),
      status: z.enum(DEAL_STATUSES).optional().meta({ description: 'Only deals in this state' }),
      ...pageQuery(100),
    }),
    success: { status: 200, body: paged(foundDeal) },
    handler: async (ctx, { query: { limit, cursor, ...narrow } }) =>
      presentPage(await listDeals(ctx, { limit, cursor }, narrow), presentFoundDeal),
  }),
  route({
    ...write,
    operationId: 'crm.createDeal',
    method: 'post',
    path: '/crm/deals',
    summary: 'Create a deal',
    description:
      'It is created open. A value with more decimals than its currency is refused, never rounded. The deal remains if its contact, campaign or mailbox is deleted.',
    body: dealCreate,
    furtherProblems: (ctx, body) => newDealProblems(reader(ctx), body),
    success: { status: 201, body: deal },
    handler: async (ctx, { body }) => presentDeal(await createDeal(ctx, body)),
  }),
  route({
    ...read,
    operationId: 'crm.searchDeals',
    method: 'post',
    path: '/crm/deals/search',
    readOnly: true,
    isQuestion: true,
    summary: 'Deals that match filters',
    description: '`total` is their exact number. A cursor is valid only with the same filters and order.',
    query: z.object(pageQuery(200)),
    body: dealFilters,
    success: { status: 200, body: paged(foundDeal) },
    handler: async (ctx, { query: { limit, cursor }, body }) =>
      presentPage(await searchDeals(ctx, { limit, cursor }, body), presentFoundDeal),
  }),
  route({
    ...read,
    operationId: 'crm.summarizeDeals',
    method: 'post',
    path: '/crm/deals/summary',
    readOnly: true,
    isQuestion: true,
    summary: 'Count matching deals and sum their values',
    description:
      'By state and by stage. If they have several currencies, `mixed_currency` is true and the sums add amounts of different currencies.',
    body: dealFilters,
    success: { status: 200, body: dealsSummary },
    handler: (ctx, { body: { sort_by: _sort, reverse: _reverse, ...filters } }) => summarizeDeals(ctx, filters),
  }),
  route({
    ...read,
    operationId: 'crm.getDeal',
    method: 'get',
    path: '/crm/deals/:id',
    summary: 'One deal',
    description: 'Related records are given by id only; lists and searches include their names.',
    params: idParams,
    success: { status: 200, body: deal },
    handler: async (ctx, { params }) => presentDeal(await readDeal(ctx, params.id)),
  }),
  route({
    ...write,
    operationId: 'crm.updateDeal',
    method: 'patch',
    path: '/crm/deals/:id',
    summary: 'Change a deal',
    description:
      "Omitted fields keep their values; null clears one. `won` and `lost` set a timestamp; reopening clears it. The stage must belong to the deal's pipeline. With `expected_updated_at`, a concurrent change is not overwritten: the answer is 409.",
    params: idParams,
    body: dealUpdate.extend(expectedVersion),
    furtherProblems: (ctx, { expected_updated_at: _seen, ...body }, params) => dealEditProblems(ctx, params.id!, body),
    success: { status: 200, body: deal },
    errors: ['conflict'],
    handler: async (ctx, { params, body: { expected_updated_at: expectedUpdatedAt, ...body } }) =>
      presentDeal(await updateDeal(ctx, params.id, body, { expectedUpdatedAt })),
  }),
  route({
    ...write,
    operationId: 'crm.deleteDeal',
    method: 'delete',
    path: '/crm/deals/:id',
    summary: 'Delete a deal',
    description: 'Its tasks are kept without it.',
    params: idParams,
    success: { status: 204 },
    handler: (ctx, { params }) => deleteDeal(ctx, params.id),
  }),
  route({
    ...read,
    operationId: 'contacts.listDeals',
    method: 'get',
    path: '/contacts/:id/deals',
    summary: 'List the deals of a contact',
    description: 'Newest first, at most 1000.',
    params: idParams,
    success: { status: 200, body: z.array(deal) },
    handler: async (ctx, { params }) => (await listDealsOfContact(ctx, params.id)).map(presentDeal),
  }),
  route({
    area,
    scope: ['READ_CONTACTS'],
    permission: 'view_contacts',
    operationId: 'contacts.listActivities',
    method: 'get',
    path: '/contacts/:id/activities',
    summary: 'List the CRM activities of a contact',
    description: 'Creations, moves and closings of deals and tasks, newest first. They are deleted with the contact.',
    params: idParams,
    query: z.object(pageQuery(100)),
    success: { status: 200, body: paged(activity) },
    handler: async (ctx, { params, query }) =>
      presentPage(await listActivities(ctx, params.id, query), presentActivity),
  }),
];
