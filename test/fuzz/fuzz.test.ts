import test from 'ava';
import { routes } from '../../api/routes.ts';
import { fuzz } from './run.ts';
import { reportText } from './text.ts';

/** Longer by hand: `npm run fuzz -- --minutes 10`. */
const SECONDS = 30;

test('hostile requests for every operation: no failure of ours, no status or body that the document does not know', async (t) => {
  t.timeout(240_000);
  const report = await fuzz({ seed: 20_261_122, forMs: SECONDS * 1_000 });
  t.log(reportText({ ...report, slow: [] }));
  t.deepEqual(report.finds, []);
  t.deepEqual(
    routes.map(({ operationId }) => operationId).filter((id) => !report.seen.has(id)),
    [],
  );
});
