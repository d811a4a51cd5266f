import test from 'ava';
import { newId } from '../../../lib/ids.ts';
import { openRunDesk } from '../../../test/harness/run-desk.ts';
import { assertStatus, createWorld, type World } from '../../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const TABLES = [
  'runs',
  'run_events',
  'campaigns',
  'contacts',
  'enrollments',
  'approvals',
  'audit_logs',
  'domain_events',
];

test('a dry run answers what a run would come to, and stores nothing', async (t) => {
  const desk = await openRunDesk(world);
  const { organizationId } = desk.tenant;
  const count = async () => {
    const rows = await Promise.all(
      TABLES.map((table) => world.deps.db(table).where({ organization_id: organizationId }).count()),
    );
    return rows.map(([row], at) => [TABLES[at], Number(row!.count)]);
  };
  const before = await count();
  const dry = (changes?: Record<string, unknown>, token?: string) =>
    desk.call('POST', '/runs?dry_run=true', desk.body(changes), token);

  const waiting = await dry();
  assertStatus(t, waiting, 202);
  t.like(waiting.body, { dry_run: true, state: 'awaiting_approval', recipient_count: 2, action_count: 0 });
  t.deepEqual(
    waiting.body.policy_decision.reasons.map(({ code }: { code: string }) => code),
    ['no_policy'],
  );
  t.is(waiting.body.approval_id, undefined);
  const { findings } = waiting.body.preflight_report;
  t.like(
    findings.find(({ code }: { code: string }) => code === 'schedule_projection'),
    { values: { waiting: 2, days: 1 } },
  );

  t.like((await dry({ intent: 'draft' })).body, { state: 'completed', policy_decision: { decision: 'not_needed' } });
  const { apiKey, apiKeyId } = await desk.key({});
  await desk.policy(apiKeyId);
  t.like((await dry({}, apiKey)).body, { dry_run: true, policy_decision: { decision: 'execute' } });
  const refused = await dry({ senders: { mode: 'explicit', mailbox_ids: [newId()] }, steps: [] });
  assertStatus(t, refused, 400);
  t.true(refused.body.problems.length >= 2);
  // A faulty address is not taken for a missing list.
  const faulty = await dry({ leads: [{ email: 'ann@else.test' }, { email: 'bad@@x' }] });
  t.deepEqual(
    faulty.body.problems.map(({ path }: { path: string }) => path),
    ['body.leads.1.email'],
  );
  t.deepEqual(await count(), before);
  const ours = { organization_id: organizationId };
  const audited = await world.deps.db('audit_logs').where(ours).pluck('entity_type');
  t.false(audited.some((type: string) => ['run', 'campaign', 'contact', 'approval'].includes(type)));
  t.deepEqual(await world.deps.db('domain_events').where(ours).whereLike('type', 'run.%'), []);
  t.deepEqual(await world.deps.db('outbox').where({ tenant: organizationId }).whereLike('workflow_id', 'run/%'), []);
  t.is((await desk.call('POST', '/runs?dry_run=false', desk.body())).body.state, 'queued');
});
