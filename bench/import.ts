import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTenant } from '../test/harness/factories.ts';
import { alternate, median, timed } from './measure.ts';
import type { BenchContext, BenchResult } from './context.ts';

interface Row {
  email: string;
  first: string;
  last: string;
  company: string;
  phone: string;
  city: string;
}

/** Compares a CSV import, from upload to end, to a COPY of the same rows into a table with the same columns. */
export async function run(context: BenchContext): Promise<BenchResult> {
  const count = context.quick ? 5_000 : 100_000;
  const rounds = context.quick ? 2 : 5;
  const { assembly, stack, log } = context;
  const { db } = assembly.deps;
  const rows = Array.from({ length: count }, (_, n): Row => ({
    email: `person${n}@company${n % 5000}.example.org`,
    first: `First${n % 700}`,
    last: `Last${n % 900}`,
    company: `Company ${n % 5000}, Inc.`,
    phone: `+1555${String(n).padStart(7, '0')}`,
    city: `City ${n % 300}`,
  }));
  const csv = [
    'Email,First Name,Last Name,Company,Phone,City',
    ...rows.map((row) => line([row.email, row.first, row.last, row.company, row.phone, row.city])),
  ].join('\r\n');
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

  const share = median(rates.heron) / median(rates.copy);
  return {
    figures: [
      {
        label: `CSV import of ${count} rows, from upload to the end of the job`,
        value: `${median(rates.heron).toFixed(0)} rows/s`,
      },
      { label: 'COPY of the same rows, same columns and indexes', value: `${median(rates.copy).toFixed(0)} rows/s` },
    ],
    targets: [
      { what: 'CSV import against COPY', target: '>= 20 %', got: `${(share * 100).toFixed(0)} %`, met: share >= 0.2 },
    ],
    raw: { rows: count, rates },
  };
}

async function importCsv(api: string, key: string, csv: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const form = new FormData();
  form.append('file', new Blob([csv], { type: 'text/csv' }), 'contacts.csv');
  const begun = await fetch(`${api}/v1/contacts/import`, { method: 'POST', headers, body: form });
  const job = (await begun.json()) as { id: string };
  if (begun.status !== 202) throw new Error(`the import was answered ${begun.status}: ${JSON.stringify(job)}`);
  for (;;) {
    const state = (await (await fetch(`${api}/v1/contacts/imports/${job.id}`, { headers })).json()) as {
      status: string;
    };
    if (state.status === 'completed') return;
    if (state.status !== 'queued' && state.status !== 'running')
      throw new Error(`the import is ${JSON.stringify(state)}`);
    await sleep(50);
  }
}

function line(values: string[]): string {
  return values.map((value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(',');
}
