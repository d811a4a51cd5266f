import { z } from 'zod';
import { listTrackingDomains } from '../../domain/campaigns/tracking-domain-records.ts';
import { checkMailboxDomain, setMailboxDomain } from '../../domain/campaigns/tracking-domain.ts';
import { hostname } from '../../domain/campaigns/input.ts';
import { route } from '../http/route.ts';
import { idParams, iso } from '../http/schemas.ts';
import { trackingDomain, trackingDomainList } from './schemas.ts';

/** Routes of the tracking domains of a workspace, and of the tracking domain of a mailbox. */
export const trackingDomainRoutes = [
  route({
    area: 'campaigns',
    scope: ['READ_CAMPAIGNS'],
    permission: 'view_campaigns',
    operationId: 'trackingDomains.list',
    method: 'get',
    path: '/tracking-domains',
    summary: 'List tracking domains with the DNS records that they need and have',
    description:
      'The domains that campaigns and mailboxes name, at most 50, each with at most 100 of both. A key restricted to mailboxes sees only its own. DNS is queried now; nothing is changed. POST /campaigns/{id}/tracking-domain/verify and PATCH /emails/{id}/track check a domain and use it.',
    success: { status: 200, body: trackingDomainList },
    handler: async (ctx) => ({
      data: (await listTrackingDomains(ctx)).map(({ verified_at: at, records, ...row }) => ({
        ...row,
        verified_at: iso(at),
        records: records.map(({ isRequired, isCorrect, found, ...record }) => ({
          ...record,
          found: found && [...found],
          required: isRequired,
          correct: isCorrect,
        })),
      })),
    }),
  }),
  route({
    area: 'campaigns',
    scope: ['WRITE_EMAILS'],
    permission: 'manage_settings',
    operationId: 'mailboxes.setTrackingDomain',
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
