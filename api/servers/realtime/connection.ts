import type { WebSocket } from 'ws';
import type { OpenCredential } from '../../../domain/identity/credential-state.ts';
import type { Actor } from '../../../domain/platform/kernel/actor.ts';
import type { AppError } from '../../../lib/errors.ts';
import { CLOSE, errorMessage, type CloseCode, type ServerMessage } from './protocol.ts';
import type { Subscriber } from './subscriber.ts';

/** Time (ms) after which a connection is cut if the client does not answer the close. */
const CLOSE_GRACE_MS = 2_000;
/** Maximum number of messages of a client in {@link MESSAGE_WINDOW_MS}. */
const MAX_MESSAGES = 60;
const MESSAGE_WINDOW_MS = 10_000;

/** Identity of the client of a socket. */
interface Identity {
  actor: Actor;
  organizationId: string;
  credential: OpenCredential;
  /** Fingerprint of the credential's rights (credential-state.ts). */
  rights: string;
  subscriber: Subscriber;
}

/** One open socket. */
export interface Connection {
  readonly socket: WebSocket;
  readonly ipAddress: string;
  readonly userAgent: string;
  readonly openedAt: number;
  identity: Identity | undefined;
  /** True if the client has answered since the last heartbeat. */
  isAlive: boolean;
  readonly isClosing: boolean;
  say(message: ServerMessage): void;
  /** Sends the reason and closes the socket. Cuts the connection if the client does not close it in time. */
  end(code: CloseCode, why: ServerMessage | string): void;
  /** Counts a message. Returns false if there were too many. */
  countMessage(): boolean;
}

/** Wraps an open socket. `onEnd` is called once, when the gateway ends it. */
export function createConnection(
  socket: WebSocket,
  origin: { ipAddress: string; userAgent: string },
  onEnd: (code: CloseCode) => void,
): Connection {
  let isClosing = false;
  let windowStart = performance.now();
  let messages = 0;
  const say = (message: ServerMessage): void => socket.send(JSON.stringify(message), () => {});
  return {
    socket,
    ...origin,
    openedAt: performance.now(),
    identity: undefined,
    isAlive: true,
    get isClosing() {
      return isClosing;
    },
    say,
    end(code, why) {
      if (isClosing) return;
      isClosing = true;
      onEnd(code);
      if (typeof why !== 'string') say(why);
      socket.close(code, typeof why === 'string' ? why : why.type === 'error' ? why.code : '');
      const cut = setTimeout(() => socket.terminate(), CLOSE_GRACE_MS);
      socket.once('close', () => clearTimeout(cut));
    },
    countMessage() {
      const now = performance.now();
      if (now - windowStart > MESSAGE_WINDOW_MS) {
        windowStart = now;
        messages = 0;
      }
      messages += 1;
      return messages <= MAX_MESSAGES;
    },
  };
}

/** Returns the close code for an error that ends a socket. */
function closeCodeOf(error: AppError): CloseCode {
  if (error.status === 401) return CLOSE.unauthorized;
  if (error.status === 429) return CLOSE.tooMany;
  if (error.status >= 500) return CLOSE.internalError;
  return CLOSE.forbidden;
}

/** Ends a socket because of an error, after sending the error. */
export function endFor(connection: Connection, error: AppError): void {
  connection.end(closeCodeOf(error), errorMessage(error));
}
