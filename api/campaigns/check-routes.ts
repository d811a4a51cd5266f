import { z } from 'zod';
import { preflightCampaign } from '../../domain/campaigns/preflight.ts';
import { readCampaignDns } from '../../domain/campaigns/preflight-dns.ts';
import { previewLaunch } from '../../domain/campaigns/launch-preview.ts';
import { validateCampaign } from '../../domain/campaigns/validate.ts';
import { renderFinding } from '../../lib/finding.ts';
import { presentReport, findingFields, severity } from '../http/findings.ts';
import { route } from '../http/route.ts';
import { idParams, iso, resource, timestamp, uuid } from '../http/schemas.ts';

const validation = resource('CampaignValidation', {
  campaign_id: uuid,
  valid: z.boolean().meta({ description: 'True if no problem is an error' }),
  problems: z.array(z.strictObject({ ...findingFields, step_id: uuid.optional() })),
});

const preflightReport = resource('PreflightReport', {
  id: uuid,
  organization_id: uuid,
  campaign_id: uuid,
  passed: z.boolean().meta({ description: 'True if no finding is an error' }),
  score: z.int().min(0).max(100).meta({ description: '0 to 100, higher is better; at most 40 with an error' }),
  checks: z.array(
    z.strictObject({
      key: z.string(),
      passed: z.boolean(),
      severity: severity.meta({ description: 'Severity of its worst finding' }),
      message: z.string(),
      remediation: z.string(),
    }),
  ),
  findings: z
    .array(z.strictObject({ check: z.string(), ...findingFields, step_id: uuid.optional() }))
    .meta({ description: 'Findings, worst first' }),
  recommendations: z.array(z.string()),
  created_at: timestamp,
});

const launch = resource('CampaignLaunch', {
  campaign_id: uuid,
  leads: z.int().meta({ description: 'Leads that are not finished' }),
  first_email_at: timestamp.nullable().meta({ description: 'Earliest time of the first email; null if there is none' }),
  senders: z.array(z.strictObject({ mailbox_id: uuid, email: z.string(), name: z.string(), reply_to: z.string() })),
  samples: z
    .array(
      z.strictObject({
        to: z.string(),
        from: z.string(),
        cc: z.array(z.string()).optional(),
        subject: z.string(),
        text: z.string(),
        html: z.string(),
        attachments: z.array(z.strictObject({ filename: z.string(), size: z.int() })).optional(),
      }),
    )
    .meta({ description: 'The first emails as their recipients would see them' }),
});

/** Routes of checks before a launch. */
export const campaignCheckRoutes = [
  route({
    area: 'campaigns',
    scope: ['READ_CAMPAIGNS'],
    permission: 'view_campaigns',
    operationId: 'campaigns.previewLaunch',
    method: 'get',
    path: '/campaigns/:id/launch',
    summary: 'Show what a start would do',
    description:
      'Returns the number of leads, the senders, the time of the first email, and the first five emails. `samples` is empty without the right to see contacts. Stores nothing; POST /campaigns/{id}/validate says what prevents a start.',
    params: idParams,
    success: { status: 200, body: launch },
    errors: ['not_found'],
    handler: async (ctx, { params }) => {
      const { campaignId, leads, firstEmailAt, senders, samples } = await previewLaunch(ctx, params.id);
      return {
        campaign_id: campaignId,
        leads,
        first_email_at: iso(firstEmailAt),
        senders: senders.map(({ mailbox_id, email, name, reply_to = '' }) => ({ mailbox_id, email, name, reply_to })),
        samples,
      };
    },
  }),
  route({
    area: 'campaigns',
    scope: ['READ_CAMPAIGNS'],
    permission: 'view_campaigns',
    operationId: 'campaigns.validate',
    method: 'post',
    path: '/campaigns/:id/validate',
    readOnly: true,
    summary: 'Validate a campaign and its steps',
    description: 'Always 200, with every problem at once and a fix for each. Stores nothing.',
    params: idParams,
    success: { status: 200, body: validation },
    errors: ['not_found'],
    handler: async (ctx, { params }) => {
      const { campaignId, valid, problems } = await validateCampaign(ctx, params.id);
      return {
        campaign_id: campaignId,
        valid,
        problems: problems.map(({ stepId, ...problem }) => ({
          ...renderFinding(problem, ctx.language),
          ...(stepId === null ? {} : { step_id: stepId }),
        })),
      };
    },
  }),
  route({
    area: 'campaigns',
    scope: ['SEND_CAMPAIGNS'],
    permission: 'send_campaigns',
    operationId: 'campaigns.runPreflight',
    method: 'post',
    path: '/campaigns/:id/preflight',
    summary: "Report on a campaign's readiness, with a score",
    description:
      'Includes everything that validation checks, and the DNS of the sending domains and the tracking domain, the copy, merge fields over the actual leads, the risk of the list, volume, windows and dates. Sends nothing; stores the report. The settings in `preflight` disable checks.',
    params: idParams,
    success: { status: 200, body: preflightReport },
    errors: ['not_found'],
    prepare: (ctx, { params }) => readCampaignDns(ctx, params.id),
    handler: async (ctx, { params, prepared }) => {
      const { created_at: created, ...report } = await preflightCampaign(ctx, params.id, prepared);
      return { ...presentReport(report, ctx.language), created_at: iso(created) };
    },
  }),
];
