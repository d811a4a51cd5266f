import { createTenant } from '../test/harness/factories.ts';
import { withContext, type BenchContext, type BenchResult } from './context.ts';
import { fillContacts } from './data.ts';
import { campaignRound, cpuSeries } from './engine.ts';
import { requestRate } from './load.ts';
import { alternate, median } from './measure.ts';

const PAGE = 50;
const CONNECTIONS = 10;
const STEPS = 2;
/** Maximum cost (percent) at which row-level security may be enabled by default. */
const MOST_PERCENT = 5;

/**
 * Measures the cost of row-level security: two installations that differ only in ROW_SECURITY run alternately, each
 * with requests of a list and a campaign.
 */
export async function run(off: BenchContext): Promise<BenchResult> {
  return withContext(
    { quick: off.quick, scale: off.scale, log: off.log, env: { ROW_SECURITY: 'true' } },
    async (on) => {
      const list = await contacts({ off, on });
      const campaign = await engine({ off, on });
      const figures = [list, campaign].flatMap(({ what, unit, rates, cpu }) => [
        { label: `${what}, off`, value: `${median(rates.off).toFixed(1)} ${unit}; CPU ${describe(cpu.off.values)}` },
        { label: `${what}, on`, value: `${median(rates.on).toFixed(1)} ${unit}; CPU ${describe(cpu.on.values)}` },
      ]);
      const targets = [list, campaign].map(({ what, rates, cpu }) => {
        const slower = (1 - median(rates.on.map((rate, round) => rate / rates.off[round]!))) * 100;
        const more = (total(cpu.on.values) / total(cpu.off.values) - 1) * 100;
        return {
          what: `${what}: what it costs`,
          target: `<= ${MOST_PERCENT} %`,
          got: `${slower.toFixed(1)} % slower, ${more.toFixed(1)} % more CPU`,
          met: slower <= MOST_PERCENT,
        };
      });
      const raw = Object.fromEntries(
        [list, campaign].map(({ what, rates, cpu }) => [
          what,
          { rates, cpuMs: { off: cpu.off.values, on: cpu.on.values } },
        ]),
      );
      return { figures, targets, raw };
    },
  );
}

type Sides<T> = Record<'off' | 'on', T>;

async function contacts(contexts: Sides<BenchContext>) {
  const { quick, log } = contexts.off;
  const rows = quick ? 5_000 : 100_000;
  const seconds = quick ? 2 : 6;
  const load: Partial<Sides<() => Promise<number>>> = {};
  const cpu = series(contexts, ['serve', 'postgres']);
  for (const side of ['off', 'on'] as const) {
    const { assembly, stack } = contexts[side];
    const tenant = await createTenant(assembly.deps, 'Bench');
    await fillContacts(assembly, tenant.organizationId, rows);
    await assembly.deps.db.raw('vacuum analyze contacts');
    const url = `${stack.urls.api}/v1/contacts?limit=${PAGE}`;
    const headers = { authorization: `Bearer ${tenant.apiKey}` };
    load[side] = () => requestRate(url, { connections: CONNECTIONS, seconds, headers });
    await load[side]();
  }
  const round = (side: 'off' | 'on') => async () => {
    // Measures CPU time per second first. The number of requests is known only afterwards.
    const rate = await cpu[side].during(seconds, load[side]!);
    for (const values of Object.values(cpu[side].values)) values.push(values.pop()! / rate);
    return rate;
  };
  const rates = await alternate(quick ? 2 : 7, { off: round('off'), on: round('on') }, (side, index, rate) =>
    log(`round ${index + 1}: ${side} ${rate.toFixed(0)} requests/s`),
  );
  return { what: `GET /v1/contacts, ${PAGE} of ${rows}`, unit: 'requests/s', rates, cpu };
}

async function engine(contexts: Sides<BenchContext>) {
  const { quick, log } = contexts.off;
  const leads = quick ? 50 : 400;
  const sink = await contexts.off.helper('sink');
  const cpu = series(contexts, ['worker', 'postgres']);
  for (const side of ['off', 'on'] as const) await campaignRound(contexts[side], sink, Math.min(leads, 50));
  const round = (side: 'off' | 'on') => async () => {
    const { ms } = await cpu[side].during(leads * STEPS, () => campaignRound(contexts[side], sink, leads));
    return (leads * STEPS * 1000) / ms;
  };
  const rates = await alternate(quick ? 1 : 4, { off: round('off'), on: round('on') }, (side, index, rate) =>
    log(`round ${index + 1}: ${side} ${rate.toFixed(1)} email steps/s`),
  );
  return { what: `a campaign of ${leads} leads with ${STEPS} emails`, unit: 'email steps/s', rates, cpu };
}

function series(contexts: Sides<BenchContext>, names: readonly ('serve' | 'worker' | 'postgres')[]) {
  const of = ({ stack: { processes } }: BenchContext) =>
    cpuSeries(Object.fromEntries(names.map((name) => [name, processes[name]?.pid])));
  return { off: of(contexts.off), on: of(contexts.on) };
}

function describe(values: Record<string, number[]>): string {
  const parts = Object.entries(values).map(([name, one]) => `${name} ${median(one).toFixed(2)}`);
  return `${total(values).toFixed(2)} ms (${parts.join(', ')})`;
}

/** Sums the medians of all processes over the rounds. */
function total(values: Record<string, number[]>): number {
  return Object.values(values).reduce((sum, one) => sum + (one.length > 0 ? median(one) : 0), 0);
}
