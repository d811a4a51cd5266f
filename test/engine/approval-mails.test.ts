import test from 'ava';
import { retryRun } from '../../domain/operations/system/blocked-runs.ts';
import { reconcile } from '../../domain/operations/system/reconcile.ts';
import { MailFailure, type SystemMessage } from '../../lib/mail/index.ts';
import { createApproval } from '../harness/approvals.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { createWorld, type World } from '../harness/world.ts';
import { plainRun } from '../harness/plain-history.ts';
import { assertNowhere } from '../harness/secrets.ts';

let world: World;
let engine: Engine;
test.before(async () => {
  world = await createWorld({ env: { RUN_BLOCK_AFTER_MS: '200' } });
  engine = await startEngine(world);
});
test.after.always(async () => {
  await engine?.stop();
  await world?.close();
});

const hold = async () => {
  const tenant = await world.tenant();
  return { tenant, approval: await createApproval(world.system(tenant.organizationId), tenant) };
};
const mailed = (email: string) => eventually(async () => world.outgoing.find(({ to }) => to === email));
const notice = (id: string) => world.deps.db('approval_notices').where({ approval_id: id }).first();
const handleOf = (id: string) => engine.temporal.workflow.getHandle(`approval-mail/${id}`);

test.serial('who may decide is mailed as soon as an approval waits', async (t) => {
  const { tenant, approval } = await hold();
  t.true((await mailed(tenant.email)).text.includes(approval.id));
  t.is(await handleOf(approval.id).result(), 'mailed 1');
  t.is((await notice(approval.id)).state, 'done');
  assertNowhere(t, await plainRun(engine.temporal, `approval-mail/${approval.id}`), [tenant.email, 'ada@example.com']);
});

test.serial('a mail server that stays away blocks the run, and a retry goes on', async (t) => {
  const { systemMail } = world.deps;
  world.deps.systemMail = {
    ...systemMail,
    send: (_message: SystemMessage) => Promise.reject(new MailFailure('later', new Error('away'))),
  };
  const { tenant, approval } = await hold();
  const blocked = await eventually(async () => {
    const row = await notice(approval.id);
    return row.blocked_reason !== null && row;
  });
  t.is(blocked.blocked_reason.code, 'run.kept_failing');
  const letter = { task_type: 'approval_mail', task_id: approval.id };
  t.is((await world.deps.db('dead_letters').where(letter).first()).status, 'pending');
  world.deps.systemMail = systemMail;
  t.true(await retryRun(world.deps, `approval-mail/${approval.id}`));
  await mailed(tenant.email);
  t.is(await handleOf(approval.id).result(), 'mailed 1');
  t.like(await notice(approval.id), { state: 'done', blocked_reason: null });
  t.is((await world.deps.db('dead_letters').where(letter).first()).status, 'replayed');
});

test.serial('a run that was lost is found missing, and started', async (t) => {
  const { tenant, approval } = await hold();
  await eventually(async () => (await notice(approval.id)).state === 'done');
  await handleOf(approval.id).result();
  await world.deps.db('approval_mails').where({ approval_id: approval.id }).delete();
  await world.deps.db('approval_notices').where({ approval_id: approval.id }).update({ state: 'due' });
  const before = world.outgoing.filter(({ to }) => to === tenant.email).length;
  await eventually(async () => {
    const families = await reconcile(world.deps);
    return families.find(({ family }) => family === 'approval-mail')!.missing === 1;
  });
  await eventually(async () => world.outgoing.filter(({ to }) => to === tenant.email).length === before + 1);
  t.pass();
});
