import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProcessName } from '../deploy/processes.ts';
import { startChild } from '../local/child.ts';
import type { Incarnation } from '../local/managed.ts';
import { freePort } from '../local/servers.ts';
import { createTenant } from '../test/harness/factories.ts';
import type { BenchContext, BenchResult } from './context.ts';
import { fillContacts } from './data.ts';
import { campaignRound, cpuSeries } from './engine.ts';
import { median } from './measure.ts';

const STEPS = 2;
const CALLERS = 16;
const CONTACTS = 10_000;

const SETTING: Partial<Record<ProcessName, string>> = { api: 'API_PORT', worker: 'WORKER_PORT' };

/**
 * Compares one and two worker processes on the same campaign, and one and two API processes on the same requests. The
 * processes share the cores of one machine. Two processes must not cost more per email than one, and each must do a
 * part of the work.
 */
export async function run(context: BenchContext): Promise<BenchResult> {
  const { stack, quick, log } = context;
  const leads = quick ? 50 : 400;
  const rounds = quick ? 1 : 3;
  const sink = await context.helper('sink');
  const { worker, temporal, postgres } = stack.processes;
  const shared = { temporal: temporal?.pid, postgres: postgres?.pid };
  const rates: Record<'one' | 'two', number[]> = { one: [], two: [] };
  const requests: Record<'one' | 'two', number[]> = { one: [], two: [] };
  const tenant = await createTenant(context.assembly.deps, 'Scale');
  await fillContacts(context.assembly, tenant.organizationId, CONTACTS);
  const url = stack.urls.api;

  await campaignRound(context, sink, Math.min(leads, 50));
  const alone = cpuSeries({ worker: worker.pid, ...shared });
  for (let round = 0; round < rounds; round += 1) {
    const { ms } = await alone.during(leads * STEPS, () => campaignRound(context, sink, leads));
    rates.one.push((leads * STEPS * 1_000) / ms);
    requests.one.push(await readRate([url], tenant.apiKey, quick));
  }
  log(`one process of each: ${median(rates.one).toFixed(1)} email steps/s`);

  const [more, secondApi] = await Promise.all([another('worker', context), another('api', context)]);
  try {
    const both = cpuSeries({ worker: worker.pid, 'second worker': more.child.pid, ...shared });
    await campaignRound(context, sink, Math.min(leads, 50));
    for (let round = 0; round < rounds; round += 1) {
      const { ms } = await both.during(leads * STEPS, () => campaignRound(context, sink, leads));
      rates.two.push((leads * STEPS * 1_000) / ms);
      requests.two.push(await readRate([url, secondApi.url], tenant.apiKey, quick));
    }
    const [first, second] = [both.values.worker!, both.values['second worker']!].map((series) => median(series));
    const total = (values: Record<string, number[]>) =>
      Object.values(values).reduce((sum, series) => sum + median(series), 0);
    const cost = total(both.values) / total(alone.values);
    const share = Math.min(first!, second!) / (first! + second!);
    return {
      figures: [
        {
          label: 'email steps with one worker process, with two',
          value: `${median(rates.one).toFixed(1)}/s, ${median(rates.two).toFixed(1)}/s`,
        },
        { label: 'CPU per email step with one', value: alone.describe() },
        { label: 'CPU per email step with two', value: both.describe() },
        {
          label: 'list requests with one API process, with two',
          value: `${median(requests.one).toFixed(0)}/s, ${median(requests.two).toFixed(0)}/s`,
        },
      ],
      targets: [
        {
          what: 'CPU per email with two worker processes, against one',
          target: '<= 1.2 x',
          got: `${cost.toFixed(2)} x`,
          met: cost <= 1.2,
        },
        {
          what: 'the smaller share of two worker processes',
          target: '>= 30 %',
          got: `${(share * 100).toFixed(0)} %`,
          met: share >= 0.3,
        },
      ],
      raw: { leads, rates, requests, cpuMsPerStep: { one: alone.values, two: both.values } },
    };
  } finally {
    await Promise.all([more.stop(), secondApi.stop()]);
  }
}

/** Starts another process of the benchmark's installation. */
async function another(
  name: ProcessName,
  { stack }: BenchContext,
): Promise<{ child: Incarnation; url: string; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'heron-scale-'));
  const port = await freePort();
  const env = { ...process.env, ...stack.env, [SETTING[name]!]: String(port) };
  const child = await startChild(name, { env, logFile: join(folder, `${name}.log`), graceMs: 15_000 });
  return {
    child,
    url: `http://127.0.0.1:${port}`,
    async stop() {
      await child.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the number of list requests per second that the processes answer together. */
async function readRate(urls: readonly string[], apiKey: string, quick: boolean): Promise<number> {
  const lengthMs = quick ? 1_000 : 8_000;
  const until = performance.now() + lengthMs;
  let answered = 0;
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      const url = `${urls[caller % urls.length]}/v1/contacts?limit=50`;
      while (performance.now() < until) {
        const answer = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } });
        await answer.arrayBuffer();
        if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
        answered += 1;
      }
    }),
  );
  return (answered * 1_000) / lengthMs;
}
