import { isDeepStrictEqual } from 'node:util';
import { json } from '../../../db/connection.ts';
import type { Columns, Row } from '../../../db/rows.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import type { DirectDecision } from '../../../workflows/direct-send/contract.ts';
import { expireApprovals } from '../../approvals/expire.ts';
import { endReason, findApproval } from '../../approvals/view.ts';
import { failDirectSend, type Reason } from '../../sending/direct-failure.ts';
import { reserveDirect } from '../../sending/direct-slot.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { lockEmail, settleRefused } from './send-approval.ts';
import { message, type Message } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';

/**
 * Time (ms) after the scheduled time at which an email that could not be sent fails, because its content would be
 * outdated.
 */
const GIVE_UP_MS = 3 * DAY_MS;

/**
/**
 * Takes the next step of a direct send: waits for its approval, waits for its scheduled time, or reserves a slot. Returns
 * the workflow's next action. Repeating the call is safe. An email claimed by a worker is settled first, because the
 * worker may have crashed. That includes emails of an ended direct send, and of a deleted lead or test run.
 */
export async function advanceDirectSend(ctx: Ctx, id: string): Promise<DirectDecision> {
  return transact(ctx, async (tx) => {
    const email = await lockEmail(tx, id);
    const [mail] = await tx.org.sql<Mail>(
      'select state, slot_at, again from sends where organization_id = :org and id = :id',
      { id },
    );
    if (mail?.state === 'sending')
      return shown({ kind: 'send', at: tx.now.getTime(), where: message('direct.looked_for') });
    if (!email) return { kind: 'done', outcome: 'deleted' };
    if (email.state === 'awaiting_approval') return shown(await waitForApproval(tx, email));
    if (email.state !== 'queued') return { kind: 'done', outcome: email.state };
    const decision = await toSlot(tx, email, mail);
    await storeReason(tx, email, decision);
    return shown(decision);
  });
}

type Mail = Columns<'sends', 'state' | 'slot_at' | 'again'>;

/** A decision of the workflow, with the reason for waiting as a message. */
type Decided = DirectDecision extends infer Each
  ? Each extends { where: string }
    ? Omit<Each, 'where'> & { where: Message }
    : Each
  : never;

/** Converts the reason for waiting to plain text for Temporal's user interface, whose language is unknown. */
function shown(decision: Decided): DirectDecision {
  return decision.kind === 'done' ? decision : { ...decision, where: render(decision.where) };
}

/**
 * Returns a wait while a person can still decide about the email. If the approval has expired, marks the email as
 * expired.
 */
async function waitForApproval(tx: Tx, email: Row<'direct_sends'>): Promise<Decided> {
  await expireApprovals(tx, [email.approval_id!]);
  const approval = await findApproval(tx.org, email.approval_id!);
  if (approval.status === 'pending')
    return {
      kind: 'wait',
      state: 'awaiting_approval',
      until: approval.expires_at.getTime(),
      where: message('direct.awaits_approval'),
    };
  await settleRefused(tx, email, 'expired', endReason(approval, tx.now));
  return { kind: 'done', outcome: 'expired' };
}

async function toSlot(tx: Tx, email: Row<'direct_sends'>, mail: Mail | undefined): Promise<Decided> {
  if (mail?.state === 'reserved')
    return { kind: 'send', at: mail.slot_at.getTime(), where: message('direct.has_slot') };
  const giveUp = async (why: Reason): Promise<Decided> => ({
    kind: 'done',
    outcome: await failDirectSend(tx, email, mail?.again ?? false, why),
  });
  const now = tx.now.getTime();
  const due = email.scheduled_at.getTime();
  if (due > now) return { kind: 'wait', state: 'scheduled', until: due, where: message('direct.scheduled') };
  if (due + GIVE_UP_MS < now) return giveUp({ code: 'not_sent_in_time', reason: message('direct.not_in_time') });
  const slot = await reserveDirect(tx, email);
  if (slot.kind === 'never') return giveUp({ code: 'mailbox_removed', reason: message('direct.mailbox_removed') });
  if (slot.kind === 'later') return { kind: 'wait', state: 'held', until: slot.at.getTime(), where: slot.why };
  return { kind: 'send', at: slot.at.getTime(), where: message('direct.has_slot') };
}

/** Stores the reason for waiting, so that people can see it in lists. */
async function storeReason(tx: Tx, email: Row<'direct_sends'>, decision: Decided): Promise<void> {
  if (decision.kind === 'done') return;
  const until = new Date(decision.kind === 'wait' ? decision.until : decision.at);
  if (isDeepStrictEqual(email.waiting_for, decision.where) && email.waiting_until?.getTime() === until.getTime())
    return;
  await tx.org
    .table('direct_sends')
    .where({ id: email.id })
    .update({ waiting_for: json(decision.where), waiting_until: until, blocked_reason: null, updated_at: tx.now });
}
