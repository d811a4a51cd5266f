import { notFound } from '../../lib/errors.ts';
import { ImapError, verifyImap } from '../../lib/imap/index.ts';
import { reasonOfFault, type SmtpSender, type SmtpTarget } from '../../lib/smtp/index.ts';
import type { MailboxCheckResult, SideResult } from '../../workflows/mailbox-check/contract.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader } from '../platform/kernel/transact.ts';
import { type CheckRequest } from './check.ts';
import { SEAL_PLACES } from '../../lib/seal-places.ts';
import { withTimeout } from '../../lib/with-timeout.ts';
import { message } from '../../messages/index.ts';

/** Timeout (ms) per server. */
const SIDE_MS = 20_000;

/**
 * Runs a check in the worker: decrypts the request and signs in to both servers in parallel.
 * @throws AppError not_found when the request is deleted or too old
 */
export async function performCheck(ctx: Ctx, smtp: SmtpSender, checkId: string): Promise<MailboxCheckResult> {
  const row = await reader(ctx)
    .table('mailbox_checks')
    .where({ id: checkId })
    .where('expires_at', '>', ctx.clock.now())
    .first('request');
  if (!row) throw notFound('mailbox_check');
  const request = JSON.parse(
    ctx.keyring.open(row.request, SEAL_PLACES.mailboxCheck(checkId)).toString('utf8'),
  ) as CheckRequest;
  const [sending, reading] = await Promise.all([
    request.smtp ? inTime(dialSmtp(smtp, request.smtp)) : null,
    request.imap ? inTime(dialImap(request.imap, ctx.config.ALLOW_PRIVATE_MAIL_HOSTS)) : null,
  ]);
  return { smtp: sending, imap: reading };
}

/** Limits the time for one server, so that a slow one does not delay the other's result. */
async function inTime(dial: Promise<SideResult>): Promise<SideResult> {
  return withTimeout(dial, SIDE_MS, () => ({
    ok: false,
    stage: 'connect',
    message: message('mailboxes.no_answer_in_time'),
  }));
}

async function dialSmtp(smtp: SmtpSender, target: SmtpTarget): Promise<SideResult> {
  const outcome = await smtp.verify(target);
  switch (outcome.kind) {
    case 'ok':
      return { ok: true, ...(outcome.maxBytes === null ? {} : { maxBytes: outcome.maxBytes }) };
    case 'refused': {
      const stage = outcome.stage === 'auth' || outcome.stage === 'tls' ? outcome.stage : 'greeting';
      return { ok: false, stage, message: reasonOfFault(outcome) };
    }
    case 'unreachable':
      return { ok: false, stage: outcome.stage, message: outcome.reason };
    case 'unknown':
      return { ok: false, stage: 'session', message: message('mailboxes.unreachable_session') };
  }
}

async function dialImap(target: CheckRequest['imap'] & object, allowPrivate: boolean): Promise<SideResult> {
  try {
    const lacks = await verifyImap(target, { allowPrivate });
    return { ok: true, ...(lacks.length > 0 ? { lacks } : {}) };
  } catch (error) {
    if (!(error instanceof ImapError)) throw error;
    if (error.needs) {
      const stage = error.needs === 'select' ? 'session' : 'reading';
      return { ok: false, stage, message: error.said };
    }
    // Does not show the text that a server sent if the server does not speak IMAP.
    const said = error.kind === 'protocol' ? message('mailboxes.not_understood') : error.said;
    return { ok: false, stage: error.stage, message: said };
  }
}
