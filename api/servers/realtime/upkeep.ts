import { credentialKey, credentialStates } from '../../../domain/identity/credential-state.ts';
import type { Deps } from '../../../domain/platform/kernel/context.ts';
import { AppError } from '../../../lib/errors.ts';
import { every } from '../../../lib/every.ts';
import { endFor, type Connection } from './connection.ts';
import type { GatewayParts, GatewayTimes, QueryLimit } from './gateway-parts.ts';
import { CLOSE, errorMessage } from './protocol.ts';
import { message } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';

/**
 * Sends heartbeats, and closes sockets that do not answer, read nothing, or whose credential has ended. Runs until
 * stopped.
 */
export function startUpkeep(
  connections: ReadonlySet<Connection>,
  { deps, times }: Pick<GatewayParts, 'deps' | 'times'>,
  limit: QueryLimit,
): { stop(): void } {
  const laggards = setInterval(() => endLaggards(connections, times), times.checkMs);
  const credentials = every(
    times.checkMs,
    () => checkCredentials(connections, deps, limit),
    (error) => deps.log.warn({ err: error }, 'credentials of open sockets could not be checked'),
  );
  const heart = setInterval(() => sendHeartbeats(connections, deps.clock.now()), times.heartbeatMs);
  return {
    stop() {
      clearInterval(laggards);
      clearInterval(heart);
      void credentials.stop();
    },
  };
}

function endLaggards(connections: Iterable<Connection>, times: GatewayTimes): void {
  const now = performance.now();
  for (const connection of connections) {
    if (!connection.identity && now - connection.openedAt > times.authenticateMs) {
      connection.end(
        CLOSE.tooSlowToAuthenticate,
        errorMessage(new AppError('unauthorized', message('realtime.no_credential'))),
      );
    } else if (connection.identity && connection.identity.subscriber.stalledFor() > times.stallMs) {
      connection.end(CLOSE.slowConsumer, {
        type: 'error',
        code: 'slow_consumer',
        message: render(message('realtime.slow')),
      });
    }
  }
}

/** Closes sockets whose credential has ended, and asks those whose rights have changed to reconnect. */
async function checkCredentials(connections: Iterable<Connection>, deps: Deps, limit: QueryLimit): Promise<void> {
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
    if (rights === undefined) endFor(connection, new AppError('unauthorized', message('realtime.credential_ended')));
    else if (rights !== identity.rights) {
      connection.end(
        CLOSE.rightsChanged,
        errorMessage(
          new AppError('forbidden', message('realtime.rights_changed'), {
            fix: message('realtime.rights_changed.fix'),
          }),
        ),
      );
    }
  }
}

function sendHeartbeats(connections: Iterable<Connection>, now: Date): void {
  const at = now.toISOString();
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
      last_event_id: connection.identity.subscriber.cursor.eventId,
    });
  }
}
