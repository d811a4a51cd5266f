/**
 * `npm start`: a whole installation on this machine that stays up until Ctrl-C and keeps its data in one folder
 * (HERON_DATA_DIR, by default .heron/data). PRIMARY_DB and TEMPORAL_ADDRESS, when set, name servers to use instead of the ones it
 * would bring.
 */
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PASSWORD_LENGTH } from '../domain/identity/passwords.ts';
import { ConfigError, loadConfig } from '../lib/config/index.ts';
import { silentLogger } from '../lib/log.ts';
import { onShutdown } from '../lib/shutdown.ts';
import { readLogLine } from './child.ts';
import type { ProcessName } from '../deploy/processes.ts';
import { startLocalStack, type LocalStack } from './stack.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const WARN = 40;
/** Time (ms) for everything together to stop; each process has its own SHUTDOWN_GRACE_MS within it. */
const GRACE_MS = 90_000;

let stack: LocalStack | undefined;
onShutdown(silentLogger, GRACE_MS, async () => {
  if (!stack) process.exit(130);
  print('\nStopping: requests and emails in hand are finished first. (Ctrl-C again to stop at once.)');
  await stack.stop();
  print('Stopped.');
});

try {
  const env = loadedSettings();
  stack = await startLocalStack({
    dataDir: resolve(process.env.HERON_DATA_DIR || join(ROOT, '.heron', 'data')),
    persistent: true,
    supervise: true,
    env,
    ports: {
      api: Number(env.API_PORT || 8080),
      tracking: Number(env.TRACKING_PORT || 3000),
      realtime: Number(env.REALTIME_PORT || 4000),
      worker: Number(env.WORKER_PORT || 9090),
      postgres: 54_329,
      temporal: 7233,
      temporalUi: 8233,
    },
    log: (line) => print(`  ${line}`),
    onLine: show,
  });
  welcome(stack);
} catch (error) {
  print(`\nHeron did not start. ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}

/** Checked here as well, so that a faulty setting is told before anything is started. */
function loadedSettings(): NodeJS.ProcessEnv {
  try {
    loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    print(error.message);
    process.exit(1);
  }
  return process.env;
}

/** Of what the processes say, what a person at the terminal should see: trouble, and system mail, which carries sign-in codes. */
function show(from: ProcessName, line: string): void {
  const entry = readLogLine(line);
  if (!entry) print(`[${from}] ${line}`);
  else if (entry.mail) print(`[${from}] mail to ${entry.mail.to}: ${entry.mail.subject}\n${entry.mail.text}\n`);
  else if (entry.level >= WARN) print(`[${from}] ${[entry.msg, entry.err?.message].filter(Boolean).join(': ')}`);
}

function welcome({ urls, dataDir, processes, env }: LocalStack): void {
  const row = (name: string, value: string) => `  ${name.padEnd(14)} ${value}`;
  print(
    [
      '',
      'Heron is up.',
      '',
      row('API', urls.api),
      row('API docs', urls.docs),
      row('Tracking', urls.tracking),
      row('Realtime', urls.realtime),
      row('Temporal UI', urls.temporalUi ?? `not known: Temporal at ${env.TEMPORAL_ADDRESS} was given`),
      row('Metrics', `${urls.apiMetrics} and ${urls.workerMetrics}`),
      row('PostgreSQL', processes.postgres ? `${env.PRIMARY_DB}` : 'as given by PRIMARY_DB'),
      row('Data', dataDir),
      row('Logs', join(dataDir, 'logs')),
      ...(urls.setup ? ['', ...claim(urls.api, urls.setup)] : []),
      '',
      'Ctrl-C stops it; the data stays.',
    ].join('\n'),
  );
}

function claim(api: string, setupUrl: string): string[] {
  const token = setupUrl.slice(setupUrl.lastIndexOf('/') + 1);
  return [
    `  Setup link     ${setupUrl}`,
    '  Nobody has an account yet. Claim the installation, within a day:',
    '',
    `    curl -X POST ${api}/v1/auth/setup -H 'Content-Type: application/json' \\`,
    `      -d '{"token": "${token}", "email": "you@example.com", "password": "<at least ${PASSWORD_LENGTH.min} characters>", "organization": "Example"}'`,
  ];
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
