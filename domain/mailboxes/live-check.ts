import type { MailboxRow } from '../../db/models/mailbox.ts';
import { AppError } from '../../lib/errors.ts';
import type { MailboxCheckResult, SideResult } from '../../workflows/mailbox-check/contract.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../platform/kernel/transact.ts';
import { readSignIn } from './sign-in.ts';
import { dialServers, factsIn, recordFacts } from './check.ts';
import { fixOfHold } from '../sending/control/hold-codes.ts';
import { AUTH_HOLD_MS, clearHold, holdMailbox } from '../sending/control/mailbox-hold.ts';
import {
  findSendingCampaigns,
  findMailboxErrors,
  findMailbox,
  holdOf,
  statusMessage,
  type MailboxError,
  type SendingCampaign,
} from './read.ts';
import { notifySync } from './sync-state.ts';
import { message, type Message } from '../../messages/index.ts';
import type { StoredIssue } from '../../db/json-columns.ts';

/** Result of a check with the stored credentials of a mailbox. */
export interface LiveCheck {
  mailbox: MailboxRow;
  smtp: boolean;
  imap: boolean;
  /** True if neither server refused the credentials. */
  auth: boolean;
  healthy: boolean;
  /** `held` for an active mailbox with a hold, otherwise the mailbox's status. */
  sendingStatus: string;
  campaigns: SendingCampaign[];
  recentErrors: MailboxError[];
  error: StoredIssue | null;
}

/**
 * Signs in with the stored credentials, for {@link liveCheck}. Runs before the transaction. Returns null if no worker
 * could run the check.
 * @throws AppError not_found
 */
export async function dialMailbox(ctx: Ctx, id: string): Promise<MailboxCheckResult | null> {
  const mailbox = await findMailbox(reader(ctx), id);
  const signIn = await readSignIn(ctx, mailbox);
  if (signIn.kind === 'refused') {
    const refused = { ok: false, stage: 'auth', message: signIn.reason } as const;
    return { smtp: refused, imap: mailbox.imap && refused };
  }
  if (signIn.kind === 'unavailable') {
    const away = { ok: false, stage: 'connect', message: message('mailboxes.no_access_token') } as const;
    return { smtp: away, imap: mailbox.imap && away };
  }
  try {
    return await dialServers(ctx, { smtp: signIn.smtp, imap: signIn.imap });
  } catch (error) {
    if (error instanceof AppError && error.status === 503) return null;
    throw error;
  }
}

/**
 * Returns a checklist of the servers' results. Holds the mailbox if a server refused the credentials, and ends such a
 * hold if they work.
 */
export async function liveCheck(ctx: Ctx, id: string, dialed: MailboxCheckResult | null): Promise<LiveCheck> {
  return transact(ctx, async (tx) => {
    // Does not hold a mailbox whose consent has ended: it is already held until a person consents again.
    const before = await findMailbox(tx.org, id);
    if (dialed && before.hold_code !== 'consent_ended') {
      const until = new Date(tx.now.getTime() + AUTH_HOLD_MS);
      if (isRefused(dialed.smtp))
        await holdMailbox(tx, id, { code: 'auth_failed', reason: dialed.smtp.message as Message, until });
      else if (dialed.smtp?.ok) await clearHold(tx, id, 'auth_failed');
      if (isRefused(dialed.imap))
        await holdMailbox(tx, id, { code: 'imap_auth_failed', reason: dialed.imap.message as Message, until });
      else if (dialed.imap?.ok) await readNow(tx, id);
      await recordFacts(tx, id, factsIn(dialed));
    }
    const mailbox = await findMailbox(tx.org, id);
    const smtp = dialed?.smtp?.ok ?? false;
    const imap = dialed !== null && (dialed.imap?.ok ?? mailbox.imap === null);
    const hold = holdOf(mailbox);
    const held = hold !== null && (hold.until === null || hold.until > tx.now);
    const error = issueOf(mailbox, dialed, held);
    return {
      mailbox,
      smtp,
      imap,
      auth: dialed !== null && !isRefused(dialed.smtp) && !isRefused(dialed.imap),
      healthy: smtp && imap && error === null,
      sendingStatus: mailbox.status === 'active' && held ? 'held' : mailbox.status,
      campaigns: await findSendingCampaigns(tx.org, id),
      recentErrors: await findMailboxErrors(tx.org, id),
      error,
    };
  });
}

/**
 * Lets a worker read a mailbox immediately, because the sign-in works. Resets its failures and the time of its next
 * retry.
 */
async function readNow(tx: Tx, id: string): Promise<void> {
  await clearHold(tx, id, 'imap_auth_failed');
  await tx.org.table('mailbox_sync').where({ mailbox_id: id }).update({ retry_at: null, failures: 0 });
  notifySync(tx);
}

type Refusal = Extract<SideResult, { ok: false }>;

function isFailed(side: SideResult): side is Refusal {
  return side !== null && !side.ok;
}

function isRefused(side: SideResult): side is Refusal {
  return isFailed(side) && side.stage === 'auth';
}

function issueOf(mailbox: MailboxRow, dialed: MailboxCheckResult | null, held: boolean): StoredIssue | null {
  if (!dialed) {
    return {
      code: 'mailbox_unhealthy',
      message: message('mailboxes.check_silent'),
      fix: message('workers.silent.fix'),
    };
  }
  const sides = { smtp: dialed.smtp, imap: dialed.imap };
  const said = (filter: (side: SideResult) => side is Refusal): Message => {
    const [first, second] = (['smtp', 'imap'] as const).flatMap((name) => {
      const side = sides[name];
      return filter(side)
        ? [message(`mailboxes.${name}_said`, { stage: side.stage, reason: side.message as Message })]
        : [];
    });
    return second ? message('mailboxes.both_said', { first: first!, second }) : first!;
  };
  if (Object.values(sides).some(isRefused)) {
    return {
      code: 'mailbox_auth_failed',
      message: said(isRefused),
      fix: message('hold.sign_in.fix'),
    };
  }
  if (Object.values(sides).some(isFailed)) {
    return {
      code: 'mailbox_unhealthy',
      message: said(isFailed),
      fix: message('mailboxes.check_server.fix'),
    };
  }
  if (mailbox.status !== 'active') {
    return {
      code: 'mailbox_unhealthy',
      message: statusMessage(mailbox.status),
      fix: message('mailboxes.switch_on.fix'),
    };
  }
  if (held) {
    const { code, reason } = holdOf(mailbox)!;
    return { code: 'mailbox_unhealthy', message: message('mailboxes.is_held', { reason }), fix: fixOfHold(code) };
  }
  return null;
}
