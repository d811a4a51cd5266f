import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import pLimit from 'p-limit';
import proxyAddr from 'proxy-addr';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import {
  credentialKey,
  credentialStates,
  rightsOf,
  type HeldCredential,
} from '../../domain/identity/credential-state.ts';
import type { ActorResolver, Caller } from '../../domain/identity/resolve-actor.ts';
import { placeOfEvent, streamBegin } from '../../domain/realtime/read.ts';
import { systemCtx, type Deps } from '../../domain/kernel/context.ts';
import { may } from '../../domain/kernel/actor.ts';
import { sha256 } from '../../lib/crypto.ts';
import { AppError } from '../../lib/errors.ts';
import { ORG_PERMISSIONS } from '../../lib/permissions.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { RateLimiter } from '../../lib/rate-limit.ts';
import { asAppError } from '../http/errors.ts';
import { MAX_USER_AGENT } from '../http/admit.ts';
import { countKeyRequest } from '../http/rate-limit.ts';
import { admitUpgrade, refuseUpgrade } from './admission.ts';
import { createConnection, endFor, type Connection } from './connection.ts';
import { chosenEvents } from './filter.ts';
import {
  CLOSE,
  errorMessage,
  MAX_MESSAGE_BYTES,
  readMessage,
  RESUME_EXPIRED,
  SUBPROTOCOL,
  type ClientMessage,
} from './protocol.ts';
import { StreamGone, Subscriber } from './subscriber.ts';
import { createTail, type Tail } from './tail.ts';

/** Queries the gateway runs at once. */
const MAX_QUERIES = 8;

/** How often (ms) tails are read unasked, should notifications not get through. */
const POLL_MS = 5_000;

/** Durations, in milliseconds. */
export interface GatewayTimes {
  /** How often open sockets hear from the gateway. */
  heartbeatMs: number;
  /** How long a socket may stay without a credential. */
  authenticateMs: number;
  /** How often credentials are looked at again, and sockets that take nothing. */
  checkMs: number;
  /** How long a socket with a full buffer may take nothing. */
  stallMs: number;
}

export const GATEWAY_TIMES: Omit<GatewayTimes, 'heartbeatMs'> = {
  authenticateMs: 10_000,
  checkMs: 500,
  stallMs: 30_000,
};

export interface GatewayParts {
  deps: Deps;
  metrics: Metrics;
  limiter: RateLimiter;
  actors: ActorResolver;
  times: GatewayTimes;
}

/** The WebSocket side of the realtime service (docs/realtime.md). */
export interface Gateway {
  attach(server: Server): void;
  /** Events of these organizations (null: of any) have got their positions. */
  wake(organizationIds: readonly string[] | null): void;
  /** Takes no more sockets, tells the open ones to come back later, and waits until they have gone. */
  close(): Promise<void>;
}

export function createGateway({ deps, metrics, limiter, actors, times }: GatewayParts): Gateway {
  const { config, log } = deps;
  const trust = config.TRUSTED_PROXIES.length > 0 ? proxyAddr.compile(config.TRUSTED_PROXIES) : () => false;
  const limit = pLimit(MAX_QUERIES);
  const connections = new Set<Connection>();
  const counts = new Map<string, number>();
  const tails = new Map<string, Tail>();
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  let closing = false;

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const origin = {
      ipAddress: proxyAddr(request, trust),
      userAgent: (request.headers['user-agent'] ?? '').slice(0, MAX_USER_AGENT),
    };
    const token = admitUpgrade(request, config);
    if (connections.size >= config.REALTIME_MAX_CONNECTIONS)
      throw new AppError('service_unavailable', 'This gateway holds as many sockets as it may');
    const caller = token === undefined ? undefined : await callerOf(token, origin);
    if (caller) assertRoom(caller);
    if (closing) throw new AppError('service_unavailable', 'The gateway is restarting');
    sockets.handleUpgrade(request, socket, head, (opened) =>
      open(opened, origin, token === undefined || !caller ? undefined : { token, caller }),
    );
  }

  /** @throws AppError unauthorized, forbidden, no_organization, rate_limit_exceeded */
  async function callerOf(token: string, origin: { ipAddress: string; userAgent: string }): Promise<Caller> {
    const caller = await actors.resolve(token, origin);
    await countKeyRequest(limiter, caller);
    if (!caller.actor.organizationId) {
      throw new AppError('no_organization', 'No workspace is selected', {
        fix: 'Select one with POST /v1/organizations/:id/select.',
      });
    }
    if (!may(caller.actor, ['REALTIME_SUBSCRIBE'], ORG_PERMISSIONS)) {
      throw new AppError('forbidden', 'The credential lacks the scope REALTIME_SUBSCRIBE');
    }
    return caller;
  }

  /** @throws AppError rate_limit_exceeded when the organization, or this credential, has too many sockets */
  function assertRoom({ actor }: Caller): void {
    const full = (name: string, most: number) => most > 0 && (counts.get(name) ?? 0) >= most;
    if (full(`org/${actor.organizationId}`, config.REALTIME_ORG_CONNECTIONS))
      throw new AppError('rate_limit_exceeded', 'This workspace has as many sockets open as it may');
    if (full(countKeyOf(actor), config.REALTIME_KEY_CONNECTIONS))
      throw new AppError('rate_limit_exceeded', 'This credential has as many sockets open as it may');
  }

  function open(
    socket: WebSocket,
    origin: { ipAddress: string; userAgent: string },
    known: { token: string; caller: Caller } | undefined,
  ): void {
    const connection = createConnection(socket, origin, (code) => metrics.realtimeClosed.inc({ code: String(code) }));
    connections.add(connection);
    socket.on('pong', () => {
      connection.isAlive = true;
    });
    socket.on('error', (error) => log.debug({ err: error }, 'a socket failed'));
    socket.on('close', () => forget(connection));
    let queue = Promise.resolve();
    socket.on('message', (data, isBinary) => {
      if (connection.isClosing) return;
      if (!connection.countMessage())
        return connection.end(CLOSE.tooMany, errorMessage(new AppError('rate_limit_exceeded', 'Too many messages')));
      queue = queue.then(() => receive(connection, data, isBinary));
    });
    if (known) identify(connection, known.token, known.caller);
  }

  /** Never rejects: what is wrong with a message is told to its sender. */
  async function receive(connection: Connection, data: RawData, isBinary: boolean): Promise<void> {
    if (connection.isClosing) return;
    try {
      if (isBinary) throw new AppError('bad_request', 'Messages are text');
      const message = readMessage((data as Buffer).toString('utf8'));
      if (message.type === 'authenticate') await authenticate(connection, message.token);
      else await subscribe(connection, message);
    } catch (thrown) {
      const error = asAppError(thrown);
      if (error.status >= 500) log.error({ err: error, cause: error.cause }, 'a realtime message failed');
      if (error.status >= 500 || !connection.identity) endFor(connection, error);
      else connection.say(errorMessage(error));
    }
  }

  async function authenticate(connection: Connection, token: string): Promise<void> {
    if (connection.identity) throw new AppError('conflict', 'This socket is authenticated already');
    const caller = await callerOf(token, connection);
    assertRoom(caller);
    if (!connection.isClosing && connections.has(connection)) identify(connection, token, caller);
  }

  function identify(connection: Connection, token: string, caller: Caller): void {
    const { actor } = caller;
    const organizationId = actor.organizationId!;
    const countKey = countKeyOf(actor);
    for (const name of [`org/${organizationId}`, countKey]) counts.set(name, (counts.get(name) ?? 0) + 1);
    const subscriber = new Subscriber({
      socket: connection.socket,
      tail: tailOf(organizationId),
      organizationId,
      mailboxes: actor.allowedMailboxes,
      onSent: () => metrics.realtimeEvents.inc(),
      streamBegin: () => streamBegin(deps),
      now: () => deps.clock.now(),
      onFailure: (error) => {
        if (connection.isClosing || !connections.has(connection)) return;
        if (error instanceof StreamGone) return connection.end(CLOSE.slowConsumer, RESUME_EXPIRED);
        log.warn({ err: error, organizationId }, 'a stream broke off');
        endFor(connection, asAppError(error));
      },
    });
    connection.identity = {
      actor,
      organizationId,
      credential: heldCredential(token, caller),
      countKey,
      rights: rightsOf(caller),
      subscriber,
    };
    metrics.realtimeConnections.inc();
    log.info({ organizationId, actor: actor.kind }, 'realtime socket open');
    connection.say({ type: 'authenticated', organization_id: organizationId, heartbeat_ms: times.heartbeatMs });
  }

  async function subscribe(
    connection: Connection,
    message: Extract<ClientMessage, { type: 'subscribe' }>,
  ): Promise<void> {
    const { identity } = connection;
    if (!identity)
      throw new AppError('unauthorized', 'Authenticate first', { fix: 'Send {"type":"authenticate","token":"…"}.' });
    const { actor, organizationId, subscriber } = identity;
    const types = chosenEvents(actor, message.event_types);
    const tail = tailOf(organizationId);
    await tail.ready;
    let from = subscriber.here ?? { ...tail.head, at: deps.clock.now() };
    if (message.after !== undefined) {
      const place = await limit(() => placeOfEvent(systemCtx(deps, organizationId, 'realtime'), message.after!));
      if (!place) {
        connection.say(RESUME_EXPIRED);
        return;
      }
      from = place;
    }
    if (connection.isClosing) return;
    subscriber.say({ type: 'subscribed', event_types: [...types], last_event_id: from.eventId });
    subscriber.follow(types, from);
  }

  function tailOf(organizationId: string): Tail {
    let tail = tails.get(organizationId);
    if (!tail) {
      const started = createTail(systemCtx(deps, organizationId, 'realtime'), limit);
      tail = started;
      tails.set(organizationId, started);
      started.ready.catch(() => {
        if (tails.get(organizationId) === started) tails.delete(organizationId);
      });
    }
    return tail;
  }

  function forget(connection: Connection): void {
    connections.delete(connection);
    const { identity } = connection;
    if (!identity) return;
    const { organizationId, countKey, subscriber } = identity;
    connection.identity = undefined;
    subscriber.close();
    for (const name of [`org/${organizationId}`, countKey]) {
      const left = (counts.get(name) ?? 1) - 1;
      if (left > 0) counts.set(name, left);
      else counts.delete(name);
    }
    metrics.realtimeConnections.dec();
    const tail = tails.get(organizationId);
    if (tail?.followers.size === 0) {
      tails.delete(organizationId);
      tail.close();
    }
  }

  function heartbeat(): void {
    const at = deps.clock.now().toISOString();
    for (const connection of connections) {
      if (connection.isClosing) continue;
      if (!connection.isAlive) {
        connection.socket.terminate();
        continue;
      }
      connection.isAlive = false;
      connection.socket.ping();
      connection.identity?.subscriber.say({
        type: 'heartbeat',
        at,
        last_event_id: connection.identity.subscriber.place.eventId,
      });
    }
  }

  function endLaggards(): void {
    const now = performance.now();
    for (const connection of connections) {
      if (!connection.identity && now - connection.openedAt > times.authenticateMs) {
        connection.end(
          CLOSE.tooSlowToAuthenticate,
          errorMessage(new AppError('unauthorized', 'No credential came in time')),
        );
      } else if (connection.identity && connection.identity.subscriber.stalledFor() > times.stallMs) {
        connection.end(CLOSE.slowConsumer, {
          type: 'error',
          code: 'slow_consumer',
          message: 'The socket takes nothing any more',
        });
      }
    }
  }

  /** Cuts off credentials that have ended, and asks those whose rights have changed to come again. */
  async function checkCredentials(): Promise<void> {
    const held = [...connections].filter(({ identity, isClosing }) => identity && !isClosing);
    if (held.length === 0) return;
    const states = await limit(() =>
      credentialStates(
        deps,
        held.map(({ identity }) => identity!.credential),
      ),
    );
    for (const connection of held) {
      const { identity } = connection;
      if (!identity) continue;
      const rights = states.get(credentialKey(identity.credential));
      if (rights === undefined)
        endFor(connection, new AppError('unauthorized', 'The credential is revoked or has expired'));
      else if (rights !== identity.rights) {
        connection.end(
          CLOSE.rightsChanged,
          errorMessage(new AppError('forbidden', 'What the credential may do has changed', { fix: 'Connect again.' })),
        );
      }
    }
  }

  let checking = false;
  const checker = setInterval(() => {
    endLaggards();
    if (checking) return;
    checking = true;
    checkCredentials()
      .catch((error: unknown) => log.warn({ err: error }, 'credentials of open sockets could not be checked'))
      .finally(() => {
        checking = false;
      });
  }, times.checkMs);
  const heart = setInterval(heartbeat, times.heartbeatMs);
  const wake: Gateway['wake'] = (organizationIds) => {
    for (const id of organizationIds ?? tails.keys()) tails.get(id)?.wake();
  };
  const poll = setInterval(() => wake(null), POLL_MS);

  return {
    attach(server) {
      server.on('upgrade', (request, socket, head) => {
        socket.on('error', () => socket.destroy());
        upgrade(request, socket, head).catch((error: unknown) => {
          const known = asAppError(error);
          if (known.status >= 500) log.error({ err: known, cause: known.cause }, 'an upgrade failed');
          refuseUpgrade(socket, known);
        });
      });
    },
    wake,
    async close() {
      closing = true;
      clearInterval(checker);
      clearInterval(heart);
      clearInterval(poll);
      const gone = [...connections].map(
        (connection) =>
          new Promise<void>((resolve) => {
            connection.socket.once('close', () => resolve());
            connection.end(CLOSE.restarting, 'restarting');
          }),
      );
      await Promise.all(gone);
      sockets.close();
    },
  };
}

function countKeyOf({ kind, apiKeyId, oauthGrantId, sessionId }: Caller['actor']): string {
  return `${kind}/${apiKeyId ?? oauthGrantId ?? sessionId}`;
}

function heldCredential(token: string, { actor }: Caller): HeldCredential {
  if (actor.apiKeyId) return { kind: 'api_key', id: actor.apiKeyId };
  if (actor.sessionId) return { kind: 'session', id: actor.sessionId };
  return { kind: 'oauth', id: sha256(token) };
}
