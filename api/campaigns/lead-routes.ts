import { reader } from '../../domain/platform/kernel/transact.ts';
import { getLeadHold, holdProblems, pauseLead, removeLead, resumeLead } from '../../domain/sending/leads/hold.ts';
import { listLeads } from '../../domain/sending/leads/list.ts';
import { readLeadDetail } from '../../domain/sending/leads/detail.ts';
import { addCampaignLeads, audienceProblems } from '../../domain/audience/leads/add.ts';
import { awaitingApproval, presentAwaitingApproval } from '../approvals/awaiting-approval.ts';
import { Awaiting, route } from '../http/route.ts';
import { idParams, presentPage } from '../http/schemas.ts';
import { presentHold, presentLead, presentLeadDetail } from './present.ts';
import {
  heldLead,
  leadListQuery,
  leadPage,
  leadParams,
  leadPauseBody,
  leadDetail,
  leadsAdded,
  leadsBody,
} from './schemas.ts';

const area = 'campaigns';
const read = { area, scope: ['READ_CAMPAIGNS'], permission: 'view_campaigns' } as const;
const write = { area, scope: ['WRITE_CAMPAIGNS'], permission: 'manage_campaigns' } as const;

/** Routes of a campaign's leads and their holds. */
export const campaignLeadRoutes = [
  route({
    ...read,
    operationId: 'campaigns.listLeads',
    method: 'get',
    path: '/campaigns/:id/leads',
    summary: 'List the leads of a campaign with their progress, newest first',
    description: 'Includes the status of each lead, counts of emails and responses, the current step and a hold.',
    params: idParams,
    query: leadListQuery,
    success: { status: 200, body: leadPage },
    handler: async (ctx, { params, query: { status, step, q, ...page } }) =>
      presentPage(await listLeads(ctx, params.id, { status, stepId: step, q }, page), (row) =>
        presentLead(row, { ...ctx, campaignId: params.id }),
      ),
  }),
  route({
    ...write,
    operationId: 'campaigns.addLeads',
    method: 'post',
    path: '/campaigns/:id/leads',
    summary: 'Add contacts, or all contacts of segments, to a campaign as leads',
    description:
      'A completed campaign starts again if its launch checks pass; a refusal is written to its activity log. A contact that was removed and added again does not get steps again that it already got in this campaign, unless `restart` is set. Leads that a key or application adds beyond its policy to a campaign that sends, or starts again because of them, are held until a person approves them: the answer is 202 with the approval.',
    params: idParams,
    body: leadsBody,
    furtherProblems: (ctx, { contact_ids: contactIds = [], segment_ids: segmentIds = [] }) =>
      audienceProblems(reader(ctx), { contactIds, segmentIds }),
    success: { status: 200, body: leadsAdded },
    awaiting: awaitingApproval,
    async handler(ctx, { params, body }) {
      const { held, ...added } = await addCampaignLeads(ctx, params.id, {
        contactIds: body.contact_ids,
        segmentIds: body.segment_ids,
        restart: body.restart,
      });
      return held ? new Awaiting(presentAwaitingApproval(ctx, held)) : added;
    },
  }),
  route({
    ...read,
    operationId: 'campaigns.getLead',
    method: 'get',
    path: '/campaigns/:id/leads/:contactId',
    summary: "Get one contact's progress in a campaign",
    description:
      'Includes the current wait of the contact, each step it has reached with its email or wait, and its lines of the activity log. `thread_id` of an email names its conversation (`GET /v1/unibox/thread`).',
    params: leadParams,
    success: { status: 200, body: leadDetail },
    errors: ['not_found'],
    handler: async (ctx, { params }) => presentLeadDetail(await readLeadDetail(ctx, params.id, params.contactId), ctx),
  }),
  route({
    ...write,
    operationId: 'campaigns.removeLead',
    method: 'delete',
    path: '/campaigns/:id/leads/:contactId',
    summary: 'Remove a contact from a campaign',
    description: 'The contact stays in the workspace. The campaign sends it nothing more.',
    params: leadParams,
    stops: true,
    success: { status: 204 },
    handler: (ctx, { params }) => removeLead(ctx, params.id, params.contactId),
  }),
  route({
    ...read,
    operationId: 'campaigns.getLeadHold',
    method: 'get',
    path: '/campaigns/:id/leads/:contactId/hold',
    summary: 'Get the hold of a lead',
    params: leadParams,
    success: { status: 200, body: heldLead },
    handler: async (ctx, { params }) => presentHold(await getLeadHold(ctx, params.id, params.contactId), ctx),
  }),
  route({
    ...write,
    operationId: 'campaigns.pauseLead',
    method: 'post',
    path: '/campaigns/:id/leads/:contactId/pause',
    idempotency: 'none',
    summary: 'Hold a lead until a date, or until it is resumed',
    params: leadParams,
    body: leadPauseBody,
    furtherProblems: async (ctx, { until }) => holdProblems(until, ctx.clock.now()),
    stops: true,
    success: { status: 200, body: heldLead },
    handler: async (ctx, { params, body }) => presentHold(await pauseLead(ctx, params.id, params.contactId, body), ctx),
  }),
  route({
    ...write,
    operationId: 'campaigns.resumeLead',
    method: 'post',
    path: '/campaigns/:id/leads/:contactId/resume',
    idempotency: 'none',
    summary: 'Release the hold of a lead',
    params: leadParams,
    success: { status: 200, body: heldLead },
    handler: async (ctx, { params }) => presentHold(await resumeLead(ctx, params.id, params.contactId), ctx),
  }),
];
