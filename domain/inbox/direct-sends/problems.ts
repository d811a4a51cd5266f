import type { Columns } from '../../../db/rows.ts';
import type { Problem } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { refusedRecipients, type AnswerByHand } from '../../directory/refused-recipients.ts';
import { attachmentProblems } from './attachments.ts';
import { answerByHand, findConversation, type AnsweredMessage } from './conversation.ts';
import { MAX_SCHEDULE_AHEAD_MS, MAX_RECIPIENTS, type DirectSendInput, type DirectSendKind } from './input.ts';
import { message } from '../../../messages/index.ts';

/** Returns every problem of the given fields of an email, each with its path. */
export async function directSendProblems(
  ctx: Ctx,
  kind: DirectSendKind,
  input: Partial<DirectSendInput>,
): Promise<Problem[]> {
  const { problems, answered } = await senderProblems(ctx, kind, input);
  return [
    ...bodyProblems(input),
    ...timeProblems(ctx.clock.now(), input),
    ...attachmentProblems(input.attachments),
    ...(await recipientProblems(ctx, kind, input, answerByHand(ctx, kind, answered))),
    ...problems,
  ];
}

function bodyProblems({ body_plain: plain = '', body_html: html = '' }: Partial<DirectSendInput>): Problem[] {
  if (plain.trim() !== '' || html.trim() !== '') return [];
  return [{ path: 'body.body_plain', message: message('compose.no_text') }];
}

function timeProblems(now: Date, { send_mode: mode, scheduled_at: at }: Partial<DirectSendInput>): Problem[] {
  const path = 'body.scheduled_at';
  if (mode !== 'scheduled') return at === undefined ? [] : [{ path, message: message('compose.only_scheduled') }];
  if (at === undefined) return [{ path, message: message('compose.time_required') }];
  if (at <= now) return [{ path, message: message('field.not_future') }];
  return at.getTime() - now.getTime() > MAX_SCHEDULE_AHEAD_MS
    ? [{ path, message: message('compose.too_far_ahead') }]
    : [];
}

/**
 * Returns the problems of the recipients. A suppressed address in cc or bcc is not a problem, because it is removed
 * later.
 */
async function recipientProblems(
  ctx: Ctx,
  kind: DirectSendKind,
  input: Partial<DirectSendInput>,
  answer: AnswerByHand | undefined,
): Promise<Problem[]> {
  const { to = [], cc = [], bcc = [] } = input;
  const problems: Problem[] = [];
  if (new Set([...to, ...cc, ...bcc]).size > MAX_RECIPIENTS)
    problems.push({ path: 'body.to', message: message('compose.too_many_recipients', { max: MAX_RECIPIENTS }) });
  if (kind === 'compose' && input.to?.length === 0)
    problems.push({ path: 'body.to', message: message('field.required') });
  const refused = await refusedRecipients(reader(ctx), to, ctx.clock.now(), answer);
  for (const [index, address] of to.entries()) {
    const why = refused.get(address);
    if (why !== undefined)
      problems.push({ path: `body.to.${index}`, message: message('compose.recipient_refused', { reason: why }) });
  }
  return problems;
}

/**
 * Returns the problems of the mailbox and of a reply's conversation. Also returns the message to which the reply
 * refers.
 */
async function senderProblems(
  ctx: Ctx,
  kind: DirectSendKind,
  input: Partial<DirectSendInput>,
): Promise<{ problems: Problem[]; answered?: AnsweredMessage }> {
  const { email_account_id: mailboxId, thread_id: threadId, in_reply_to: inReplyTo } = input;
  const problems: Problem[] = mailboxId === undefined ? [] : await mailboxProblems(ctx, mailboxId);
  if (threadId === undefined && !inReplyTo?.length)
    return kind === 'compose'
      ? { problems }
      : { problems: [...problems, { path: 'body.thread_id', message: message('compose.thread_required') }] };
  const org = reader(ctx);
  const readable = ctx.actor.allowedMailboxes;
  const byThread = threadId === undefined ? undefined : await findConversation(org, { threadId, inReplyTo }, readable);
  const byMessage = inReplyTo?.length ? await findConversation(org, { inReplyTo }, readable) : undefined;
  if (threadId !== undefined && !byThread)
    problems.push({ path: 'body.thread_id', message: message('compose.thread_unknown') });
  if (inReplyTo?.length && !byMessage)
    problems.push({ path: 'body.in_reply_to', message: message('compose.message_unknown') });
  const path = threadId === undefined ? 'body.in_reply_to' : 'body.thread_id';
  const found = byThread ?? byMessage;
  if (!found) return { problems };
  const sender = mailboxId?.toLowerCase() ?? found.answered.mailbox_id;
  if (sender === null) problems.push({ path, message: message('compose.mailbox_removed') });
  else if (!found.mailboxIds.has(sender) && problems.length === 0)
    problems.push({ path: 'body.email_account_id', message: message('compose.mailbox_elsewhere') });
  else if (mailboxId === undefined) problems.push(...(await mailboxProblems(ctx, sender, path)));
  if (input.to === undefined) {
    const answer = answerByHand(ctx, kind, found.answered);
    const refused = await refusedRecipients(org, found.answered.correspondents, ctx.clock.now(), answer);
    for (const why of refused.values())
      problems.push({ path, message: message('compose.sender_refused', { reason: why }) });
  }
  return { problems, answered: found.answered };
}

async function mailboxProblems(ctx: Ctx, id: string, path = 'body.email_account_id'): Promise<Problem[]> {
  const [mailbox] = isUuid(id)
    ? await reader(ctx).sql<Columns<'mailboxes', 'status'>>(
        'select status from mailboxes where organization_id = :org and id = :id',
        { id },
      )
    : [];
  if (!mailbox) return [{ path, message: message('directory.unknown_mailbox') }];
  return mailbox.status === 'active' ? [] : [{ path, message: message('compose.mailbox_off') }];
}
