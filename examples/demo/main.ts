/**
 * `npm run demo`: a whole Heron, its outside world, and one campaign on examples/leads.csv, from start to final checks.
 * It needs no preparation and removes all its files. Exit codes: 0 all checks passed; 1 failed; 130 interrupted. npm
 * run demo -- --keep    keeps it running for a browser, until Ctrl-C npm run demo -- --full    includes everybody in
 * the list, at a realistic pace
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify, styleText } from 'node:util';
import { fileURLToPath } from 'node:url';
import { readLogLine } from '../../local/child.ts';
import { startLocalStack, type LocalStack } from '../../local/stack.ts';
import { startApp } from './app.ts';
import { startTools } from './integrations.ts';
import type { Result } from './chapter.ts';
import { CHAPTERS, faultsOf, type Chapter, type Told } from './chapters.ts';
import { furnish } from './keep.ts';
import { runDemo, type Outcome } from './run.ts';
import { startShop } from './shop.ts';
import { FULL, SHORT } from './size.ts';
import { createStepList } from './steps.ts';
import { startWorld } from './world.ts';
import { TYPESCRIPT } from '../../local/typescript.ts';
import { ensureReference } from '../../local/reference.ts';
import { ensureDashboard } from '../../web/build.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ERROR = 50;
const INTERRUPTED = 130;
const BY_HAND = new Error('interrupted');
const SHOWN = 10;
/** Maximum number of differences shown per check. */
const DIFFERENCES_SHOWN = 5;
const VERIFY_TURNS = 5;
const VERIFY_PAUSE_MS = 2000;
/**
 * Time (ms) for an orderly stop while the stack is still starting. Only the first download of Temporal takes longer.
 */
const PATIENCE_MS = 20_000;

/** Settings that make the demo fast: retries and waits of minutes take a few seconds. */
const SETTINGS = {
  // Allows private addresses, because mail servers, app and links are on this machine.
  ALLOW_PRIVATE_MAIL_HOSTS: 'true',
  ALLOW_UNSAFE_WEBHOOK_URLS: 'true',
  // Normally an open within seconds of the email counts as automatic. People in the demo act that quickly, so here only
  // the user agent decides.
  TRACKING_INSTANT_MS: '0',
  IMAP_POLL_MS: '1000',
  SMTP_UNREACHABLE_RETRY_MS: '1000',
  INTEGRATION_RETRY_BASE_MS: '1000',
  // An approval does not expire while a person looks around in the demo that is kept running.
  APPROVAL_EXPIRES_MS: '86400000',
  SHUTDOWN_GRACE_MS: '10000',
  // Disables sign-in codes, because nobody reads the owner's email in the demo.
  AUTH_LOGIN_CODE: 'off',
};

/** Credentials of the person who signs in on the approval page. */
const OWNER = { email: 'demo@northlight.example', password: 'a lamp for every desk' };

const steps = createStepList(process.stdout);
const options = readOptions();
const size = options.full ? FULL : SHORT;
const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
let stack: LocalStack | undefined;

process.exitCode = await main().catch((error: unknown) => {
  const { aborted, reason } = interruption.signal;
  if (reason === BY_HAND) return INTERRUPTED;
  const cause: unknown = aborted ? reason : error;
  say(`\nThe demo did not get through. ${cause instanceof Error ? cause.message : String(cause)}`);
  return 1;
});
process.exit();

async function main(): Promise<number> {
  say('Heron demo: PostgreSQL, Temporal, Heron, mail servers and an app, all on this machine.\n');
  if (options.keep) {
    const dashboard = steps.begin('The dashboard');
    // Ignores a failed download, because the page of the reference reports it.
    ensureReference(() => undefined).catch(() => undefined);
    await ensureDashboard();
    dashboard.end();
  }
  const installation = steps.begin('PostgreSQL, Temporal and Heron');
  const [world, app, tools] = await Promise.all([startWorld(size.mailboxes), startApp(), startTools()]);
  const shop = await startShop(world);
  const complaints: string[] = [];
  let vigil: NodeJS.Timeout | undefined;
  try {
    stack = await startLocalStack({
      persistent: false,
      env: { ...SETTINGS, ...shop.env, ...tools.env },
      log: installation.say,
      onLine: (from, line) => {
        const entry = readLogLine(line);
        if (!entry || entry.level >= ERROR)
          complaints.push(`[${from}] ${entry ? [entry.msg, entry.err?.message].filter(Boolean).join(': ') : line}`);
      },
    });
    vigil = watchOver(stack);
    const { signal } = interruption;
    signal.throwIfAborted();
    installation.end();
    const began = performance.now();
    const sessionToken = await bootstrap(stack.env);
    const access = { apiUrl: stack.urls.api, sessionToken, owner: OWNER };
    const { told, prepared, table } = await runDemo({
      ...access,
      databaseUrl: stack.env.PRIMARY_DB!,
      world,
      app,
      tools,
      shop,
      size,
      complaints,
      steps,
      signal,
    });
    told.facts = await verifyFacts(stack.env);
    const tookMs = performance.now() - began;
    const rooms = options.keep ? await furnishRooms(prepared, access, signal) : [];
    steps.close();
    report(told, table);
    if (rooms.length > 0)
      say(['', 'Something to look at in every room of the dashboard', ...rooms.flatMap(toLines)].join('\n'));
    const holds = conclude(told, tookMs) && rooms.every(([, differences]) => differences.length === 0);
    if (options.keep) {
      invite(stack, prepared);
      if (!signal.aborted) await once(signal, 'abort');
    } else say('\nSee it in a browser:  npm run demo -- --keep');
    return holds ? 0 : 1;
  } catch (error) {
    steps.close();
    for (const complaint of complaints.slice(-SHOWN)) say(`  ${complaint}`);
    throw error;
  } finally {
    clearInterval(vigil);
    if (options.keep || interruption.signal.aborted) say('\nTaking everything down.');
    // Heron stops first, because it uses the other servers while it finishes open work.
    await stack?.stop();
    await Promise.all([app.stop(), shop.stop(), tools.closeAll(), world.stop()]);
  }
}

/** Ends the demo if one of Heron's processes ends unexpectedly. */
function watchOver({ processes }: LocalStack): NodeJS.Timeout {
  return setInterval(() => {
    const gone = Object.values(processes).find((managed) => managed && managed.pid === undefined);
    if (gone) interruption.abort(new Error(`${gone.name} ended by itself.`));
  }, 1000).unref();
}

/**
 * Runs the operator's command as in the README. Returns a session of the owner, with which the demo's key is created.
 */
async function bootstrap(env: Record<string, string>): Promise<string> {
  const step = steps.begin('heron bootstrap: organization Northlight and its owner');
  const owner = ['--email', OWNER.email, '--password', OWNER.password, '--organization', 'Northlight'];
  const stdout = await heron(env, 'bootstrap', ...owner);
  step.end();
  return (JSON.parse(stdout) as { session: { access_token: string } }).session.access_token;
}

/**
 * Compares every count on which reports are based with the rows. Retries a few times, because reports lag by a second
 * or two.
 */
async function verifyFacts(env: Record<string, string>): Promise<Result[]> {
  const step = steps.begin('heron facts verify');
  const name = CHAPTERS.facts.checks[0];
  for (let turn = 1; ; turn += 1) {
    try {
      await heron(env, 'facts', 'verify');
      step.end();
      return [[name, []]];
    } catch (error) {
      if (turn === VERIFY_TURNS) return [[name, [(error as { stdout?: string }).stdout ?? String(error)]]];
      step.say('a count is not there yet');
      await sleep(VERIFY_PAUSE_MS);
    }
  }
}

async function furnishRooms(...parts: Parameters<typeof furnish>): Promise<Result[]> {
  const step = steps.begin('Something to look at in every room of the dashboard');
  const results = await furnish(...parts);
  step.end();
  return results;
}

/** Runs the operator's command. @returns its output @throws Error when it ends with another code than 0 */
async function heron(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [...TYPESCRIPT, 'deploy/heron.ts', ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
  });
  return stdout;
}

/** Prints the table of the campaign, and one line per check in the order of the chapters. */
function report(told: Told, table: Outcome['table']): void {
  say(['', ...table.map((line) => line && `  ${line}`)].join('\n'));
  for (const chapter of Object.keys(CHAPTERS) as Chapter[])
    say(['', CHAPTERS[chapter].title, ...(told[chapter] ?? []).flatMap(toLines)].join('\n'));
}

function toLines([name, differences]: Result): string[] {
  const verdict = differences.length === 0 ? colored('green', 'PASS') : colored('red', 'FAIL');
  const more = differences.length - DIFFERENCES_SHOWN;
  return [
    `  ${verdict}  ${name}`,
    ...differences.slice(0, DIFFERENCES_SHOWN).map((difference) => `          ${difference}`),
    ...(more > 0 ? [`          and ${more} more`] : []),
  ];
}

/** Prints the result of the checks. @returns true if all passed */
function conclude(told: Told, tookMs: number): boolean {
  const faults = faultsOf(told);
  const made = Object.values(told).reduce((sum, results) => sum + results.length, 0);
  say(
    faults.length === 0
      ? `\nEverything adds up: ${made} checks in ${(tookMs / 1000).toFixed(1)} s. No email was lost or sent twice.\n` +
          'Heron has on record what the mail server, the readers, the app, the CRM, the chat, the calendar and the payment provider have.'
      : `\nSomething does not add up:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
  );
  return faults.length === 0;
}

function colored(color: 'green' | 'red', text: string): string {
  return process.stdout.isTTY && !process.env.NO_COLOR ? styleText(color, text) : text;
}

function invite({ urls, env }: LocalStack, { apiKey, campaignId }: { apiKey: string; campaignId: string }): void {
  say(
    [
      '',
      'It stays up until Ctrl-C:',
      '',
      `  Dashboard     ${urls.api}   (sign in as ${OWNER.email}, password: ${OWNER.password})`,
      `  Temporal UI   ${urls.temporalUi}`,
      `  API docs      ${urls.docs}`,
      `  PostgreSQL    ${env.PRIMARY_DB}`,
      '',
      `  curl -H 'Authorization: Bearer ${apiKey}' '${urls.api}/v1/campaigns/${campaignId}/leads?limit=5'`,
    ].join('\n'),
  );
}

function readOptions(): { keep: boolean; full: boolean } {
  try {
    const flag = { type: 'boolean', default: false } as const;
    return parseArgs({ options: { keep: flag, full: flag } }).values;
  } catch (error) {
    say((error as Error).message);
    process.exit(2);
  }
}

/**
 * Handles Ctrl-C, which often arrives twice, from the terminal and from a parent program. Only a signal more than a
 * second later forces the end.
 */
function interrupt(): void {
  if (interruption.signal.aborted) return;
  interruption.abort(BY_HAND);
  const since = Date.now();
  process.on('SIGINT', () => {
    if (Date.now() - since > 1000) process.exit(INTERRUPTED);
  });
  if (stack) return;
  steps.close();
  say('\nStopping as soon as what is just starting can be stopped. (Ctrl-C again to stop at once.)');
  setTimeout(() => stack ?? process.exit(INTERRUPTED), PATIENCE_MS).unref();
}

/** Prints lines above the list of steps. The lines stay on the terminal. */
function say(text: string): void {
  steps.write(text);
}
