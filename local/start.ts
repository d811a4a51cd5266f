/**
 * `npm start`: runs a whole installation on this machine until Ctrl-C and keeps its data in one folder (HERON_DATA_DIR,
 * by default .heron/data). PRIMARY_DB and TEMPORAL_ADDRESS, if set, name servers to use instead of starting them. If a
 * port is set (API_PORT, …, HERON_POSTGRES_PORT, HERON_TEMPORAL_PORT, HERON_TEMPORAL_UI_PORT) but not free, the start
 * fails. A port that is not set defaults to the usual one, or to another free one. `--upgrade-temporal` upgrades
 * Temporal's state to the pinned server version.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { storeLocalSettings, localDataDir } from '../deploy/local-settings.ts';
import { PASSWORD_LENGTH } from '../domain/identity/passwords.ts';
import { toFindings } from '../domain/operations/instance/findings.ts';
import { settingFindings } from '../domain/operations/instance/settings.ts';
import { renderFinding } from '../lib/finding.ts';
import { ConfigError, loadConfig } from '../lib/config/index.ts';
import { settingsSchema } from '../lib/config/settings.ts';
import { ensureDashboardInChild } from './dashboard.ts';
import { ensureReference } from './reference.ts';
import { silentLogger } from '../lib/log.ts';
import { onShutdown } from '../lib/shutdown.ts';
import { readLogLine } from './child.ts';
import { exitWithNpm } from './exit-with-npm.ts';
import type { ProcessName } from '../deploy/processes.ts';
import { startLocalStack, type LocalStack, type StackPorts } from './stack.ts';

const WARN = 40;
/** Time limit (ms) for stopping all processes. The SHUTDOWN_GRACE_MS of each process is within this limit. */
const GRACE_MS = 90_000;

/** Setting and default of every port. */
const PORTS: Record<keyof StackPorts, { setting: string; usual: number }> = {
  api: { setting: 'API_PORT', usual: 8080 },
  tracking: { setting: 'TRACKING_PORT', usual: 3000 },
  forms: { setting: 'FORMS_PORT', usual: 8090 },
  realtime: { setting: 'REALTIME_PORT', usual: 4000 },
  worker: { setting: 'WORKER_PORT', usual: 9090 },
  postgres: { setting: 'HERON_POSTGRES_PORT', usual: 54_329 },
  temporal: { setting: 'HERON_TEMPORAL_PORT', usual: 7233 },
  temporalUi: { setting: 'HERON_TEMPORAL_UI_PORT', usual: 8233 },
};

let stack: LocalStack | undefined;
onShutdown(silentLogger, GRACE_MS, async () => {
  if (!stack) process.exit(130);
  print('\nStopping: open requests and emails are finished first. (Ctrl-C again to stop at once.)');
  await stack.stop();
  print('Stopped.');
});
exitWithNpm();

try {
  const { upgradeTemporal } = askedFlags();
  const env = loadedSettings();
  // Does not await the download of the API reference, because Heron runs without it.
  ensureReference((line) => print(`  ${line}`)).catch((error: Error) =>
    print(`  The API reference could not be fetched: ${error.message}`),
  );
  if (await ensureDashboardInChild()) print('  dashboard built');
  stack = await startLocalStack({
    dataDir: localDataDir(env),
    persistent: true,
    supervise: true,
    upgradeTemporal,
    env,
    ...askedPorts(env),
    log: (line) => print(`  ${line}`),
    onLine: show,
  });
  await storeLocalSettings(stack.dataDir, settingsIn(stack.env));
  printWelcome(stack);
} catch (error) {
  print(`\nHeron did not start. ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}

/** Parses the command-line flags. Exits with 2 for an unknown flag. */
function askedFlags(): { upgradeTemporal: boolean } {
  try {
    const { values } = parseArgs({ options: { 'upgrade-temporal': { type: 'boolean', default: false } } });
    return { upgradeTemporal: values['upgrade-temporal'] };
  } catch (error) {
    print(`${(error as Error).message}\nUsage: npm start [-- --upgrade-temporal]`);
    process.exit(2);
  }
}

/** @throws Error naming every setting that is not a valid port */
function askedPorts(env: NodeJS.ProcessEnv): {
  ports: Partial<StackPorts>;
  fixedPorts: Partial<Record<keyof StackPorts, { port: number; setting: string }>>;
} {
  const ports: Partial<StackPorts> = {};
  const fixedPorts: Partial<Record<keyof StackPorts, { port: number; setting: string }>> = {};
  const faults: string[] = [];
  for (const [name, { setting, usual }] of Object.entries(PORTS) as [keyof StackPorts, (typeof PORTS)['api']][]) {
    const given = env[setting];
    const port = Number(given);
    if (!given) ports[name] = usual;
    else if (!/^\d+$/.test(given) || port > 65_535) faults.push(`${setting}: needs a port, not ${given}.`);
    // Port 0 means any free port, so no specific port is required.
    else if (port > 0) fixedPorts[name] = { port, setting };
  }
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return { ports, fixedPorts };
}

/** Returns the settings. Validates them, so that a fault is reported before any process is started. */
function loadedSettings(): NodeJS.ProcessEnv {
  try {
    const { APP_ENV } = loadConfig();
    // Allows private mail hosts, because a local installation is usually tried with local mail servers such as `npm run
    // mailbox`.
    return APP_ENV === 'dev' ? { ALLOW_PRIVATE_MAIL_HOSTS: 'true', ...process.env } : process.env;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    print(error.message);
    process.exit(1);
  }
}

/** Returns only Heron's settings of an environment. */
function settingsIn(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name in settingsSchema.shape));
}

/** Shows output for the person at the terminal: problems, and the emails with sign-in codes. */
function show(from: ProcessName, line: string): void {
  const entry = readLogLine(line);
  if (!entry) print(`[${from}] ${line}`);
  else if (entry.mail) print(`[${from}] mail to ${entry.mail.to}: ${entry.mail.subject}\n${entry.mail.text}\n`);
  else if (entry.level >= WARN) print(`[${from}] ${[entry.msg, entry.err?.message].filter(Boolean).join(': ')}`);
}

function printWelcome({ urls, dataDir, processes, env }: LocalStack): void {
  const row = (name: string, value: string) => `  ${name.padEnd(14)} ${value}`;
  print(
    [
      '',
      'Heron is up.',
      '',
      row('Dashboard', env.APP_URL ?? urls.api),
      row('API', urls.api),
      row('API docs', urls.docs),
      row('Tracking', urls.tracking),
      row('Forms', urls.forms),
      row('Realtime', urls.realtime),
      row('Temporal UI', urls.temporalUi ?? `not known: Temporal at ${env.TEMPORAL_ADDRESS} was given`),
      row('Metrics', `${urls.apiMetrics} and ${urls.workerMetrics}`),
      row('PostgreSQL', processes.postgres ? `${env.PRIMARY_DB}` : 'as given by PRIMARY_DB'),
      row('Data', dataDir),
      row('Logs', join(dataDir, 'logs')),
      ...(urls.setup ? ['', ...claim(urls.api, urls.setup)] : []),
      ...toFindings(settingFindings(loadConfig(env)))
        .map((finding) => renderFinding(finding))
        .flatMap(({ severity, message, fix }) => (severity === 'info' ? [] : `\n  Warning: ${message}. ${fix}`)),
      '',
      '  `npm run heron -- <command>` in another terminal uses these settings and secrets.',
      '',
      'Ctrl-C stops it; the data stays.',
    ].join('\n'),
  );
}

function claim(api: string, setupUrl: string): string[] {
  const token = setupUrl.slice(setupUrl.lastIndexOf('/') + 1);
  return [
    `  Setup link     ${setupUrl}`,
    '  There is no account yet. Open the link in a browser within a day, or claim the installation by hand:',
    '',
    `    curl -X POST ${api}/v1/auth/setup -H 'Content-Type: application/json' \\`,
    `      -d '{"token": "${token}", "email": "you@example.com", "password": "<at least ${PASSWORD_LENGTH.min} characters>", "organization": "Example"}'`,
  ];
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
