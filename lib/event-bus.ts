import type { ConnectionOptions, NatsConnection } from 'nats';
import type { Logger } from './log.ts';

const RECONNECT_MS = 1_000;
/** Minimum time (ms) between two warnings of this process about the same NATS servers. */
const WARN_EVERY_MS = 60_000;
/** Time (ms of `performance.now()`) of the last warning, by URL. */
const warnedAtMs = new Map<string, number>();

/** Loads the NATS client only when it is needed, because few installations use it. */
const nats = () => import('nats');

/** An open connection to NATS. */
export interface BusConnection {
  close(): Promise<void>;
}

/**
 * Publishes messages to subscribers. Messages may be lost: a subscriber that misses one finds the event soon afterwards
 * by polling.
 */
interface BusPublisher extends BusConnection {
  /** Publishes a message if the server is connected. Otherwise the message is dropped. */
  publish(text: string): void;
}

/**
 * Calls `onMessage` for each message of a subject, and with an empty text after every (re)connect, because messages may
 * have been missed. Waits for an unreachable server. The server belongs to the operator, like PostgreSQL, so the
 * connection does not go through lib/egress.
 */
export async function subscribeBus(
  url: string,
  subject: string,
  onMessage: (text: string) => void,
  log: Logger,
): Promise<BusConnection> {
  const { Events } = await nats();
  return maintainConnection(url, log, (connection) => {
    const subscription = connection.subscribe(subject, {
      callback: (error, message) => {
        if (error) log.warn({ err: error }, 'NATS refuses the subscription; events are found later, by looking');
        else onMessage(message.string());
      },
    });
    onMessage('');
    void (async () => {
      for await (const { type } of connection.status()) if (type === Events.Reconnect) onMessage('');
    })();
    return () => subscription.unsubscribe();
  });
}

/** Opens a connection that publishes on one subject. */
export async function openBus(url: string, subject: string, log: Logger): Promise<BusPublisher> {
  let current: NatsConnection | undefined;
  const kept = await maintainConnection(url, log, (connection) => {
    current = connection;
    return () => {
      current = undefined;
    };
  });
  return {
    ...kept,
    publish(text) {
      if (current && !current.isClosed()) current.publish(subject, text);
    },
  };
}

/**
 * Checks that the NATS server answers.
 * @throws Error when it does not answer within the time (ms), or refuses the credentials
 */
export async function pingBus(url: string, timeoutMs: number): Promise<void> {
  const { connect } = await nats();
  const connection = await connect({ ...optionsOf(url), reconnect: false, timeout: timeoutMs });
  try {
    await connection.rtt();
  } finally {
    await connection.close();
  }
}

/**
 * Connects as soon as the server is reachable, and reconnects whenever the connection breaks. Does not keep the process
 * alive.
 */
async function maintainConnection(
  url: string,
  log: Logger,
  onConnected: (connection: NatsConnection) => () => void,
): Promise<BusConnection> {
  const { connect } = await nats();
  let isClosed = false;
  let connection: NatsConnection | undefined;
  let release: (() => void) | undefined;
  const opening = (async () => {
    while (!isClosed) {
      try {
        connection = await connect({ ...optionsOf(url), maxReconnectAttempts: -1, reconnectTimeWait: RECONNECT_MS });
        if (isClosed) return await connection.close();
        release = onConnected(connection);
        void watchBreaks(connection, () => warnUnreachable(url, log));
        return;
      } catch (error) {
        warnUnreachable(url, log, error);
        await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS).unref());
      }
    }
  })();
  return {
    async close() {
      isClosed = true;
      release?.();
      await connection?.close();
      void opening.catch(() => {});
    },
  };
}

/** Calls `onBroken` when the connection breaks, and at each attempt to reconnect. */
async function watchBreaks(connection: NatsConnection, onBroken: () => void): Promise<void> {
  const { DebugEvents, Events } = await nats();
  for await (const { type } of connection.status())
    if (type === Events.Disconnect || type === DebugEvents.Reconnecting) onBroken();
}

/** Logs a warning about an unreachable server, at most once a minute for all connections of the process. */
function warnUnreachable(url: string, log: Logger, error?: unknown): void {
  const now = performance.now();
  if (now - (warnedAtMs.get(url) ?? -Infinity) < WARN_EVERY_MS) return;
  warnedAtMs.set(url, now);
  log.warn({ err: error }, 'NATS cannot be reached, will try again; until then events are found by polling');
}

/** Parses NATS_URL: one or more addresses, comma separated, which may contain user and password, or a token. */
function optionsOf(url: string): ConnectionOptions {
  const addresses = url.split(',').map((address) => new URL(address.trim()));
  const [{ username, password, protocol }] = addresses as [URL, ...URL[]];
  return {
    servers: addresses.map(({ host }) => host),
    name: 'heron',
    ...(username && password ? { user: decodeURIComponent(username), pass: decodeURIComponent(password) } : {}),
    ...(username && !password ? { token: decodeURIComponent(username) } : {}),
    ...(protocol === 'tls:' ? { tls: {} } : {}),
  };
}
