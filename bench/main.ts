/**
 * Measures Heron against its bare components. `npm run bench` runs all benchmarks, `npm run bench -- contacts import`
 * some of them. `first-minutes` measures a newcomer's first steps on a clone with empty caches, and `failover` the
 * recovery from a lost database. `inbound <folder>` measures the parsing of incoming mail on the corpora in the folder,
 * and `reading` the trained model on held-out writers. `--quick` uses small amounts to check that everything works, and
 * writes no results. `--scale 0.1` runs reports and goals on a tenth of their data. `--data <folder>` keeps the
 * installation in the folder: reports reuses its data set of an earlier run, and dashboard opens it in a browser.
 */
import { parseArgs } from 'node:util';
import { withContext, type Bench, type BenchResult } from './context.ts';
import { printResult, writeReport, writeResult } from './report.ts';

const BENCHES: Record<string, () => Promise<{ run: Bench }>> = {
  engine: () => import('./engine.ts'),
  contacts: () => import('./contacts.ts'),
  import: () => import('./import.ts'),
  scale: () => import('./scale.ts'),
  launch: () => import('./launch.ts'),
  month: () => import('./month.ts'),
  'month-played': () => import('./month-played.ts'),
  auth: () => import('./auth.ts'),
  oauth: () => import('./oauth.ts'),
  webhooks: () => import('./webhooks.ts'),
  isolation: () => import('./isolation.ts'),
  reactions: () => import('./reactions.ts'),
  reconcile: () => import('./reconcile.ts'),
  reports: () => import('./reports.ts'),
  unibox: () => import('./unibox.ts'),
  crm: () => import('./crm.ts'),
  catalogue: () => import('./catalogue.ts'),
  migrations: () => import('./migrations.ts'),
  automations: () => import('./automations.ts'),
  integrations: () => import('./integrations.ts'),
  goals: () => import('./goals.ts'),
  runs: () => import('./runs.ts'),
  dashboard: () => import('./dashboard.ts'),
  warmup: () => import('./warmup.ts'),
  'row-security': () => import('./row-security.ts'),
  pause: () => import('./pause.ts'),
  notifications: () => import('./notifications.ts'),
  opens: () => import('./opens.ts'),
  lists: () => import('./lists.ts'),
};
/** Benchmarks that start no installation. */
const ALONE: Record<
  string,
  (options: { folder: string | undefined; quick: boolean }, log: (line: string) => void) => Promise<BenchResult>
> = {
  'first-minutes': async ({ quick }, log) => (await import('./first-minutes.ts')).run(quick, log),
  failover: async ({ quick }, log) => (await import('./failover.ts')).run(quick, log),
  inbound: async ({ folder }, log) => (await import('./inbound.ts')).run(folder!, log),
  reading: async () => (await import('./reading.ts')).run(),
};

/** Sections of RESULTS.md in order. */
const REPORTED = ['first-minutes', ...Object.keys(BENCHES), 'failover', 'inbound', 'reading'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    scale: { type: 'string', default: '1' },
    data: { type: 'string' },
  },
});
const [only, folder] = positionals;
if (only === 'inbound' && folder === undefined) {
  console.error('Name the folder with the corpora: npm run bench -- inbound <folder>');
  process.exit(2);
}
if (only !== undefined && only in ALONE) {
  const result = await ALONE[only]!({ folder, quick: values.quick }, (line) => console.log(`  ${line}`));
  printResult(result);
  if (!values.quick) {
    await writeResult(only, result, { Node: process.versions.node });
    await writeReport(REPORTED);
  }
  process.exit(0);
}
const scale = Number(values.scale);
if (!(scale > 0 && scale <= 1)) {
  console.error('--scale is above 0 and at most 1');
  process.exit(2);
}
const isWritten = !values.quick;
const unknown = positionals.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  console.error(`No bench is called ${unknown.join(', ')}. There are: ${Object.keys(BENCHES).join(', ')}.`);
  process.exit(2);
}

for (const name of positionals.length > 0 ? positionals : Object.keys(BENCHES)) {
  console.log(`\n${name}${values.quick ? ' (quick: the figures mean little)' : ''}`);
  const { run } = await BENCHES[name]!();
  const { result, versions } = await withContext(
    { quick: values.quick, scale, dataDir: values.data, log: (line) => console.log(`  ${line}`) },
    async (context) => ({
      result: await run(context),
      versions: await context.versions(),
    }),
  );
  printResult(result);
  if (isWritten) await writeResult(name, result, versions);
}
if (isWritten) await writeReport(REPORTED);
process.exit(0);
