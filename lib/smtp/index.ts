import { inSpan, noteInSpan } from '../trace.ts';
import type { Permit, TargetLimits } from '../target-limits.ts';
import { HostSessions } from './host-sessions.ts';
import { SmtpFailure, type SmtpFault, type SmtpOutcome, type SmtpTarget } from './outcome.ts';
import { SessionPool } from './pool.ts';
import { SmtpSession, type Envelope, type SessionOptions } from './session.ts';

export type { RejectedRecipient, SmtpFault, SmtpOutcome, SmtpTarget } from './outcome.ts';
export type { Envelope } from './session.ts';

export interface SmtpSenderOptions extends SessionOptions {
  /** Sessions per mailbox at most. */
  maxSessions?: number;
  /** Messages after which a session is replaced. */
  maxMessages?: number;
  /** Idle time (ms) after which a session is closed. */
  idleMs?: number;
  /** Bounds the emails under way, by host; unbounded when not given. */
  limits?: TargetLimits;
  /** Sessions per host at most, over all mailboxes, idle ones and sign-ins for a check included. */
  maxHostSessions?: number;
}

export interface SendOptions {
  /** Time (ms) for everything: waiting for a session, opening it, the message. Nothing is sent after it. */
  timeoutMs?: number;
  /**
   * Asked when the server has all of the message but its end, at once before that is handed over: the one moment after
   * which a repetition could reach the recipient twice. The message ends only when it answers true. May be asked again, when
   * the session was lost in between.
   */
  beforeEnd?: () => Promise<boolean>;
}

/** Sends over pooled sessions, per mailbox. One per process. */
export interface SmtpSender {
  /** Takes a permit for one email with a host (host:port) if there is one now; to be asked before the email is claimed. */
  acquireNow(host: string, tenant: string): Permit | undefined;
  /** As {@link acquireNow}, but waits a moment for a permit; says in how many ms to ask again when there is none. */
  acquire(host: string, tenant: string): Promise<Permit | { retryInMs: number }>;
  /** Signs in and out again, to see whether a mailbox could send. Never throws. */
  verify(target: SmtpTarget): Promise<{ kind: 'ok' } | SmtpFault>;
  /** Sends one message. `pool` names the mailbox and the version of its credentials. Never throws. */
  send(pool: string, target: SmtpTarget, envelope: Envelope, raw: Buffer, options?: SendOptions): Promise<SmtpOutcome>;
  /** Closes idle sessions; messages under way finish. */
  close(): Promise<void>;
}

const VERIFY_MS = 30_000;
/** An email waits this long (ms) in the worker for a permit of a host that answers; then it is retried later. */
const PATIENCE_MS = 500;
const FREE: Permit = { release: () => {} };

/**
 * Makes a sender. nodemailer's own pool puts a message back into its queue when a connection drops, even after the
 * body was sent. A campaign email must not leave twice, so sessions are pooled here and each message is
 * tried once.
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
      try {
        const until = performance.now() + VERIFY_MS;
        (
          await hosts.open(`${target.host}:${target.port}`, until, () => SmtpSession.open(target, options, until))
        ).close();
        return { kind: 'ok' };
      } catch (error) {
        return faultOf(error);
      }
    },
    async send(key, target, envelope, raw, { timeoutMs = Infinity, beforeEnd } = {}) {
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
          noteInSpan({ 'heron.outcome': found.kind });
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

/** The answer of a kept session that the server had closed meanwhile. Nothing was sent, so another session may be tried. */
function isFarewell(outcome: SmtpOutcome): boolean {
  return (
    outcome.kind === 'unreachable' || (outcome.kind === 'refused' && outcome.code === 421 && outcome.stage !== 'data')
  );
}

function faultOf(error: unknown): SmtpFault {
  return error instanceof SmtpFailure
    ? error.outcome
    : { kind: 'unreachable', stage: 'connect', detail: 'The server could not be reached' };
}
