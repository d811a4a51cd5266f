/**
 * `npm run fuzz -- --minutes 10 --seed 7`: hostile requests for every operation, for longer than in `npm test`. Prints
 * the statuses of each operation, the responses that took over a second, and the faults; exits with 1 if there are
 * faults. Needs a PostgreSQL: uses the one in HERON_TEST_PG, otherwise starts one.
 */
import { parseArgs } from 'node:util';
import { startBackingServices } from '../../local/backing.ts';
import { fuzz } from './run.ts';
import { reportText } from './text.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string' } } });
const seed = Number(values.seed ?? Date.now() % 1_000_000);
console.error(`seed ${seed}`);
const backing = process.env.HERON_TEST_PG
  ? undefined
  : await startBackingServices({ persistent: false, log: (line) => console.error(line) });
if (backing) process.env.HERON_TEST_PG = backing.databaseUrl;
try {
  const report = await fuzz({ seed, forMs: Number(values.minutes) * 60_000 });
  console.log(reportText(report));
  process.exitCode = report.finds.length > 0 ? 1 : 0;
} finally {
  await backing?.stop();
}
