import { execFile } from 'node:child_process';
import { open, readdir, statfs, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { cpus, freemem, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Connection } from '@temporalio/client';
import { across } from '../db/across.ts';
import { connect } from '../db/connection.ts';
import { examineInstance } from '../domain/operations/instance/health.ts';
import { renderFinding } from '../lib/finding.ts';
import { ConfigError, describeConfig, loadConfig, type Config } from '../lib/config/index.ts';
import { SENSITIVE } from '../lib/config/secrets.ts';
import { settingsSchema } from '../lib/config/settings.ts';
import { sha256 } from '../lib/crypto.ts';
import { errorSummary } from '../lib/error-report.ts';
import { silentLogger } from '../lib/log.ts';
import { VERSION } from '../lib/version.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { createTemporalClient } from '../temporal/client.ts';
import { assemble } from './assemble.ts';
import { configLines } from './config-text.ts';
import { examine, findingLines } from './doctor.ts';
import { localDataDir, localState } from './local-settings.ts';
import { createScrub } from './support-scrub.ts';
import { waitForTemporal } from './waiting.ts';

const LOG_LINES = 80;
const LOG_BYTES = 128 * 1024;
/**
 * Time limit (ms) of each section. A section that takes longer reports the timeout, without effect on the other
 * sections.
 */
const SECTION_MS = 30_000;
const MIB = 1024 * 1024;

/**
 * Writes diagnostic data for support into one text file, readable only by its owner. Sections are independent of each
 * other. If the settings are invalid, or database or Temporal cannot be reached, the section names the missing part.
 */
export async function writeSupportBundle(
  file: string,
  env: Record<string, string | undefined>,
  fromDataFolder: ReadonlySet<string>,
): Promise<void> {
  const scrub = createScrub(env);
  const config = readConfig(env);
  const dataDir = localDataDir(env);
  const sections = await Promise.all([
    section('Versions', () => versions(config)),
    section('Processes', () => processes(config, dataDir)),
    section('Machine', () => machine(dataDir)),
    section('Settings', async () => settings(config, env, fromDataFolder)),
    section('Doctor', async () => findingLines(await examine(needed(config)))),
    section('Findings of the installation', () => instance(needed(config))),
    section('Counts', () => counts(needed(config))),
    section('Migrations', () => migrations(needed(config))),
    section('Logs', () => logs(join(dataDir, 'logs'))),
  ]);
  const head = [
    '# Heron support bundle',
    '',
    `Written ${new Date().toISOString()}. Secrets and email addresses are removed; read it before you send it.`,
  ];
  await writeFile(file, scrub(`${[...head, ...sections.flat()].join('\n')}\n`), { mode: 0o600 });
}

async function section(title: string, read: () => Promise<string[]>): Promise<string[]> {
  const late = () => [`not available: no answer within ${SECTION_MS / 1000} s`];
  const lines = await withTimeout(Promise.resolve().then(read), SECTION_MS, late).catch((error: unknown) => [
    `not available: ${error instanceof ConfigError ? error.message : errorSummary(error)}`,
  ]);
  return ['', `## ${title}`, '', '```', ...lines, '```'];
}

function readConfig(env: Record<string, string | undefined>): Config | ConfigError {
  try {
    return loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

/** @throws ConfigError when the settings are invalid */
function needed(config: Config | ConfigError): Config {
  if (config instanceof ConfigError) throw config;
  return config;
}

async function versions(config: Config | ConfigError): Promise<string[]> {
  const sdk = createRequire(import.meta.url)('@temporalio/worker/package.json') as { version: string };
  const [npm, postgres, temporal] = await Promise.all([
    promisify(execFile)('npm', ['--version']).then(
      ({ stdout }) => stdout.trim(),
      () => 'not found',
    ),
    rows<{ version: string }>(config, 'select version() as version').then(([row]) => row!.version, unavailableText),
    temporalVersion(config).catch(unavailableText),
  ]);
  return [
    `Heron ${VERSION}`,
    `Node ${process.version}, npm ${npm}`,
    `${process.platform} ${process.arch}, ${release()}`,
    `PostgreSQL: ${postgres}`,
    `Temporal server: ${temporal}; SDK ${sdk.version}`,
  ];
}

function unavailableText(error: unknown): string {
  return `not available: ${errorSummary(error)}`;
}

async function temporalVersion(config: Config | ConfigError): Promise<string> {
  const connection = createTemporalClient(needed(config)).connection as Connection;
  try {
    await waitForTemporal(connection, needed(config).TEMPORAL_ADDRESS, { info: () => {}, warn: () => {} }, 0);
    const info = await connection.withDeadline(Date.now() + 5_000, () => connection.workflowService.getSystemInfo({}));
    return info.serverVersion ?? 'unknown';
  } finally {
    await connection.close();
  }
}

async function rows<T extends object>(config: Config | ConfigError, statement: string): Promise<T[]> {
  const { PRIMARY_DB: url, ROW_SECURITY: rowSecurity } = needed(config);
  const db = connect({ url, max: 1, name: 'heron-support', rowSecurity });
  try {
    return await across(db, 'operator').sql<T>(statement);
  } finally {
    await db.destroy();
  }
}

async function processes(config: Config | ConfigError, dataDir: string): Promise<string[]> {
  const local = await localState(dataDir);
  const connected = await rows<{ name: string; connections: number }>(
    config,
    `select application_name as name, count(*)::int as connections from pg_stat_activity
     where application_name like 'heron-%' group by 1 order by 1`,
  ).then(
    (found) => found.map(({ name, connections }) => `${name}: ${connections} connections to the database`),
    (error: unknown) => [`connections to the database ${unavailableText(error)}`],
  );
  return [
    `npm start on ${dataDir}: ${local.state}${local.state === 'stopped' ? '' : ` (pid ${local.pid}, since ${local.since.toISOString()})`}`,
    ...connected,
  ];
}

async function machine(dataDir: string): Promise<string[]> {
  const disk = await statfs(dataDir).catch(() => statfs('.'));
  const mib = (bytes: number) => `${Math.round(bytes / MIB)} MiB`;
  return [
    `${cpus().length} processors`,
    `memory: ${mib(freemem())} free of ${mib(totalmem())}`,
    `disk: ${mib(disk.bavail * disk.bsize)} free of ${mib(disk.blocks * disk.bsize)}`,
  ];
}

function settings(
  config: Config | ConfigError,
  env: Record<string, string | undefined>,
  fromDataFolder: ReadonlySet<string>,
): string[] {
  if (!(config instanceof ConfigError))
    return configLines(
      describeConfig(config).map((each) =>
        fromDataFolder.has(each.name) ? { ...each, source: 'data folder' as const } : each,
      ),
    );
  const given = Object.keys(settingsSchema.shape).filter((name) => env[name]);
  return [
    config.message,
    ...given.map(
      (name) =>
        `${name}  ${SENSITIVE.has(name) ? `sha256:${sha256(env[name]!).slice(0, 8)}` : env[name]}  ${fromDataFolder.has(name) ? 'data folder' : 'environment'}`,
    ),
  ];
}

async function instance(config: Config): Promise<string[]> {
  // Leaves the connections open: after a failed connection the Temporal client retries in a timer and would throw on a
  // closed channel.
  const { deps } = assemble(config, 'heron', { log: silentLogger });
  const found = await examineInstance(deps);
  return found
    .map((finding) => renderFinding(finding))
    .map(({ severity, code, message, fix }) => `${severity.padEnd(8)} ${code}: ${message}. ${fix}`);
}

async function counts(config: Config): Promise<string[]> {
  const found = await rows<{ what: string; count: number }>(
    config,
    `select 'outbox, waiting' as what, count(*)::int as count from outbox where parked_at is null
     union all select 'outbox, parked', count(*)::int from outbox where parked_at is not null
     union all (select 'dead letters, blocked runs among them: ' || task_type, count(*)::int from dead_letters
       where status = 'pending' group by task_type order by task_type)`,
  );
  return found.map(({ what, count }) => `${what}: ${count}`);
}

async function migrations(config: Config): Promise<string[]> {
  const done = await rows<{ name: string }>(config, 'select name from heron_migrations order by id');
  return [`${done.length} applied`, ...done.map(({ name }) => name)];
}

async function logs(folder: string): Promise<string[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.log')).sort();
  const texts = await Promise.all(files.map(async (name) => [`--- ${name}`, ...(await lastLines(join(folder, name)))]));
  return texts.flat();
}

async function lastLines(path: string): Promise<string[]> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - LOG_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, LOG_BYTES)), 0, undefined, start);
    const lines = buffer.subarray(0, bytesRead).toString('utf8').trimEnd().split('\n');
    // Drops a partial first line, because a cut secret in it would not be recognized.
    return (start > 0 ? lines.slice(1) : lines).slice(-LOG_LINES).map(shownLine);
  } finally {
    await file.close();
  }
}

/**
 * Reduces a JSON log line to time, level, message and error. This omits system mail, which contains login codes and
 * setup links.
 */
function shownLine(line: string): string {
  try {
    const { time, level, msg, err } = JSON.parse(line) as Record<string, unknown>;
    const { type, message, code, stack } = (err ?? {}) as Record<string, unknown>;
    return JSON.stringify({ time, level, msg, ...(err ? { err: { type, message, code, stack } } : {}) });
  } catch {
    return line;
  }
}
