import { AppError, type Problem } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { ImapTarget } from '../../lib/imap/index.ts';
import type { SmtpTarget } from '../../lib/smtp/index.ts';
import {
  mailboxCheckWorkflow,
  type CheckStage,
  type MailboxCheckResult,
  type SideResult,
} from '../../workflows/mailbox-check/contract.ts';
import { organizationOf, type Ctx } from '../platform/kernel/context.ts';
import { transact, type Tx } from '../platform/kernel/transact.ts';
import { warnMailbox } from '../sending/control/mailbox-hold.ts';
import { SEAL_PLACES } from '../../lib/seal-places.ts';
import { message, type Message } from '../../messages/index.ts';

/** Servers to check, with the passwords. They are stored encrypted, and only during the check. */
export interface CheckRequest {
  smtp: SmtpTarget | null;
  imap: ImapTarget | null;
}

/** Time (ms) after which an encrypted request expires, even if its row was not deleted. */
const REQUEST_MS = 120_000;
/** Maximum time (ms) that a caller waits for the worker's result. */
const WAIT_MS = 45_000;

/**
 * Lets a worker sign in to the servers. The credentials are encrypted in a row that is always deleted afterwards;
 * Temporal gets only the row's id. Must run outside the caller's transaction, because the worker reads the row.
 * @throws AppError mailbox_worker_unreachable when no worker is alive; service_unavailable when it does not answer in
 * time
 */
export async function dialServers(ctx: Ctx, request: CheckRequest): Promise<MailboxCheckResult> {
  const checkId = newId();
  await assertWorkers(ctx);
  await transact(ctx, async (tx) => {
    await tx.org.table('mailbox_checks').where('expires_at', '<=', tx.now).delete();
    await tx.org.insert('mailbox_checks', {
      id: checkId,
      request: ctx.keyring.seal(JSON.stringify(request), SEAL_PLACES.mailboxCheck(checkId)),
      created_at: tx.now,
      expires_at: new Date(tx.now.getTime() + REQUEST_MS),
    });
  });
  try {
    return await ctx.workflows.execute(mailboxCheckWorkflow, { organizationId: organizationOf(ctx), checkId }, WAIT_MS);
  } finally {
    await transact(ctx, (tx) => tx.org.table('mailbox_checks').where({ id: checkId }).delete());
  }
}

/** Throws an error immediately if no worker is alive, so that the client does not have to wait for the timeout. */
async function assertWorkers(ctx: Ctx): Promise<void> {
  let cause: unknown;
  try {
    const { unserved } = await ctx.workflows.health();
    if (!unserved.includes('workflows') && !unserved.includes('interactive')) return;
  } catch (error) {
    cause = error;
  }
  throw new AppError('mailbox_worker_unreachable', message('mailboxes.check_silent'), {
    fix: message('workers.silent.fix'),
    cause,
  });
}

/** Field of a mail service to which a failure at each stage refers. */
const FIELD: Record<CheckStage, string> = {
  dns: 'host',
  connect: 'host',
  greeting: 'host',
  tls: 'security',
  auth: 'password',
  session: 'username',
  reading: 'host',
};

/** Converts a failed check to problems of the request body. */
function problemsOf(result: MailboxCheckResult): Problem[] {
  const of = (side: 'smtp' | 'imap', outcome: SideResult): Problem[] =>
    outcome && !outcome.ok
      ? [
          {
            path: `body.${side}.${FIELD[outcome.stage]}`,
            message: message(`mailboxes.${side}_said`, { stage: outcome.stage, reason: outcome.message as Message }),
          },
        ]
      : [];
  return [...of('smtp', result.smtp), ...of('imap', result.imap)];
}

/** Facts about a mailbox's servers that a successful check finds. */
export interface ServerFacts {
  /** Optional capabilities that the IMAP server lacks, by their protocol names. */
  lacks: string[];
  /**
   * Size (bytes) of the largest message that the SMTP server accepts. Null if the server announces no limit, and
   * undefined if it was not checked.
   */
  smtpMaxBytes: number | null | undefined;
}

/** Maximum size (bytes) that can be stored. A higher limit is stored as no limit, because no email is that large. */
const MAX_STORED_BYTES = 2 ** 31 - 1;

/**
 * Checks the servers before anything is stored (POST /emails). Returns facts about the servers, which the caller stores
 * with {@link recordFacts}.
 * @throws AppError mailbox_auth_failed listing side and stage; also errors as in {@link dialServers}
 */
export async function assertServersWork(ctx: Ctx, request: CheckRequest): Promise<ServerFacts> {
  const result = await dialServers(ctx, request);
  const problems = problemsOf(result);
  if (problems.length === 0) return factsIn(result);
  throw new AppError('mailbox_auth_failed', message('mailboxes.settings_refused'), {
    problems,
    fix: message('mailboxes.settings_refused.fix'),
  });
}

/** Returns the facts that a check has found. */
export function factsIn({ smtp, imap }: MailboxCheckResult): ServerFacts {
  return { lacks: imap?.ok ? (imap.lacks ?? []) : [], smtpMaxBytes: smtp?.ok ? (smtp.maxBytes ?? null) : undefined };
}

/** Stores the facts about a mailbox's servers in its row. */
export async function recordFacts(tx: Tx, mailboxId: string, { lacks, smtpMaxBytes }: ServerFacts): Promise<void> {
  if (smtpMaxBytes !== undefined) {
    const stored = smtpMaxBytes !== null && smtpMaxBytes <= MAX_STORED_BYTES ? smtpMaxBytes : null;
    await tx.org.table('mailboxes').where({ id: mailboxId }).update({ smtp_max_bytes: stored });
  }
  if (lacks.length > 0) await warnMailbox(tx, mailboxId, 'imap_lacks', message('mailboxes.imap_lacks', { lacks }));
}
