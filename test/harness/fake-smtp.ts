import type { Envelope, SendOptions, SmtpOutcome, SmtpSender } from '../../lib/smtp/index.ts';
import { message } from '../../messages/index.ts';

/** Thrown to simulate a worker that dies: the attempt rejects, and nothing more is written. */
export class Crash extends Error {}

/**
 * Result of one attempt: an outcome; accepted, with or without confirmation; or a worker that dies before the mark,
 * after it, or after the server's acceptance.
 */
export type Attempt = SmtpOutcome | 'accept' | 'take-unknown' | 'die-before' | 'die-marked' | 'die-after';

export interface FakeSmtp extends SmtpSender {
  /** Accepted messages with their Message-IDs. */
  taken: { messageId: string; to: string[]; raw: string }[];
  /** Number of messages that were offered to the server. */
  offered: number;
  /** Decides the result of each attempt; called when a message is offered. */
  next: (envelope: Envelope, options: SendOptions) => Attempt | Promise<Attempt>;
}

/** Creates a sender that uses no network. It records messages like a mail server. */
export function createFakeSmtp(): FakeSmtp {
  const fake: FakeSmtp = {
    taken: [],
    offered: 0,
    next: () => 'accept',
    acquireNow: () => ({ release: () => {} }),
    acquire: async () => ({ release: () => {} }),
    verify: async () => ({ kind: 'ok', maxBytes: null }),
    close: async () => {},
    async send(_pool, _target, envelope, raw, options = {}) {
      fake.offered += 1;
      const attempt = await fake.next(envelope, options);
      if (attempt === 'die-before') throw new Crash('killed before the server had it');
      const ends = typeof attempt !== 'object' || attempt.kind === 'accepted' || attempt.kind === 'unknown';
      if (ends && options.beforeEnd && !(await options.beforeEnd()))
        return { kind: 'withheld', reason: message('smtp.not_allowed_to_end') };
      if (attempt === 'die-marked') throw new Crash('killed before the server had the end');
      const takes =
        attempt === 'accept' ||
        attempt === 'take-unknown' ||
        attempt === 'die-after' ||
        (typeof attempt === 'object' && attempt.kind === 'accepted');
      const text = raw.toString('utf8');
      if (takes)
        fake.taken.push({ messageId: /^message-id:\s*(<[^>]+>)/im.exec(text)?.[1] ?? '', to: envelope.to, raw: text });
      if (attempt === 'die-after') throw new Crash('killed after the server had it');
      if (attempt === 'take-unknown') return { kind: 'unknown', reason: message('smtp.broke_after_message') };
      return attempt === 'accept' ? { kind: 'accepted', response: '250 taken', rejected: [] } : attempt;
    },
  };
  return fake;
}
