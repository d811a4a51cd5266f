import { FAMILIES } from '../activities/index.ts';
import type { Client } from '@temporalio/client';
import { openCatalogue } from '../db/catalogue/reader.ts';
import { connect, type SessionTimeouts } from '../db/connection.ts';
import { measureRegularly } from '../db/measure-clock.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import { openBlobStores } from '../lib/blobs/index.ts';
import { MeasuredClock, type Clock } from '../lib/clock.ts';
import type { Config } from '../lib/config/index.ts';
import { createDnsRecords } from '../lib/dns.ts';
import { createKeyring, createTrackingKeyring } from '../lib/keyring.ts';
import { createEgress } from '../lib/egress/index.ts';
import { createLogger, type Logger } from '../lib/log.ts';
import { createSystemMail } from '../lib/mail/index.ts';
import { createSharedCache } from '../lib/shared-cache.ts';
import { createTemporalClient, createWorkflowGateway } from '../temporal/client.ts';

/** Dependencies of one process, and the function that closes them. */
export interface Assembly {
  deps: Deps;
  temporal: Client;
  close(): Promise<void>;
}

/**
 * Number of idle connections kept for webhook deliveries. A number smaller than the number of concurrent requests would
 * cause frequent reconnects.
 */
const IDLE_CONNECTIONS = 1_024;

/** Processes that answer requests of waiting clients. */
const SERVING = new Set(['api', 'tracking', 'forms', 'realtime', 'serve']);

/**
 * Returns the statement timeouts of a process: short if clients wait, longer for workers, none for operator commands.
 */
function timeoutsOf(config: Config, service: string): { timeouts?: SessionTimeouts } {
  const { DB_STATEMENT_TIMEOUT_MS: statementMs, DB_LOCK_TIMEOUT_MS: lockMs, DB_IDLE_TRANSACTION_MS: idle } = config;
  if (SERVING.has(service)) return { timeouts: { statementMs, lockMs, idleTransactionMs: idle } };
  if (service !== 'worker') return {};
  return { timeouts: { statementMs: 10 * statementMs, lockMs: 3 * lockMs, idleTransactionMs: idle } };
}

/** Creates the dependencies of every process from settings alone. */
export function assemble(config: Config, service: string, overrides: { clock?: Clock; log?: Logger } = {}): Assembly {
  const log = overrides.log ?? createLogger({ level: config.LOG_LEVEL, service });
  const measuredClock = new MeasuredClock();
  const db = connect({
    url: config.PRIMARY_DB,
    max: config.DB_POOL_MAX,
    name: `heron-${service}`,
    prepared: config.DB_PREPARED_STATEMENTS,
    rowSecurity: config.ROW_SECURITY,
    clock: measuredClock,
    onDropped: (connections) =>
      log.warn({ connections }, 'database connections were dropped, because the server did not answer on them'),
    ...timeoutsOf(config, service),
  });
  const temporal = createTemporalClient(config);
  const egress = createEgress({ allowUnsafe: config.ALLOW_UNSAFE_WEBHOOK_URLS, maxIdleConnections: IDLE_CONNECTIONS });
  const systemMail = createSystemMail(config, log);
  const blobs = openBlobStores(config);
  const clock = overrides.clock ?? measuredClock;
  const measuring = measureRegularly(measuredClock, db, log);
  const cache = createSharedCache(clock, config.REDIS_URL, (error) =>
    log.warn({ err: error }, 'Redis cannot be reached for shared answers'),
  );
  const catalogue = config.PROSPECT_DB ? openCatalogue({ url: config.PROSPECT_DB }) : undefined;
  return {
    deps: {
      db,
      config,
      log,
      egress,
      dns: createDnsRecords(),
      systemMail,
      blobs,
      cache,
      catalogue,
      clock,
      keyring:
        service === 'tracking' && config.TRACKING_KEYS.length > 0
          ? createTrackingKeyring(config.TRACKING_KEYS)
          : createKeyring(config.CREDENTIALS_ENCRYPTION_KEY, config.CREDENTIALS_PREVIOUS_KEYS),
      workflows: createWorkflowGateway(temporal, config, log, db),
      families: FAMILIES,
    },
    temporal,
    async close() {
      const stopped = measuring.stop();
      systemMail.close();
      blobs.close();
      cache.close();
      await egress.close();
      await catalogue?.close();
      await temporal.connection.close();
      await db.destroy();
      await stopped;
    },
  };
}
