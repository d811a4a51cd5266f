import { defined } from '../../lib/defined.ts';
import { getAdvanced, replaceAdvanced } from '../../domain/campaigns/advanced.ts';
import { checkNewCampaign, createCampaign } from '../../domain/campaigns/create.ts';
import { duplicateCampaign } from '../../domain/campaigns/duplicate.ts';
import { estimateCampaign, estimateProblems, estimateRest } from '../../domain/campaigns/estimate.ts';
import { createCampaignSchema, updateCampaignSchema } from '../../domain/campaigns/input.ts';
import { previewTemplate } from '../../domain/campaigns/preview.ts';
import { listLogs } from '../../domain/campaigns/activity.ts';
import { campaignsOverview, getCampaign, listCampaigns } from '../../domain/campaigns/read.ts';
import { deleteCampaign } from '../../domain/campaigns/remove.ts';
import { LAUNCH_REFUSALS } from '../../domain/sending/campaign/launch-checks.ts';
import { startCampaign, stopCampaign } from '../../domain/campaigns/start.ts';
import { checkTrackingDomain, markTrackingDomain } from '../../domain/campaigns/tracking-domain.ts';
import { findCampaign } from '../../domain/sending/campaign/find.ts';
import { reader } from '../../domain/platform/kernel/transact.ts';
import { settingProblems } from '../../domain/sending/campaign/outreach-settings.ts';
import { campaignEditProblems, editCampaign } from '../../domain/campaigns/update.ts';
import { z } from 'zod';
import { awaitingApproval, presentAwaitingApproval } from '../approvals/awaiting-approval.ts';
import { Awaiting, route } from '../http/route.ts';
import { expectedVersion, expectedVersionIfAny, idParams, iso, pageQuery, presentPage } from '../http/schemas.ts';
import { campaignCheckRoutes } from './check-routes.ts';
import { campaignLeadRoutes } from './lead-routes.ts';
import { presentCampaign, presentLog, presentPreview, presentWarnings } from './present.ts';
import {
  advanced,
  advancedBody,
  campaign,
  campaignListQuery,
  campaignPage,
  duplicateBody,
  estimate,
  estimateBody,
  logPage,
  overview,
  preview,
  previewBody,
  startBody,
  started,
  stopped,
  trackingDomain,
  writtenCampaign,
} from './schemas.ts';

import { campaignAttachmentRoutes } from './attachment-routes.ts';
import { campaignStepRoutes } from './step-routes.ts';
import { testRunRoutes } from './test-runs/routes.ts';

const area = 'campaigns';
const read = { area, scope: ['READ_CAMPAIGNS'], permission: 'view_campaigns' } as const;
const write = { area, scope: ['WRITE_CAMPAIGNS'], permission: 'manage_campaigns' } as const;
const send = { area, scope: ['SEND_CAMPAIGNS'], permission: 'send_campaigns' } as const;

/** Routes of campaigns: settings, status changes, activity. */
export const campaignRoutes = [
  route({
    ...read,
    operationId: 'campaigns.list',
    method: 'get',
    path: '/campaigns',
    summary: 'Campaigns, newest first',
    description: 'Filter by name, folder, status or kind.',
    query: campaignListQuery,
    success: { status: 200, body: campaignPage },
    handler: async (ctx, { query: { limit, cursor, ...filters } }) =>
      presentPage(await listCampaigns(ctx, filters, { limit, cursor }), (row) => presentCampaign(row, ctx)),
  }),
  route({
    ...read,
    operationId: 'campaigns.getOverview',
    method: 'get',
    path: '/campaigns-overview',
    summary: 'Count campaigns by status and folder',
    description: 'Returns the number of campaigns per status and per folder.',
    success: { status: 200, body: overview },
    handler: (ctx) => campaignsOverview(ctx),
  }),
  route({
    ...read,
    operationId: 'campaigns.estimate',
    method: 'post',
    path: '/campaigns-estimate',
    readOnly: true,
    isQuestion: true,
    summary: 'Estimate the duration of sending to an audience, or of the rest of a campaign',
    description:
      'With `campaign_id`: estimates every email that its leads may still get, from its own mailboxes and with its schedule, unless the request overrides them. Waits between steps are not included.',
    body: estimateBody,
    furtherProblems: (ctx, body) => estimateProblems(reader(ctx), body),
    success: { status: 200, body: estimate },
    handler: async (ctx, { body }) => {
      const { campaign_id: id, segment_ids: segmentIds = [], email_tag_ids: emailTagIds, ...plan } = body;
      const { estimated_finish_at: finish, ...rest } =
        id === undefined
          ? await estimateCampaign(ctx, { segmentIds, emailTagIds, plan })
          : await estimateRest(ctx, id, plan);
      return { ...rest, estimated_finish_at: iso(finish) };
    },
  }),
  route({
    ...write,
    operationId: 'campaigns.create',
    method: 'post',
    path: '/campaigns',
    summary: 'Create a campaign',
    description:
      'Only `name` is required. Steps are connected in order. A step may name the target of a branch by its index in `steps`, from 0.',
    bodyLimit: 8 * 1024 * 1024,
    body: createCampaignSchema,
    furtherProblems: async (ctx, body) =>
      (await checkNewCampaign(reader(ctx), ctx.actor, body, ctx.clock.now())).problems,
    success: { status: 201, body: writtenCampaign },
    errors: ['invalid_setting'],
    handler: async (ctx, { body }) => {
      const { campaign: row, warnings } = await createCampaign(ctx, body);
      return { ...presentCampaign(row, ctx), ...presentWarnings(warnings, ctx.language) };
    },
  }),
  route({
    ...read,
    operationId: 'campaigns.get',
    method: 'get',
    path: '/campaigns/:id',
    summary: 'One campaign',
    params: idParams,
    success: { status: 200, body: campaign },
    handler: async (ctx, { params }) => presentCampaign(await getCampaign(ctx, params.id), ctx),
  }),
  route({
    ...write,
    operationId: 'campaigns.update',
    method: 'patch',
    path: '/campaigns/:id',
    summary: 'Change a campaign',
    description:
      'Omitted fields keep their values. With `expected_updated_at`, a concurrent change is not overwritten: the answer is 409. A new schedule of an active campaign moves its next send at once. `status` accepts `active` and `paused` and needs the right to send. If the policy of a key or application does not allow `active`, the answer is 202: the other changes are made, and the start waits for a person.',
    params: idParams,
    body: updateCampaignSchema.extend(expectedVersion),
    furtherProblems: async (ctx, { expected_updated_at: _, ...body }, { id }) =>
      campaignEditProblems(reader(ctx), body, ctx.clock.now(), await findCampaign(reader(ctx), id!)),
    success: { status: 200, body: campaign },
    errors: [...LAUNCH_REFUSALS, 'conflict'],
    awaiting: awaitingApproval,
    handler: async (ctx, { params, body: { expected_updated_at: expectedUpdatedAt, ...body } }) => {
      const { campaign: row, held, refused } = await editCampaign(ctx, params.id, body, { expectedUpdatedAt });
      if (refused) return refused;
      return held ? new Awaiting(presentAwaitingApproval(ctx, held)) : presentCampaign(row, ctx);
    },
  }),
  route({
    ...write,
    operationId: 'campaigns.delete',
    method: 'delete',
    path: '/campaigns/:id',
    summary: 'Delete a campaign, even a running one',
    params: idParams,
    success: { status: 204 },
    handler: (ctx, { params }) => deleteCampaign(ctx, params.id),
  }),
  route({
    ...write,
    operationId: 'campaigns.duplicate',
    method: 'post',
    path: '/campaigns/:id/duplicate',
    summary: 'Copy a campaign into a new draft',
    description: 'Copies steps, attachments, settings and senders, without leads and sent emails.',
    params: idParams,
    body: duplicateBody,
    success: { status: 201, body: campaign },
    errors: ['storage_limit_reached'],
    handler: async (ctx, { params, body }) => presentCampaign(await duplicateCampaign(ctx, params.id, body.name), ctx),
  }),
  route({
    ...read,
    operationId: 'campaigns.getAdvanced',
    method: 'get',
    path: '/campaigns/:id/advanced',
    summary: "Get a campaign's overrides of the outreach settings",
    params: idParams,
    success: { status: 200, body: advanced },
    handler: async (ctx, { params }) => {
      const settings = await getAdvanced(ctx, params.id);
      return { ...settings, updated_at: iso(settings.updated_at) };
    },
  }),
  route({
    ...write,
    permission: 'manage_settings',
    operationId: 'campaigns.updateAdvanced',
    method: 'patch',
    path: '/campaigns/:id/advanced',
    summary: "Replace a campaign's overrides of the outreach settings",
    description:
      'Omitted settings are no longer overridden. With `expected_updated_at`, a concurrent change is not overwritten: the answer is 409.',
    params: idParams,
    body: advancedBody.extend(expectedVersionIfAny),
    furtherProblems: async (_ctx, { settings }) => settingProblems(settings, 'body.settings'),
    success: { status: 200, body: advanced },
    errors: ['conflict', 'invalid_setting'],
    handler: async (ctx, { params, body: { settings: given, expected_updated_at: expectedUpdatedAt } }) => {
      const settings = await replaceAdvanced(ctx, params.id, given, { expectedUpdatedAt });
      return { ...settings, updated_at: iso(settings.updated_at) };
    },
  }),
  route({
    ...send,
    operationId: 'campaigns.start',
    method: 'post',
    path: '/campaigns/:id/start',
    summary: 'Start or resume a campaign; sends real email',
    description:
      'Checks the campaign as `validate` does, then starts its leads. A paused campaign resumes where it stopped. A key or application starts it within its policy. Otherwise the answer is 202 with a link where a person sees everything that would be sent and decides before `approval_expires_at`. An approved campaign starts at once.',
    params: idParams,
    body: startBody,
    success: { status: 200, body: started },
    awaiting: awaitingApproval,
    errors: LAUNCH_REFUSALS,
    handler: async (ctx, { params, body }) => {
      const { held, refused } = await startCampaign(ctx, params.id, {
        acknowledgeListRisk: body.acknowledge_list_risk,
      });
      if (refused) return refused;
      return held ? new Awaiting(presentAwaitingApproval(ctx, held)) : { status: 'started' as const };
    },
  }),
  route({
    ...send,
    operationId: 'campaigns.stop',
    method: 'post',
    path: '/campaigns/:id/stop',
    summary: 'Pause an active campaign',
    description:
      'Reserved slots are released. Emails already being sent by a worker are still sent. Start the campaign again to resume.',
    params: idParams,
    stops: true,
    success: { status: 200, body: stopped },
    handler: async (ctx, { params }) => {
      await stopCampaign(ctx, params.id);
      return { status: 'stopped' as const };
    },
  }),
  route({
    ...read,
    operationId: 'campaigns.listLogs',
    method: 'get',
    path: '/campaigns/:id/logs',
    summary: "List a campaign's activity log, newest first",
    description:
      'Contains starts, pauses, holds of mailboxes and edits with their reasons. `campaign_start_refused`: a person denied a start that waited for approval, nobody decided in time, or the campaign had changed when they approved it.',
    params: idParams,
    query: z.object(pageQuery(100)),
    success: { status: 200, body: logPage },
    handler: async (ctx, { params, query }) =>
      presentPage(await listLogs(ctx, params.id, query), (row) => presentLog(row, ctx)),
  }),
  route({
    ...write,
    operationId: 'campaigns.verifyTrackingDomain',
    method: 'post',
    path: '/campaigns/:id/tracking-domain/verify',
    summary: "Check the campaign's tracking domain",
    description:
      'The domain must be a CNAME of the tracking host, and `https://<domain>/health` must be answered by this installation with a valid certificate. Its first use in a workspace also needs a TXT record `heron-workspace=<organization id>` at `_heron.<domain>`. Links of the campaign use the domain from then on. The check is repeated daily; a domain that fails it is no longer used, and the owners of the workspace are emailed. The `message_code` of a failed check is `tracking.dns`, `tracking.no_answer`, `tracking.certificate`, `tracking.other_instance` or `tracking.not_proven`.',
    params: idParams,
    success: { status: 200, body: trackingDomain },
    prepare: (ctx, { params }) => checkTrackingDomain(ctx, params.id),
    handler: async (ctx, { params, prepared }) => {
      const row = await markTrackingDomain(ctx, params.id, prepared);
      return {
        tracking_domain: row.tracking_domain,
        tracking_domain_verified: row.tracking_domain_verified,
        tracking_domain_verified_at: iso(row.tracking_domain_verified_at),
      };
    },
  }),
  route({
    ...read,
    operationId: 'campaigns.previewTemplate',
    method: 'post',
    path: '/campaign-template-preview',
    readOnly: true,
    summary: 'Render copy for a sample or a contact',
    description: 'Reports parse errors and placeholders without a value. `contact_id` needs READ_CONTACTS as well.',
    bodyLimit: 2 * 1024 * 1024,
    body: previewBody,
    success: { status: 200, body: preview },
    errors: ['not_found'],
    handler: async (ctx, { body: { contact, ...request } }) => {
      const previewed = await previewTemplate(ctx, { ...request, contact: contact && defined(contact) });
      return presentPreview(previewed, ctx.language);
    },
  }),
  ...campaignStepRoutes,
  ...campaignAttachmentRoutes,
  ...campaignLeadRoutes,
  ...campaignCheckRoutes,
  ...testRunRoutes,
];
