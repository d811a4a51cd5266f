/**
 * The operator's command line: `npm run heron -- <command>` from source, `node dist/deploy/heron.js <command>` in
 * production. Exit codes: 0 done, 1 failed, 2 wrong usage. Standard output contains only the result.
 */
import { once } from 'node:events';
import type { Connection } from '@temporalio/client';
import { Command, CommanderError } from 'commander';
import { ConfigError, describeConfig, loadConfig } from '../lib/config/index.ts';
import { withoutRowData } from '../lib/error-report.ts';
import { AppError, inWords } from '../lib/errors.ts';
import { silentLogger } from '../lib/log.ts';
import { catalogueCommand } from './catalogue-command.ts';
import { auditMoment, consentProvider, emailAddress, moment, shellName, wholeNumber } from './arguments.ts';
import type { Shell } from './completion.ts';
import { configLines } from './config-text.ts';
import { localDataDir, localSettings, localState, waitForLocalStart } from './local-settings.ts';
import { printJson, printLines } from './print.ts';
import { addRepairCommands } from './repair-commands.ts';
import { reconcileLines } from './runs-text.ts';
import { storyLines } from './story-text.ts';
import { workspaceCommands } from './workspace-commands.ts';
import { migrateDatabase, OperatorError, requireCurrentSchema, waitForTemporal } from './waiting.ts';
import { withAssembly, withCurrentDatabase, withDatabase } from './with-installation.ts';

/** Processes of an installation with their descriptions. */
const PROCESSES = [
  ['api', 'the REST API (API_PORT)'],
  ['tracking', 'the tracking service: opens, clicks, unsubscribes (TRACKING_PORT)'],
  ['forms', 'the forms service: its health, so far (FORMS_PORT)'],
  ['realtime', 'the realtime gateway: events over WebSocket (REALTIME_PORT)'],
  ['serve', 'api, tracking, forms and realtime in one process, each on its own port: for a single machine'],
  [
    'worker',
    'a worker: workflows, activities, outbox relay, fan-out of events, reactions, mailbox sync (WORKER_ROLES)',
  ],
] as const;
/** Commands that need no running installation and so wait for none. */
const WITHOUT_INSTALLATION = new Set(['completion', 'openapi', 'support-bundle']);
const FAILED = 1;
const WRONG_USAGE = 2;

const program = new Command('heron')
  .description(
    'Operates a Heron installation. Settings come from environment variables; `heron config` shows them. What they do not ' +
      'say comes from the installation of `npm start` on this machine, where there is one (HERON_DATA_DIR).',
  )
  .exitOverride()
  .hook('preAction', (_program, command) => useLocalSettings(command));

/** Names of settings taken from the data folder of `npm start`. */
const fromDataFolder = new Set<string>();

program
  .command('migrate')
  .description("bring the database to this build's schema; prints what was applied")
  .action(async () => {
    const { pendingMigrations } = await import('../db/migrations/index.ts');
    await withDatabase(async (db) =>
      printJson({ applied: await migrateDatabase(db), pending: await pendingMigrations(db) }),
    );
  });

program
  .command('backup')
  .description(
    'write everything that Heron keeps into a folder, as of one moment, while everything goes on; no key is in it',
  )
  .argument('<folder>', 'new, or empty')
  .option('--json', 'the manifest as JSON')
  .action(async (folder: string, options: { json?: boolean }) => {
    const { backup, backupLines } = await import('./backup-command.ts');
    const manifest = await backup(loadConfig(), folder, (line) => console.error(line));
    if (options.json) printJson(manifest);
    else printLines(backupLines(manifest, folder));
  });

program
  .command('restore')
  .description(
    'write a backup into the empty database of PRIMARY_DB, and bring it to the schema of this build. Campaigns are paused and emails that may ' +
      'have left since are held, unless nothing ran after the backup',
  )
  .argument('<folder>', 'of `heron backup`')
  .option(
    '--stopped-at <moment>',
    'when the last process of the old installation ended (RFC 3339); now, where not given',
    moment,
  )
  .option('--nothing-since', 'no process ran after the backup: nothing is held')
  .option('--json', 'as JSON')
  .action(async (folder: string, options: { stoppedAt?: Date; nothingSince?: true; json?: boolean }) => {
    const { restore, restoreLines } = await import('./backup-command.ts');
    const stoppedAt = options.nothingSince ? undefined : (options.stoppedAt ?? new Date());
    const report = await restore(loadConfig(), folder, stoppedAt, (line) => console.error(line));
    if (options.json) printJson(report);
    else printLines(restoreLines(report));
  });

program
  .command('restored')
  .description(
    'hold what may have left since, in a database that another program restored (pg_restore, a snapshot, point-in-time recovery), as `heron restore` does by itself; before ' +
      'workers start',
  )
  .requiredOption('--as-of <moment>', 'the moment that the database is of (RFC 3339)', moment)
  .option(
    '--stopped-at <moment>',
    'when the last process of the old installation ended (RFC 3339); now, where not given',
    moment,
  )
  .option('--json', 'as JSON')
  .action(async (options: { asOf: Date; stoppedAt?: Date; json?: boolean }) => {
    const { heldLines, holdElsewhereRestored } = await import('./backup-command.ts');
    const times = { takenAt: options.asOf, stoppedAt: options.stoppedAt ?? new Date() };
    const held = await holdElsewhereRestored(loadConfig(), times);
    if (options.json) printJson(held);
    else printLines(heldLines(held));
  });

program
  .command('bootstrap')
  .description('make a first person and organization (where missing), a session and a full-access API key')
  .requiredOption('--email <address>', 'the person', emailAddress)
  .requiredOption('--organization <name>', 'the organization they own')
  .option('--password <password>', 'for a new person; without it they sign in by a password reset')
  .action(async (options: { email: string; organization: string; password?: string }) => {
    const { bootstrap } = await import('../domain/identity/auth/setup.ts');
    await withAssembly(async ({ deps }) => {
      const { organization, user, session, apiKey } = await bootstrap(deps, options);
      printJson({
        organization: { id: organization.id, name: organization.name },
        user,
        session: {
          access_token: session.accessToken,
          access_token_expires_at: session.accessTokenExpiresAt,
          refresh_token: session.refreshToken,
          refresh_token_expires_at: session.refreshTokenExpiresAt,
        },
        api_key: apiKey,
      });
    });
  });

const admin = program.command('admin').description('who administers the installation');
for (const [name, isAdmin, description] of [
  ['add', true, 'make a person an administrator of the installation'],
  ['remove', false, 'a person administers the installation no longer; the last one stays'],
] as const) {
  admin
    .command(name)
    .description(description)
    .argument('<email>', 'of their account', emailAddress)
    .action(async (email: string) => {
      const { setPlatformAdmin } = await import('../domain/operations/instance/admins.ts');
      await withAssembly(async ({ deps }) => printJson({ admins: await setPlatformAdmin(deps, email, { isAdmin }) }));
    });
}

program
  .command('config')
  .description('show every setting, its value and where it comes from; secrets as fingerprints')
  .option('--json', 'as JSON')
  .action((options: { json?: boolean }) => {
    const settings = describeConfig(loadConfig()).map((setting) =>
      fromDataFolder.has(setting.name) ? { ...setting, source: 'data folder' as const } : setting,
    );
    if (options.json) printJson(settings);
    else printLines(configLines(settings));
  });

program
  .command('doctor')
  .description(
    'check the settings against the living parts; each finding with its fix, exit code 1 when one is an error',
  )
  .option('--mail-to <address>', 'send a test letter with the mail transport; without it, only sign in', emailAddress)
  .option('--json', 'as JSON')
  .action(async (options: { mailTo?: string; json?: boolean }) => {
    const { examine, findingLines, saidFindings } = await import('./doctor.ts');
    const findings = await examine(loadConfig(), options.mailTo);
    if (options.json) printJson({ findings: saidFindings(findings) });
    else printLines(findingLines(findings));
    const faults = findings.filter(({ severity }) => severity === 'error').length;
    if (faults > 0) throw new OperatorError(`${faults} ${faults === 1 ? 'error' : 'errors'} to mend`);
  });

program
  .command('support-bundle')
  .description(
    'write what a helper would ask for into one text file: versions, settings, findings, counts and last log lines, without secrets',
  )
  .argument('[file]', 'where to write it', 'heron-support.md')
  .action(async (file: string) => {
    const { writeSupportBundle } = await import('./support-bundle.ts');
    await writeSupportBundle(file, process.env, fromDataFolder);
    console.error(`heron: wrote ${file}: read it before you send it`);
    // Retrying connections to unreachable parts would keep the process alive.
    process.exit(0);
  });

program
  .command('openapi')
  .description('print the OpenAPI document; needs no server and no database')
  .action(async () => {
    const { apiDocument } = await import('../api/servers/api.ts');
    printJson(apiDocument(loadConfig().API_PUBLIC_URL));
  });

program
  .command('enrollment')
  .description("tell one contact's way through one campaign, from PostgreSQL")
  .argument('<id>', 'the id of the enrollment, or of its workflow: enrollment/<campaign>/<contact>')
  .option('--json', 'as JSON')
  .action(async (id: string, options: { json?: boolean }) => {
    await withDatabase(async (db) => {
      await requireCurrentSchema(db);
      const { enrollmentStory } = await import('../domain/sending/enrollment/story.ts');
      const story = await enrollmentStory(db, id);
      if (options.json) printJson(story);
      else printLines(storyLines(story));
    });
  });

program
  .command('reconcile')
  .description('start runs that PostgreSQL says must be open and that Temporal does not have; prints counts per family')
  .option('--dry-run', 'count only')
  .option('--json', 'as JSON')
  .action(async ({ dryRun = false, json }: { dryRun?: boolean; json?: boolean }) => {
    const { reconcile } = await import('../domain/operations/system/reconcile.ts');
    await withAssembly(async ({ deps, temporal }) => {
      await waitForTemporal(
        temporal.connection as Connection,
        deps.config.TEMPORAL_ADDRESS,
        { info: console.error, warn: console.error },
        5_000,
      );
      const families = await reconcile(deps, {
        dryRun,
        onPage: (family, checked) => console.error(`${family}: ${checked} looked at`),
      });
      if (json) printJson({ dry_run: dryRun, families });
      else printLines(reconcileLines(families, { dryRun }));
    });
  });

program
  .command('replay')
  .description('replay open and recent runs with the workflows of this build; exit code 1 when one does not replay')
  .option('--hours <n>', 'runs that closed within this time, besides open ones', wholeNumber, 24)
  .option('--per-type <n>', 'runs per workflow type, open ones first', wholeNumber, 500)
  .option('--bundle <file>', "another build's workflow-bundle.js")
  .action(async (options: { hours: number; perType: number; bundle?: string }) => {
    const config = loadConfig();
    const { createTemporalClient } = await import('../temporal/client.ts');
    const { replayNamespace } = await import('../workers/replay.ts');
    const { workflowBundle } = await import('../workers/bundle.ts');
    const client = createTemporalClient(config);
    try {
      const bundle = options.bundle ? { codePath: options.bundle } : await workflowBundle(silentLogger);
      const say = { info: console.error, warn: console.error };
      await waitForTemporal(client.connection as Connection, config.TEMPORAL_ADDRESS, say, 5_000);
      const report = await replayNamespace(client, config, silentLogger, {
        bundle,
        recentMs: options.hours * 3_600_000,
        perType: options.perType,
      });
      printJson(report);
      if (report.failures.length > 0)
        throw new OperatorError(`${report.failures.length} runs do not replay with this build: do not release it`);
    } finally {
      await client.connection.close();
    }
  });

program
  .command('rotate-keys')
  .description(
    'seal everything anew under CREDENTIALS_ENCRYPTION_KEY that is under one of CREDENTIALS_PREVIOUS_KEYS; prints counts',
  )
  .option('--dry-run', 'count only')
  .action(async (options: { dryRun?: boolean }) => {
    const config = loadConfig();
    const { createKeyring } = await import('../lib/keyring.ts');
    const { rotateKeys } = await import('../domain/operations/system/rotate-keys.ts');
    const keyring = createKeyring(config.CREDENTIALS_ENCRYPTION_KEY, config.CREDENTIALS_PREVIOUS_KEYS);
    await withCurrentDatabase(async (db) => {
      const columns = await rotateKeys({ db, keyring }, { dryRun: options.dryRun ?? false });
      printJson({ dry_run: options.dryRun ?? false, columns });
      if (columns.some(({ unreadable }) => unreadable > 0))
        throw new OperatorError(
          'some values open with none of the keys: keep the earlier keys in CREDENTIALS_PREVIOUS_KEYS',
        );
    });
  });

addRepairCommands(program);

program
  .command('audit')
  .description("print a workspace's audit trail as CSV, newest first")
  .requiredOption('--organization <id>', 'the workspace')
  .option('--from <day or moment>', 'YYYY-MM-DD or RFC 3339, UTC', auditMoment)
  .option('--to <day or moment>', 'included', auditMoment)
  .action(async (options: { organization: string; from?: string; to?: string }) => {
    const { systemCtx } = await import('../domain/platform/kernel/context.ts');
    const { exportAuditLogs } = await import('../domain/platform/audit/export.ts');
    const { beginOf, endOf } = await import('../domain/platform/audit/read.ts');
    const filter = {
      ...(options.from ? { since: beginOf(options.from) } : {}),
      ...(options.to ? { before: endOf(options.to) } : {}),
    };
    await withAssembly(async ({ deps }) => {
      for await (const lines of exportAuditLogs(systemCtx(deps, options.organization, 'heron audit'), filter))
        if (!process.stdout.write(lines)) await once(process.stdout, 'drain');
    });
  });

program.addCommand(catalogueCommand(printJson));
for (const command of workspaceCommands({ json: printJson, lines: printLines })) program.addCommand(command);

const mailbox = program
  .command('mailbox')
  .description('connect mailboxes, through the API (HERON_API_URL, HERON_API_KEY)');

mailbox
  .command('connect')
  .description('connect a Gmail or Outlook mailbox by consent: prints where to consent, and waits until it is done')
  .requiredOption('--provider <name>', 'gmail or outlook', consentProvider)
  .option('--no-browser', 'only print the address; do not open a browser')
  .action(async (options: { provider: 'gmail' | 'outlook'; browser: boolean }) => {
    const { connectByConsent } = await import('./connect-mailbox.ts');
    printJson(await connectByConsent(process.env, options, (line) => console.error(line)));
  });

program
  .command('run')
  .description('send a run file to the API as a run (HERON_API_URL, HERON_API_KEY); docs/agents.md explains both')
  .argument('[file]', 'YAML with the fields of POST /v1/runs')
  .option('--dry-run', 'make a draft: build and check the campaign, send nothing')
  .option('--wait', 'wait until the run is launched or has ended; exit code 1 when it is not launched')
  .option('--key <key>', 'Idempotency-Key: the same one again repeats the answer instead of another run')
  .option('--schema', 'print the JSON Schema of run files')
  .action(
    async (
      file: string | undefined,
      options: { dryRun?: true; wait?: true; key?: string; schema?: true },
      command: Command,
    ) => {
      if (options.schema) {
        const { runSchema } = await import('../api/campaigns/runs/file-schema.ts');
        return printJson(runSchema());
      }
      if (file === undefined) return command.error("error: missing required argument 'file'");
      const { runFile } = await import('./run-command.ts');
      const asked = { dryRun: options.dryRun ?? false, wait: options.wait ?? false, key: options.key };
      printJson(await runFile(file, asked, process.env, (line) => console.error(line)));
    },
  );

program
  .command('preflight')
  .description(
    'check a campaign through the API (HERON_API_URL, HERON_API_KEY) and store the report; exit code 1 when it has an error. docs/checks.md explains it',
  )
  .argument('<campaign>', 'its id')
  .option('--json', 'the report as JSON')
  .action(async (campaignId: string, options: { json?: boolean }) => {
    const { preflight, preflightLines } = await import('./preflight-command.ts');
    const report = await preflight(campaignId, process.env);
    if (options.json) printJson(report);
    else printLines(preflightLines(report));
    const errors = report.findings.filter(({ severity }) => severity === 'error').length;
    if (errors > 0) throw new OperatorError(`${errors} ${errors === 1 ? 'error' : 'errors'} to mend before a start`);
  });

program
  .command('completion')
  .description('print what completes commands and options in your shell: eval "$(heron completion bash)"')
  .argument('<shell>', 'bash, zsh or fish', shellName)
  .action(async (shell: Shell) => {
    const { completionScript } = await import('./completion.ts');
    process.stdout.write(completionScript(program, shell));
  });

for (const [name, what] of PROCESSES) {
  program
    .command(name)
    .description(`run ${what}`)
    .action(async () => {
      const config = loadConfig();
      const { runProcess } = await import('./processes.ts');
      await runProcess(name, config);
    });
}

// A reader that closes the pipe early, such as `head`, is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : FAILED));

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = explain(error);
  await explainLocal(error);
}

/**
 * Adds the settings of the installation of `npm start`. A process that has a database setting gets none, because its
 * environment is complete, like that of processes started by `npm start`. A second worker uses a free port for its
 * metrics.
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

/** Explains a failure with the settings of a data folder: its servers do not run if `npm start` does not. */
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
  // Commander has printed it already. --help and --version also end here, with 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
  if (error instanceof ConfigError || error instanceof OperatorError) {
    console.error(`heron: ${error.message}`);
  } else if (error instanceof AppError) {
    console.error(`heron: ${error.message}`);
    for (const { path, message } of error.problems ?? [])
      console.error(`  - ${path.replace(/^body\./, '')}: ${inWords(message)}`);
    if (error.fix) console.error(`  ${inWords(error.fix)}`);
  } else {
    console.error('heron: unexpected failure:', withoutRowData(error));
  }
  return FAILED;
}
