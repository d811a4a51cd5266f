import { message } from '../../messages/index.ts';
import { inSpan, addSpanAttributes } from '../trace.ts';
import type { Permit, TargetLimits } from '../target-limits.ts';
import { HostSessions } from './host-sessions.ts';
import { SmtpFailure, TEST_HOST, UNREACHABLE, type SmtpFault, type SmtpOutcome, type SmtpTarget } from './outcome.ts';
import { SessionPool } from './pool.ts';
import { SmtpSession, type Envelope, type SessionOptions } from './session.ts';

export { reasonOfFault, TEST_HOST } from './outcome.ts';
export type { RejectedRecipient, SmtpFault, SmtpOutcome, SmtpTarget } from './outcome.ts';
export type { Envelope } from './session.ts';

export interface SmtpSenderOptions extends SessionOptions {
  /** Maximum number of sessions per mailbox. */
  maxSessions?: number;
  /** Number of messages after which a session is replaced. */
  maxMessages?: number;
  /** Idle time (ms) after which a session is closed. */
  idleMs?: number;
  /** Limits the emails in progress per host. Without it they are unlimited. */
  limits?: TargetLimits;
  /** Maximum number of sessions per host, over all mailboxes. Includes idle sessions and sign-ins of checks. */
  maxHostSessions?: number;
}

export interface SendOptions {
  /**
   * Time limit (ms) for waiting for a session, opening it and sending the message together. After this time no byte is
   * sent.
   */
  timeoutMs?: number;
  /**
   * Called when the server has the whole message except its end, directly before the end is sent. The end is sent only
   * if the callback returns true. Before the end is sent, the message may be sent again without being delivered twice.
   * If the session breaks before that, the callback may be called again.
   */
  beforeEnd?: () => Promise<boolean>;
}

/** Sends emails over SMTP sessions, which it pools per mailbox. Create one per process. */
export interface SmtpSender {
  /** Takes a permit for one email to a host (host:port) if one is free. Call it before the email is claimed. */
  acquireNow(host: string, tenant: string): Permit | undefined;
  /**
   * Variant of {@link acquireNow} that waits briefly for a permit. Without a permit it returns the time (ms) after
   * which to retry.
   */
  acquire(host: string, tenant: string): Promise<Permit | { retryInMs: number }>;
  /**
   * Signs in and out again, to check if a mailbox can send. `maxBytes` is the maximum size of a message that the server
   * accepts; null if it states no limit. Never throws.
   */
  verify(target: SmtpTarget): Promise<{ kind: 'ok'; maxBytes: number | null } | SmtpFault>;
  /** Sends one message. `pool` identifies the mailbox and the version of its credentials. Never throws. */
  send(pool: string, target: SmtpTarget, envelope: Envelope, raw: Buffer, options?: SendOptions): Promise<SmtpOutcome>;
  /** Closes idle sessions. Messages in progress finish. */
  close(): Promise<void>;
}

const VERIFY_MS = 30_000;
/**
 * Maximum time (ms) that an email waits in the worker for a permit of a responsive host. After that the email is
 * retried later.
 */
const PATIENCE_MS = 500;
const FREE: Permit = { release: () => {} };
const DISCARDED = '250 2.0.0 Accepted in a test workspace, and not sent';

/**
 * Creates a sender. nodemailer's own pool re-queues a message when a connection drops, even after the body was sent. A
 * campaign email must not be sent twice, so this sender pools sessions itself and tries each message once.
 */
export function createSmtpSender(options: SmtpSenderOptions): SmtpSender {
  const { maxSessions = 4, maxMessages = 100, idleMs = 8_000, limits } = options;
  const hosts = new HostSessions(options.maxHostSessions ?? Infinity);
  const pools = new Map<string, SessionPool>();
  let closed = false;

  const poolOf = (key: string): SessionPool => {
    let pool = pools.get(key);
    if (!pool) {
      pool = new SessionPool({ maxSessions, maxMessages, idleMs }, () => pools.delete(key));
      if (closed) pool.close();
      pools.set(key, pool);
    }
    return pool;
  };

  return {
    acquireNow: (host, tenant) => (limits ? limits.acquireNow(host, tenant) : FREE),
    acquire: async (host, tenant) => limits?.acquireSoon(host, tenant, PATIENCE_MS) ?? FREE,
    async verify(target) {
      if (target.host === TEST_HOST) return { kind: 'ok', maxBytes: null };
      try {
        const until = performance.now() + VERIFY_MS;
        const session = await hosts.open(`${target.host}:${target.port}`, until, () =>
          SmtpSession.open(target, options, until),
        );
        const { maxBytes } = session;
        session.close();
        return { kind: 'ok', maxBytes };
      } catch (error) {
        return faultOf(error);
      }
    },
    async send(key, target, envelope, raw, { timeoutMs = Infinity, beforeEnd } = {}) {
      if (target.host === TEST_HOST) return discarded(beforeEnd);
      const until = performance.now() + timeoutMs;
      for (;;) {
        const pool = poolOf(key);
        let taken;
        try {
          taken = await pool.take(
            () => hosts.open(`${target.host}:${target.port}`, until, () => SmtpSession.open(target, options, until)),
            until,
          );
        } catch (error) {
          return faultOf(error);
        }
        const { session } = taken;
        const outcome = await inSpan('smtp send', { kind: 'client' }, async () => {
          const found = await session.send(envelope, raw, until, beforeEnd);
          addSpanAttributes({ 'heron.outcome': found.kind });
          return found;
        });
        void pool.give(taken.session, outcome.kind === 'refused');
        if (taken.kept && isFarewell(outcome) && performance.now() < until) continue;
        return outcome;
      }
    },
    async close() {
      closed = true;
      for (const pool of pools.values()) pool.close();
    },
  };
}

/**
 * Returns true if the outcome shows that the server had closed the pooled session before the message was sent. The
 * caller may then try another session.
 */
function isFarewell(outcome: SmtpOutcome): boolean {
  return (
    outcome.kind === 'unreachable' || (outcome.kind === 'refused' && outcome.code === 421 && outcome.stage !== 'data')
  );
}

/**
 * Returns the outcome of an email to a test server, which is discarded. As with any email, the caller may withhold it.
 */
async function discarded(beforeEnd: SendOptions['beforeEnd']): Promise<SmtpOutcome> {
  try {
    if (beforeEnd && !(await beforeEnd())) return { kind: 'withheld', reason: message('smtp.not_allowed_to_end') };
  } catch {
    return { kind: 'withheld', reason: message('smtp.end_not_decided') };
  }
  return { kind: 'accepted', response: DISCARDED, rejected: [] };
}

function faultOf(error: unknown): SmtpFault {
  return error instanceof SmtpFailure ? error.outcome : UNREACHABLE;
}
