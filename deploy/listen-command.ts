import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';
import { newSecret, SECRET_PREFIX } from '../lib/crypto.ts';
import { createEgress, EgressError, type Egress } from '../lib/egress/index.ts';
import { signPayload } from '../lib/signature.ts';
import type { ApiSettings } from './api-client.ts';
import { OperatorError } from './waiting.ts';

/** Settings of the API and of the realtime gateway from which events are received. */
interface ListenSettings extends ApiSettings {
  HERON_REALTIME_URL?: string | undefined;
  REALTIME_PUBLIC_URL?: string | undefined;
}

/** Arguments of `heron webhooks listen`. */
interface Listen {
  forward: string;
  /** Event types to receive. If empty, all types are received except for firehose types. */
  events: readonly string[];
  /** Secret that signs forwarded events. Defaults to a new secret. */
  secret: string | undefined;
  /** Signal that ends the listening when it is aborted. */
  signal: AbortSignal;
}

/** Result of forwarding an event. */
interface Forwarded {
  at: string;
  event_type: string;
  id: string;
  /** HTTP status of the response. Null if there was none. */
  status: number | null;
  error: string | null;
}

const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const RECONNECT_MS = 1_000;
/** Close codes after which reconnecting is useless: no credential, missing rights, too many sockets. */
const FINAL_CLOSES = [4401, 4403, 4429];

interface StreamEvent {
  type: 'event';
  id: string;
  event_type: string;
  organization_id: string;
  created_at: string;
  data: unknown;
}

/**
 * Posts the workspace's events to a local URL, like webhooks: with the same body, headers and signature, but one after
 * the other and without retries. Reconnects after a lost connection and continues after the last event.
 * @param told called for each event
 * @throws OperatorError for a key without the right, unknown events, or an invalid URL
 */
export async function listen(
  env: ListenSettings,
  { forward, events, secret = newSecret(SECRET_PREFIX.webhook), signal }: Listen,
  say: (line: string) => void,
  told: (event: Forwarded) => void,
): Promise<void> {
  const url = env.HERON_REALTIME_URL ?? env.REALTIME_PUBLIC_URL ?? 'http://127.0.0.1:4000';
  const { HERON_API_KEY: key } = env;
  if (!key)
    throw new OperatorError('set HERON_API_KEY: a key with REALTIME_SUBSCRIBE, and the scope of each family of events');
  if (!URL.canParse(forward))
    throw new OperatorError(`${forward} is no address: give one such as http://127.0.0.1:3000/webhooks`);
  const egress = createEgress({ allowUnsafe: true });
  say(`events are signed with ${secret}`);
  let after: string | undefined;
  try {
    while (!signal.aborted) {
      const stream = await openStream(url, key, signal);
      if (stream) {
        stream.send(JSON.stringify({ type: 'subscribe', event_types: events, ...(after ? { after } : {}) }));
        after = await follow(stream, { egress, forward, secret, signal }, after, say, told);
      }
      await sleep(RECONNECT_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    await egress.close();
  }
}

/** Opens a socket; undefined if the gateway is unreachable. @throws OperatorError when it refuses */
async function openStream(url: string, key: string, signal: AbortSignal): Promise<WebSocket | undefined> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws').replace(/\/$/, '')}/v1/realtime`, {
    headers: { authorization: `Bearer ${key}` },
  });
  signal.addEventListener('abort', () => socket.terminate(), { once: true });
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket));
    socket.once('unexpected-response', (_request, response) => {
      if (response.statusCode === 503) return resolve(undefined);
      reject(new OperatorError(`${url} refuses with ${response.statusCode}: a key with REALTIME_SUBSCRIBE is needed`));
      socket.terminate();
    });
    socket.once('error', () => resolve(undefined));
  });
}

interface Target {
  egress: Egress;
  forward: string;
  secret: string;
  signal: AbortSignal;
}

/**
 * Forwards a socket's events until it closes. Returns the id of the last event. @throws OperatorError if reconnecting
 * would fail too
 */
async function follow(
  socket: WebSocket,
  target: Target,
  last: string | undefined,
  say: (line: string) => void,
  told: (event: Forwarded) => void,
): Promise<string | undefined> {
  let after = last;
  let turn = Promise.resolve();
  let refusal: string | undefined;
  socket.on('message', (bytes: Buffer) => {
    const message = JSON.parse(bytes.toString('utf8')) as
      | StreamEvent
      | { type: string; code?: string; message?: string };
    if (message.type === 'subscribed') say(`events go to ${target.forward}`);
    if (message.type === 'error') {
      const { code, message: words = '' } = message as { code?: string; message?: string };
      // After an expired resume position, listening continues with new events. Any other error ends the command.
      if (code === 'resume_expired') after = undefined;
      else refusal = words;
      socket.close();
    }
    if (message.type !== 'event') return;
    const event = message as StreamEvent;
    turn = turn.then(async () => {
      told(await post(target, event));
      after = event.id;
    });
  });
  const code = await new Promise<number>((resolve) => socket.once('close', resolve));
  await turn;
  if (refusal !== undefined) throw new OperatorError(refusal);
  if (FINAL_CLOSES.includes(code))
    throw new OperatorError(`the gateway closed the connection (${code}); docs/reference/realtime.md says why`);
  return after;
}

async function post({ egress, forward, secret }: Target, { type: _type, ...event }: StreamEvent): Promise<Forwarded> {
  const body = JSON.stringify(event);
  const line = { at: new Date().toISOString(), event_type: event.event_type, id: event.id };
  try {
    const { status } = await egress.request({
      method: 'POST',
      url: new URL(forward),
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Webhooks/1.0',
        'x-service-event': event.event_type,
        'x-service-event-id': event.id,
        'x-service-signature': signPayload(secret, Math.floor(Date.now() / 1000), body),
      },
      body,
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_ANSWER_BYTES,
    });
    return { ...line, status, error: null };
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return { ...line, status: null, error: error.message };
  }
}
