/**
 * Kills processes of a running campaign with SIGKILL, and compares the database with the records of the mail server and
 * the customer's app. In the meantime open workflows are terminated, and searches for missing workflows start
 * concurrently. `npm run test:faults -- --seed N` repeats a run.
 * `--webhooks` kills workers while events are delivered, and compares the database with the receiver. `--direct` does
 * the same for people's own emails.
 * `--flows` kills every process at states of runs, approvals, direct sends, test runs, warmups, orders, refunds and
 * renewals. With it, `--rounds N` plays N rounds of the seed's plan, and `--only order,renewal` plays only these kinds.
 * `--integrations` kills workers and Temporal while events go to providers and start automations, and compares the
 * provider stubs with the emitted events.
 * `--orders` plays orders of mailboxes under faults of their provider and of Stripe, and compares Heron's accounts with
 * both; `--rounds N` plays N seeds.
 * `--restore` backs an installation up and restores it in the middle of a campaign, twice. `--rolling` replaces every
 * process of every role under load, with `--from <folder>` those of an earlier build by this one. These two are not
 * part of `npm test`.
 * `--soak N` plays flows for N minutes, with a hostile organization, frozen processes and forgotten database
 * connections beside the kills.
 * `--failover` cuts the database off from a worker silently; `--clock` sets a worker's clock an hour ahead.
 */
import { parseArgs } from 'node:util';
import { startBackingServices } from '../../local/backing.ts';
import { runDirectFaults } from './direct-sends.ts';
import { runFailover } from './failover.ts';
import type { FlowKill } from './flows/kills.ts';
import { STATES, type Kind } from './flows/plan.ts';
import { runFlowFaults } from './flows/run.ts';
import { isClean } from './installation.ts';
import { runIntegrationFaults } from './integrations.ts';
import { runOrderFaults } from './orders.ts';
import type { Check } from './reconcile.ts';
import { runRestoreDrill } from './restore.ts';
import { runRollingRestart } from './rolling.ts';
import { runSoak } from './soak.ts';
import { runFaults, type FaultReport } from './run.ts';
import { runWebhookFaults } from './webhooks.ts';
import { runWrongClock } from './wrong-clock.ts';

const { values } = parseArgs({
  options: {
    webhooks: { type: 'boolean', default: false },
    direct: { type: 'boolean', default: false },
    flows: { type: 'boolean', default: false },
    orders: { type: 'boolean', default: false },
    integrations: { type: 'boolean', default: false },
    only: { type: 'string' },
    restore: { type: 'boolean', default: false },
    rolling: { type: 'boolean', default: false },
    failover: { type: 'boolean', default: false },
    clock: { type: 'boolean', default: false },
    soak: { type: 'string' },
    from: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    seed: { type: 'string' },
    kills: { type: 'string' },
    contacts: { type: 'string', default: '300' },
    pace: { type: 'string', default: '130' },
    losses: { type: 'string', default: '8' },
  },
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 1e6) : count('seed', values.seed);
const kills = count('kills', values.kills ?? (values.webhooks ? '30' : values.flows ? '14' : '22'));
const contacts = count('contacts', values.contacts);
const pace = count('pace', values.pace);
const losses = count('losses', values.losses);
const startedAt = performance.now();

const log = (line: string): void => console.log(`${seconds(performance.now() - startedAt).padStart(6)}  ${line}`);

if (values.webhooks) {
  const {
    checks,
    kills: done,
    events,
    repeats,
    tookMs,
    folder,
  } = await runWebhookFaults({ seed, kills, workers: 2, pauseMs: 3_500, rate: 100, settleMs: 240_000, log });
  console.log(
    `\n${done} kills of workers in ${seconds(tookMs)}: ${events} events, ${repeats} receipts more than those\n`,
  );
  printChecks(checks);
  if (folder) console.log(`\nData and logs of all processes: ${folder}`);
  console.log(`\nTo repeat: npm run test:faults -- --webhooks --seed ${seed} --kills ${kills}`);
  process.exit(isClean(checks) ? 0 : 1);
}

if (values.integrations) {
  const {
    checks,
    kills: done,
    events,
    tookMs,
    folder,
  } = await runIntegrationFaults({
    seed,
    kills,
    workers: 2,
    pauseMs: 5_000,
    rate: 1,
    appFails: 0.02,
    waits: true,
    settleMs: 300_000,
    log,
  });
  console.log(`\n${done} kills in ${seconds(tookMs)}: ${events} events\n`);
  printChecks(checks);
  if (folder) console.log(`\nData and logs of all processes: ${folder}`);
  console.log(`\nTo repeat: npm run test:faults -- --integrations --seed ${seed} --kills ${kills}`);
  process.exit(isClean(checks) ? 0 : 1);
}

if (values.direct) {
  const emails = contacts;
  const { checks, folder } = await runDirectFaults({ seed, emails, kills, settleMs: 240_000, log });
  printChecks(checks);
  if (folder) console.log(`\nData and logs of all processes: ${folder}`);
  console.log(`\nTo repeat: npm run test:faults -- --direct --seed ${seed} --kills ${kills} --contacts ${emails}`);
  process.exit(isClean(checks) ? 0 : 1);
}

if (values.flows) {
  const rounds = count('rounds', values.rounds);
  const kinds = kindsOf(values.only);
  const {
    checks,
    kills: done,
    tookMs,
    folder,
  } = await runFlowFaults({
    seed,
    rounds,
    kills,
    states: { kinds },
    others: othersOf(kinds, { run: 6, direct: 6, test: 4, warmup: 1, order: 3, renewal: 1 }),
    workers: 2,
    spreadMs: 25_000,
    expiresMs: 15_000,
    losesStore: 1,
    settleMs: 150_000,
    log,
  });
  printKills(done);
  console.log(`\n${done.length} kills in ${rounds} rounds, ${seconds(tookMs)}\n`);
  printChecks(checks);
  if (folder) console.log(`\nData and logs of all processes: ${folder}`);
  console.log(
    `\nTo repeat: npm run test:faults -- --flows --seed ${seed} --rounds ${rounds} --kills ${kills}${values.only ? ` --only ${values.only}` : ''}`,
  );
  process.exit(isClean(checks) ? 0 : 1);
}

if (values.soak !== undefined) {
  const minutes = count('soak', values.soak);
  const {
    checks,
    rounds,
    kills: done,
    faults,
    tookMs,
    folder,
  } = await runSoak({ seed, lastsMs: minutes * 60_000, log });
  console.log(
    `\n${rounds} rounds in ${seconds(tookMs)}: ${done} kills, ${faults.freeze ?? 0} freezes, ${faults.forget ?? 0} times forgotten connections, ${faults.lose ?? 0} times lost answers\n`,
  );
  printChecks(checks);
  if (folder) console.log(`\nData and logs of all processes: ${folder}`);
  console.log(`\nTo repeat: npm run test:faults -- --soak ${minutes} --seed ${seed}`);
  process.exit(isClean(checks) ? 0 : 1);
}

if (values.restore) {
  const { checks, folder } = await runRestoreDrill({ seed, contacts, runsOnMs: 3_000, log });
  printChecks(checks);
  if (folder) console.log(`\nData and logs of all processes: ${folder}`);
  console.log(`\nTo repeat: npm run test:faults -- --restore --seed ${seed} --contacts ${contacts}`);
  process.exit(isClean(checks) ? 0 : 1);
}

if (values.rolling) {
  const backing = process.env.HERON_TEST_PG
    ? undefined
    : await startBackingServices({ persistent: false, headless: true, log });
  if (backing)
    Object.assign(process.env, { HERON_TEST_PG: backing.databaseUrl, HERON_TEST_TEMPORAL: backing.temporalAddress });
  const { checks, folder } = await runRollingRestart({ contacts, mailboxes: 5, replicas: 2, from: values.from, log });
  await backing?.stop();
  printChecks(checks);
  if (folder) console.log(`\nLogs of all processes: ${folder}`);
  process.exit(isClean(checks) ? 0 : 1);
}

if (values.failover || values.clock) {
  const { checks, folder } = values.failover
    ? await runFailover({ emails: 20, awayMs: 40_000, settleMs: 60_000, log })
    : await runWrongClock({ seed, contacts: 50, aheadMs: 10_000, settleMs: 150_000, log });
  printChecks(checks);
  if (folder) console.log(`\nData and logs of all processes: ${folder}`);
  process.exit(isClean(checks) ? 0 : 1);
}

if (values.orders) {
  const rounds = count('rounds', values.rounds);
  const backing = process.env.HERON_TEST_PG ? undefined : await startBackingServices({ persistent: false, log });
  if (backing) process.env.HERON_TEST_PG = backing.databaseUrl;
  let isAllClean = true;
  for (let round = seed; round < seed + rounds; round += 1) {
    const { checks } = await runOrderFaults({ seed: round, orders: 20 });
    console.log(`\nseed ${round}, ${seconds(performance.now() - startedAt)}`);
    printChecks(checks);
    isAllClean &&= isClean(checks);
  }
  await backing?.stop();
  console.log(`\nTo repeat: npm run test:faults -- --orders --seed ${seed} --rounds ${rounds}`);
  process.exit(isAllClean ? 0 : 1);
}

const report = await runFaults({
  seed,
  kills,
  contacts,
  pace,
  losses,
  workers: 2,
  pauseMs: (pace * 1_000) / Math.max(1, kills),
  slow: true,
  replies: true,
  settleMs: 240_000,
  log,
});
print(report);
console.log(
  `\nTo repeat: npm run test:faults -- --seed ${seed} --kills ${kills} --contacts ${contacts} --pace ${pace} --losses ${losses}`,
);
process.exit(isClean(report.checks) ? 0 : 1);

function print({ checks, uncertain, kills: done, tookMs, folder }: FaultReport): void {
  const perVictim = new Map<string, number>();
  for (const { victim } of done) perVictim.set(victim, (perVictim.get(victim) ?? 0) + 1);
  console.log(
    `\n${done.length} kills in ${seconds(tookMs)}: ${[...perVictim].map(([name, times]) => `${name} ${times}`).join(', ')}\n`,
  );
  printChecks(checks);
  const onServer = uncertain.filter((send) => send.onServer).length;
  console.log(
    `\nUncertain: ${uncertain.length}, of which the mail server has ${onServer} and lacks ${uncertain.length - onServer}. None was sent again; each is a dead letter.`,
  );
  for (const send of uncertain)
    console.log(
      `  ${send.email}  step ${send.step}  ${send.onServer ? 'on the server' : 'not on the server'}  ${send.detail}`,
    );
  if (folder) console.log(`\nData and logs of all processes: ${folder}`);
}

/** Prints the states at which processes were killed, with the processes. */
function printKills(kills: readonly FlowKill[]): void {
  const victims = new Map<string, string[]>();
  for (const { kind, state, victim } of kills) {
    const key = `${kind}: ${state}`;
    victims.set(key, [...(victims.get(key) ?? []), victim]);
  }
  console.log('');
  for (const [key, names] of [...victims].sort(([a], [b]) => a.localeCompare(b)))
    console.log(`${key.padEnd(48)}${names.join(', ')}`);
}

function printChecks(checks: readonly Check[]): void {
  const width = Math.max(...checks.map(({ name }) => name.length));
  for (const { name, seen, faults } of checks) {
    console.log(`${faults.length === 0 ? 'ok  ' : 'FAIL'}  ${name.padEnd(width)}  ${seen}`);
    for (const fault of faults.slice(0, 20)) console.log(`        ${fault}`);
    if (faults.length > 20) console.log(`        and ${faults.length - 20} more`);
  }
}

/** @returns the kinds named by `--only`, or all */
function kindsOf(only: string | undefined): Kind[] {
  const all = Object.keys(STATES) as Kind[];
  const kinds = only === undefined ? all : all.filter((kind) => only.split(',').includes(kind));
  if (kinds.length > 0) return kinds;
  console.error(`--only must name some of ${all.join(', ')}`);
  process.exit(2);
}

function othersOf(kinds: readonly Kind[], others: Record<Kind, number>): Record<Kind, number> {
  return Object.fromEntries(
    Object.entries(others).map(([kind, n]) => [kind, kinds.includes(kind as Kind) ? n : 0]),
  ) as Record<Kind, number>;
}

function count(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  console.error(`--${name} must be a whole number`);
  process.exit(2);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
