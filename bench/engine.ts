import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { createTransport } from 'nodemailer';
import pLimit from 'p-limit';
import { newId } from '../lib/ids.ts';
import { searchAttributes } from '../temporal/attributes.ts';
import { alternate, cpuMs, median, timed } from './measure.ts';
import { launchCampaign, makeCampaign } from './data.ts';
import { countWorker, statementFigures, statementTimes } from './statements.ts';
import type { BenchContext, BenchResult, Helper } from './context.ts';
import { BARE_QUEUE, type BareArgs } from './workflows/contract.ts';

const STEPS = 2;
const MAILBOXES = 4;
/** Number of concurrent starts, equal to that of the relay. */
const STARTS = 32;
/** Number of SMTP sessions, equal to the engine's number for one pool of mailboxes. */
const SMTP_SESSIONS = 16;

const BODY =
  'Hi {{.FirstName}}, I saw what {{.Company}} does in {{.City}}. Would you have ten minutes next week? See https://example.com/why for details.';

/** Types of history events that are counted, because each of them costs work (temporal.api.enums.v1.EventType). */
const EVENT = { workflowTaskCompleted: 7, activityScheduled: 10, timerStarted: 17, marker: 25 } as const;
/** Number of events in the history of a workflow, by kind and in total. */
type Cost = Record<keyof typeof EVENT | 'events', number>;

/** Shape of the campaign. `waitMinutes` inserts a wait step between the two emails. */
interface Shape {
  gapSeconds: number;
  waitMinutes?: number;
}

/** Campaign that sends as fast as possible, to measure the work without waiting times. */
const SATURATED: Shape = { gapSeconds: 0 };
/**
 * Realistic campaign: each email waits for its slot, with a wait between two emails (a minute here instead of a day).
 */
const REALISTIC: Shape = { gapSeconds: 2, waitMinutes: 1 };

/**
 * Measures email steps per second through the whole engine: launcher, allocator, claim, SMTP, and recording of the
 * result with its event. Compares them to an empty workflow of the same shape and to nodemailer alone.
 */
export async function run(context: BenchContext): Promise<BenchResult> {
  const leads = context.quick ? 300 : 600;
  const rounds = context.quick ? 2 : 5;
  const { log } = context;
  const sink = await context.helper('sink');
  const bareWorker = await context.helper('bare-worker');
  const emails = leads * STEPS;
  let cost!: Cost;
  // Share of email steps with a timer in the campaign. The empty workflow uses the same share. A slot in the past needs
  // no timer.
  let timerShare = 0;
  const { worker, temporal, postgres } = context.stack.processes;
  const heronCpu = cpuSeries({ worker: worker.pid, temporal: temporal?.pid, postgres: postgres?.pid });
  const bareCpu = cpuSeries({ worker: bareWorker.pid, temporal: temporal?.pid, client: process.pid });

  // Warm-up round (caches, connections, prepared plans), not measured.
  await campaignRound(context, sink, Math.min(leads, 50));
  await bareRound(context.assembly.temporal, Math.min(leads, 50), 0);
  const times = await statementTimes(context);
  const rates = await alternate(
    rounds,
    {
      heron: async () => {
        await times.reset();
        const { campaignId, ms } = await heronCpu.during(emails, () => campaignRound(context, sink, leads));
        cost = await campaignCost(context, campaignId, leads);
        timerShare = cost.timerStarted;
        return (emails / ms) * 1000;
      },
      workflow: async () =>
        (emails / (await bareCpu.during(emails, () => bareRound(context.assembly.temporal, leads, timerShare)))) * 1000,
      nodemailer: async () => (emails / (await nodemailerRound(sink.port, emails))) * 1000,
    },
    (name, round, rate) => log(`round ${round + 1}: ${name} ${rate.toFixed(1)} email steps/s`),
  );

  const top = await times.top(emails);

  const realisticLeads = context.quick ? 10 : 100;
  const realisticCpu = cpuSeries({ worker: worker.pid, temporal: temporal?.pid, postgres: postgres?.pid });
  const realistic = await realisticCpu.during(realisticLeads * STEPS, () =>
    campaignRound(context, sink, realisticLeads, REALISTIC),
  );
  const realisticCost = await campaignCost(context, realistic.campaignId, realisticLeads);

  // Runs last, because it replaces the worker process that the earlier rounds need.
  const statements = await countWorker(context, emails, () => campaignRound(context, sink, leads));

  const [heron, workflow, nodemailer] = [median(rates.heron), median(rates.workflow), median(rates.nodemailer)];
  const bareCost = await meanCost(bareHandles.splice(0));
  const share = heron / workflow;
  return {
    figures: [
      {
        label: `campaign of ${leads} leads with ${STEPS} emails, whole path`,
        value: `${heron.toFixed(1)} email steps/s`,
      },
      { label: 'the same workflow with empty activities', value: `${workflow.toFixed(1)} email steps/s` },
      { label: 'nodemailer pool alone', value: `${nodemailer.toFixed(0)} emails/s` },
      { label: 'share of the empty workflow', value: `${(share * 100).toFixed(0)} %` },
      { label: 'share of nodemailer alone', value: `${((heron / nodemailer) * 100).toFixed(0)} %` },
      { label: 'per email step, from histories', value: describeCost(cost) },
      { label: 'the empty workflow, per email step', value: describeCost(bareCost) },
      ...statementFigures('email step', statements),
      { label: 'the mark before the last line of a message, per email step', value: markAmong(top) },
      { label: 'CPU per email step', value: heronCpu.describe() },
      { label: 'the empty workflow, CPU per email step', value: bareCpu.describe() },
      { label: 'with a wait and a slot timer, per email step', value: describeCost(realisticCost) },
      { label: 'with a wait and a slot timer, CPU per email step', value: realisticCpu.describe() },
    ],
    targets: [
      {
        what: 'email steps per second against the empty workflow',
        target: '>= 70 %',
        got: `${(share * 100).toFixed(0)} %`,
        met: share >= 0.7,
      },
      {
        what: 'workflow tasks per email step',
        target: '<= 3',
        got: cost.workflowTaskCompleted.toFixed(2),
        met: cost.workflowTaskCompleted <= 3,
      },
      {
        what: 'normal activities per email step',
        target: '<= 1',
        got: cost.activityScheduled.toFixed(2),
        met: cost.activityScheduled <= 1,
      },
      {
        what: 'workflow tasks per email step with a wait and a slot timer',
        target: '<= 4',
        got: realisticCost.workflowTaskCompleted.toFixed(2),
        met: realisticCost.workflowTaskCompleted <= 4,
      },
    ],
    raw: {
      leads,
      steps: STEPS,
      rates,
      cpuMsPerStep: { heron: heronCpu.values, bare: bareCpu.values },
      realistic: { leads: realisticLeads, ...REALISTIC, cost: realisticCost, cpuMsPerStep: realisticCpu.values },
      statements,
      topStatements: top,
    },
  };
}

/** Runs a campaign from launch to last email in a new workspace. `ms` is its duration. */
export async function campaignRound(
  context: BenchContext,
  sink: Helper,
  leads: number,
  { gapSeconds, waitMinutes }: Shape = SATURATED,
): Promise<{ campaignId: string; ms: number }> {
  const { assembly } = context;
  const { tenant, campaignId } = await makeCampaign(assembly, {
    contacts: leads,
    mailboxes: MAILBOXES,
    gapSeconds,
    smtpPort: sink.port,
    steps: [
      { subject: 'A question for {{.Company}}', body_plain: BODY },
      ...(waitMinutes ? [{ kind: 'wait' as const, action: { type: 'wait', wait_minutes: waitMinutes } }] : []),
      { body_plain: 'Just coming back to this, {{.FirstName}}.' },
    ],
  });
  await sink.ask('reset');
  const ms = await timed(async () => {
    await launchCampaign(assembly, tenant, campaignId);
    for (;;) {
      const [open] = await assembly.deps
        .db('enrollments')
        .where({ campaign_id: campaignId })
        .whereIn('state', ['pending', 'active'])
        .limit(1)
        .select('id');
      if (!open) return;
      await sleep(100);
    }
  });
  const { count } = await sink.ask<{ count: number }>('count');
  if (count !== leads * STEPS) throw new Error(`the sink has ${count} messages of ${leads * STEPS}`);
  return { campaignId, ms };
}

/** Handles of some workflows of the last round. The events in their histories are counted. */
const bareHandles: WorkflowHandle[] = [];
const SAMPLE = 40;

async function bareRound(client: Client, leads: number, timerShare: number): Promise<number> {
  const limit = pLimit(STARTS);
  const group = newId();
  return timed(async () => {
    const handles = await Promise.all(
      Array.from({ length: leads }, (_, index) => limit(() => startBare(client, group, timersOf(index, timerShare)))),
    );
    await Promise.all(handles.map((handle) => handle.result()));
    bareHandles.splice(0, Infinity, ...handles.slice(0, SAMPLE));
  });
}

/** Distributes timers evenly over the steps of all workflows. */
function timersOf(index: number, share: number): boolean[] {
  return Array.from({ length: STEPS }, (_, step) => {
    const number = index * STEPS + step;
    return Math.floor((number + 1) * share) > Math.floor(number * share);
  });
}

function startBare(client: Client, group: string, timers: boolean[]): Promise<WorkflowHandle> {
  const enrollmentId = newId();
  const args: BareArgs = { organizationId: group, campaignId: group, contactId: enrollmentId, enrollmentId, timers };
  return client.workflow.start('bare', {
    taskQueue: BARE_QUEUE,
    workflowId: `bare/${group}/${enrollmentId}`,
    args: [args],
    staticSummary: `Contact ${enrollmentId} in campaign ${group}`,
    typedSearchAttributes: searchAttributes({ OrganizationId: group, CampaignId: group, Kind: 'bare' }),
  });
}

async function nodemailerRound(port: number, emails: number): Promise<number> {
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    pool: true,
    maxConnections: SMTP_SESSIONS,
    maxMessages: Infinity,
    ignoreTLS: true,
    auth: { user: 'sender', pass: 'secret' },
  });
  try {
    return await timed(() =>
      Promise.all(
        Array.from({ length: emails }, (_, index) =>
          transport.sendMail({
            from: 'sender@bench.example.com',
            to: `contact${index}@example.org`,
            subject: 'A question',
            text: BODY,
            html: `<p>${BODY}</p>`,
          }),
        ),
      ),
    );
  } finally {
    transport.close();
  }
}

async function campaignCost({ assembly }: BenchContext, campaignId: string, leads: number): Promise<Cost> {
  const rows: { contact_id: string }[] = await assembly.deps
    .db('enrollments')
    .where({ campaign_id: campaignId })
    .orderBy('id')
    .limit(Math.min(SAMPLE, leads))
    .select('contact_id');
  return meanCost(
    rows.map(({ contact_id }) => assembly.temporal.workflow.getHandle(`enrollment/${campaignId}/${contact_id}`)),
  );
}

/** Returns the average numbers of events in workflow histories, per part. */
export async function meanCost(handles: readonly WorkflowHandle[], parts = STEPS): Promise<Cost> {
  const total: Cost = { workflowTaskCompleted: 0, activityScheduled: 0, timerStarted: 0, marker: 0, events: 0 };
  for (const handle of handles) {
    const { events } = await handle.fetchHistory();
    total.events += events!.length;
    for (const [name, type] of Object.entries(EVENT) as [keyof Cost, number][])
      total[name] += events!.filter(({ eventType }) => eventType === type).length;
  }
  for (const name of Object.keys(total) as (keyof Cost)[]) total[name] /= handles.length * parts;
  return total;
}

/** Formats the counts of {@link meanCost}. */
export function describeCost(cost: Cost): string {
  return `${cost.workflowTaskCompleted.toFixed(2)} workflow tasks, ${cost.activityScheduled.toFixed(2)} activities, ${cost.marker.toFixed(2)} local activities, ${cost.timerStarted.toFixed(2)} timers, ${cost.events.toFixed(1)} events`;
}

interface CpuSeries {
  /** CPU time (ms) per email step by process, one value per round. */
  values: Record<string, number[]>;
  during<T>(emails: number, work: () => Promise<T>): Promise<T>;
  describe(): string;
}

/** Sums the CPU time of processes during a measurement, which is steadier than the clock on a busy machine. */
export function cpuSeries(pids: Record<string, number | undefined>): CpuSeries {
  const values: Record<string, number[]> = Object.fromEntries(Object.keys(pids).map((name) => [name, []]));
  const read = (): Record<string, number | undefined> =>
    Object.fromEntries(
      Object.entries(pids).map(([name, pid]) => [
        name,
        pid === undefined ? undefined : cpuMs(pid, { children: name === 'postgres' }),
      ]),
    );
  return {
    values,
    async during(emails, work) {
      const before = read();
      const result = await work();
      for (const [name, after] of Object.entries(read())) {
        const from = before[name];
        if (after !== undefined && from !== undefined) values[name]!.push((after - from) / emails);
      }
      return result;
    },
    describe() {
      const known = Object.entries(values)
        .filter(([, series]) => series.length > 0)
        .map(([name, series]) => [name, median(series)] as const);
      if (known.length === 0) return 'not known here';
      const total = known.reduce((sum, [, ms]) => sum + ms, 0);
      return `${total.toFixed(1)} ms (${known.map(([name, ms]) => `${name} ${ms.toFixed(1)}`).join(', ')})`;
    },
  };
}

/**
 * Returns, per email step, the database time of the statement that marks an email as submitted, and of all statements.
 * Lock waits are not included.
 */
function markAmong(top: readonly { perPiece: number; meanMs: number; query: string }[]): string {
  const ms = (part: RegExp): number =>
    top.reduce((sum, { perPiece, meanMs, query }) => sum + (part.test(query) ? perPiece * meanMs : 0), 0);
  const all = ms(/^(?!.*advisory)/);
  const mark = ms(/set handover = /);
  return `${mark.toFixed(2)} ms of ${all.toFixed(2)} ms of statements (${((mark / all) * 100).toFixed(0)} %)`;
}
