import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isFromHeron } from '../app/verify.ts';

/** One call of an app_action step, as received by the app. */
export interface AppCall {
  /** Value of X-Service-Event-Id, equal for every attempt of one step run. */
  eventId: string;
  email: string;
  plan: string;
  offerCode: string;
  /** True if the app had already answered this event. */
  repeated: boolean;
}

/** App of the customer: a small HTTP server from which Heron requests an offer for each contact. */
export interface DemoApp {
  url: string;
  /** All calls that the app answered. */
  calls: readonly AppCall[];
  /** Number of requests refused because of a wrong signature. */
  readonly refused: number;
  pings: number;
  /** Sets the secret of the app connection. */
  useSecret(secret: string): void;
  stop(): Promise<void>;
}

const DISCOUNTS: Record<string, number> = { free: 30, starter: 20, pro: 15, enterprise: 10 };

/** Starts the app on a free port. It refuses every request before {@link DemoApp.useSecret}. */
export async function startApp(): Promise<DemoApp> {
  const calls: AppCall[] = [];
  const answered = new Map<string, object>();
  let secret: string | undefined;
  let refused = 0;

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const raw = await readBody(request);
    const header = (name: string): string => String(request.headers[name] ?? '');
    // Verifies first that the request comes from Heron. The signature covers the exact bytes of the body.
    if (!secret || !isFromHeron(header('x-service-signature'), secret, raw)) {
      refused += 1;
      return reply(response, 401, { error: 'bad signature' });
    }
    if (header('x-service-event') === 'app.ping') {
      app.pings += 1;
      return reply(response, 200, {});
    }
    const eventId = header('x-service-event-id');
    const { contact, inputs } = JSON.parse(raw.toString()) as { contact: { email: string }; inputs: { plan: string } };
    // A request may arrive twice with the same event id. The second one gets the same answer.
    const known = answered.get(eventId);
    const offer = known ?? makeOffer(contact.email, inputs.plan);
    answered.set(eventId, offer);
    calls.push({
      eventId,
      email: contact.email,
      plan: inputs.plan,
      offerCode: offerCode(contact.email),
      repeated: known !== undefined,
    });
    reply(response, 200, offer);
  };

  const server = createServer((request, response) => {
    handle(request, response).catch(() => reply(response, 500, { error: 'unexpected' }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const app: DemoApp = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    get refused() {
      return refused;
    },
    pings: 0,
    useSecret: (value) => void (secret = value),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return app;
}

function makeOffer(email: string, plan: string): object {
  return { offer_code: offerCode(email), discount_percent: DISCOUNTS[plan.trim().toLowerCase()] ?? 25, seats: 5 };
}

/** Returns the offer code of an address. It is unique and always the same. */
export function offerCode(email: string): string {
  return `HELLO-${createHash('sha256').update(email).digest('hex').slice(0, 8).toUpperCase()}`;
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
