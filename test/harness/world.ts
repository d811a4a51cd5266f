import { FAMILIES } from '../../activities/index.ts';
import { randomBytes } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { startApi } from '../../api/servers/api.ts';
import { createActorResolver, type ActorResolver } from '../../domain/identity/resolve-actor.ts';
import { createUsageLog, type UsageLog } from '../../domain/identity/api-keys/usage-log.ts';
import type { CatalogueReader } from '../../db/catalogue/reader.ts';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import { systemCtx } from '../../domain/platform/kernel/context.ts';
import { openBlobStores } from '../../lib/blobs/index.ts';
import { systemClock, type Clock } from '../../lib/clock.ts';
import { loadConfig, type Config } from '../../lib/config/index.ts';
import type { DnsRecords } from '../../lib/dns.ts';
import { createKeyring } from '../../lib/keyring.ts';
import { createEgress } from '../../lib/egress/index.ts';
import { silentLogger, type Logger } from '../../lib/log.ts';
import type { SystemMessage } from '../../lib/mail/index.ts';
import { createMetrics } from '../../lib/metrics.ts';
import type { RateLimiter } from '../../lib/rate-limit.ts';
import { createSharedCache } from '../../lib/shared-cache.ts';
import { freePort } from '../../local/servers.ts';
import type { WorkflowGateway } from '../../temporal/dispatch.ts';
import { createTestDatabase, type TestDeps } from './database.ts';
import { createTenant, type Tenant } from './factories.ts';
import { recordCall } from './recorded-calls.ts';
import { recordRead } from './recorded-reads.ts';

/** Environment of one test file: its own database and API server, and emails that are stored instead of sent. */
export interface World {
  deps: TestDeps;
  databaseUrl: string;
  url: string;
  outgoing: SystemMessage[];
  actors: ActorResolver;
  usage: UsageLog;
  tenant(name?: string): Promise<Tenant>;
  /**
   * Returns a context in which the installation itself acts in an organization, for calling domain functions directly.
   */
  system(organizationId: string): Ctx & TestDeps;
  close(): Promise<void>;
}

export interface WorldOptions {
  env?: Record<string, string>;
  clock?: Clock;
  log?: Logger;
  /** Gateway for functions that call Temporal. Default: one without workers. */
  workflows?: WorkflowGateway;
  limiter?: RateLimiter;
  /** Prospect catalogue. Default: none. */
  catalogue?: CatalogueReader;
  /** DNS records. Default: none. */
  dns?: DnsRecords;
  /** If true, the settings contain the server's real URL, for clients that follow it and for browsers. */
  ownAddress?: boolean;
}

/** Gateway that a world uses until an engine is started in it. */
export const noWorkflows: WorkflowGateway = {
  execute: () => Promise.reject(new Error('this world has no Temporal')),
  openRuns: () => {
    throw new Error('this world has no Temporal');
  },
  endRunsOf: () => Promise.reject(new Error('this world has no Temporal')),
  isOpen: () => Promise.reject(new Error('this world has no Temporal')),
  failingRuns: () => Promise.reject(new Error('this world has no Temporal')),
  health: () => Promise.reject(new Error('this world has no Temporal')),
};

/** DNS without any records. */
export const noRecords: DnsRecords = { txt: async () => [], mx: async () => [], cname: async () => [] };

/**
 * Returns the settings of a test. Loopback targets are allowed, and the limits are too high for a quick suite to reach.
 */
export function testConfig(databaseUrl: string, env: Record<string, string> = {}): Config {
  return loadConfig({
    PRIMARY_DB: databaseUrl,
    TEMPORAL_ADDRESS: process.env.HERON_TEST_TEMPORAL ?? '127.0.0.1:7233',
    TEMPORAL_TASK_QUEUE: `test-${randomBytes(6).toString('hex')}`,
    ALLOW_UNSAFE_WEBHOOK_URLS: 'true',
    ALLOW_PRIVATE_MAIL_HOSTS: 'true',
    ORG_WRITES_PER_MINUTE: '0',
    ORG_CAMPAIGNS_PER_DAY: '0',
    CREDENTIAL_TESTS_PER_DAY: '0',
    ORG_IMPORTS: '0',
    ORG_IMPORT_BYTES: '0',
    SESSION_REQUESTS_PER_MINUTE: '0',
    OAUTH_REGISTRATIONS_PER_HOUR: '0',
    LOG_LEVEL: 'silent',
    ...env,
  });
}

/** Creates a world; call {@link World.close} in `test.after.always`. */
export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const database = await createTestDatabase(options.env?.ROW_SECURITY ? { rowSecurity: true } : {});
  const port = options.ownAddress ? await freePort() : 0;
  const address = `http://127.0.0.1:${port}`;
  const config = testConfig(database.url, {
    ...(options.ownAddress ? { API_PUBLIC_URL: address, APP_URL: address } : {}),
    ...options.env,
  });
  const outgoing: SystemMessage[] = [];
  const deps: TestDeps = {
    db: database.db,
    clock: options.clock ?? systemClock,
    config,
    log: options.log ?? silentLogger,
    keyring: createKeyring(config.CREDENTIALS_ENCRYPTION_KEY, config.CREDENTIALS_PREVIOUS_KEYS),
    egress: createEgress({ allowUnsafe: config.ALLOW_UNSAFE_WEBHOOK_URLS }),
    dns: options.dns ?? noRecords,
    blobs: openBlobStores(config),
    cache: createSharedCache(options.clock ?? systemClock, config.REDIS_URL),
    systemMail: { send: async (message) => void outgoing.push(message), close() {} },
    ...(options.catalogue ? { catalogue: options.catalogue } : {}),
    workflows: options.workflows ?? noWorkflows,
    families: FAMILIES,
    strictEvents: true,
  };
  const actors = createActorResolver(deps);
  const usage = createUsageLog(deps);
  const api = await startApi(deps, createMetrics(), {
    port,
    strictResponses: true,
    actors,
    usage,
    ...(options.limiter ? { limiter: options.limiter } : {}),
  });
  return {
    deps,
    databaseUrl: database.url,
    url: api.url,
    outgoing,
    actors,
    usage,
    tenant: (name) => createTenant(deps, name),
    system: (organizationId) => ({ ...systemCtx(deps, organizationId, 'test'), db: database.db }),
    async close() {
      await api.close();
      await deps.egress.close();
      deps.blobs.close();
      deps.cache.close();
      await database.drop();
    },
  };
}

export interface Answer {
  status: number;
  headers: Headers;
  body: any;
  text: string;
}

/** Asserts the status of an answer and shows the body of a different one. */
export function assertStatus(
  t: Pick<ExecutionContext, 'is'>,
  { status, text }: Pick<Answer, 'status' | 'text'>,
  expected: number,
): void {
  t.is(status, expected, text);
}

/** Calls an API with fetch. `body` is sent as JSON unless it is a FormData, URLSearchParams or string. */
export async function call(
  world: { url: string },
  method: string,
  path: string,
  options: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const raw =
    options.body instanceof FormData || options.body instanceof URLSearchParams || typeof options.body === 'string';
  const response = await fetch(world.url + path, {
    method,
    headers: {
      ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
      ...(options.body !== undefined && !raw ? { 'content-type': 'application/json' } : {}),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: raw ? (options.body as string) : JSON.stringify(options.body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  const body = isJson && text ? JSON.parse(text) : undefined;
  recordRead(`${method} ${path}`, () => `${response.status} ${text}`);
  const shown = options.headers !== undefined && 'x-heron-example' in options.headers;
  recordCall({ method, path, sent: options.body, status: response.status, answer: body, ...(shown && { shown }) });
  return { status: response.status, headers: response.headers, text, body };
}
