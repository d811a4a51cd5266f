/**
 * A customer's app that answers app_action steps, in plain Node: `HERON_APP_SECRET=ss_app_… node bundle/run.mjs
 * examples/app/app.ts`. It creates a demo link for each contact. Connect it by its URL with POST /v1/app-connections,
 * see docs/guides/check-a-campaign.md.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { pathToFileURL } from 'node:url';
import { isFromHeron } from './verify.ts';

/** Fields of an app.action that this app reads. */
interface Action {
  run_mode: 'live' | 'test';
  contact: { email: string; first_name: string };
  inputs: { topic?: string };
}

const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Starts the app. If an event id is repeated, the app gives its first answer again, because Heron repeats a request
 * whose answer was lost.
 */
export function startApp(secret: () => string, port = 0): Promise<Server> {
  const answers = new Map<string, { demo_url: string; greeting: string }>();
  const server = createServer((request, response) => {
    const reply = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const respond = async () => {
      const raw = await readBody(request);
      const header = (name: string) => request.headers[name] as string | undefined;
      if (!isFromHeron(header('x-service-signature'), secret(), raw))
        return reply(401, { error: 'not signed by Heron' });
      if (header('x-service-event') === 'app.ping') return reply(200, { pong: true });
      const id = header('x-service-event-id')!;
      const { contact, inputs, run_mode: mode } = JSON.parse(raw.toString()) as Action;
      const answer = answers.get(id) ?? {
        demo_url: `https://app.example.com/demo/${mode === 'test' ? 'sandbox-' : ''}${id}`,
        greeting: `Hello ${contact.first_name || contact.email}, ${inputs.topic ?? 'welcome'}`,
      };
      answers.set(id, answer);
      return reply(200, answer);
    };
    respond().catch(() => reply(400, { error: 'not a request of Heron' }));
  });
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw new Error('the body is too large');
  }
  return Buffer.concat(chunks);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const secret = process.env.HERON_APP_SECRET;
  if (!secret) throw new Error('Set HERON_APP_SECRET to the secret of the app connection');
  await startApp(() => secret, Number(process.env.PORT ?? 4100));
}
