import { reportEvent } from '../../../domain/campaigns/deliverability/report.ts';
import { route } from '../../http/route.ts';
import { reportedEvent } from './schemas.ts';

/** Routes that receive deliverability signals from outside. */
export const deliverabilityRoutes = [
  route({
    area: 'deliverability',
    operationId: 'deliverability.reportEvent',
    method: 'post',
    path: '/deliverability/events',
    summary: 'Report a bounce, complaint, unsubscribe, open, click or reply',
    description:
      'Has the same effects as if a connected mailbox had received the signal. A bounce is treated as permanent. Without task_id or the message_id of a known email it is assigned to the latest email to that recipient.',
    scope: ['WRITE_CAMPAIGNS'],
    permission: 'send_campaigns',
    body: reportedEvent,
    success: { status: 202 },
    errors: ['not_found'],
    handler: (ctx, { body }) => reportEvent(ctx, body),
  }),
];
