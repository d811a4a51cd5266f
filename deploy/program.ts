import { once } from 'node:events';
import type { Connection } from '@temporalio/client';
import { Command } from 'commander';
import { describeConfig, loadConfig, loadTrackingConfig } from '../lib/config/index.ts';
import { silentLogger } from '../lib/log.ts';
import { catalogueCommand } from './catalogue-command.ts';
import { auditMoment, consentProvider, emailAddress, moment, shellName, wholeNumber } from './arguments.ts';
import type { Shell } from './completion.ts';
import { configLines } from './config-text.ts';
import { printJson, printLines } from './print.ts';
import { addRepairCommands } from './repair-commands.ts';
import { reconcileLines } from './runs-text.ts';
import { storyLines } from './story-text.ts';
import { workspaceCommands } from './workspace-commands.ts';
import { migrateDatabase, OperatorError, requireCurrentSchema, waitForTemporal } from './waiting.ts';
import { withAssembly, withCurrentDatabase, withDatabase } from './with-installation.ts';

/** Processes of an installation with their descriptions. */
export const PROCESSES = [
  ['api', 'the REST API (API_PORT)'],
  ['tracking', 'the tracking service: opens, clicks, unsubscribes (TRACKING_PORT)'],
  ['forms', 'the forms service: health and metrics only (FORMS_PORT)'],
  ['realtime', 'the realtime gateway: events over WebSocket (REALTIME_PORT)'],
  ['serve', 'api, tracking, forms and realtime in one process, each on its own port: for a single machine'],
  [
    'worker',
    'a worker: workflows, activities, outbox relay, fan-out of events, reactions, mailbox sync (WORKER_ROLES)',
  ],
] as const;

/** Every command of the operator's command line. */
export const program = new Command('heron')
  .description(
    'Operates a Heron installation. Settings come from environment variables; `heron config` shows them. What they do not ' +
      'say comes from the installation of `npm start` on this machine, where there is one (HERON_DATA_DIR).',
  )
  .exitOverride();

/** Names of settings taken from the data folder of `npm start`. */
export const fromDataFolder = new Set<string>();

program
  .command('migrate')
  .description('migrate the database to the schema of this build; print the applied migrations')
  .action(async () => {
    const { pendingMigrations } = await import('../db/migrations/index.ts');
    await withDatabase(async (db) =>
      printJson({ applied: await migrateDatabase(db), pending: await pendingMigrations(db) }),
    );
  });

program
  .command('backup')
  .description('back up all tables and files of one moment into a folder while Heron runs; without keys')
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
    'restore a backup into the empty database of PRIMARY_DB, and migrate it to this build. Pauses campaigns and holds emails that may ' +
      'have been sent since, except with --nothing-since',
  )
  .argument('<folder>', 'folder of `heron backup`')
  .option(
    '--stopped-at <moment>',
    'moment at which the last process of the old installation ended (RFC 3339); default: now',
    moment,
  )
  .option('--nothing-since', 'no process ran after the backup; hold nothing')
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
    'hold emails that may have been sent since, in a database restored by another program (pg_restore, snapshot, point-in-time recovery). Run it before ' +
      'workers start',
  )
  .requiredOption('--as-of <moment>', 'moment of the restored data (RFC 3339)', moment)
  .option(
    '--stopped-at <moment>',
    'moment at which the last process of the old installation ended (RFC 3339); default: now',
    moment,
  )
  .option('--json', 'as JSON')
  .action(async (options: { asOf: Date; stoppedAt?: Date; json?: boolean }) => {
    const { restoredLines, holdElsewhereRestored } = await import('./backup-command.ts');
    const times = { takenAt: options.asOf, stoppedAt: options.stoppedAt ?? new Date() };
    const held = await holdElsewhereRestored(loadConfig(), times);
    if (options.json) printJson(held);
    else printLines(restoredLines(held));
  });

program
  .command('bootstrap')
  .description('create a first person and organization if they are missing, a session and a full-access API key')
  .requiredOption('--email <address>', 'email address of the person', emailAddress)
  .requiredOption('--organization <name>', 'organization of the person')
  .option('--password <password>', 'password of a new person; without it they use a password reset')
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

const admin = program.command('admin').description('administrators of the installation');
for (const [name, isAdmin, description] of [
  ['add', true, 'make a person an administrator of the installation'],
  ['remove', false, 'remove an administrator of the installation; the last one stays'],
] as const) {
  admin
    .command(name)
    .description(description)
    .argument('<email>', 'email address of the account', emailAddress)
    .action(async (email: string) => {
      const { setPlatformAdmin } = await import('../domain/operations/instance/admins.ts');
      await withAssembly(async ({ deps }) => printJson({ admins: await setPlatformAdmin(deps, email, { isAdmin }) }));
    });
}

program
  .command('config')
  .description('show every setting with its value and source; secrets as fingerprints')
  .option('--json', 'as JSON')
  .action((options: { json?: boolean }) => {
    const settings = describeConfig(loadConfig()).map((setting) =>
      fromDataFolder.has(setting.name) ? { ...setting, source: 'data folder' as const } : setting,
    );
    if (options.json) printJson(settings);
    else printLines(configLines(settings));
  });

program
  .command('tracking-keys')
  .description(
    'print TRACKING_KEYS of the tracking process, made from CREDENTIALS_ENCRYPTION_KEY and CREDENTIALS_PREVIOUS_KEYS. Print and set them again after a change of those',
  )
  .action(async () => {
    const { createKeyring } = await import('../lib/keyring.ts');
    const names = new Set(['APP_ENV', 'CREDENTIALS_ENCRYPTION_KEY', 'CREDENTIALS_PREVIOUS_KEYS']);
    const config = loadConfig(process.env, names);
    const { tracking } = createKeyring(config.CREDENTIALS_ENCRYPTION_KEY, config.CREDENTIALS_PREVIOUS_KEYS);
    printLines([tracking.accepted.map((key) => key.toString('hex')).join(',')]);
  });

program
  .command('doctor')
  .description('check the settings against the running parts; print findings with fixes. Exit code 1 for an error')
  .option('--mail-to <address>', 'send a test email with the mail transport; without it, only sign in', emailAddress)
  .option('--json', 'as JSON')
  .action(async (options: { mailTo?: string; json?: boolean }) => {
    const { examine, findingLines, renderedFindings } = await import('./doctor.ts');
    const findings = await examine(loadConfig(), options.mailTo);
    if (options.json) printJson({ findings: renderedFindings(findings) });
    else printLines(findingLines(findings));
    const faults = findings.filter(({ severity }) => severity === 'error').length;
    if (faults > 0) throw new OperatorError(`${faults} ${faults === 1 ? 'error' : 'errors'} to mend`);
  });

program
  .command('support-bundle')
  .description(
    'write versions, settings, findings, counts and last log lines into one text file for support, without secrets',
  )
  .argument('[file]', 'file to write', 'heron-support.md')
  .action(async (file: string) => {
    const { writeSupportBundle } = await import('./support-bundle.ts');
    await writeSupportBundle(file, process.env, fromDataFolder);
    console.error(`heron: wrote ${file}: read it before you send it`);
    // Exits, because clients that retry connections to unreachable parts would keep the process alive.
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
  .description('print the history of one contact in one campaign')
  .argument('<id>', 'id of the enrollment or of its workflow: enrollment/<campaign>/<contact>')
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
  .description('start workflows that PostgreSQL requires and Temporal lacks; print counts per family')
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
  .description('replay open and recent workflows with this build. Exit code 1 if one does not replay')
  .option('--hours <n>', 'include workflows closed within this number of hours', wholeNumber, 24)
  .option('--per-type <n>', 'maximum number of workflows per type, open ones first', wholeNumber, 500)
  .option('--bundle <file>', 'workflow-bundle.js of another build')
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
  .description('encrypt all values under CREDENTIALS_PREVIOUS_KEYS again with CREDENTIALS_ENCRYPTION_KEY; print counts')
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
  .description("print a workspace's audit log as CSV, newest first")
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
  .description('connect a Gmail or Outlook mailbox by consent: prints the address of the consent, and waits for it')
  .requiredOption('--provider <name>', 'gmail or outlook', consentProvider)
  .option('--no-browser', 'only print the address; do not open a browser')
  .action(async (options: { provider: 'gmail' | 'outlook'; browser: boolean }) => {
    const { connectByConsent } = await import('./connect-mailbox.ts');
    printJson(await connectByConsent(process.env, options, (line) => console.error(line)));
  });

program
  .command('run')
  .description('send a run file to the API as a run (HERON_API_URL, HERON_API_KEY); see docs/tutorials/first-agent.md')
  .argument('[file]', 'YAML with the fields of POST /v1/runs')
  .option('--dry-run', 'make a draft: build and check the campaign, send nothing')
  .option('--wait', 'wait until the run is launched or has ended. Exit code 1 if it is not launched')
  .option('--key <key>', 'Idempotency-Key; the same key returns the same run')
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
    'check a campaign through the API (HERON_API_URL, HERON_API_KEY) and store the report. Exit code 1 for an error. See docs/guides/check-a-campaign.md',
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
  .description('print the completion script of a shell: eval "$(heron completion bash)"')
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
      const config = name === 'tracking' ? loadTrackingConfig() : loadConfig();
      const { runProcess } = await import('./processes.ts');
      await runProcess(name, config);
    });
}
