import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTenant } from '../test/harness/factories.ts';
import { alternate, median, timed, untilAtRest } from './measure.ts';
import { cpuOf, readTree } from './process-tree.ts';
import type { BenchContext, BenchResult } from './context.ts';

interface Row {
  email: string;
  first: string;
  last: string;
  company: string;
  phone: string;
  city: string;
}

/** Number of rows of the import whose processor time is measured. */
const COST_ROWS = 10_000;
const MAX_COST_SECONDS = 2.5;
const MIN_SHARE = 0.37;

/**
 * Compares a CSV import, from upload to end, to a COPY of the same rows into a table with the same columns. Measures
 * the processor time of an import in all processes of the installation.
 */
export async function run(context: BenchContext): Promise<BenchResult> {
  const count = context.quick ? 5_000 : 100_000;
  const rounds = context.quick ? 2 : 5;
  const { assembly, stack, log } = context;
  const { db } = assembly.deps;
  const rows = madeRows(count);
  const csv = csvOf(rows);
  const copyFile = join(stack.dataDir, 'copy.csv');
  await writeFile(
    copyFile,
    rows
      .map((row) => line([row.email, row.first, row.last, row.company, row.phone, JSON.stringify({ City: row.city })]))
      .join('\n'),
    { mode: 0o644 },
  );
  const owner = await createTenant(assembly.deps, 'Copy');
  await db.raw('create table bench_copy (like contacts including all)');
  await db.raw(`alter table bench_copy alter column id set default gen_random_uuid(), alter column organization_id set default '${owner.organizationId}',
    alter column created_at set default now(), alter column updated_at set default now()`);

  const rates = await alternate(
    rounds,
    {
      heron: async () => {
        const tenant = await createTenant(assembly.deps, 'Import');
        const ms = await timed(() => importCsv(stack.urls.api, tenant.apiKey, csv));
        const stored = await db('contacts').where({ organization_id: tenant.organizationId }).count({ n: '*' }).first();
        if (Number(stored!.n) !== count) throw new Error(`${stored!.n} of ${count} rows were imported`);
        return (count / ms) * 1000;
      },
      copy: async () => {
        await db.raw('truncate bench_copy');
        const ms = await timed(() =>
          db.raw(
            `copy bench_copy (email, first_name, last_name, company, phone, custom_fields) from '${copyFile}' with (format csv)`,
          ),
        );
        return (count / ms) * 1000;
      },
    },
    (name, round, rate) => log(`round ${round + 1}: ${name} ${rate.toFixed(0)} rows/s`),
  );

  const costs = await measureCosts(context, rounds);
  const share = median(rates.heron) / median(rates.copy);
  const cost = median(costs.map(({ servers, postgres }) => servers + postgres));
  return {
    figures: [
      {
        label: `CSV import of ${count} rows, from upload to the end of the job`,
        value: `${median(rates.heron).toFixed(0)} rows/s`,
      },
      { label: 'COPY of the same rows, same columns and indexes', value: `${median(rates.copy).toFixed(0)} rows/s` },
      {
        label: `processor time of ${COST_ROWS} rows: servers and worker, PostgreSQL`,
        value: `${seconds(median(costs.map(({ servers }) => servers)))}, ${seconds(median(costs.map(({ postgres }) => postgres)))}`,
      },
      {
        label: `answer to an upload of ${COST_ROWS} rows`,
        value: `${median(costs.map(({ answerMs }) => answerMs)).toFixed(0)} ms`,
      },
    ],
    targets: [
      {
        what: 'CSV import against COPY',
        target: `>= ${percent(MIN_SHARE)}`,
        got: percent(share),
        met: share >= MIN_SHARE,
      },
      {
        what: `processor time of ${COST_ROWS} rows`,
        target: `<= ${seconds(MAX_COST_SECONDS)}`,
        got: seconds(cost),
        met: cost <= MAX_COST_SECONDS,
      },
    ],
    raw: { rows: count, rates, costs },
  };
}

/** Processor time (s) of an import, and the time (ms) until its upload is answered. */
interface Cost {
  servers: number;
  postgres: number;
  answerMs: number;
}

async function measureCosts({ assembly, stack, log }: BenchContext, rounds: number): Promise<Cost[]> {
  const { serve, worker, postgres } = stack.processes;
  const csv = csvOf(madeRows(COST_ROWS));
  const cpu = () => {
    const tree = readTree(process.pid);
    const servers = tree.filter(({ pid }) => pid === serve.pid || pid === worker.pid);
    return { servers: cpuOf(servers), postgres: cpuOf(tree.filter(({ command }) => /\bpostgres/.test(command))) };
  };
  const costs: Cost[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const tenant = await createTenant(assembly.deps, 'Cost');
    await untilAtRest([serve.pid, worker.pid, postgres?.pid]);
    const before = cpu();
    const answerMs = await importCsv(stack.urls.api, tenant.apiKey, csv);
    const after = cpu();
    const cost = { servers: after.servers - before.servers, postgres: after.postgres - before.postgres, answerMs };
    costs.push(cost);
    log(`round ${round + 1}: ${seconds(cost.servers)} and ${seconds(cost.postgres)} of processor time`);
  }
  return costs;
}

function madeRows(count: number): Row[] {
  return Array.from({ length: count }, (_, n) => ({
    email: `person${n}@company${n % 5000}.example.org`,
    first: `First${n % 700}`,
    last: `Last${n % 900}`,
    company: `Company ${n % 5000}, Inc.`,
    phone: `+1555${String(n).padStart(7, '0')}`,
    city: `City ${n % 300}`,
  }));
}

function csvOf(rows: readonly Row[]): string {
  return [
    'Email,First Name,Last Name,Company,Phone,City',
    ...rows.map((row) => line([row.email, row.first, row.last, row.company, row.phone, row.city])),
  ].join('\r\n');
}

/** Imports a file, waits for the end of the job, and returns the time (ms) until the upload was answered. */
async function importCsv(api: string, key: string, csv: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const form = new FormData();
  form.append('file', new Blob([csv], { type: 'text/csv' }), 'contacts.csv');
  const startedAt = performance.now();
  const begun = await fetch(`${api}/v1/contacts/import`, { method: 'POST', headers, body: form });
  const answerMs = performance.now() - startedAt;
  const job = (await begun.json()) as { id: string };
  if (begun.status !== 202) throw new Error(`the import was answered ${begun.status}: ${JSON.stringify(job)}`);
  for (;;) {
    const state = (await (await fetch(`${api}/v1/contacts/imports/${job.id}`, { headers })).json()) as {
      status: string;
    };
    if (state.status === 'completed') return answerMs;
    if (state.status !== 'queued' && state.status !== 'running')
      throw new Error(`the import is ${JSON.stringify(state)}`);
    await sleep(50);
  }
}

function line(values: string[]): string {
  return values.map((value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(',');
}

function seconds(value: number): string {
  return `${value.toFixed(2)} s`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
