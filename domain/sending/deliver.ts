import { reasonOfFault, type RejectedRecipient, type SmtpOutcome, type SmtpSender } from '../../lib/smtp/index.ts';
import { findInSent, saveToSent, type ImapError, type ImapTarget } from '../../lib/imap/index.ts';
import { message, type Message } from '../../messages/index.ts';
import { withCostPath } from '../../lib/cost-paths.ts';
import type { Permit, TargetLimits } from '../../lib/target-limits.ts';
import { organizationOf, type Ctx } from '../platform/kernel/context.ts';
import { retryUntilStored } from '../platform/kernel/retry-until-stored.ts';
import { recordSendBounce } from './outcomes/effects.ts';
import { externalText } from '../platform/external-text.ts';
import { ensureAccess, expireAccess } from './control/access-token.ts';
import { claimSend, markSubmission, waitsForHost, type Claim, type ClaimedSend } from './claim.ts';
import { lastMailHost } from './claimed.ts';
import { imapTargetOf, type SealedMailbox } from './senders/mailbox-credentials.ts';
import { holdForRefusal, refusalVerdict, type Refused, type Verdict } from './refused.ts';
import {
  settleBounced,
  settleDeferred,
  settleDelivered,
  settleFailed,
  settleSent,
  settleWaiting,
  type RefusedCopy,
} from './settle.ts';

/**
 * Result of one delivery attempt. `busy`: try again at `retryAt` (epoch ms). `host_busy`: the mail host has no free
 * connection; nothing was changed, try again in `retryInMs`.
 */
export type Delivery =
  | { outcome: string }
  | { outcome: 'busy'; retryAt: number }
  | { outcome: 'host_busy'; retryInMs: number };

export interface DeliverParts {
  smtp: SmtpSender;
  /** Limits the IMAP connections that save copies to Sent folders. Unlimited if absent. */
  copies?: TargetLimits;
}

/**
 * Delay (ms) before an email that another worker has claimed is checked again. In most cases its result is known by
 * then.
 */
const RECHECK_MS = 15_000;
/**
 * Delay (ms) before retrying an email that was not submitted, because the database was unavailable and the submission
 * could not be recorded.
 */
const WITHHELD_RETRY_MS = 5_000;
/** Delay (ms) before retrying with a new access token after the server refused the old one. */
const NEW_ACCESS_MS = 1_000;
/** Maximum wait (ms) of a Sent-folder copy for a free connection to its IMAP host. */
const COPY_PATIENCE_MS = 5_000;
/**
 * Share of the claim's duration that the network may use. After that time another worker may consider the email
 * abandoned, so this worker sends no further byte.
 */
const SMTP_SHARE = 0.9;

/**
 * Sends one reserved email, or determines the result of an email whose worker has crashed. Repeated calls are safe.
 * @param mailboxId the mailbox that is likely to send it; saves a claim when its mail host is busy
 */
export async function deliverSend(
  ctx: Ctx,
  parts: DeliverParts,
  sendId: string,
  mailboxId: string | null = null,
): Promise<Delivery> {
  // Takes the permit before the claim, so that an email that waits for its mail host is not claimed and can still be
  // released.
  const permit = new HostPermit(parts.smtp, organizationOf(ctx));
  try {
    const host = mailboxId && lastMailHost(mailboxId);
    const refusal = host ? await permit.wait(host) : undefined;
    // Otherwise claims the email without a permit, because it may have been released, or its worker may have crashed.
    if (refusal !== undefined && (await withCostPath('claim', () => waitsForHost(ctx, sendId, host!))))
      return { outcome: 'host_busy', retryInMs: refusal };
    for (;;) {
      const until = performance.now() + ctx.config.SEND_CLAIM_MS * SMTP_SHARE;
      const claim = await withCostPath('claim', () => claimSend(ctx, sendId, (host) => permit.takeNow(host)));
      if (claim.kind === 'access_expired') {
        // If the consent has ended, `ensureAccess` holds the mailbox, and the next claim is refused for it.
        const access = await ensureAccess(ctx, claim.mailboxId);
        if (access.kind === 'unavailable') return { outcome: 'host_busy', retryInMs: access.retryInMs };
        continue;
      }
      if (claim.kind !== 'host_full') return await submitEmail(ctx, parts, permit, claim, until);
      const retryInMs = permit.retryInMs(claim.host) ?? (await permit.wait(claim.host));
      if (retryInMs !== undefined) return { outcome: 'host_busy', retryInMs };
    }
  } finally {
    permit.release('unused');
  }
}

/** Permit of one email for a connection to its mail host (host:port). */
class HostPermit {
  readonly #smtp: SmtpSender;
  readonly #organizationId: string;
  #held: { host: string; permit: Permit } | undefined;
  #refused: { host: string; retryInMs: number } | undefined;

  constructor(smtp: SmtpSender, organizationId: string) {
    this.#smtp = smtp;
    this.#organizationId = organizationId;
  }

  /** Takes a permit if one is free. Returns true if the email then has a permit for this host. */
  takeNow(host: string): boolean {
    if (this.#held?.host === host) return true;
    // The mailbox has moved to another host.
    this.release('unused');
    const permit = this.#smtp.acquireNow(host, this.#organizationId);
    this.#held = permit && { host, permit };
    return permit !== undefined;
  }

  /** Waits briefly for a permit. Returns the time (ms) after which to retry, or undefined with a permit. */
  async wait(host: string): Promise<number | undefined> {
    const answer = await this.#smtp.acquire(host, this.#organizationId);
    if ('retryInMs' in answer) {
      this.#refused = { host, ...answer };
      return answer.retryInMs;
    }
    this.#held = { host, permit: answer };
    return undefined;
  }

  /** Returns the delay (ms) before the next request if the host has refused a permit already, otherwise undefined. */
  retryInMs(host: string): number | undefined {
    return this.#refused?.host === host ? this.#refused.retryInMs : undefined;
  }

  release(result: 'answered' | 'hung' | 'unused'): void {
    this.#held?.permit.release(result);
    this.#held = undefined;
  }
}

/** @param until latest time of network access, on the clock of `performance` */
async function submitEmail(
  ctx: Ctx,
  { smtp, copies }: DeliverParts,
  permit: HostPermit,
  claim: Exclude<Claim, { kind: 'host_full' | 'access_expired' | 'changed' }>,
  until: number,
): Promise<Delivery> {
  if (claim.kind === 'gone') return { outcome: claim.outcome };
  if (claim.kind === 'busy') {
    return {
      outcome: 'busy',
      retryAt: claim.isUnderWay ? Math.min(claim.until, ctx.clock.now().getTime() + RECHECK_MS) : claim.until,
    };
  }
  if (claim.kind === 'abandoned') {
    return {
      outcome: await settleByCopy(
        ctx,
        { sendId: claim.sendId, token: claim.token },
        claim.mailbox,
        claim.messageId,
        message('sent.worker_died'),
      ),
    };
  }
  const pool = `${claim.mailbox.id}/${claim.mailbox.credentials_version}`;
  const outcome = await smtp.send(pool, claim.target, claim.envelope, claim.raw, {
    timeoutMs: Math.max(0, until - performance.now()),
    beforeEnd: () => withCostPath('mark', () => markSubmission(ctx, claim)),
  });
  const answeredAt = ctx.clock.now();
  permit.release(outcome.kind === 'unreachable' || outcome.kind === 'unknown' ? 'hung' : 'answered');
  // Retries as long as this attempt may have the claim. After that, the next attempt determines the result without the
  // server's response.
  const settled = await retryUntilStored(
    ctx,
    () => withCostPath('settle', () => settle(ctx, claim, outcome, answeredAt)),
    {
      forMs: ctx.config.SEND_CLAIM_MS,
      after: () => true,
    },
  );
  if (settled === 'sent' && claim.mailbox.save_to_sent && outcome.kind === 'accepted')
    await saveSentCopy(ctx, copies, claim);
  return { outcome: settled };
}

async function settle(ctx: Ctx, claim: ClaimedSend, outcome: SmtpOutcome, answeredAt: Date): Promise<string> {
  const hold = { sendId: claim.sendId, token: claim.token };
  switch (outcome.kind) {
    case 'accepted': {
      const refused = outcome.rejected.find(({ recipient }) => recipient === claim.recipient);
      // The server accepted the email for the other recipients, so a retry would send it to them twice.
      if (refused && !claim.isDirect) {
        const { code, response } = refused;
        const fault = { kind: 'refused', stage: 'recipient', code, response, permanent: code >= 500 } as const;
        return bounced(ctx, claim, response, refusalVerdict(fault));
      }
      const answer = { response: outcome.response, assignedId: outcome.assignedId ?? null, at: answeredAt };
      const { enrollmentId } = claim;
      if (enrollmentId === null || !(await settleSent(ctx, hold, enrollmentId, claim.facts, answer)))
        await settleDelivered(ctx, hold, 'sent', answer, rejectedBy(outcome.rejected));
      return 'sent';
    }
    case 'withheld':
      return settleWaiting(ctx, hold, outcome.reason, WITHHELD_RETRY_MS);
    case 'unknown':
      return settleByCopy(ctx, hold, claim.mailbox, claim.messageId, outcome.reason);
    case 'unreachable':
    case 'refused':
      return refusedBy(ctx, claim, outcome);
  }
}

/** Converts the recipients that a server refused although it accepted the email for others. */
function rejectedBy(rejected: readonly RejectedRecipient[]): RefusedCopy[] {
  return rejected.map(({ recipient, code, response }) => {
    const fault = { kind: 'refused', stage: 'recipient', code, response, permanent: code >= 500 } as const;
    const { hard, fault: cause } = refusalVerdict(fault);
    return { address: recipient, hard, reason: externalText(response), fault: cause };
  });
}

async function refusedBy(ctx: Ctx, claim: ClaimedSend, outcome: Refused): Promise<string> {
  const verdict = refusalVerdict(outcome);
  const reason = reasonOfFault(outcome);
  const response = outcome.kind === 'refused' ? outcome.response : '';
  const isSignIn = outcome.kind === 'refused' && outcome.stage === 'auth';
  if (isSignIn && claim.mailbox.tokens && (await expireAccess(ctx, claim.mailbox.id)))
    return settleWaiting(ctx, claim, reason, NEW_ACCESS_MS);
  switch (verdict.action) {
    case 'wait':
      return settleWaiting(ctx, claim, reason);
    case 'defer':
      return settleDeferred(ctx, claim, reason);
    case 'hold': {
      const { hold } = verdict;
      if (hold && (await holdForRefusal(ctx, claim, { ...verdict, hold }, reason))) return 'mailbox_held';
      return bounced(ctx, claim, response, verdict);
    }
    case 'bounce':
      return bounced(ctx, claim, response, verdict);
    case 'fail':
      return settleFailed(ctx, claim, 'message_too_large', message('sent.too_large', { reason }));
  }
}

/**
 * Determines the result of an email for which the server's response was lost: sent if the Sent folder has a copy,
 * otherwise uncertain. A missing copy proves nothing, because some servers save copies later and others never. The
 * server cannot be queried by its queue id, because that id was in the lost response.
 */
async function settleByCopy(
  ctx: Ctx,
  hold: { sendId: string; token: string },
  mailbox: SealedMailbox | null,
  messageId: string,
  reason: Message,
): Promise<string> {
  const target = mailbox && copiesOf(ctx, mailbox);
  const found = target
    ? await findInSent(target, messageId, { allowPrivate: ctx.config.ALLOW_PRIVATE_MAIL_HOSTS })
    : 'unknown';
  const state = found === 'found' ? 'sent' : 'uncertain';
  await settleDelivered(ctx, hold, state, { response: null, reason, assignedId: null, at: null });
  return state;
}

/**
 * Returns the IMAP server and account for Sent-folder copies. Returns undefined if the credentials cannot be decrypted,
 * so that the result of the email can still be stored.
 */
function copiesOf(ctx: Ctx, mailbox: SealedMailbox): ImapTarget | undefined {
  try {
    return imapTargetOf(ctx.keyring, mailbox);
  } catch {
    return undefined;
  }
}

async function bounced(ctx: Ctx, claim: ClaimedSend, response: string, { hard, fault }: Verdict): Promise<string> {
  await settleBounced(ctx, claim, response, (tx, row) =>
    recordSendBounce(tx, row, { hard, reason: externalText(response), source: 'smtp', fault }),
  );
  return 'bounced';
}

async function saveSentCopy(ctx: Ctx, copies: TargetLimits | undefined, claim: ClaimedSend): Promise<void> {
  const target = copiesOf(ctx, claim.mailbox);
  if (!target) return;
  const permit = await copies?.acquireSoon(`${target.host}:${target.port}`, organizationOf(ctx), COPY_PATIENCE_MS);
  if (permit && 'retryInMs' in permit) {
    ctx.log.warn(
      { mailboxId: claim.mailbox.id, sendId: claim.sendId },
      'no copy could be kept in the Sent folder: the IMAP host is busy or does not answer',
    );
    return;
  }
  let hung = false;
  try {
    await saveToSent(target, claim.raw, { allowPrivate: ctx.config.ALLOW_PRIVATE_MAIL_HOSTS });
  } catch (error) {
    hung = (error as ImapError).kind === 'unreachable';
    ctx.log.warn(
      { err: error, mailboxId: claim.mailbox.id, sendId: claim.sendId },
      'no copy could be kept in the Sent folder',
    );
  } finally {
    permit?.release(hung ? 'hung' : 'answered');
  }
}
