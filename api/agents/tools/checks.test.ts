import test from 'ava';
import { newId } from '../../../lib/ids.ts';
import { createCampaign, createMailbox } from '../../../test/harness/factories.ts';
import { connectMcp } from '../../../test/harness/mcp.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const paths = ({ problems }: { problems: { path: string }[] }) => problems.map(({ path }) => path).sort();

test('a campaign is scored and tested by tools; the test is watched and cancelled', async (t) => {
  const tenant = await world.tenant();
  const box = await createMailbox(world.deps, tenant.organizationId, 'sam@ours.test');
  const steps = [{ subject: 'Hello', body_plain: 'Hi' }];
  const { campaignId } = await createCampaign(world.deps, tenant.organizationId, steps, { status: 'draft' });
  const program = await connectMcp(`${world.url}/mcp`, tenant.apiKey);
  const of = { campaign_id: campaignId };
  const report = (await program.call('preflight_campaign', of)).data;
  t.like(report, { campaign_id: campaignId, passed: true });
  t.is(
    await world.deps
      .db('preflight_reports')
      .where({ id: report.id, score: report.score })
      .first('id')
      .then(({ id }) => id),
    report.id,
  );

  const faults = await program.call('test_campaign', { ...of, prospect_email: 'me', max_wait_seconds: 0 });
  t.deepEqual(paths(faults.data), ['arguments.max_wait_seconds', 'arguments.prospect_email']);
  t.deepEqual(paths((await program.call('test_campaign', of)).data), ['arguments.prospect_email']);
  const asked = { ...of, prospect_email: 'me@example.com', max_wait_seconds: 1, idempotency_key: newId() };
  const begun = (await program.call('test_campaign', asked)).data;
  t.like(begun, { campaign_id: campaignId, prospect_email: 'me@example.com', email_account_id: box, state: 'running' });
  t.deepEqual((await program.call('test_campaign', asked)).data, begun, 'asked again with the same key');
  const one = { ...of, test_run_id: begun.id };
  t.deepEqual((await program.call('get_test_run', one)).data, begun);
  t.deepEqual((await program.call('list_test_runs', { ...of, limit: 1 })).data.data, [begun]);
  t.like((await program.call('cancel_test_run', one)).data, { id: begun.id, state: 'cancelled' });
  t.like((await program.call('get_test_run', { ...of, test_run_id: newId() })).data, { code: 'event_run_not_found' });
  t.is((await world.deps.db('campaigns').where({ id: campaignId }).first()).status, 'draft');
  await program.close();
});
