import { z } from 'zod';
import { acceptDirectSend, type Accepted } from '../../../domain/inbox/direct-sends/create.ts';
import { directSendProblems } from '../../../domain/inbox/direct-sends/problems.ts';
import { cancelScheduled, listScheduled, type ScheduledSend } from '../../../domain/inbox/direct-sends/scheduled.ts';
import { assertMailboxExists } from '../../../domain/inbox/direct-sends/sender.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { idParams, iso } from '../../http/schemas.ts';
import { accepted, composeBody, MAX_REQUEST_BYTES, replyBody, scheduledList, sendBody } from './schemas.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import type { Language } from '../../../messages/index.ts';
import { presentBlocked, reasonIn } from '../../http/stored-message.ts';
import { presentReasons } from '../../approvals/awaiting-approval.ts';
import { render } from '../../../messages/render.ts';

const area = 'direct-sends';
const permission = 'send_campaigns';
const compose = { area, scope: ['SEND_DIRECT_EMAIL'], permission } as const;
const success = { status: 200, body: accepted } as const;
const WHO_DECIDES =
  'A signed-in person sends at once (`executed`). An API key or application needs an agent policy with that capability. Without one, or ' +
  'beyond its limits, the answer is `awaiting_approval` with a link where a person decides before `approval_expires_at`. Suppressions, holds, the daily cap and ' +
  'the gap of the mailbox always apply: the email gets the first time that respects them.';

/** Returns the outcome of submitting an email. */
export function presentAccepted(
  { approval, scheduled_at, left_out, ...rest }: Accepted,
  { language }: Pick<Ctx, 'language'>,
): z.input<typeof accepted> {
  return {
    ...rest,
    left_out: left_out.map(({ address, reason }) => ({ address, reason: render(reason, language) })),
    scheduled_at: iso(scheduled_at),
    approval_id: approval?.id ?? null,
    approval_url: approval?.url ?? null,
    approval_expires_at: approval ? iso(approval.expires_at) : null,
    reasons: presentReasons(approval?.reasons ?? [], language),
  };
}

function presentScheduled(
  email: ScheduledSend,
  language: Language | undefined,
): z.input<typeof scheduledList>['data'][number] {
  const { id, kind, state, to_emails: to, subject, thread_id, approval_id, waiting_for } = email;
  return {
    task_id: id,
    kind,
    state: state === 'awaiting_approval' ? state : 'queued',
    to,
    subject,
    thread_id,
    approval_id,
    waiting_for: reasonIn(waiting_for, language),
    scheduled_at: iso(email.at),
    created_at: iso(email.created_at),
    account_id: email.mailbox_id,
    account_email: email.email,
    account_name: email.name,
    snippet: email.body_plain.replace(/\s+/g, ' ').trim().slice(0, 200),
    ...presentBlocked(email, language),
  };
}

/** Routes of emails that people and agents write, sent or scheduled. */
export const directSendRoutes: readonly AnyRoute[] = [
  route({
    ...compose,
    operationId: 'emails.send',
    method: 'post',
    path: '/emails/:id/send',
    summary: 'Send an email from a mailbox',
    description: `Capability email.compose. ${WHO_DECIDES}`,
    params: idParams,
    mailboxParam: 'id',
    body: sendBody,
    bodyLimit: MAX_REQUEST_BYTES,
    furtherProblems: (ctx, body, { id }) => directSendProblems(ctx, 'compose', { ...body, email_account_id: id! }),
    success,
    errors: ['not_found', 'storage_limit_reached'],
    handler: async (ctx, { params, body }) => {
      await assertMailboxExists(ctx, params.id);
      return presentAccepted(await acceptDirectSend(ctx, 'compose', { ...body, email_account_id: params.id }), ctx);
    },
  }),
  route({
    ...compose,
    operationId: 'unibox.compose',
    method: 'post',
    path: '/unibox/compose',
    summary: 'Send a new email',
    description: `Starts a conversation. Capability email.compose. ${WHO_DECIDES}`,
    body: composeBody,
    bodyLimit: MAX_REQUEST_BYTES,
    furtherProblems: (ctx, body) => directSendProblems(ctx, 'compose', body),
    success,
    errors: ['storage_limit_reached'],
    handler: async (ctx, { body }) => presentAccepted(await acceptDirectSend(ctx, 'compose', body), ctx),
  }),
  route({
    area,
    scope: ['SEND_INBOX_REPLY'],
    permission,
    operationId: 'unibox.reply',
    method: 'post',
    path: '/unibox/reply',
    summary: 'Reply in a conversation',
    description: `Sent from a mailbox of the conversation to the sender of the latest received message, with In-Reply-To and References, so that mail programs show it in the thread. It does not stop or change campaigns. An answer to it counts for the campaign of the conversation. Capability inbox.reply. ${WHO_DECIDES}`,
    body: replyBody,
    bodyLimit: MAX_REQUEST_BYTES,
    furtherProblems: (ctx, body) => directSendProblems(ctx, 'reply', body),
    success,
    errors: ['storage_limit_reached'],
    handler: async (ctx, { body }) => presentAccepted(await acceptDirectSend(ctx, 'reply', body), ctx),
  }),
  route({
    area,
    scope: ['READ_UNIBOX'],
    permission: 'view_campaigns',
    operationId: 'unibox.listScheduled',
    method: 'get',
    path: '/unibox/scheduled',
    summary: 'List unsent emails of people and agents, soonest first',
    description: 'At most 200, including those that wait for approval.',
    query: z.object({
      thread_id: z.string().min(1).max(2000).optional().meta({ description: 'Only emails of this conversation' }),
    }),
    success: { status: 200, body: scheduledList },
    handler: async (ctx, { query }) => ({
      data: (await listScheduled(ctx, query.thread_id)).map((email) => presentScheduled(email, ctx.language)),
    }),
  }),
  route({
    area,
    scope: ['WRITE_UNIBOX'],
    permission,
    operationId: 'unibox.cancelScheduled',
    method: 'delete',
    path: '/unibox/scheduled/:taskId',
    summary: 'Cancel an unsent email',
    description: 'Ends an approval that it waits for. Answers 409 if it was sent or is being sent.',
    params: z.object({ taskId: z.string() }),
    stops: true,
    success: { status: 204 },
    errors: ['not_found', 'conflict'],
    handler: async (ctx, { params }) => {
      await cancelScheduled(ctx, params.taskId);
    },
  }),
];
