import { z } from 'zod';
import { validateCampaign } from '../../domain/campaigns/validate.ts';
import { route } from '../http/route.ts';
import { idParams, uuid } from '../http/schemas.ts';

const validation = z.strictObject({
  campaign_id: uuid,
  valid: z.boolean().meta({ description: 'No problem is an error' }),
  problems: z.array(
    z.strictObject({
      code: z.string(),
      severity: z.enum(['error', 'warning']),
      message: z.string(),
      fix: z.string(),
      step_id: uuid.optional(),
    }),
  ),
});

/** Checks before a launch. */
export const campaignCheckRoutes = [
  route({
    area: 'campaigns',
    scope: ['READ_CAMPAIGNS'],
    permission: 'view_campaigns',
    operationId: 'campaigns.validate',
    method: 'post',
    path: '/campaigns/:id/validate',
    readOnly: true,
    summary: 'What keeps a campaign from starting, and what is wrong with its steps',
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
          ...problem,
          ...(stepId === null ? {} : { step_id: stepId }),
        })),
      };
    },
  }),
];
