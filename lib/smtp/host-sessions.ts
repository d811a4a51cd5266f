import { setTimeout as sleep } from 'node:timers/promises';
import { message } from '../../messages/index.ts';
import { SmtpFailure } from './outcome.ts';
import type { SmtpSession } from './session.ts';

/** Interval (ms) at which a waiting session checks if its host has a free place. */
const POLL_MS = 50;

/**
 * Counts the sessions of each mail host, over all mailboxes. At the limit, the longest idle session is closed for a new
 * one.
 */
export class HostSessions {
  readonly #max: number;
  readonly #hosts = new Map<string, { sessions: Set<SmtpSession>; opening: number }>();

  /** @param max maximum number of sessions per host */
  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Opens a session to a host once the host has fewer than the maximum number of sessions.
   * @param until deadline (performance.now(), ms) for a place to become free
   * @throws SmtpFailure unreachable when no place becomes free in time, or the error of `open`
   */
  async open(name: string, until: number, open: () => Promise<SmtpSession>): Promise<SmtpSession> {
    const host = this.#hosts.get(name) ?? { sessions: new Set<SmtpSession>(), opening: 0 };
    this.#hosts.set(name, host);
    while (!this.#hasRoom(host)) {
      if (performance.now() > until) {
        throw new SmtpFailure({ kind: 'unreachable', stage: 'session', reason: message('smtp.host_busy') });
      }
      await sleep(POLL_MS);
    }
    host.opening += 1;
    try {
      const session = await open();
      host.sessions.add(session);
      return session;
    } finally {
      host.opening -= 1;
      if (host.opening === 0 && host.sessions.size === 0) this.#hosts.delete(name);
    }
  }

  #hasRoom(host: { sessions: Set<SmtpSession>; opening: number }): boolean {
    for (const session of host.sessions) if (session.closed) host.sessions.delete(session);
    if (host.sessions.size + host.opening < this.#max) return true;
    let idlest: SmtpSession | undefined;
    for (const session of host.sessions) {
      if (session.idleSince !== undefined && session.idleSince < (idlest?.idleSince ?? Infinity)) idlest = session;
    }
    if (!idlest) return false;
    idlest.close();
    host.sessions.delete(idlest);
    return true;
  }
}
