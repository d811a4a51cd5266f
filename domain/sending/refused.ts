import { HOUR_MS } from '../../lib/clock.ts';
import type { SmtpFault } from '../../lib/smtp/index.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { transact, type Tx } from '../platform/kernel/transact.ts';
import {
  classifyRefusal,
  type Refusal,
  type RefusalClass,
  type RefusalReason,
  type Stage,
} from '../mail/inbound/refusal.ts';
import { bestStatus } from '../mail/inbound/smtp-words.ts';
import { logCampaign } from './campaign/log.ts';
import type { HoldCode } from './control/hold-codes.ts';
import { holdMailbox } from './control/mailbox-hold.ts';
import { releaseReservedSends } from './control/release.ts';
import type { ClaimedSend } from './claim.ts';
import { settleReturned } from './settle.ts';
import { message, type Message } from '../../messages/index.ts';

/** A refusal, or a failed connection, as the network layer reports it. */
export type Refused = Exclude<SmtpFault, { kind: 'unknown' }>;

/** Cause of a refusal, the action to take, and the hold if the mailbox caused the refusal. */
export interface Verdict {
  /**
   * `wait`: the connection failed; retried without counting an attempt. `defer`: retried until the attempts are used
   * up. `fail`: the email can never be sent unchanged; the recipient is not the cause.
   */
  action: 'hold' | 'wait' | 'defer' | 'bounce' | 'fail';
  hard: boolean;
  fault: RefusalClass;
  hold: { code: HoldCode; ms: number } | null;
  /** True if the problem may exist only between the mailbox and this one recipient. */
  doubtful: boolean;
}

/** Hold code and duration (ms) for each reason of a refusal. */
const HOLDS: Partial<Record<RefusalReason, { code: HoldCode; ms: number }>> = {
  rate_limit: { code: 'sending_limit', ms: 4 * HOUR_MS },
  suspended: { code: 'sending_suspended', ms: 12 * HOUR_MS },
  authentication: { code: 'auth_failed', ms: 6 * HOUR_MS },
  not_verified: { code: 'sender_not_verified', ms: 6 * HOUR_MS },
  reputation: { code: 'sender_reputation', ms: 2 * HOUR_MS },
  sender_refused: { code: 'sender_refused', ms: 6 * HOUR_MS },
  configuration: { code: 'server_refused', ms: HOUR_MS },
  connection: { code: 'server_refused', ms: HOUR_MS },
  system: { code: 'server_refused', ms: HOUR_MS },
};
/** Duration (ms) of a hold after a temporary refusal of the mailbox. */
const TEMPORARY_HOLD_MS = HOUR_MS / 2;
/** Reasons that are never caused by the recipient, only by the mailbox. */
const CERTAIN: ReadonlySet<RefusalReason> = new Set(['rate_limit', 'suspended', 'not_verified']);

const STAGES: Readonly<Record<string, Stage>> = {
  connect: 'connect',
  tls: 'connect',
  auth: 'connect',
  sender: 'mail',
  recipient: 'rcpt',
  data: 'data',
};

/** Decides the consequence of a refusal for the mailbox or for the recipient. */
export function refusalVerdict(outcome: Refused): Verdict {
  const wait: Verdict = { action: 'wait', hard: false, fault: 'network', hold: null, doubtful: false };
  if (outcome.kind === 'unreachable') return wait;
  const { stage, code, response, permanent } = outcome;
  if (stage === 'auth' || stage === 'tls') {
    if (!permanent || stage === 'tls') return wait;
    return { ...wait, action: 'hold', fault: 'sender', hold: HOLDS.authentication! };
  }
  const refusal = classifyRefusal({
    status: bestStatus(null, response),
    code: code || null,
    stage: STAGES[stage] ?? null,
    words: response,
  });
  return { ...wait, ...answerTo(refusal, permanent), fault: refusal.class, doubtful: isDoubtful(refusal, stage) };
}

function answerTo({ class: kind, reason }: Refusal, permanent: boolean): Pick<Verdict, 'action' | 'hard' | 'hold'> {
  const hold = HOLDS[reason] ?? HOLDS.sender_refused!;
  switch (kind) {
    case 'recipient_gone':
      return { action: permanent ? 'bounce' : 'defer', hard: permanent, hold: null };
    case 'recipient_unavailable':
      return { action: 'defer', hard: false, hold: null };
    case 'content':
      // Does not blame the recipient if the mailbox's own server refused the message because of its size.
      if (permanent && reason === 'size') return { action: 'fail', hard: false, hold: null };
      return { action: permanent ? 'bounce' : 'defer', hard: false, hold: null };
    case 'sender':
      return { action: 'hold', hard: false, hold: permanent ? hold : { ...hold, ms: TEMPORARY_HOLD_MS } };
    case 'network':
      return permanent ? { action: 'hold', hard: false, hold } : { action: 'wait', hard: false, hold: null };
  }
}

function isDoubtful({ reason }: Refusal, stage: string): boolean {
  return (stage === 'recipient' || stage === 'data') && !CERTAIN.has(reason);
}

/**
 * Holds a refused mailbox with the reason and the time of the next try, and releases the slot. The contact is not
 * affected. If the cause may be this recipient, a second refusal of the same step is attributed to the recipient,
 * provided that the mailbox has reached others since. In that case the mailbox is not held.
 * @returns false when the refusal is attributed to the recipient and the caller must store it as the email's result
 */
export async function holdForRefusal(
  ctx: Ctx,
  claim: ClaimedSend,
  verdict: Verdict & { hold: { code: HoldCode; ms: number } },
  reason: Message,
): Promise<boolean> {
  return transact(ctx, async (tx) => {
    if (verdict.doubtful && (await isAboutRecipient(tx, claim))) return false;
    if (!(await settleReturned(tx, claim))) return true;
    await holdMailbox(tx, claim.mailbox.id, {
      code: verdict.hold.code,
      reason,
      until: new Date(tx.now.getTime() + verdict.hold.ms),
    });
    if (claim.isDirect) await tx.org.table('direct_sends').where({ id: claim.sendId }).update({ held_at: tx.now });
    const { campaign_id: campaignId, contact_id: contactId, step_id: stepId } = claim.facts;
    if (campaignId)
      await logCampaign(tx, campaignId, 'mailbox_refused', message('log.mailbox_refused'), {
        mailbox_id: claim.mailbox.id,
        contact_id: contactId,
        step_id: stepId,
        code: verdict.hold.code,
      });
    // `holdMailbox` releases all slots of the mailbox. This call covers a mailbox that was removed in the meantime.
    await releaseReservedSends(tx, { sendId: claim.sendId });
    return true;
  });
}

/**
 * Returns true if the mailbox was already held because of this step or direct send, and has sent other emails since.
 */
async function isAboutRecipient(tx: Tx, { facts, mailbox, isDirect, sendId }: ClaimedSend): Promise<boolean> {
  if (isDirect) {
    const rows = await tx.org.sql(
      `select 1 from direct_sends d where d.organization_id = :org and d.id = :id
         and exists (select 1 from sends s where s.organization_id = :org and s.mailbox_id = :mailbox and s.sent_at > d.held_at)`,
      { id: sendId, mailbox: mailbox.id },
    );
    return rows.length > 0;
  }
  const [row] = await tx.org.sql(
    `select 1 from campaign_logs l
     where l.organization_id = :org and l.campaign_id = :campaign and l.event_type = 'mailbox_refused'
       and l.metadata ->> 'contact_id' = :contact and l.metadata ->> 'step_id' = :step and l.metadata ->> 'mailbox_id' = :mailbox
       and exists (select 1 from sends s where s.organization_id = :org and s.mailbox_id = cast(:mailbox as uuid) and s.sent_at > l.created_at)
     limit 1`,
    { campaign: facts.campaign_id, contact: facts.contact_id, step: facts.step_id, mailbox: mailbox.id },
  );
  return row !== undefined;
}
