import pg from 'pg';
import { withTimeout } from '../lib/with-timeout.ts';

/** Time (ms) for opening a connection, sign-in included. A dead host may accept a connection and never answer. */
const CONNECT_MS = 5_000;
/** Time (ms) without traffic after which the system checks that the host of a connection still answers. */
const KEEP_ALIVE_MS = 10_000;

/**
 * Returns the options that every connection to PostgreSQL has. A host that disappears sends no error, so each
 * connection needs its own time limits.
 * @param url postgres:// connection string
 * @param name application name in pg_stat_activity
 */
export function connectionOptions(
  url: string,
  name: string,
): Pick<
  pg.ClientConfig,
  'connectionString' | 'application_name' | 'connectionTimeoutMillis' | 'keepAlive' | 'keepAliveInitialDelayMillis'
> {
  return {
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  };
}

/**
 * Opens a single connection. An error of the idle connection is ignored. The next statement then fails.
 * @throws the error of the connection
 */
export async function openClient(url: string, name: string): Promise<pg.Client> {
  const client = new pg.Client(connectionOptions(url, name));
  client.on('error', () => {});
  await client.connect();
  return client;
}

/**
 * Runs a statement on a single connection.
 * @throws Error when PostgreSQL does not answer within `timeoutMs`
 */
export async function ask(client: pg.Client, statement: string | pg.QueryConfig, timeoutMs: number): Promise<void> {
  await withTimeout<unknown>(client.query(statement), timeoutMs, () => {
    throw new Error('the connection did not answer');
  });
}
