import type { TestAssembly } from '../harness/database.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCtx } from '../../domain/platform/kernel/context.ts';
import { startCampaign, stopCampaign } from '../../domain/campaigns/start.ts';
import { verifyFacts } from '../../domain/reporting/aggregates/verify.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';
import { CAMPAIGN_SETTINGS, onInstallation, type Kept } from './installation.ts';
import { startOutside, type Outside } from './outside.ts';
import type { Part, Parts } from './parts.ts';
import { seeded, type Random } from './random.ts';
import { reconcile as reconcileRuns } from '../../domain/operations/system/reconcile.ts';
import { reconcile, type Check, type Reconciliation } from './reconcile.ts';
import { launch, prepare, type Scenario } from './scenario.ts';

interface FaultOptions {
  seed: number;
  kills: number;
  contacts: number;
  workers: number;
  /** Planned duration (s) of the campaign without kills, from which the number of mailboxes follows. */
  pace: number;
  /** Mean time (ms) between two kills. */
  pauseMs: number;
  /**
   * Number of times that some open workflows are terminated and two searches for missing workflows start concurrently.
   * The relay and the regular search run in addition.
   */
  losses: number;
  /** True in full runs only. Some contacts then wait a minute for a timeout. */
  slow: boolean;
  /** True if contacts reply to emails, which needs the worker's sync role. */
  replies: boolean;
  /** Time (ms) after the last kill after which the test stops waiting for unfinished contacts. */
  settleMs: number;
  log: (line: string) => void;
}

interface Kill {
  atMs: number;
  victim: string;
  downMs: number;
}

export interface FaultReport extends Reconciliation, Kept {
  kills: Kill[];
  /** Duration (ms) of the campaign. */
  tookMs: number;
}

/**
 * Runs a campaign on real processes, kills them at times that the seed determines, waits until everything has ended,
 * and compares the records of both sides.
 */
export async function runFaults(options: FaultOptions): Promise<FaultReport> {
  const { log, workers } = options;
  const random = seeded(options.seed);
  const mail = await startMailWorld();
  const outside = await startOutside(mail);
  try {
    return await onInstallation({ workers, env: CAMPAIGN_SETTINGS, log }, async (parts, assembly) => {
      log(
        `up: ${everyPart(parts)
          .map(({ name, pid }) => `${name} ${pid}`)
          .join(', ')}`,
      );
      return runCampaign({ options, random, mail, outside, parts, assembly });
    });
  } finally {
    await outside.stop();
    await mail.stop();
  }
}

interface Stage {
  options: FaultOptions;
  random: Random;
  mail: MailWorld;
  outside: Outside;
  parts: Parts;
  assembly: TestAssembly;
}

async function runCampaign(stage: Stage): Promise<Omit<FaultReport, 'folder'>> {
  const { options, random, mail, outside, parts, assembly } = stage;
  const { log } = options;
  // A mailbox sends about one email per 1.1 s, and most contacts get two emails.
  const mailboxes = Math.max(2, Math.round((options.contacts * 1.8 * 1.1) / options.pace));
  const scenario = await prepare(assembly, mail, outside, random.fork('people'), { ...options, mailboxes });
  outside.bringToLife(scenario.people, { url: parts.apiUrl, key: scenario.tenant.apiKey });
  log(`${options.contacts} contacts, ${mailboxes} mailboxes, ${options.kills} kills, seed ${options.seed}`);

  const startedAt = performance.now();
  await launch(assembly, scenario);
  const kills: Kill[] = [];
  const faults = await Promise.all([
    killParts(stage, scenario, startedAt, kills),
    pauseOnce(stage, scenario, random.fork('pause')),
    loseRuns(stage, random.fork('losses')),
  ]).then(([late]) => late);
  log('no more kills; letting the campaign settle');
  await settle(stage, scenario);
  const tookMs = performance.now() - startedAt;

  const { checks, uncertain } = await reconcile(assembly.deps.db, scenario, outside, mail.messages);
  const openRuns = await openWorkflows(assembly);
  const look = await reconcileRuns(assembly.deps, { dryRun: true });
  checks.push(
    {
      name: 'PostgreSQL asks for no run that Temporal lacks, and the outbox is empty',
      seen: `${look.length} families`,
      faults: [
        ...look.flatMap(({ family, missing }) => (missing > 0 ? [`${missing} missing: ${family}`] : [])),
        ...(await assembly.deps.db('outbox')).map((row) => `${row.kind} ${row.workflow_id} waits: ${row.last_error}`),
      ],
    },
    {
      name: 'no workflow is left open',
      seen: `${openRuns.length} open`,
      faults: openRuns.map((id) => `${id} is still open`),
    },
    await checkFacts(assembly),
    { name: 'no process ended by itself', seen: `${parts.deaths.length} ends`, faults: parts.deaths },
    { name: 'kills fell into the running campaign', seen: `${kills.length} kills`, faults },
  );
  return { checks, uncertain, kills, tookMs };
}

/** Checks the facts on which reports are based, after their subscriber has processed every event. */
async function checkFacts({ deps }: TestAssembly): Promise<Check> {
  for (let turn = 1; ; turn += 1) {
    const reports = await verifyFacts(deps);
    const wrong = reports.filter(({ total, behind }) => total > 0 || behind > 0);
    if (wrong.length > 0 && turn < 30) {
      await sleep(1000);
      continue;
    }
    return {
      name: 'the facts that reports read are those of the rows',
      seen: `${reports.reduce((sum, { emails }) => sum + emails, 0)} emails`,
      faults: wrong.flatMap(({ behind, differences }) => [
        ...(behind > 0 ? [`${behind} events are not applied`] : []),
        ...differences.map(({ table, key }) => `${table} ${JSON.stringify(key)}`),
      ]),
    };
  }
}

function everyPart({ api, workers, temporal, postgres }: Parts): Part[] {
  return [api, ...workers, temporal, postgres];
}

/**
 * Kills processes at times that the seed determines, without waiting until the previous one runs again. Returns faults
 * of the test's own timing.
 */
async function killParts(
  { options, random, parts, assembly }: Stage,
  scenario: Scenario,
  startedAt: number,
  kills: Kill[],
): Promise<string[]> {
  const draws = random.fork('kills');
  const late: string[] = [];
  const comingBack: Promise<void>[] = [];
  const kinds: Part[][] = [[parts.api], parts.workers, [parts.temporal], [parts.postgres]];
  while (kills.length < options.kills) {
    await sleep(draws.between(options.pauseMs * 0.4, options.pauseMs * 1.6));
    const drawn = draws.pick(draws.pick(kinds));
    const downMs = Math.round(draws.between(100, draws.next() < 0.2 ? 8_000 : 2_500));
    const everyone = kinds.flat();
    const from = everyone.indexOf(drawn);
    // If the drawn process is still down, the next one is killed instead.
    const victim = [...everyone.slice(from), ...everyone.slice(0, from)].find(({ pid }) => pid !== undefined);
    if (!victim) continue;
    if ((await isRunning(assembly, scenario)) === false)
      late.push(`the campaign was over before kill ${kills.length + 1}`);
    kills.push({ atMs: Math.round(performance.now() - startedAt), victim: victim.name, downMs });
    await victim.kill();
    options.log(`kill ${kills.length}: ${victim.name}, down ${downMs} ms at least`);
    comingBack.push(sleep(downMs).then(() => victim.restart()));
  }
  await Promise.all(comingBack);
  return late;
}

/** Pauses the campaign in the middle and resumes it. */
async function pauseOnce(
  { options, assembly }: Stage,
  { tenant, campaignId }: Scenario,
  random: Random,
): Promise<void> {
  const ctx = systemCtx(assembly.deps, tenant.organizationId, 'faults');
  const insist = async (move: () => Promise<void>, wanted: string): Promise<void> => {
    for (;;) {
      await move().catch(() => {});
      const row = await assembly.deps
        .db('campaigns')
        .where({ id: campaignId })
        .first('status')
        .catch(() => undefined);
      if (row?.status === wanted || row?.status === 'completed') return;
      await sleep(300);
    }
  };
  await sleep(options.pace * 1_000 * random.between(0.2, 0.4));
  await insist(() => stopCampaign(ctx, campaignId), 'paused');
  options.log('the campaign was stopped');
  await sleep(random.between(1_000, 4_000));
  await insist(async () => void (await startCampaign(ctx, campaignId)), 'active');
  options.log('the campaign was started again');
}

/**
 * Terminates a few open workflows at times set by the seed, as an operator can, and runs two searches for missing
 * workflows concurrently.
 */
async function loseRuns({ options, assembly }: Stage, random: Random): Promise<void> {
  for (let round = 1; round <= options.losses; round += 1) {
    await sleep(((options.pace * 1_000) / options.losses) * random.between(0.5, 1.2));
    try {
      const runs = (await openWorkflows(assembly)).filter((id) => /^(campaign|enrollment)\//.test(id));
      const lost = runs.length === 0 ? [] : Array.from({ length: 4 }, () => random.pick(runs));
      for (const id of new Set(lost))
        await assembly.temporal.workflow
          .getHandle(id)
          .terminate('the fault test')
          .catch(() => {});
      options.log(`loss ${round}: ${new Set(lost).size} of ${runs.length} runs were terminated`);
    } catch {
      options.log(`loss ${round}: Temporal is away`);
    }
    await lookTwice(assembly);
  }
}

/**
 * Runs two concurrent searches for missing workflows. A search may fail while a process is down, because the next one
 * finds the rest.
 */
async function lookTwice({ deps }: TestAssembly): Promise<void> {
  await Promise.all([1, 2].map(() => reconcileRuns(deps).catch(() => {})));
}

/** Returns true if contacts are in progress; undefined while PostgreSQL does not answer. */
async function isRunning({ deps }: TestAssembly, { campaignId }: Scenario): Promise<boolean | undefined> {
  try {
    const open = await deps
      .db('enrollments')
      .where({ campaign_id: campaignId })
      .whereIn('state', ['pending', 'active'])
      .first('id');
    return open !== undefined;
  } catch {
    return undefined;
  }
}

/**
 * Waits until every contact has ended and no work is in progress, or until the time limit; the comparison then reports
 * stuck work.
 */
async function settle({ options, outside, assembly }: Stage, { campaignId }: Scenario): Promise<void> {
  const { db } = assembly.deps;
  const deadline = performance.now() + options.settleMs;
  let printed = performance.now();
  while (performance.now() < deadline) {
    const open = await db('enrollments')
      .where({ campaign_id: campaignId })
      .whereIn('state', ['pending', 'active'])
      .count({ n: '*' })
      .first();
    const [campaign, queued] = await Promise.all([
      db('campaigns').where({ id: campaignId }).first('status'),
      db('outbox').first('id'),
    ]);
    const left = Number(open!.n);
    if (
      left === 0 &&
      campaign.status === 'completed' &&
      !queued &&
      outside.busy === 0 &&
      (await openWorkflows(assembly)).length === 0
    )
      return;
    if (performance.now() - printed > 10_000) {
      options.log(`${left} contacts under way`);
      printed = performance.now();
      if (options.losses > 0) await lookTwice(assembly);
    }
    await sleep(500);
  }
}

async function openWorkflows({ temporal }: TestAssembly): Promise<string[]> {
  const ids: string[] = [];
  for await (const run of temporal.workflow.list({ query: `ExecutionStatus = 'Running'` })) ids.push(run.workflowId);
  return ids;
}
