import { z } from 'zod';
import { approvalUrl } from '../../domain/approvals/link.ts';
import type { ApprovalRow } from '../../domain/approvals/view.ts';
import { Awaiting } from '../http/route.ts';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import { iso, resource, timestamp, uuid } from '../http/schemas.ts';
import type { Language } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';

/** Body of the 202 for an action that waits for a person's decision. */
export const awaitingApproval = resource('AwaitingApproval', {
  result: z.literal('awaiting_approval'),
  reasons: z
    .array(z.strictObject({ code: z.string(), message: z.string() }))
    .meta({ description: 'Reasons why it waits for a person' }),
  approval_id: uuid,
  approval_url: z.string().meta({ format: 'uri', description: 'Page where a person signs in and decides' }),
  approval_expires_at: timestamp,
});

/** Returns the 202 body for a held action. */
export function presentAwaitingApproval(
  { config, language }: Pick<Ctx, 'config' | 'language'>,
  approval: ApprovalRow,
): z.input<typeof awaitingApproval> {
  return {
    result: 'awaiting_approval',
    reasons: presentReasons(approval.reasons, language),
    approval_id: approval.id,
    approval_url: approvalUrl(config, approval.id),
    approval_expires_at: iso(approval.expires_at),
  };
}

/** Returns the reasons for a held action as text in a language. */
export function presentReasons(
  reasons: ApprovalRow['reasons'],
  language: Language | undefined,
): { code: string; message: string }[] {
  return reasons.map(({ code, message }) => ({ code, message: render(message, language) }));
}

/**
 * Returns the answer of a route that also adds leads: 202 if the leads wait for an approval.
 * @param work receives a function, which it must call with the approval that the leads wait for
 */
export async function answerOrAwait<T>(
  ctx: Ctx,
  work: (held: { onHeld: (approval: ApprovalRow) => void }) => Promise<T>,
): Promise<T | Awaiting> {
  const approvals: ApprovalRow[] = [];
  const answer = await work({ onHeld: (approval) => void approvals.push(approval) });
  const [first] = approvals;
  return first ? new Awaiting(presentAwaitingApproval(ctx, first)) : answer;
}
