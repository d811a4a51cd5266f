import type { MailboxRow } from '../../../db/models/mailbox.ts';
import { Mailboxes } from '../../../db/models/mailbox.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, utcDay } from '../../../lib/clock.ts';
import type { SmtpSender } from '../../../lib/smtp/index.ts';
import type { WarmupReport } from '../../../workflows/warmup/contract.ts';

import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { claimWarmup, deliverWarmup, type MailRow } from './deliver.ts';
import { planDay } from './plan.ts';
import { findStanding } from './standing.ts';

/** Period (ms) after midnight (UTC) within which the mailboxes begin their day, each at its own time. */
const DAWN_MS = 20 * MINUTE_MS;
/** Delay (ms) before a held mailbox is checked again if the end of the hold is unknown. */
const HELD_MS = 6 * HOUR_MS;
const SOON_MS = 1_000;
/** Delay (ms) before the plan of a mailbox is tried again if another transaction has locked the mailbox. */
const LOCKED_MS = 5_000;

/**
 * Executes one step of a mailbox's warmup: plans the day if needed, sends a due email, and returns the time of the next
 * step.
 */
export async function advanceWarmup(ctx: Ctx, smtp: SmtpSender, mailboxId: string): Promise<WarmupReport> {
  const org = reader(ctx);
  const mailbox = await org.query(Mailboxes).findById(mailboxId);
  const now = ctx.clock.now().getTime();
  const isOn = mailbox?.warmup && !mailbox.warmup_paused_at;
  const rests = isOn ? restOf(mailbox, now) : undefined;
  if (!isOn || rests !== undefined) {
    const busy = await settleAbandoned(ctx, smtp, mailboxId, { keepsSlots: isOn === true });
    if (busy) return { kind: 'wait', wakeAt: now + busy.retryInMs, why: 'an email may still be under way' };
  }
  if (!isOn) {
    if (mailbox?.warmup) return { kind: 'wait', wakeAt: null, why: 'paused', state: 'resting' };
    return { kind: 'done', why: 'warmup is off' };
  }
  if (rests !== undefined)
    return { kind: 'wait', wakeAt: rests, why: 'the mailbox rests', ...(rests === null ? { state: 'resting' } : {}) };
  const isPlanned = async () => ((await findStanding(org, mailboxId))?.planned_day ?? '') >= utcDay(now);
  if (!(await isPlanned())) {
    await planDay(ctx, mailboxId);
    if (!(await isPlanned()))
      return { kind: 'wait', wakeAt: now + LOCKED_MS, why: 'the day is planned when others let go' };
  }
  const due = await nextMail(ctx, mailboxId);
  if (due && due.slot_at.getTime() <= now) {
    const busy = await deliverWarmup(ctx, smtp, due);
    if (busy) return { kind: 'wait', wakeAt: now + busy.retryInMs, why: 'the mail host is busy' };
  }
  const next = await nextMail(ctx, mailboxId);
  if (!next) return { kind: 'wait', wakeAt: startOfMailboxDay(mailboxId, now), why: 'nothing more today' };
  return { kind: 'wait', wakeAt: Math.max(next.slot_at.getTime(), now + SOON_MS), why: 'the next email' };
}

/**
 * Settles an email that was being sent when the warmup was paused or stopped, or its mailbox was held. Its worker may be
 * dead, and no iteration would deliver the email. Unless `keepsSlots`, also fails an email that was returned to its
 * slot, because it will not be sent.
 * @returns the delay (ms) until the next check if a worker may still be sending the email
 */
async function settleAbandoned(
  ctx: Ctx,
  smtp: SmtpSender,
  mailboxId: string,
  { keepsSlots }: { keepsSlots: boolean },
): Promise<{ retryInMs: number } | undefined> {
  const mail = await nextMail(ctx, mailboxId);
  const busy = mail?.state === 'sending' ? await deliverWarmup(ctx, smtp, mail) : undefined;
  if (!busy && mail && !keepsSlots) await claimWarmup(ctx, mail.id);
  return busy;
}

/** Returns the mailbox's email that a worker has claimed, else its next one. */
async function nextMail(ctx: Ctx, mailboxId: string): Promise<MailRow | undefined> {
  const [mail] = await reader(ctx).sql<MailRow>(
    `select * from warmup_mails where organization_id = :org and mailbox_id = :mailbox and state in ('reserved', 'sending')
     order by state = 'sending' desc, slot_at limit 1`,
    { mailbox: mailboxId },
  );
  return mail;
}

/** Returns the time (epoch ms) until which a mailbox must not send, or undefined if it may send now. */
function restOf(mailbox: MailboxRow, now: number): number | undefined {
  if (mailbox.status !== 'active') return now + HELD_MS;
  const ends = (['hold', 'imap_hold'] as const).flatMap((side) => {
    if (!mailbox[`${side}_code`]) return [];
    const until = mailbox[`${side}_until`]?.getTime() ?? now + HELD_MS;
    return until > now ? [until] : [];
  });
  return ends.length > 0 ? Math.max(...ends) : undefined;
}

/** Returns the time (epoch ms) at which the mailbox starts its next UTC day. The result is the same all day. */
function startOfMailboxDay(mailboxId: string, now: number): number {
  const share = Number.parseInt(mailboxId.slice(-6), 16) / 0xff_ff_ff;
  return (Math.floor(now / DAY_MS) + 1) * DAY_MS + Math.floor(share * DAWN_MS);
}
