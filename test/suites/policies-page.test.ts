import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import test from 'ava';
import { openDesk } from '../harness/campaign-desk.ts';
import { createWorld, type World } from '../harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test('every command of docs/guides/policies.md does what the page says', async (t) => {
  const page = await readFile(new URL('../../docs/guides/policies.md', import.meta.url), 'utf8');
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code]) => code!);
  t.true(blocks.length >= 5);
  const desk = await openDesk(world);
  const { campaign } = await desk.ready(2);
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', blocks.join('\n')], {
    env: {
      ...process.env,
      HERON_URL: world.url,
      HERON_API_KEY: desk.tenant.apiKey,
      PERSON: desk.tenant.sessionToken,
      CAMPAIGN_ID: campaign.id,
      MAILBOX_ID: await desk.mailbox(),
    },
  });
  t.regex(stdout, /"source":"none"/);
  t.regex(stdout, /\/approvals\/[0-9a-f-]{36}/);
  t.regex(stdout, /"status":"executed"/);
  t.regex(stdout, /active$/m);
  t.regex(stdout, /"source":"policy","autonomous":true/);
  t.is((await desk.row(campaign.id)).status, 'active');
  t.deepEqual(await world.deps.db('agent_policies').where({ organization_id: desk.tenant.organizationId }), []);
});
