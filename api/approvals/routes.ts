import { decideApproval } from '../../domain/approvals/decide.ts';
import { listApprovals } from '../../domain/approvals/list.ts';
import { LAUNCH_REFUSALS } from '../../domain/sending/campaign/launch-checks.ts';
import { route, type AnyRoute } from '../http/route.ts';
import { idParams, paged, presentPage } from '../http/schemas.ts';
import { presentApproval } from './present.ts';
import * as schemas from './schemas.ts';

const people = { area: 'approvals', scope: 'session', permission: 'send_campaigns' } as const;

/** Routes of approvals: actions that keys and applications request and a person decides on. */
export const approvalRoutes: readonly AnyRoute[] = [
  route({
    ...people,
    operationId: 'approvals.list',
    method: 'get',
    path: '/approvals',
    summary: 'What waits, or waited, for a decision, newest first',
    description:
      'With what an approver sees: recipients, template, samples, senders and schedule, as they were when it was asked for. One that is out of time reads as `expired` at once.',
    query: schemas.approvalQuery,
    success: { status: 200, body: paged(schemas.approval) },
    handler: async (ctx, { query }) => {
      const at = { config: ctx.config, now: ctx.clock.now(), language: ctx.language };
      return presentPage(await listApprovals(ctx, query), (row) => presentApproval(at, row));
    },
  }),
  route({
    ...people,
    operationId: 'approvals.decide',
    method: 'post',
    path: '/approvals/:id/decision',
    summary: 'Approve or deny, once and within 30 minutes',
    description:
      'What was approved is checked once more and then carried out; if it has changed since it was asked for, it is not, and needs another approval. ' +
      '409 when it was decided before or its time has passed. A start of a campaign, an email and an order of mailboxes are carried out before this answers; what refuses them ' +
      'then refuses the approval, which stays open. A run is `approved`, and launched a moment later.',
    params: idParams,
    body: schemas.decisionBody,
    success: { status: 200, body: schemas.approval },
    errors: ['conflict', ...LAUNCH_REFUSALS, 'mailbox_allowance_reached'],
    handler: async (ctx, { params, body }) =>
      presentApproval(
        { config: ctx.config, now: ctx.clock.now(), language: ctx.language },
        await decideApproval(ctx, params.id, body),
      ),
  }),
];
