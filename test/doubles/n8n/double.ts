/** Stub of n8n: webhook nodes of workflows on a user's own server. From docs.n8n.io: Webhook node. */
import { Answer, startDouble, type Double } from '../server.ts';
import { takeWebhook, type TakenWebhook } from '../webhooks.ts';

export interface N8nDouble extends Double {
  hookUrl: string;
  taken: TakenWebhook[];
  /** Turns the workflow off, which unregisters its webhook. */
  remove(): void;
}

/** Starts the stub of n8n with one active workflow. */
export async function startN8n(port?: number): Promise<N8nDouble> {
  const taken: TakenWebhook[] = [];
  let isThere = true;
  const id = '4a2c6f0e-5d3b-4c1a-9e8f-7b6d5c4e3f2a';
  const double = await startDouble(
    {
      limited: (seconds) => new Answer(429, { message: 'Too many requests' }, { 'retry-after': String(seconds) }),
      broken: () => new Answer(500, { code: 0, message: 'Workflow could not be started!' }),
      routes: {
        'POST /webhook/:id': (heard) => {
          if (!isThere || heard.params.id !== id)
            throw new Answer(404, {
              code: 404,
              message: `The requested webhook "POST ${heard.params.id}" is not registered.`,
              hint: 'The workflow must be active for a production URL to run successfully.',
            });
          takeWebhook(heard, taken, () => new Answer(422, { code: 422, message: 'Failed to parse request body' }));
          return { message: 'Workflow was started' };
        },
      },
    },
    port,
  );
  return Object.assign(double, { hookUrl: `${double.url}/webhook/${id}`, taken, remove: () => void (isThere = false) });
}
