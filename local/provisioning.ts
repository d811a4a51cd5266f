/**
 * Sandbox of a company that rents out mailboxes and registers domains: a real HTTP server with the protocol of
 * docs/guides/mailbox-orders.md. It checks signatures, supports idempotency keys, and can simulate faults. For tests
 * and for trying orders locally: `node bundle/run.mjs local/provisioning.ts`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { newSecret } from '../lib/crypto.ts';
import { verifySignature } from '../lib/signature.ts';

/**
 * Simulated fault of the provider for matching requests. `slow`: answers after `ms`. `fail`: 503 before acting. `half`:
 * acts and answers 500. `lost`: acts and closes the connection without an answer. `twice`: handles and answers the
 * request twice. `late`: acts after `ms`, possibly after the caller's timeout. `refuse`: 422 with the code.
 */
export interface Behaviour {
  does: 'slow' | 'fail' | 'half' | 'lost' | 'twice' | 'late' | 'refuse';
  /** Prefix of the operation, such as `mailboxes/create`. Defaults to any operation. */
  operation?: string;
  /** Text that the idempotency key must contain. Defaults to any key. */
  key?: string;
  ms?: number;
  code?: string;
  /** Number of requests to which the fault applies. Defaults to 1. */
  times?: number;
}

/** Completed operation, once for each key. */
interface Effect {
  operation: string;
  key: string;
  /** Name of the domain or mailbox or, for an undo, the key of the undone operation. */
  about: string;
}

/** Running sandbox. */
export interface ProvisioningSandbox {
  /** Settings with which Heron orders from this sandbox. */
  env: { PROVISIONING_URL: string; PROVISIONING_SECRET: string };
  /** Adds simulated faults. The first one that matches a request applies. */
  behave(...behaviours: Behaviour[]): void;
  /** All completed operations, in order. */
  readonly effects: readonly Effect[];
  /** Handled requests, as `operation key`. */
  readonly requests: readonly string[];
  /** Protocol violations by callers: unsigned requests, and keys used for two operations. */
  readonly violations: readonly string[];
  /** Returns mailboxes and domains that exist and cost money. */
  alive(): { mailboxes: string[]; domains: string[] };
  /** Domains registered by other owners. */
  readonly foreign: Set<string>;
  /** Mail servers of newly ordered mailboxes. Defaults to a server that does not exist. */
  mailServers: Record<'smtp' | 'imap', { host: string; port: number; security: 'tls' | 'starttls' | 'none' }>;
  /** Calls the listener for every new mailbox, so that a mail server can register its password. */
  onMailbox(listener: (mailbox: { email: string; password: string }) => void): void;
  /** Resolves when no request is being handled. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

type Body = Record<string, any>;
interface Answer {
  status: number;
  body: Body;
}
const YEAR_MS = 365 * 86_400_000;
const PRICES = { google: [350, 200], microsoft: [300, 200] } as const;
const CENTS = { registration_cents: 1_200, renewal_cents: 1_400, currency: 'usd' };

/** Starts a sandbox on 127.0.0.1. */
export async function startProvisioning(
  options: { port?: number; secret?: string; now?: () => Date } = {},
): Promise<ProvisioningSandbox> {
  const { secret = newSecret('provisioning-'), now = () => new Date() } = options;
  const state = new Provider(now);
  const behaviours: (Behaviour & { left: number })[] = [];
  const listeners: ((mailbox: { email: string; password: string }) => void)[] = [];
  const mailServers: ProvisioningSandbox['mailServers'] = {
    smtp: { host: '127.0.0.1', port: 1, security: 'none' },
    imap: { host: '127.0.0.1', port: 1, security: 'none' },
  };
  let open = 0;

  const take = (operation: string, key: string, raw: string): Answer =>
    state.take(operation, key, raw, mailServers, listeners);
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const raw = await bodyOf(request);
    const operation = (request.url ?? '').slice(1);
    const header = request.headers['x-service-signature'];
    const key = String(request.headers['idempotency-key'] ?? '');
    const signed = verifySignature(typeof header === 'string' ? header : undefined, secret, raw, { now: now() });
    const body = JSON.parse(raw || '{}') as Body;
    if (!signed || body.operation !== operation || (body.idempotency_key ?? '') !== key) {
      state.violations.push(`${operation}: the signature is not of this request`);
      return send(response, { status: 401, body: { error: { code: 'unauthorized', message: 'Bad signature' } } });
    }
    state.requests.push(`${operation} ${key}`);
    const how = behaviours.find(
      (one) => one.left > 0 && operation.startsWith(one.operation ?? '') && key.includes(one.key ?? ''),
    );
    if (how) how.left -= 1;
    await misbehave(how, () => take(operation, key, raw), response);
  };

  const server = createServer((request, response) => {
    open += 1;
    serve(request, response)
      .catch((error: unknown) => {
        state.violations.push(`a request could not be taken: ${String(error)}`);
        send(response, refusal(400, 'bad_request', 'No request of the protocol'));
      })
      .finally(() => {
        open -= 1;
      });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    env: { PROVISIONING_URL: `http://127.0.0.1:${port}`, PROVISIONING_SECRET: secret },
    behave: (...more) => behaviours.push(...more.map((one) => ({ ...one, left: one.times ?? 1 }))) as unknown as void,
    effects: state.effects,
    requests: state.requests,
    violations: state.violations,
    alive: () => ({
      mailboxes: [...state.mailboxes.values()].filter((one) => one.alive).map((one) => one.name),
      domains: [...state.domains.values()].filter((one) => one.alive).map((one) => one.name),
    }),
    foreign: state.foreign,
    mailServers,
    onMailbox: (listener) => void listeners.push(listener),
    async idle() {
      while (open > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers a request with a simulated fault or, if there is none, normally. */
async function misbehave(how: Behaviour | undefined, take: () => Answer, response: ServerResponse): Promise<void> {
  switch (how?.does) {
    case 'fail':
      return send(response, { status: 503, body: {} });
    case 'refuse':
      return send(response, refusal(422, how.code ?? 'refused', 'The sandbox was told to refuse'));
    case 'half':
      take();
      return send(response, { status: 500, body: {} });
    case 'lost':
      take();
      response.socket?.destroy();
      return;
    case 'twice': {
      take();
      const answer = take();
      const text = JSON.stringify(answer.body);
      const { socket } = response;
      send(response, answer);
      // Sends a second answer, which nobody requested, on the open connection.
      response.once('finish', () =>
        socket?.write(`HTTP/1.1 ${answer.status} OK\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`),
      );
      return;
    }
    case 'slow':
    case 'late':
      await new Promise((resolve) => setTimeout(resolve, how.ms ?? 500));
  }
  send(response, take());
}

/** State of the company. Operations are synchronous, so two requests never interleave within an operation. */
class Provider {
  readonly effects: Effect[] = [];
  readonly requests: string[] = [];
  readonly violations: string[] = [];
  readonly foreign = new Set<string>();
  readonly mailboxes = new Map<string, { name: string; madeBy: string; alive: boolean }>();
  readonly domains = new Map<string, { name: string; madeBy: string; alive: boolean; expiresAt: Date }>();
  /** Request and answer by idempotency key. Refusals are not stored, because they changed nothing. */
  readonly #done = new Map<string, { raw: string; answer: Answer }>();
  readonly #undone = new Set<string>();
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  take(
    operation: string,
    key: string,
    raw: string,
    servers: ProvisioningSandbox['mailServers'],
    listeners: readonly ((mailbox: { email: string; password: string }) => void)[],
  ): Answer {
    const body = JSON.parse(raw) as Body;
    if (operation === 'catalogue') return { status: 200, body: { offers: offers() } };
    if (operation === 'domains/check') return { status: 200, body: { available: this.#isFree(body.domain), ...CENTS } };
    if (!key) {
      this.violations.push(`${operation}: without a key`);
      return refusal(400, 'key_needed', 'An idempotency key is needed');
    }
    if (this.#undone.has(key)) return refusal(410, 'undone', 'What this key is for was undone');
    const before = this.#done.get(key);
    if (before && before.raw !== raw) this.violations.push(`${operation}: ${key} was used for something else`);
    if (before) return before.answer;
    const answer = this.#do(operation, key, body, servers, listeners);
    if (answer.status < 300) this.#done.set(key, { raw, answer });
    return answer;
  }

  #isFree(domain: string): boolean {
    const taken = [...this.domains.values()].some((one) => one.alive && one.name === domain);
    return !taken && !this.foreign.has(domain);
  }

  #do(
    operation: string,
    key: string,
    body: Body,
    servers: ProvisioningSandbox['mailServers'],
    listeners: readonly ((mailbox: { email: string; password: string }) => void)[],
  ): Answer {
    const effect = (about: string) => this.effects.push({ operation, key, about });
    switch (operation) {
      case 'domains/register': {
        if (!this.#isFree(body.domain)) return refusal(422, 'domain_unavailable', 'The domain is taken');
        const [ref, expiresAt] = [`dom_${this.domains.size + 1}`, new Date(this.#now().getTime() + YEAR_MS)];
        this.domains.set(ref, { name: body.domain, madeBy: key, alive: true, expiresAt });
        effect(body.domain);
        const registered = { ref, registered_at: this.#now().toISOString(), expires_at: expiresAt.toISOString() };
        return { status: 200, body: registered };
      }
      case 'mailboxes/create': {
        if ([...this.mailboxes.values()].some((one) => one.alive && one.name === body.email)) {
          this.violations.push(`${body.email} is created under a second key`);
          return refusal(422, 'address_taken', 'The address is taken');
        }
        if (this.#isFree(body.domain)) return refusal(422, 'domain_unknown', 'The domain is not registered here');
        const [ref, password] = [`mbx_${this.mailboxes.size + 1}`, newSecret()];
        this.mailboxes.set(ref, { name: body.email, madeBy: key, alive: true });
        effect(body.email);
        for (const listener of listeners) listener({ email: body.email, password });
        const credentials = { username: body.email, password };
        const smtp = { ...servers.smtp, ...credentials };
        return { status: 200, body: { ref, status: 'active', smtp, imap: { ...servers.imap, ...credentials } } };
      }
      case 'domains/dns':
        effect(body.domain);
        return { status: 200, body: { status: 'published' } };
      case 'mailboxes/warmup':
        if (!this.mailboxes.get(body.ref)?.alive) return refusal(404, 'mailbox_unknown', 'No such mailbox');
        effect(body.ref);
        return { status: 200, body: { status: body.enabled ? 'active' : 'off' } };
      case 'mailboxes/retire':
      case 'domains/release': {
        const all = operation === 'mailboxes/retire' ? this.mailboxes : this.domains;
        this.#undone.add(body.made_by);
        for (const one of all.values())
          if (one.madeBy === body.made_by && one.alive) {
            one.alive = false;
            effect(body.made_by);
          }
        return { status: 200, body: {} };
      }
      case 'domains/renew': {
        const domain = this.domains.get(body.ref);
        if (!domain?.alive) return refusal(422, 'renewal_not_eligible', 'The domain is not registered here');
        if (body.max_cents < CENTS.renewal_cents) return refusal(422, 'renewal_refused', 'It costs more than that');
        domain.expiresAt = new Date(domain.expiresAt.getTime() + YEAR_MS);
        effect(body.domain);
        const renewed = { expires_at: domain.expiresAt.toISOString(), paid_cents: CENTS.renewal_cents };
        return { status: 200, body: { ...renewed, currency: CENTS.currency } };
      }
      default:
        return refusal(404, 'operation_unknown', 'No such operation');
    }
  }
}

function offers(): Body[] {
  return Object.entries(PRICES).map(([provider, [mailbox, warmup]]) => ({
    provider,
    name: provider === 'google' ? 'Google Workspace' : 'Microsoft 365',
    currency: CENTS.currency,
    mailbox_monthly_cents: mailbox,
    warmup_monthly_cents: warmup,
    max_mailboxes: 50,
  }));
}

function refusal(status: number, code: string, message: string): Answer {
  return { status, body: { error: { code, message } } };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, { status, body }: Answer): void {
  if (response.headersSent) return;
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const sandbox = await startProvisioning({ port: Number(process.env.PROVISIONING_PORT ?? 4010) });
  for (const [name, value] of Object.entries(sandbox.env)) console.log(`${name}=${value}`);
}
