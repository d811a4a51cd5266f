import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Config } from '../../../lib/config/index.ts';
import { AppError } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { asAppError, errorEnvelope } from '../../http/errors.ts';
import { BEARER_SUBPROTOCOL } from './protocol.ts';
import { message } from '../../../messages/index.ts';

/** Paths at which clients open the WebSocket stream. */
const PATHS = ['/', '/v1/realtime'];

/**
 * Checks the path of an upgrade request and, for browsers, that its origin may use the API. Refuses a query, because a
 * credential in it would be logged. Returns the credential of the request; undefined if the client will send one as its
 * first message.
 * @throws AppError not_found, bad_request, forbidden
 */
export function admitUpgrade(request: IncomingMessage, config: Config): string | undefined {
  const [path, query] = (request.url ?? '/').split('?', 2) as [string, string | undefined];
  if (!PATHS.includes(path))
    throw new AppError('not_found', message('realtime.no_stream'), { fix: message('realtime.no_stream.fix') });
  if (query) {
    throw new AppError('bad_request', message('realtime.query'), {
      fix: message('realtime.query.fix'),
    });
  }
  const { origin, authorization } = request.headers;
  if (origin !== undefined && !allowedOrigins(config).includes(origin)) {
    throw new AppError('forbidden', message('realtime.origin'), {
      fix: message('realtime.origin.fix'),
    });
  }
  if (authorization !== undefined) {
    if (!/^bearer \S/i.test(authorization)) throw new AppError('unauthorized', message('realtime.no_bearer'));
    return authorization.slice(7).trim();
  }
  const offered = offeredProtocols(request).find((name) => name.startsWith(BEARER_SUBPROTOCOL));
  return offered?.slice(BEARER_SUBPROTOCOL.length);
}

function allowedOrigins(config: Config): string[] {
  return [...config.CORS_ALLOW_ORIGINS, new URL(config.APP_URL).origin];
}

function offeredProtocols(request: IncomingMessage): string[] {
  return (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
}

/** Refuses an upgrade with an HTTP error in the envelope of the API. */
export function refuseUpgrade(socket: Duplex, thrown: unknown): void {
  const error = asAppError(thrown);
  const body = JSON.stringify(errorEnvelope(error, newId()));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    ...(error.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    ...error.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}
