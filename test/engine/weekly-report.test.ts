import test from 'ava';
import { retryRun } from '../../domain/operations/system/blocked-runs.ts';
import { reconcile } from '../../domain/operations/system/reconcile.ts';
import { planWeeklyReports } from '../../domain/reporting/weekly-reports/plan.ts';
import { MailFailure, type SystemMessage } from '../../lib/mail/index.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { createWorld, type World } from '../harness/world.ts';
import { plainRun } from '../harness/plain-history.ts';
import { assertNowhere } from '../harness/secrets.ts';

const MONDAY = new Date('2026-03-09T09:00:00Z');
const clock = new ManualClock(MONDAY);
let world: World;
let engine: Engine;
test.before(async () => {
  world = await createWorld({ clock, env: { RUN_BLOCK_AFTER_MS: '200' } });
  engine = await startEngine(world);
});
test.after.always(async () => {
  await engine?.stop();
  await world?.close();
});

const wanting = async () => {
  const tenant = await world.tenant();
  await world.deps.db('organizations').where({ id: tenant.organizationId }).update({ weekly_report: true });
  return tenant;
};
const reportOf = (organizationId: string) =>
  world.deps.db('weekly_reports').where({ organization_id: organizationId }).first();
const handleOf = (id: string) => engine.temporal.workflow.getHandle(`weekly-report/${id}`);

test.serial('the report of a week leaves on Monday, and its run ends', async (t) => {
  const tenant = await wanting();
  await planWeeklyReports(world.deps);
  const { id } = await reportOf(tenant.organizationId);
  const mailed = await eventually(async () => world.outgoing.find(({ to }) => to === tenant.email));
  t.regex(mailed.subject, /week of Mar 2, 2026/);
  t.is(await eventually(() => handleOf(id).result()), 'mailed 1');
  t.is((await reportOf(tenant.organizationId)).state, 'done');
  assertNowhere(t, await plainRun(engine.temporal, `weekly-report/${id}`), [tenant.email]);
});

test.serial('a transport that stays away blocks the run, a retry goes on; a lost run is found', async (t) => {
  const { systemMail } = world.deps;
  world.deps.systemMail = {
    ...systemMail,
    send: (_message: SystemMessage) => Promise.reject(new MailFailure('later', new Error('away'))),
  };
  const tenant = await wanting();
  await planWeeklyReports(world.deps);
  const { id } = await reportOf(tenant.organizationId);
  await eventually(async () => {
    // Advances the clock by which the duration of the failures is measured.
    clock.advance(100);
    return (await reportOf(tenant.organizationId)).blocked_reason !== null;
  });
  const letter = { task_type: 'weekly_report', task_id: id };
  t.is((await world.deps.db('dead_letters').where(letter).first()).status, 'pending');
  world.deps.systemMail = systemMail;
  t.true(await retryRun(world.deps, `weekly-report/${id}`));
  t.is(await handleOf(id).result(), 'mailed 1');
  t.like(await reportOf(tenant.organizationId), { state: 'done', blocked_reason: null });
  t.is((await world.deps.db('dead_letters').where(letter).first()).status, 'replayed');

  await world.deps.db('weekly_reports').where({ id }).update({ state: 'due' });
  await eventually(async () => {
    const families = await reconcile(world.deps, { resume: true });
    return families.find(({ family }) => family === 'weekly-report')!.missing === 1;
  });
  await eventually(async () => (await reportOf(tenant.organizationId)).state === 'done');
  t.is(world.outgoing.filter(({ to }) => to === tenant.email).length, 1, 'not mailed twice');
});
