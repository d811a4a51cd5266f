import type { Row } from '../../../db/rows.ts';
import type { MailboxRow } from '../../../db/models/mailbox.ts';
import { MINUTE_MS, utcDay } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import { reasonOfFault, type SmtpOutcome, type SmtpSender, type SmtpTarget } from '../../../lib/smtp/index.ts';
import { countDaily } from '../../sending/campaign/counters.ts';
import { lockClaims } from '../../sending/claimed.ts';
import { holdMailbox } from '../../sending/control/mailbox-hold.ts';
import { refusalVerdict } from '../../sending/refused.ts';
import { freeFrom, readSeats } from '../../sending/seats.ts';
import { organizationOf, type Ctx } from '../../platform/kernel/context.ts';
import { singleStatement, transact, type Tx } from '../../platform/kernel/transact.ts';
import { DELETION_SCHEDULED } from '../../platform/workspace-deletion.ts';
import { retryUntilStored } from '../../platform/kernel/retry-until-stored.ts';
import { readSignIn } from '../sign-in.ts';
import { findMailbox } from '../read.ts';
import { nextSpan } from '../../platform/scheduling/windows.ts';
import { openingHours } from './plan.ts';
import { isOut } from './ramp.ts';
import { findStanding, resetFreeTime, type StandingRow } from './standing.ts';
import { composeWarmup, warmupText } from './content.ts';
import { matchedOf, pairWeight, type WarmupRule } from './routing.ts';

export type MailRow = Row<'warmup_mails'>;

/**
 * Share (0 to 1) of the claim's duration within which the email must be sent. After the claim ends, another worker may
 * treat the email as abandoned.
 */
const SMTP_SHARE = 0.9;
const MAX_ATTEMPTS = 3;
const RETRY_MS = 10 * MINUTE_MS;
const NO_CAMPAIGN = { id: '00000000-0000-0000-0000-000000000000' };

interface Claimed {
  kind: 'claimed';
  token: string;
  raw: Buffer;
  messageId: string;
  from: string;
  to: string;
  pool: string;
}

/**
 * `moved`: the email was moved to the first time that respects the mailbox's gap and daily cap. `gone`: no email is
 * due.
 */
type Claim = Claimed | { kind: 'moved' } | { kind: 'gone' };

/**
 * Sends one due warmup email, or determines the result of an email that a crashed worker was sending. As for campaign
 * emails, the claim is committed before the first byte is sent, and a mark is committed before the end of the message
 * is sent. An email is never resent if its end may have been sent.
 * @returns the delay (ms) until the next attempt if the mail host or the provider is busy
 */
export async function deliverWarmup(
  ctx: Ctx,
  smtp: SmtpSender,
  mail: MailRow,
): Promise<{ retryInMs: number } | undefined> {
  if (mail.state === 'sending') return recover(ctx, mail);
  const signIn = await readSignIn(ctx, await findMailbox(singleStatement(ctx), mail.mailbox_id));
  if (signIn.kind === 'refused') return undefined;
  if (signIn.kind === 'unavailable') return { retryInMs: signIn.retryInMs };
  const host = `${signIn.smtp.host}:${signIn.smtp.port}`;
  const permit = await smtp.acquire(host, organizationOf(ctx));
  if ('retryInMs' in permit) return { retryInMs: permit.retryInMs };
  let used: 'answered' | 'hung' | 'unused' = 'unused';
  try {
    const until = performance.now() + ctx.config.SEND_CLAIM_MS * SMTP_SHARE;
    const claim = await claimWarmup(ctx, mail.id);
    if (claim.kind !== 'claimed') return undefined;
    const outcome = await submitWarmup(ctx, smtp, signIn.smtp, mail.id, claim, until);
    used = outcome.kind === 'unreachable' || outcome.kind === 'unknown' ? 'hung' : 'answered';
    await retryUntilStored(ctx, () => settle(ctx, mail, claim, outcome), { forMs: ctx.config.SEND_CLAIM_MS });
    return undefined;
  } finally {
    permit.release(used);
  }
}

/**
 * Submits a claimed email to its server, until the deadline `until` (ms of `performance.now()`). Does not send the end
 * of the message if another worker has claimed the email.
 */
export function submitWarmup(
  ctx: Ctx,
  smtp: SmtpSender,
  target: SmtpTarget,
  id: string,
  claim: Claimed,
  until: number,
): Promise<SmtpOutcome> {
  return smtp.send(claim.pool, target, { from: claim.from, to: [claim.to] }, claim.raw, {
    timeoutMs: Math.max(0, until - performance.now()),
    beforeEnd: async () => {
      const rows = await singleStatement(ctx).sql(
        `update warmup_mails set handover = 'begun'
         where organization_id = :org and id = :id and state = 'sending' and claim_token = :token returning id`,
        { id, token: claim.token },
      );
      return rows.length > 0;
    },
  });
}

/**
 * Claims a due email for sending. Fails the email at once, due or not, unless both mailboxes are in the pool and no rule
 * excludes the pair. The time must also respect the sender's gap and daily cap.
 */
export async function claimWarmup(ctx: Ctx, id: string): Promise<Claim> {
  return transact(ctx, async (tx) => {
    const [found] = await tx.org.sql<{ mailbox_id: string }>(
      `select mailbox_id, ${lockClaims('mailbox_id')} from warmup_mails where organization_id = :org and id = :id`,
      { id },
    );
    if (!found) return { kind: 'gone' };
    // Takes the lock that campaigns need to reserve slots of the mailbox. While it is held, no slot is reserved and no
    // other email is claimed.
    const mailbox = await lockMailbox(tx, found.mailbox_id);
    const [mail] = await tx.org.sql<MailRow>(
      `select * from warmup_mails where organization_id = :org and id = :id and not ${DELETION_SCHEDULED} for update`,
      { id },
    );
    if (!mailbox || mail?.state !== 'reserved') return { kind: 'gone' };
    const partner = await findPartner(tx, mail.partner_id);
    const against = await dropReason(tx, mailbox, partner);
    if (against) return drop(tx, mail, against);
    if (mail.slot_at.getTime() > tx.now.getTime()) return { kind: 'gone' };
    if (!isOpen(mailbox, tx.now)) return drop(tx, mail, 'window_closed');
    const free = await freeTime(tx, mail);
    if (utcDay(free) !== mail.slot_day) return drop(tx, mail, 'no_room');
    if (free > tx.now.getTime()) {
      await tx.org
        .table('warmup_mails')
        .where({ id })
        .update({ slot_at: new Date(free) });
      return { kind: 'moved' };
    }
    const answered = mail.answers
      ? await tx.org.table('warmup_mails').where({ id: mail.answers }).first('subject', 'message_id')
      : null;
    const words = warmupText(id, answered ?? null);
    const messageId = `<${id}@${mailbox.email.slice(mailbox.email.lastIndexOf('@') + 1)}>`;
    const raw = await composeWarmup({
      from: { name: mailbox.name, address: mailbox.email },
      to: partner!.email,
      messageId,
      inReplyTo: answered?.message_id ?? null,
      words,
      date: tx.now,
    });
    const token = newId();
    await tx.org
      .table('warmup_mails')
      .where({ id })
      .update({
        state: 'sending',
        claim_token: token,
        claimed_at: tx.now,
        handover: 'pending',
        attempts: mail.attempts + 1,
        message_id: messageId,
        subject: words.subject,
      });
    return {
      kind: 'claimed',
      token,
      raw,
      messageId,
      from: mailbox.email,
      to: partner!.email,
      pool: `${mailbox.id}/${mailbox.credentials_version}`,
    };
  });
}

type Partner = Pick<MailboxRow, 'email' | 'provider' | 'smtp' | 'status' | 'warmup' | 'warmup_paused_at'> &
  Pick<StandingRow, 'health_state'>;

async function findPartner(tx: Tx, id: string): Promise<Partner | undefined> {
  const [partner] = await tx.org.sql<Partner>(
    `select m.email, m.provider, m.smtp, m.status, m.warmup, m.warmup_paused_at, s.health_state
     from mailboxes m join warmup_standings s on s.mailbox_id = m.id where m.organization_id = :org and m.id = :id`,
    { id },
  );
  return partner;
}

async function dropReason(tx: Tx, mailbox: MailboxRow, partner: Partner | undefined): Promise<string | undefined> {
  if (mailbox.status !== 'active' || !mailbox.warmup || mailbox.warmup_paused_at) return 'not_warming';
  if (isOut((await findStanding(tx.org, mailbox.id))?.health_state)) return 'not_healthy';
  if (!partner || partner.status !== 'active' || !partner.warmup || partner.warmup_paused_at) return 'partner_left';
  if (isOut(partner.health_state)) return 'partner_left';
  for (const side of ['hold', 'imap_hold'] as const) {
    const until = mailbox[`${side}_until`];
    if (mailbox[`${side}_code`] && (!until || until > tx.now)) return 'mailbox_held';
  }
  const rules = await tx.org.sql<WarmupRule>(
    `select * from warmup_rules where organization_id = :org and enabled order by priority, id`,
  );
  const [sender, recipient] = [mailbox, partner].map((one) => matchedOf({ ...one, host: one.smtp.host }));
  return pairWeight(rules, sender!, recipient!) === 0 ? 'excluded' : undefined;
}

/** Returns true if a time is within the mailbox's hours for warmup emails. */
function isOpen(mailbox: MailboxRow, at: Date): boolean {
  const span = nextSpan(openingHours(mailbox), at.getTime());
  return span !== null && span.from <= at.getTime();
}

async function lockMailbox(tx: Tx, id: string): Promise<MailboxRow | undefined> {
  const [row] = await tx.org.sql<MailboxRow>(
    `select * from mailboxes where organization_id = :org and id = :id for no key update`,
    { id },
  );
  return row;
}

/** Returns the first time (epoch ms) from now on that respects the mailbox's gap and daily cap. */
async function freeTime(tx: Tx, mail: MailRow): Promise<number> {
  const now = tx.now.getTime();
  const [seat] = await readSeats(tx.org, NO_CAMPAIGN, [mail.mailbox_id], { day: utcDay(now), from: now, until: now });
  const own = seat!.taken.indexOf(mail.slot_at.getTime());
  if (own >= 0) seat!.taken.splice(own, 1);
  seat!.used.set(mail.slot_day, (seat!.used.get(mail.slot_day) ?? 1) - 1);
  return freeFrom(seat!, now);
}

/** Marks an email as failed before any attempt to send it. It is no longer counted in the daily cap. */
async function drop(tx: Tx, mail: MailRow, why: string): Promise<Claim> {
  await tx.org.table('warmup_mails').where({ id: mail.id }).update({ state: 'failed', error: why });
  await resetFreeTime(tx, [mail.mailbox_id]);
  await countDaily(tx.org, [{ scope: 'mailbox', scopeId: mail.mailbox_id, day: mail.slot_day, by: -1 }]);
  return { kind: 'gone' };
}

async function settle(ctx: Ctx, mail: MailRow, claim: Claimed, outcome: SmtpOutcome): Promise<void> {
  await transact(ctx, async (tx) => {
    const mine = { id: mail.id, state: 'sending', claim_token: claim.token } as const;
    if (outcome.kind === 'accepted' && outcome.rejected.length === 0) {
      const messageId = outcome.assignedId ?? claim.messageId;
      const changed = await tx.org
        .table('warmup_mails')
        .where(mine)
        .update({ state: 'sent', sent_at: tx.now, message_id: messageId });
      if (changed > 0)
        tx.emit('warmup.email_sent', {
          email_account_id: mail.mailbox_id,
          warmup_email_id: mail.id,
          is_reply: mail.answers !== null,
        });
      return;
    }
    if (outcome.kind === 'unknown') {
      await tx.org.table('warmup_mails').where(mine).update({ state: 'uncertain', error: 'no_answer' });
      return;
    }
    const nothingLeft = outcome.kind === 'withheld' || outcome.kind === 'unreachable';
    const verdict = outcome.kind === 'refused' || outcome.kind === 'unreachable' ? refusalVerdict(outcome) : undefined;
    const again = nothingLeft || verdict?.action === 'wait' || verdict?.action === 'defer';
    if (again && mail.attempts + 1 < MAX_ATTEMPTS) {
      await tx.org
        .table('warmup_mails')
        .where(mine)
        .update({
          state: 'reserved',
          claim_token: null,
          claimed_at: null,
          handover: null,
          slot_at: new Date(tx.now.getTime() + RETRY_MS),
          slot_day: mail.slot_day,
        });
      return;
    }
    await tx.org.table('warmup_mails').where(mine).update({ state: 'failed', error: outcome.kind });
    if (verdict?.action === 'hold' && verdict.hold && outcome.kind === 'refused')
      await holdMailbox(tx, mail.mailbox_id, {
        code: verdict.hold.code,
        reason: reasonOfFault(outcome),
        until: new Date(tx.now.getTime() + verdict.hold.ms),
      });
  });
}

/**
 * Handles an email that a crashed worker was sending. If the end of the message was not sent, the email keeps its slot
 * and is sent again. Otherwise it is never resent.
 */
async function recover(ctx: Ctx, mail: MailRow): Promise<{ retryInMs: number } | undefined> {
  const left = mail.claimed_at!.getTime() + ctx.config.SEND_CLAIM_MS - ctx.clock.now().getTime();
  if (left > 0) return { retryInMs: left };
  await transact(ctx, async (tx) => {
    const mine = { id: mail.id, state: 'sending', claim_token: mail.claim_token! } as const;
    await tx.org
      .table('warmup_mails')
      .where({ ...mine, handover: 'pending' })
      .update({ state: 'reserved', claim_token: null, claimed_at: null, handover: null });
    await tx.org
      .table('warmup_mails')
      .where({ ...mine, handover: 'begun' })
      .update({ state: 'uncertain', error: 'worker_died' });
  });
  return undefined;
}
