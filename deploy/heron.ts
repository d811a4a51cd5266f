/**
 * The operator's command line: `npm run heron -- <command>` from source, `node dist/deploy/heron.js <command>` in
 * production. Exit codes: 0 done, 1 failed, 2 wrong usage. Standard output contains only the result.
 */
import { type Command, CommanderError } from 'commander';
import { ConfigError } from '../lib/config/index.ts';
import { withoutRowData } from '../lib/error-report.ts';
import { AppError } from '../lib/errors.ts';
import { localDataDir, localSettings, localState, waitForLocalStart } from './local-settings.ts';
import { fromDataFolder, PROCESSES, program } from './program.ts';
import { OperatorError } from './waiting.ts';
import { render } from '../messages/render.ts';

/** Commands that need no running installation, so they do not wait for a starting one. */
const WITHOUT_INSTALLATION = new Set(['completion', 'openapi', 'support-bundle', 'tracking-keys']);
const FAILED = 1;
const WRONG_USAGE = 2;

program.hook('preAction', (_program, command) => useLocalSettings(command));

// A reader that closes the pipe early, such as `head`, is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : FAILED));

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = explain(error);
  await explainLocal(error);
}

/**
 * Adds the settings of the local installation, which `npm start` has stored. A command that runs a process gets none if
 * its environment names a database. Such an environment is complete, as in processes that `npm start` starts. A second
 * worker uses a free port for its metrics.
 */
async function useLocalSettings(command: Command): Promise<void> {
  const isProcess = PROCESSES.some(([name]) => name === command.name());
  if (isProcess && process.env.PRIMARY_DB) return;
  if (!WITHOUT_INSTALLATION.has(command.name())) await waitForLocalStart((line) => console.error(`heron: ${line}`));
  const local = localSettings();
  if (!local) return;
  const { WORKER_PORT } = process.env;
  for (const [name, value] of Object.entries(local.values)) {
    process.env[name] = value;
    fromDataFolder.add(name);
  }
  const { state } = await localState(local.dataDir);
  if (command.name() === 'worker' && !WORKER_PORT && state === 'running') process.env.WORKER_PORT = '0';
  const isDown = state === 'stopped' ? '; its `npm start` is not running' : '';
  console.error(`heron: with the settings of the installation in ${local.dataDir}${isDown}`);
}

/**
 * Explains a failure of a command whose settings come from a data folder: its servers run only while `npm start` does.
 */
async function explainLocal(error: unknown): Promise<void> {
  if (error instanceof CommanderError || error instanceof ConfigError || fromDataFolder.size === 0) return;
  const dataDir = localDataDir();
  if ((await localState(dataDir)).state === 'stopped')
    console.error(
      `heron: \`npm start\` is not running on ${dataDir}: start it, or name another database with PRIMARY_DB`,
    );
}

/** Prints a failure in as few lines as possible and returns the exit code. */
function explain(error: unknown): number {
  // Commander has already printed this error. --help and --version also end here, with 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
  if (error instanceof ConfigError || error instanceof OperatorError) {
    console.error(`heron: ${error.message}`);
  } else if (error instanceof AppError) {
    console.error(`heron: ${error.message}`);
    for (const { path, message } of error.problems ?? [])
      console.error(`  - ${path.replace(/^body\./, '')}: ${render(message)}`);
    if (error.fix) console.error(`  ${render(error.fix)}`);
  } else {
    console.error('heron: unexpected failure:', withoutRowData(error));
  }
  return FAILED;
}
