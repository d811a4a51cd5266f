import { allowanceProblems, decideApproval } from '../../domain/approvals/decide.ts';
import { listApprovals } from '../../domain/approvals/list.ts';
import { findApproval } from '../../domain/approvals/view.ts';
import { reader } from '../../domain/platform/kernel/transact.ts';
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
    summary: 'List pending and decided approvals, newest first',
    description:
      'Contains everything that an approver sees: recipients, template, samples, senders and schedule as of the request. An approval past its time is `expired` at once.',
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
    summary: 'Approve or deny, once and before `expires_at`',
    description:
      'On approval the action is checked again and carried out. If it has changed since the request, it is not carried out and needs another approval. Answers 409 if it was decided before or its time has passed, and 403 if the role of the person may not do the action itself. With approved leads, `leads_per_day` also grants the credential an allowance for this campaign (GET /v1/lead-allowances). A campaign start, an email and an order of mailboxes are carried out before the answer; if one is refused, the answer is that error and the approval stays open. A run becomes `approved` and is launched a moment later.',
    params: idParams,
    body: schemas.decisionBody,
    furtherProblems: async (ctx, { decision, leads_per_day: leadsPerDay }, { id }) =>
      allowanceProblems(await findApproval(reader(ctx), id!), {
        ...(decision ? { decision } : {}),
        ...(leadsPerDay === undefined ? {} : { leadsPerDay }),
      }),
    stops: ({ decision }) => decision === 'denied',
    success: { status: 200, body: schemas.approval },
    errors: ['conflict', ...LAUNCH_REFUSALS, 'mailbox_allowance_reached'],
    handler: async (ctx, { params, body: { leads_per_day: leadsPerDay, ...decision } }) =>
      presentApproval(
        { config: ctx.config, now: ctx.clock.now(), language: ctx.language },
        await decideApproval(ctx, params.id, { ...decision, leadsPerDay }),
      ),
  }),
];
