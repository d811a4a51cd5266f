/** Stub of Zapier: catch hooks of Zaps. From help.zapier.com and docs.zapier.com: webhooks by Zapier, rate limits. */
import { randomUUID } from 'node:crypto';
import { Answer, startDouble, type Double } from '../server.ts';
import { takeWebhook, type TakenWebhook } from '../webhooks.ts';

interface ZapierDouble extends Double {
  /** URL that a person copies from the Zap, with the stub's path. */
  hookUrl: string;
  taken: TakenWebhook[];
  /** Deletes the Zap: its hook answers 410. */
  remove(): void;
}

/** Starts the stub of Zapier with one Zap. */
export async function startZapier(port?: number): Promise<ZapierDouble> {
  const taken: TakenWebhook[] = [];
  let isThere = true;
  const double = await startDouble(
    {
      rate: { requests: 1_000, perMs: 300_000 },
      limited: (seconds) =>
        new Answer(429, { status: 'error', message: 'Too many requests' }, { 'retry-after': String(seconds) }),
      broken: () => new Answer(500, { status: 'error' }),
      routes: {
        'POST /hooks/catch/:account/:hook/': (heard) => {
          if (!isThere || heard.params.hook !== 'abc123')
            throw new Answer(410, { status: 'error', message: 'please unsubscribe me' });
          takeWebhook(heard, taken, () => new Answer(400, { status: 'error', message: 'Malformed JSON' }));
          const id = randomUUID();
          return { attempt: id, id, request_id: id, status: 'success' };
        },
      },
    },
    port,
  );
  return Object.assign(double, {
    hookUrl: 'https://hooks.zapier.com/hooks/catch/12345/abc123/',
    taken,
    remove: () => void (isThere = false),
  });
}
