import type { RawData, WebSocket } from 'ws';
import { rightsOf } from '../../../domain/identity/credential-state.ts';
import type { Caller } from '../../../domain/identity/resolve-actor.ts';
import { systemCtx } from '../../../domain/platform/kernel/context.ts';
import { findCursor, streamBegin } from '../../../domain/platform/realtime/read.ts';
import { AppError } from '../../../lib/errors.ts';
import { inSpan } from '../../../lib/trace.ts';
import { asAppError } from '../../http/errors.ts';
import { admitCaller, credentialToRecheck, PendingCounts, SocketCounts, type SocketOrigin } from './callers.ts';
import { createConnection, endFor, type Connection } from './connection.ts';
import { chosenEvents } from './filter.ts';
import type { GatewayParts, QueryLimit } from './gateway-parts.ts';
import { CLOSE, errorMessage, readMessage, RESUME_EXPIRED, type ClientMessage } from './protocol.ts';
import { StreamExpired, Subscriber } from './subscriber.ts';
import type { Tails } from './tails.ts';
import { message } from '../../../messages/index.ts';

/**
 * Open sockets of one gateway. Handles each socket from its first message to its end: the client authenticates, then
 * subscribes.
 */
export class Sessions {
  readonly connections = new Set<Connection>();
  readonly counts: SocketCounts;
  readonly pending: PendingCounts;
  /** Sockets that have not signed in, each with a function that stops counting it. */
  readonly #signingIn = new Map<Connection, () => void>();
  readonly #parts: GatewayParts;
  readonly #tails: Tails;
  readonly #limit: QueryLimit;

  constructor(parts: GatewayParts, tails: Tails, limit: QueryLimit) {
    this.counts = new SocketCounts(parts.deps.config);
    this.pending = new PendingCounts(parts.deps.config.REALTIME_SOURCE_PENDING);
    this.#parts = parts;
    this.#tails = tails;
    this.#limit = limit;
  }

  /** Adds a socket. `known` is the caller, if the upgrade request contained a credential. */
  open(socket: WebSocket, origin: SocketOrigin, known: { token: string; caller: Caller } | undefined): void {
    const connection = createConnection(socket, origin, (code) =>
      this.#parts.metrics.realtimeClosed.inc({ code: String(code) }),
    );
    this.connections.add(connection);
    if (!known) this.#signingIn.set(connection, this.pending.add(origin.ipAddress));
    socket.on('pong', () => {
      connection.isAlive = true;
    });
    socket.on('error', (error) => this.#parts.deps.log.debug({ err: error }, 'a socket failed'));
    socket.on('close', () => this.#forget(connection));
    let queue = Promise.resolve();
    socket.on('message', (data, isBinary) => {
      if (connection.isClosing) return;
      if (!connection.countMessage())
        return connection.end(
          CLOSE.tooMany,
          errorMessage(new AppError('rate_limit_exceeded', message('realtime.too_many_messages'))),
        );
      queue = queue.then(() =>
        inSpan('realtime message', { kind: 'server', stranger: undefined }, () =>
          this.#receive(connection, data, isBinary),
        ),
      );
    });
    if (known) this.#identify(connection, known.token, known.caller);
  }

  /** Handles one message. Never rejects: errors are sent to the client. */
  async #receive(connection: Connection, data: RawData, isBinary: boolean): Promise<void> {
    if (connection.isClosing) return;
    try {
      if (isBinary) throw new AppError('bad_request', message('realtime.not_text'));
      const asked = readMessage((data as Buffer).toString('utf8'));
      if (asked.type === 'authenticate') await this.#authenticate(connection, asked.token);
      else await this.#subscribe(connection, asked);
    } catch (thrown) {
      const error = asAppError(thrown);
      if (error.status >= 500)
        this.#parts.deps.log.error({ err: error, cause: error.cause }, 'a realtime message failed');
      if (error.status >= 500 || !connection.identity) endFor(connection, error);
      else connection.say(errorMessage(error));
    }
  }

  async #authenticate(connection: Connection, token: string): Promise<void> {
    if (connection.identity) throw new AppError('conflict', message('realtime.authenticated_already'));
    const caller = await admitCaller(this.#parts, token, connection);
    this.counts.assertRoom(caller.actor);
    if (!connection.isClosing && this.connections.has(connection)) this.#identify(connection, token, caller);
  }

  #identify(connection: Connection, token: string, caller: Caller): void {
    const { deps, metrics, times } = this.#parts;
    const { actor } = caller;
    const organizationId = actor.organizationId!;
    this.counts.add(actor);
    this.#signedIn(connection);
    const subscriber = new Subscriber({
      socket: connection.socket,
      tail: this.#tails.of(organizationId),
      organizationId,
      mailboxes: actor.allowedMailboxes,
      onSent: () => metrics.realtimeEvents.inc(),
      streamBegin: () => streamBegin(deps),
      now: () => deps.clock.now(),
      onFailure: (error) => {
        if (connection.isClosing || !this.connections.has(connection)) return;
        if (error instanceof StreamExpired) return connection.end(CLOSE.slowConsumer, RESUME_EXPIRED);
        deps.log.warn({ err: error, organizationId }, 'a stream broke off');
        endFor(connection, asAppError(error));
      },
    });
    connection.identity = {
      actor,
      organizationId,
      credential: credentialToRecheck(token, caller),
      rights: rightsOf(caller),
      subscriber,
    };
    metrics.realtimeConnections.inc();
    deps.log.info({ organizationId, actor: actor.kind }, 'realtime socket open');
    connection.say({ type: 'authenticated', organization_id: organizationId, heartbeat_ms: times.heartbeatMs });
  }

  #signedIn(connection: Connection): void {
    this.#signingIn.get(connection)?.();
    this.#signingIn.delete(connection);
  }

  async #subscribe(connection: Connection, asked: Extract<ClientMessage, { type: 'subscribe' }>): Promise<void> {
    const { identity } = connection;
    if (!identity)
      throw new AppError('unauthorized', message('realtime.authenticate_first'), {
        fix: message('realtime.authenticate_first.fix'),
      });
    const { actor, organizationId, subscriber } = identity;
    const types = chosenEvents(actor, asked.event_types);
    // Tail that the subscriber has followed since it signed in. If the stream cannot be read, the socket is closed, so
    // that the client reconnects.
    const { tail } = subscriber;
    await tail.ready;
    let from = subscriber.here ?? { ...tail.head, at: this.#parts.deps.clock.now() };
    if (asked.after !== undefined) {
      const cursor = await this.#limit(() =>
        findCursor(systemCtx(this.#parts.deps, organizationId, 'realtime'), asked.after!),
      );
      if (!cursor) {
        connection.say(RESUME_EXPIRED);
        return;
      }
      from = cursor;
    }
    if (connection.isClosing) return;
    subscriber.say({ type: 'subscribed', event_types: [...types], last_event_id: from.eventId });
    subscriber.follow(types, from);
  }

  #forget(connection: Connection): void {
    this.connections.delete(connection);
    this.#signedIn(connection);
    const { identity } = connection;
    if (!identity) return;
    const { actor, organizationId, subscriber } = identity;
    connection.identity = undefined;
    subscriber.close();
    this.counts.remove(actor);
    this.#parts.metrics.realtimeConnections.dec();
    this.#tails.release(organizationId);
  }
}
