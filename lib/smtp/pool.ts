import { message } from '../../messages/index.ts';
import { SmtpFailure } from './outcome.ts';
import type { SmtpSession } from './session.ts';

interface PoolLimits {
  /** Maximum number of sessions, in use or idle. */
  maxSessions: number;
  /** Number of messages after which a session is replaced. */
  maxMessages: number;
  /** Idle time (ms) after which a session is closed. */
  idleMs: number;
}

/**
 * Session pool of one mailbox. At most `maxSessions` sessions are in use or being opened. Waiting calls are served in
 * order.
 */
export class SessionPool {
  readonly #limits: PoolLimits;
  readonly #onEmpty: () => void;
  #idle: { session: SmtpSession; timer: NodeJS.Timeout }[] = [];
  #waiting: (() => void)[] = [];
  #inUse = 0;
  #closed = false;

  /** @param onEmpty called when the pool has no session left */
  constructor(limits: PoolLimits, onEmpty: () => void) {
    this.#limits = limits;
    this.#onEmpty = onEmpty;
  }

  /**
   * Takes an idle session or opens a new one. Return the session with {@link give}.
   * @param until deadline (performance.now(), ms) for getting a session
   * @throws SmtpFailure
   */
  async take(open: () => Promise<SmtpSession>, until: number): Promise<{ session: SmtpSession; kept: boolean }> {
    await this.#acquire(until);
    for (let entry = this.#idle.pop(); entry; entry = this.#idle.pop()) {
      clearTimeout(entry.timer);
      if (entry.session.closed) continue;
      entry.session.idleSince = undefined;
      return { session: entry.session, kept: true };
    }
    try {
      return { session: await open(), kept: false };
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  /** Takes a session back and keeps it for the next message if it is usable. */
  async give(session: SmtpSession, afterRefusal: boolean): Promise<void> {
    const fit =
      !session.closed && session.messages < this.#limits.maxMessages && (!afterRefusal || (await session.reset()));
    if (!fit || this.#closed) session.close();
    else this.#keep(session);
    this.#release();
  }

  /** Closes idle sessions. Sessions in use are closed when they are returned. */
  close(): void {
    this.#closed = true;
    for (const { session, timer } of this.#idle.splice(0)) {
      clearTimeout(timer);
      session.close();
    }
  }

  #keep(session: SmtpSession): void {
    const timer = setTimeout(() => {
      this.#idle = this.#idle.filter((entry) => entry.session !== session);
      session.close();
      this.#notifyIfEmpty();
    }, this.#limits.idleMs);
    timer.unref();
    session.idleSince = performance.now();
    this.#idle.push({ session, timer });
  }

  #acquire(until: number): Promise<void> {
    if (this.#inUse < this.#limits.maxSessions) {
      this.#inUse += 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const late = () => {
        this.#waiting = this.#waiting.filter((waiter) => waiter !== turn);
        reject(
          new SmtpFailure({
            kind: 'unreachable',
            stage: 'session',
            reason: message('smtp.mailbox_busy'),
          }),
        );
      };
      const left = until - performance.now();
      const timer = Number.isFinite(left) ? setTimeout(late, Math.max(0, left)) : undefined;
      const turn = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.push(turn);
    });
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next) return next();
    this.#inUse -= 1;
    this.#notifyIfEmpty();
  }

  #notifyIfEmpty(): void {
    if (this.#inUse === 0 && this.#idle.length === 0) this.#onEmpty();
  }
}
