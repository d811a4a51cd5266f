import { z } from 'zod';
import { checkMailboxDomain, setMailboxDomain } from '../../domain/campaigns/tracking-domain.ts';
import { hostname } from '../../domain/campaigns/input.ts';
import { route } from '../http/route.ts';
import { idParams, iso } from '../http/schemas.ts';
import { trackingDomain } from './schemas.ts';

/** Route of the tracking domain of a mailbox. */
export const mailboxTrackingRoutes = [
  route({
    area: 'campaigns',
    scope: ['WRITE_EMAILS'],
    permission: 'manage_settings',
    operationId: 'mailboxes.track',
    method: 'patch',
    path: '/emails/:id/track',
    mailboxParam: 'id',
    summary: 'Set or clear the tracking domain of a mailbox',
    description:
      'Links in campaigns without a tracking domain of their own use it. The domain is checked first, as that of a campaign (POST /campaigns/{id}/tracking-domain/verify); one that fails the check is not stored. Without `domain` the mailbox uses the shared one.',
    params: idParams,
    query: z.object({ domain: hostname.default('').meta({ description: 'Host name; omit it to clear the domain' }) }),
    success: { status: 200, body: trackingDomain },
    errors: ['not_found', 'conflict'],
    prepare: (ctx, { params, query }) => checkMailboxDomain(ctx, params.id, query.domain),
    handler: async (ctx, { params, prepared }) => {
      const after = await setMailboxDomain(ctx, params.id, prepared);
      return { ...after, tracking_domain_verified_at: iso(after.tracking_domain_verified_at) };
    },
  }),
];
