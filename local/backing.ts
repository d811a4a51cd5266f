import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedPostgres } from './postgres.ts';
import { freePort } from './servers.ts';
import { resolveTemporalCli, chooseStateFileServer, startTemporalServer } from './temporal/index.ts';
import { lockFolder } from '../lib/folder-lock.ts';
import { manage, type Managed } from './managed.ts';
import { temporaryFolder } from './temporary-folder.ts';

interface BackingOptions {
  /** Folder of all data. Defaults to a temporary folder that is removed on stop. */
  dataDir?: string;
  /**
   * False if no data needs to survive the stop. PostgreSQL is then faster, because it runs without durability, and
   * Temporal keeps its state in memory.
   */
  persistent: boolean;
  /** True to put the temporary folder in memory, if the machine has enough memory. */
  inMemory?: boolean;
  /** Ports of the servers. Default to free ports. */
  ports?: { postgres?: number; temporal?: number; temporalUi?: number };
  /** True if Temporal's web UI is disabled. */
  headless?: boolean;
  /** Addresses of servers that the caller provides. These servers are not started. */
  given?: { PRIMARY_DB?: string | undefined; TEMPORAL_ADDRESS?: string | undefined };
  /** True if a server that ends unexpectedly is restarted. */
  supervise?: boolean;
  /**
   * True if Temporal's state may be upgraded to the pinned server version. If that version cannot read the state,
   * Temporal starts with an empty one.
   */
  upgradeTemporal?: boolean;
  /** Receives one log line per step. */
  log: (line: string) => void;
}

/** Running PostgreSQL and Temporal that answer requests. */
export interface BackingServices {
  dataDir: string;
  /**
   * PRIMARY_DB as given. Otherwise the URL with which the administrator connects to the embedded server's database
   * `postgres`.
   */
  databaseUrl: string;
  temporalAddress: string;
  /** Web UI of the embedded server, if it has one. */
  temporalUiUrl: string | undefined;
  /**
   * True if Temporal starts with an empty state because the pinned version cannot read the old one: workflows must be
   * reconciled.
   */
  temporalReplaced: boolean;
  /** Process of PostgreSQL; undefined if the caller provides the server. */
  postgres: Managed | undefined;
  temporal: Managed | undefined;
  /** Stops the started servers; safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts the servers that Heron needs on a machine with only Node.
 * @throws Error when another process uses the folder, or a server cannot be started; the other is stopped first
 */
export async function startBackingServices(options: BackingOptions): Promise<BackingServices> {
  const { given = {}, log } = options;
  const dataDir = options.dataDir ?? (await temporaryFolder({ inMemory: options.inMemory ?? false }));
  await mkdir(dataDir, { recursive: true });
  const unlock = await lockFolder(dataDir);
  const leave = async (): Promise<void> => {
    await unlock();
    if (!options.dataDir) await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  };

  const [postgres, temporal] = await Promise.allSettled([
    given.PRIMARY_DB ? undefined : startPostgres(dataDir, options),
    given.TEMPORAL_ADDRESS ? undefined : startTemporal(dataDir, options),
  ]);
  if (postgres.status === 'rejected' || temporal.status === 'rejected') {
    for (const part of [postgres, temporal]) if (part.status === 'fulfilled') await part.value?.managed.stop();
    await leave();
    throw postgres.status === 'rejected' ? postgres.reason : (temporal as PromiseRejectedResult).reason;
  }
  if (temporal.value) log(`Temporal: listening on ${temporal.value.address} (pid ${temporal.value.managed.pid})`);

  return {
    dataDir,
    databaseUrl: postgres.value?.url ?? given.PRIMARY_DB!,
    temporalAddress: temporal.value?.address ?? given.TEMPORAL_ADDRESS!,
    temporalUiUrl: temporal.value?.uiUrl,
    temporalReplaced: temporal.value?.replaced ?? false,
    postgres: postgres.value?.managed,
    temporal: temporal.value?.managed,
    async stop() {
      // Temporal uses its own file and not PostgreSQL, so the two can stop in parallel.
      await Promise.all([postgres.value?.managed.stop(), temporal.value?.managed.stop()]);
      await leave();
    },
  };
}

async function startPostgres(dataDir: string, options: BackingOptions): Promise<{ managed: Managed; url: string }> {
  const port = options.ports?.postgres ?? (await freePort());
  let url = '';
  const managed = await manage(
    'postgres',
    async () => {
      const server = await startEmbeddedPostgres({
        dataDir: join(dataDir, 'postgres'),
        port,
        persistent: options.persistent,
        log: options.log,
      });
      url = server.url;
      return server;
    },
    { supervise: options.supervise ?? false, log: options.log },
  );
  return { managed, url };
}

async function startTemporal(
  dataDir: string,
  options: BackingOptions,
): Promise<{ managed: Managed; address: string; uiUrl: string | undefined; replaced: boolean }> {
  const dbFile = options.persistent ? join(dataDir, 'temporal', 'temporal.db') : undefined;
  const { cli, startedOver } = dbFile
    ? await chooseStateFileServer({ dbFile, upgrade: options.upgradeTemporal ?? false, log: options.log })
    : { cli: await resolveTemporalCli(options.log), startedOver: false };
  const port = options.ports?.temporal ?? (await freePort());
  const uiPort = options.headless ? undefined : (options.ports?.temporalUi ?? (await freePort()));
  const managed = await manage(
    'temporal',
    () =>
      startTemporalServer({
        cli,
        port,
        logFile: join(dataDir, 'logs', 'temporal.log'),
        ...(uiPort === undefined ? { headless: true } : { uiPort }),
        ...(dbFile && { dbFile }),
      }),
    { supervise: options.supervise ?? false, log: options.log },
  );
  return {
    managed,
    replaced: startedOver,
    address: `127.0.0.1:${port}`,
    uiUrl: uiPort === undefined ? undefined : `http://127.0.0.1:${uiPort}`,
  };
}
