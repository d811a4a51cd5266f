/** Stub of Make: custom webhooks of scenarios. From help.make.com: webhooks, their limits and answers. */
import { Answer, startDouble, type Double } from '../server.ts';
import { takeWebhook, type TakenWebhook } from '../webhooks.ts';

interface MakeDouble extends Double {
  hookUrl: string;
  taken: TakenWebhook[];
  /** Turns the scenario off, so that the URL accepts no webhook. */
  remove(): void;
}

/** Starts the stub of Make with one scenario. */
export async function startMake(port?: number): Promise<MakeDouble> {
  const taken: TakenWebhook[] = [];
  let isThere = true;
  const hook = 'q1w2e3r4t5y6u7i8o9p0asdfghjklzxc';
  const double = await startDouble(
    {
      rate: { requests: 300, perMs: 10_000 },
      limited: (seconds) => new Answer(429, 'Too many requests', { 'retry-after': String(seconds) }),
      broken: () => new Answer(500, 'Scenario failed to complete.'),
      routes: {
        'POST /:hook': (heard) => {
          if (!isThere || heard.params.hook !== hook)
            throw new Answer(410, 'There is no scenario listening for this webhook.');
          takeWebhook(heard, taken, () => new Answer(400, 'Unable to parse the body'));
          return new Answer(200, 'Accepted');
        },
      },
    },
    port,
  );
  return Object.assign(double, { hookUrl: `${double.url}/${hook}`, taken, remove: () => void (isThere = false) });
}
