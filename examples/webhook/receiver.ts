/**
 * Receiver of webhooks, in plain Node: `HERON_WEBHOOK_SECRET=whsec_… node bundle/run.mjs examples/webhook/receiver.ts`.
 * Prints a line for each event. docs/tutorials/first-webhook.md shows how to create its endpoint.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { isFromHeron } from '../app/verify.ts';

const MAX_BODY_BYTES = 1024 * 1024;

interface WebhookEvent {
  id: string;
  event_type: string;
  created_at: string;
  data: Record<string, unknown>;
}

const { HERON_WEBHOOK_SECRET: secret, PORT = '4200' } = process.env;
if (!secret) throw new Error('Set HERON_WEBHOOK_SECRET to the secret of the endpoint');
/** Ids of the events that were handled. A real program would store them in its database. */
const handled = new Set<string>();

createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    () => response.writeHead(400).end(),
  );
}).listen(Number(PORT), '127.0.0.1', () => console.log(`Waiting for webhooks on port ${PORT}`));

/** Handles a delivery. Returns the status of the answer; Heron repeats a delivery that was not answered with 2xx. */
async function receive(request: IncomingMessage): Promise<number> {
  const raw = await readBody(request);
  const signature = request.headers['x-service-signature'] as string | undefined;
  if (!isFromHeron(signature, secret!, raw)) return 401;
  const event = JSON.parse(raw.toString()) as WebhookEvent;
  if (!handled.has(event.id)) console.log(`${event.event_type} ${JSON.stringify(event.data)}`);
  handled.add(event.id);
  return 204;
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
