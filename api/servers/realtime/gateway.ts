import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import pLimit from 'p-limit';
import proxyAddr from 'proxy-addr';
import { WebSocketServer } from 'ws';
import { MAX_USER_AGENT } from '../../../domain/platform/kernel/actor.ts';
import { AppError } from '../../../lib/errors.ts';
import { withRequestSpan } from '../../../lib/request-span.ts';
import { asAppError } from '../../http/errors.ts';
import { admitUpgrade, refuseUpgrade } from './admission.ts';
import { admitCaller } from './callers.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { CLOSE, MAX_MESSAGE_BYTES, SUBPROTOCOL } from './protocol.ts';
import { Sessions } from './sessions.ts';
import { Tails } from './tails.ts';
import { startUpkeep } from './upkeep.ts';
import { message } from '../../../messages/index.ts';

/** Maximum number of concurrent queries of the gateway. */
const MAX_QUERIES = 8;

/** Interval (ms) at which streams are read without a notification, in case a notification was lost. */
const POLL_MS = 5_000;

/** WebSocket part of the realtime service (docs/reference/realtime.md). */
interface Gateway {
  attach(server: Server): void;
  /**
   * Makes the gateway read new events of organizations. Call it after stream positions were assigned; null means any
   * organization.
   */
  wake(organizationIds: readonly string[] | null): void;
  /**
   * Accepts no more sockets, asks open ones to reconnect later (close code 1012), and waits until they have closed.
   */
  close(): Promise<void>;
}

/**
 * Creates the WebSocket gateway of one process, which accepts or refuses connections. {@link Sessions} manages the open
 * sockets, and sends them the events that {@link Tails} reads for their organizations.
 */
export function createGateway(parts: GatewayParts): Gateway {
  const { config, log } = parts.deps;
  const trust = config.TRUSTED_PROXIES.length > 0 ? proxyAddr.compile(config.TRUSTED_PROXIES) : () => false;
  const limit = pLimit(MAX_QUERIES);
  const tails = new Tails(parts.deps, limit);
  const sessions = new Sessions(parts, tails, limit);
  const upkeep = startUpkeep(sessions.connections, parts, limit);
  const poll = setInterval(() => tails.wake(null), POLL_MS);
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
    if (sessions.connections.size >= config.REALTIME_MAX_CONNECTIONS)
      throw new AppError('service_unavailable', message('realtime.full'));
    if (token === undefined) sessions.pending.assertRoom(origin.ipAddress);
    const caller = token === undefined ? undefined : await admitCaller(parts, token, origin);
    if (caller) sessions.counts.assertRoom(caller.actor);
    if (closing) throw new AppError('service_unavailable', message('realtime.restarting'));
    sockets.handleUpgrade(request, socket, head, (opened) =>
      sessions.open(opened, origin, token === undefined || !caller ? undefined : { token, caller }),
    );
  }

  return {
    attach(server) {
      server.on('upgrade', (request, socket, head) => {
        socket.on('error', () => socket.destroy());
        const answer = () =>
          upgrade(request, socket, head).catch((error: unknown) => {
            const known = asAppError(error);
            if (known.status >= 500) log.error({ err: known, cause: known.cause }, 'an upgrade failed');
            refuseUpgrade(socket, known);
          });
        const { method, headers } = request;
        void withRequestSpan(config, { method, traceparent: String(headers.traceparent ?? '') }, answer);
      });
    },
    wake: (organizationIds) => tails.wake(organizationIds),
    async close() {
      closing = true;
      upkeep.stop();
      clearInterval(poll);
      const gone = [...sessions.connections].map(
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
