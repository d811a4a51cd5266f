import test from 'ava';
import { playAll } from './plays.ts';
import { openStage, type Stage } from './stage.ts';
import { differences, type Table } from './table.ts';

let stage: Stage;
test.before(async () => {
  stage = await openStage();
});
test.after.always(() => stage?.close());

test('a campaign, an open, a reply, a webhook, a run and an import cost what bench/costs.json says', async (t) => {
  t.timeout(180_000);
  const lines = differences('bench/costs.json', (await playAll(stage)) as unknown as Table);
  if (lines.length === 0) t.pass();
  else t.fail(lines.join('\n'));
});
