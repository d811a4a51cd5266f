import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import pLimit from 'p-limit';
import { json } from '../db/connection.ts';
import { decideApproval } from '../domain/approvals/decide.ts';
import { newId } from '../lib/ids.ts';
import { searchAttributes } from '../temporal/attributes.ts';
import { start, writeIntents } from '../temporal/dispatch.ts';
import { inTransaction } from '../db/transaction.ts';
import { runWorkflow } from '../workflows/run/contract.ts';
import { approverCtx } from '../test/harness/approvals.ts';
import { createMailbox, createTenant, type Tenant } from '../test/harness/factories.ts';
import type { TestAssembly } from '../test/harness/database.ts';
import { cpuSeries, describeCost, meanCost } from './engine.ts';
import { countWorker, statementFigures } from './statements.ts';
import { alternate, median, percentile, rssMiB, timed, untilAtRest } from './measure.ts';
import type { BenchContext, BenchResult } from './context.ts';
import { BARE_QUEUE } from './workflows/contract.ts';

/** Number of concurrent requests. */
const AT_ONCE = 32;
const WITHIN_MS = 10_000;
/** Number of workflows whose histories are counted. */
const SAMPLE = 20;

/**
 * Measures agent runs from the accepted request to an active campaign, compared with an empty workflow that has as many
 * activities. Also measures the time from a person's decision to the active campaign. Also measures the time from the
 * deadline of a waiting run to its end.
 */
export async function run(context: BenchContext): Promise<BenchResult> {
  const { quick, log, assembly, stack } = context;
  const count = quick ? 60 : 600;
  const rounds = quick ? 1 : 3;
  const bareWorker = await context.helper('bare-worker');
  const desk = await openDesk(context);
  const { serve: api, worker, temporal, postgres } = stack.processes;
  const heronCpu = cpuSeries({ api: api.pid, worker: worker.pid, temporal: temporal?.pid, postgres: postgres?.pid });
  const bareCpu = cpuSeries({ worker: bareWorker.pid, temporal: temporal?.pid, client: process.pid });
  // Waits for the work after a launch (launchers, counts, subscribers). It is part of a round's CPU time, but not of
  // its duration.
  const rest = () => untilAtRest([api.pid, worker.pid, temporal?.pid, postgres?.pid]);
  /** Returns runs per second, with the CPU time until all processes are idle. */
  const rateOf = async (cpu: typeof heronCpu, work: () => Promise<unknown>): Promise<number> => {
    let ms = 0;
    await cpu.during(count, async () => {
      ms = await timed(work);
      await rest();
    });
    return (count / ms) * 1000;
  };
  await desk.launch(Math.min(count, 40));
  await bareRound(assembly.temporal, Math.min(count, 40));
  await rest();
  let launched: string[] = [];
  let bare: string[] = [];
  const rates = await alternate(
    rounds,
    {
      heron: () =>
        rateOf(heronCpu, async () => {
          launched = await desk.launch(count);
        }),
      workflow: () =>
        rateOf(bareCpu, async () => {
          bare = await bareRound(assembly.temporal, count);
        }),
    },
    (name, round, rate) => log(`round ${round + 1}: ${name} ${rate.toFixed(1)} runs/s`),
  );
  const costOf = (ids: readonly string[]) =>
    meanCost(
      ids.slice(0, SAMPLE).map((id) => assembly.temporal.workflow.getHandle(id)),
      1,
    );
  const heronCost = await costOf(launched.map((id) => `run/${id}`));
  const bareCost = await costOf(bare);
  log(`CPU per run: ${heronCpu.describe()}; the empty workflow: ${bareCpu.describe()}`);
  const decisions = await desk.decide(quick ? 20 : 200);
  log(`decision to active: p50 ${median(decisions).toFixed(0)} ms, p99 ${percentile(decisions, 0.99).toFixed(0)} ms`);

  const waiting = quick ? 300 : 10_000;
  const leadMs = quick ? 20_000 : 180_000;
  const before = rssMiB(stack.processes.worker.pid!) ?? 0;
  const late = await expireAll(assembly, desk.tenant, waiting, leadMs, log);
  const after = rssMiB(stack.processes.worker.pid!) ?? 0;
  const slowest = Math.max(...late);
  log(
    `${waiting} waiting runs: the last ended ${slowest.toFixed(0)} ms after their time; worker ${before.toFixed(0)} -> ${after.toFixed(0)} MiB`,
  );

  const statements = await countWorker(context, count, async () => {
    await desk.launch(count);
    await untilAtRest([api.pid, temporal?.pid, postgres?.pid]);
  });

  const share = median(rates.heron) / median(rates.workflow);
  return {
    figures: [
      { label: 'runs, accepted request to active campaign', value: `${median(rates.heron).toFixed(1)} /s` },
      { label: 'an empty workflow with one activity', value: `${median(rates.workflow).toFixed(1)} /s` },
      { label: 'CPU per run, with all that follows its launch', value: heronCpu.describe() },
      { label: 'the empty workflow, CPU', value: bareCpu.describe() },
      { label: 'per run, from histories', value: describeCost(heronCost) },
      { label: 'the empty workflow, from histories', value: describeCost(bareCost) },
      ...statementFigures('run, with all that follows its launch', statements),
      {
        label: 'decision to active campaign, p50 and p99',
        value: `${median(decisions).toFixed(0)} ms, ${percentile(decisions, 0.99).toFixed(0)} ms`,
      },
      {
        label: `${waiting} runs whose time ends at once: p50, p99 and last after it`,
        value: `${median(late).toFixed(0)} ms, ${percentile(late, 0.99).toFixed(0)} ms, ${slowest.toFixed(0)} ms`,
      },
      { label: 'memory of the worker before and after', value: `${before.toFixed(0)} MiB, ${after.toFixed(0)} MiB` },
    ],
    targets: [
      {
        what: 'runs against the empty workflow',
        target: '>= 60 %',
        got: `${(share * 100).toFixed(0)} %`,
        met: share >= 0.6,
      },
      {
        what: 'decision to active, p50',
        target: '< 500 ms',
        got: `${median(decisions).toFixed(0)} ms`,
        met: median(decisions) < 500,
      },
      {
        what: `${waiting} waiting runs all end within 10 s of their time`,
        target: '< 10 s',
        got: `${(slowest / 1000).toFixed(1)} s`,
        met: slowest < WITHIN_MS,
      },
    ],
    raw: {
      rates,
      decisions,
      late,
      cpuMsPerRun: { heron: heronCpu.values, bare: bareCpu.values },
      statements,
    },
  };
}

interface Desk {
  tenant: Tenant;
  /** Requests runs as a person, whose launches need no approval, and waits until all are active. Returns their ids. */
  launch(count: number): Promise<string[]>;
  /** Returns the times (ms) from a decision to the active run, one run after the other. */
  decide(count: number): Promise<number[]>;
}

async function openDesk({ assembly, stack }: BenchContext): Promise<Desk> {
  const { deps } = assembly;
  const tenant = await createTenant(deps, 'Bench');
  const mailboxId = await createMailbox(deps, tenant.organizationId, 'sam@bench.example.com');
  const post = async (token: string): Promise<string> => {
    const response = await fetch(`${stack.urls.api}/v1/runs`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': newId(),
      },
      body: JSON.stringify(requestOf(mailboxId)),
    });
    const answer = (await response.json()) as { id: string };
    if (response.status !== 202) throw new Error(`POST /runs answered ${response.status}: ${JSON.stringify(answer)}`);
    return answer.id;
  };
  // Passes the ids as one array. Otherwise PostgreSQL would plan a list of hundreds of values at every poll, which
  // would distort the measurement.
  const reach = async (ids: readonly string[], state: string, everyMs: number): Promise<void> => {
    for (;;) {
      const { rows } = (await deps.db.raw(
        'select count(*)::int as count from runs where id = any(?::uuid[]) and state = ?',
        [[...ids], state],
      )) as { rows: { count: number }[] };
      if (rows[0]!.count === ids.length) return;
      await sleep(everyMs);
    }
  };
  const person = approverCtx(deps, tenant);
  return {
    tenant,
    async launch(count) {
      const limit = pLimit(AT_ONCE);
      const ids = await Promise.all(Array.from({ length: count }, () => limit(() => post(tenant.sessionToken))));
      await reach(ids, 'active', 50);
      return ids;
    },
    async decide(count) {
      const times: number[] = [];
      for (let n = 0; n < count; n += 1) {
        const id = await post(tenant.apiKey);
        await reach([id], 'awaiting_approval', 5);
        const { approval_id: approval } = await deps.db('runs').where({ id }).first('approval_id');
        times.push(
          await timed(async () => {
            await decideApproval(person, approval, { decision: 'approved' });
            await reach([id], 'active', 2);
          }),
        );
      }
      return times;
    },
  };
}

function requestOf(mailboxId: string) {
  return {
    name: 'Bench',
    senders: { mode: 'explicit', mailbox_ids: [mailboxId] },
    daily_limit: 50,
    schedule: closedNow(new Date()),
    stop_on_reply: true,
    opt_out_enabled: true,
    intent: 'launch',
    leads: [{ email: `${newId()}@example.com`, first_name: 'Ada' }],
    steps: [{ variants: [{ subject: 'A question', body_plain: 'Hello {{.FirstName}}, may I ask something?' }] }],
  };
}

/**
 * Returns sending hours that do not include the present time. With working hours, results would depend on the time of
 * day: emails would be sent, and refused by the mail server, only during the day.
 */
function closedNow(now: Date) {
  const hour = String((now.getUTCHours() + 6) % 24).padStart(2, '0');
  return { mode: 'explicit', timezone: 'UTC', days: 127, start_time: `${hour}:00`, end_time: `${hour}:59` };
}

/** Runs workflows with as many empty activities as an immediately launched run. Returns their ids. */
async function bareRound(client: Client, count: number): Promise<string[]> {
  const limit = pLimit(AT_ONCE);
  const group = newId();
  const handles = await Promise.all(
    Array.from({ length: count }, () =>
      limit(() => {
        const runId = newId();
        return client.workflow.start('bareRun', {
          taskQueue: BARE_QUEUE,
          workflowId: `bare-run/${runId}`,
          args: [{ organizationId: group, runId }],
          staticSummary: `Run ${runId}`,
          typedSearchAttributes: searchAttributes({ OrganizationId: group, Kind: 'bare' }),
        });
      }),
    ),
  );
  await Promise.all(handles.map((handle) => handle.result()));
  return handles.map(({ workflowId }) => workflowId);
}

/** Lets runs wait for a person until one deadline. Returns the times (ms) from the deadline to their end. */
async function expireAll(
  { deps }: TestAssembly,
  { organizationId, apiKeyId }: Tenant,
  count: number,
  leadMs: number,
  log: (line: string) => void,
): Promise<number[]> {
  const ids = Array.from({ length: count }, () => newId());
  const now = new Date();
  const expires = new Date(now.getTime() + leadMs);
  const rows = ids.map((id) => ({ id, approval: newId(), campaign: newId() }));
  for (let from = 0; from < count; from += 500) {
    const page = rows.slice(from, from + 500);
    await deps.db('approvals').insert(
      page.map(({ id, approval }) => ({
        id: approval,
        organization_id: organizationId,
        action_type: 'campaign.launch',
        subject_type: 'run',
        subject_id: id,
        api_key_id: apiKeyId,
        requester_name: 'bench',
        status: 'pending',
        reasons: json([]),
        payload: json({}),
        payload_hash: 'none',
        created_at: now,
        expires_at: expires,
      })),
    );
    await deps.db('runs').insert(
      page.map(({ id, approval, campaign }) => ({
        id,
        organization_id: organizationId,
        state: 'awaiting_approval',
        intent: 'launch',
        input: json({}),
        campaign_id: campaign,
        frozen_sender_ids: [],
        recipient_count: 1,
        action_count: 0,
        policy_decision: json({}),
        approval_id: approval,
        expires_at: expires,
        actor_kind: 'api_key',
        api_key_id: apiKeyId,
        created_at: now,
        updated_at: now,
      })),
    );
  }
  await inTransaction(deps.db, (trx) =>
    writeIntents(
      trx,
      ids.map((runId) => start(runWorkflow, { organizationId, runId })),
    ),
  );
  const [left] = await untilNone(deps, 'select count(*)::int as left from outbox', leadMs);
  if (left || Date.now() > expires.getTime()) log('not all runs were started before their time was over');
  await sleep(Math.max(0, expires.getTime() - Date.now()));
  await untilNone(deps, `select count(*)::int as left from runs where state = 'awaiting_approval'`, 10 * 60_000);
  const ended = await deps
    .db('runs')
    .whereIn(
      'approval_id',
      rows.map(({ approval }) => approval),
    )
    .select('ended_at');
  return ended.map(({ ended_at: at }) => at.getTime() - expires.getTime());
}

async function untilNone({ db }: TestAssembly['deps'], sql: string, patienceMs: number): Promise<number[]> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const { rows } = (await db.raw(sql)) as { rows: { left: number }[] };
    if (rows[0]!.left === 0 || Date.now() > deadline) return [rows[0]!.left];
    await sleep(200);
  }
}
