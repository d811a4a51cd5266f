/**
 * `npm run demo`: a whole Heron, its outside world, and one campaign on examples/leads.csv, from nothing to a reckoning.
 * It needs no preparation and leaves nothing behind. Exit code 0: every check passed; 1: not; 130: interrupted.
 *
 *     npm run demo -- --keep        leave it running to look around, until Ctrl-C
 *     npm run demo -- --leads 40    write to fewer people
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { readLogLine } from '../../local/child.ts';
import { startLocalStack, type LocalStack } from '../../local/stack.ts';
import { startApp } from './app.ts';
import { startTools } from './integrations.ts';
import { ROLES } from './people.ts';
import { runDemo } from './run.ts';
import { startShop } from './shop.ts';
import { startWorld } from './world.ts';
import { TYPESCRIPT } from '../../local/typescript.ts';
import { ensureDashboard } from '../../web/build.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ERROR = 50;
const INTERRUPTED = 130;
const BY_HAND = new Error('interrupted');
const SHOWN = 10;
const VERIFY_TURNS = 5;
const VERIFY_PAUSE_MS = 2000;
/** A stack that is just coming up gets this long (ms) to be taken down in order; longer takes only the first fetch of Temporal. */
const PATIENCE_MS = 20_000;

/** A minute of real life is some seconds here. */
const SETTINGS = {
  // Mail servers, app and links are on this machine.
  ALLOW_PRIVATE_MAIL_HOSTS: 'true',
  ALLOW_UNSAFE_WEBHOOK_URLS: 'true',
  // Opens within seconds of the send count as a machine's, but here people are that quick: the user agent alone decides.
  TRACKING_INSTANT_MS: '0',
  IMAP_POLL_MS: '2000',
  SMTP_UNREACHABLE_RETRY_MS: '3000',
  SHUTDOWN_GRACE_MS: '10000',
  // Nobody reads the owner's mail here.
  AUTH_LOGIN_CODE: 'off',
};

/** Who signs in on the page of an approval. */
const OWNER = { email: 'demo@northlight.example', password: 'a lamp for every desk' };

const options = readOptions();
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
  // People look at what stays up.
  if (options.keep && (await ensureDashboard())) step('dashboard built');
  const world = await startWorld();
  const app = await startApp();
  const tools = await startTools();
  const shop = await startShop(world);
  const complaints: string[] = [];
  let vigil: NodeJS.Timeout | undefined;
  try {
    stack = await startLocalStack({
      persistent: false,
      env: { ...SETTINGS, ...shop.env, ...tools.env },
      log: step,
      onLine: (from, line) => {
        const entry = readLogLine(line);
        if (!entry || entry.level >= ERROR)
          complaints.push(`[${from}] ${entry ? [entry.msg, entry.err?.message].filter(Boolean).join(': ') : line}`);
      },
    });
    vigil = watchOver(stack);
    const { signal } = interruption;
    signal.throwIfAborted();
    const sessionToken = await bootstrap(stack.env);
    const { passed, prepared } = await runDemo({
      apiUrl: stack.urls.api,
      databaseUrl: stack.env.PRIMARY_DB!,
      sessionToken,
      owner: OWNER,
      world,
      app,
      tools,
      shop,
      leads: options.leads,
      complaints,
      say: step,
      signal,
    });
    const factsHold = await verifyFacts(stack.env);
    const addsUp = passed && factsHold;
    say(addsUp ? '\nEverything adds up.' : '\nSomething does not add up.');
    if (options.keep) {
      invite(stack, prepared);
      if (!signal.aborted) await once(signal, 'abort');
    }
    return addsUp ? 0 : 1;
  } catch (error) {
    for (const complaint of complaints.slice(-SHOWN)) step(complaint);
    throw error;
  } finally {
    say('\nTaking everything down.');
    clearInterval(vigil);
    // Heron first: it still talks to the others while it finishes open work.
    await stack?.stop();
    await Promise.all([app.stop(), shop.stop(), tools.closeAll(), world.stop()]);
  }
}

/** Ends the demo when one of the processes ends by itself: there is nothing to wait for then. */
function watchOver({ processes }: LocalStack): NodeJS.Timeout {
  return setInterval(() => {
    const gone = Object.values(processes).find((managed) => managed && managed.pid === undefined);
    if (gone) interruption.abort(new Error(`${gone.name} ended by itself.`));
  }, 1000).unref();
}

/** The operator's command, exactly as in the README. Its answer has a session of the owner, who makes the key of the demo. */
async function bootstrap(env: Record<string, string>): Promise<string> {
  const owner = ['--email', OWNER.email, '--password', OWNER.password, '--organization', 'Northlight'];
  const stdout = await heron(env, 'bootstrap', ...owner);
  step('heron bootstrap: organization Northlight, with a session of its owner');
  return (JSON.parse(stdout) as { session: { access_token: string } }).session.access_token;
}

/** Whether every count that reports read is that of the rows; reports are a second or two behind, so it looks a few times. */
async function verifyFacts(env: Record<string, string>): Promise<boolean> {
  for (let turn = 1; ; turn += 1) {
    try {
      await heron(env, 'facts', 'verify');
      say('\n  PASS  heron facts verify: every count is that of the rows');
      return true;
    } catch (error) {
      if (turn < VERIFY_TURNS) {
        await sleep(VERIFY_PAUSE_MS);
        continue;
      }
      say(`\n  FAIL  heron facts verify\n${(error as { stdout?: string }).stdout ?? String(error)}`);
      return false;
    }
  }
}

/** Runs the operator's command. @returns what it printed @throws when it ends with another code than 0 */
async function heron(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [...TYPESCRIPT, 'deploy/heron.ts', ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
  });
  return stdout;
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

function readOptions(): { keep: boolean; leads: number } {
  try {
    const { values } = parseArgs({
      options: { keep: { type: 'boolean', default: false }, leads: { type: 'string', default: '1000' } },
    });
    const leads = Number(values.leads);
    if (!Number.isSafeInteger(leads) || leads < ROLES.length) {
      throw new Error(`--leads needs a number from ${ROLES.length}: every kind of recipient needs one`);
    }
    return { keep: values.keep, leads };
  } catch (error) {
    say((error as Error).message);
    process.exit(2);
  }
}

/** Ctrl-C often comes twice at once, from the terminal and from the program in between; only a later one means "at once". */
function interrupt(): void {
  if (interruption.signal.aborted) return;
  interruption.abort(BY_HAND);
  const since = Date.now();
  process.on('SIGINT', () => {
    if (Date.now() - since > 1000) process.exit(INTERRUPTED);
  });
  if (stack) return;
  say('\nStopping as soon as what is just starting can be stopped. (Ctrl-C again to stop at once.)');
  setTimeout(() => stack ?? process.exit(INTERRUPTED), PATIENCE_MS).unref();
}

function step(line: string): void {
  say(`  ${line}`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
