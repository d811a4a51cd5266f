import type { Envelope, SendOptions, SmtpOutcome, SmtpSender } from '../../lib/smtp/index.ts';

/** A worker that dies in the middle: the promise fails, and nothing more is written. */
export class Crash extends Error {}

/**
 * What one attempt does: an outcome; taking the message but not saying so; dying before the message may end, between that
 * and its end, or after the server has it.
 */
export type Attempt = SmtpOutcome | 'accept' | 'take-unknown' | 'die-before' | 'die-marked' | 'die-after';

export interface FakeSmtp extends SmtpSender {
  /** Every message the server has taken, by its Message-ID. */
  taken: { messageId: string; to: string[]; raw: string }[];
  /** How often a message was offered. */
  offered: number;
  /** Decides what the next attempts do; called while nothing is on its way back yet. */
  next: (envelope: Envelope, options: SendOptions) => Attempt | Promise<Attempt>;
}

/** A sender without a network that keeps the record a mail server would keep. */
export function createFakeSmtp(): FakeSmtp {
  const fake: FakeSmtp = {
    taken: [],
    offered: 0,
    next: () => 'accept',
    acquireNow: () => ({ release: () => {} }),
    acquire: async () => ({ release: () => {} }),
    verify: async () => ({ kind: 'ok' }),
    close: async () => {},
    async send(_pool, _target, envelope, raw, options = {}) {
      fake.offered += 1;
      const attempt = await fake.next(envelope, options);
      if (attempt === 'die-before') throw new Crash('killed before the server had it');
      const ends = typeof attempt !== 'object' || attempt.kind === 'accepted' || attempt.kind === 'unknown';
      if (ends && options.beforeEnd && !(await options.beforeEnd()))
        return { kind: 'withheld', detail: 'not any more' };
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
      if (attempt === 'take-unknown') return { kind: 'unknown', detail: 'no answer' };
      return attempt === 'accept' ? { kind: 'accepted', response: '250 taken', rejected: [] } : attempt;
    },
  };
  return fake;
}
