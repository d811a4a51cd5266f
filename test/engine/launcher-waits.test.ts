import test from 'ava';
import { advanceEnrollment } from '../../domain/sending/enrollment/advance.ts';
import { addRechecks, RESUMED } from '../../domain/sending/control/rechecks.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { createCampaign, createContact, createMailbox, enroll } from '../harness/factories.ts';
import { createWorld, type World } from '../harness/world.ts';

let world: World;
let engine: Engine;
test.before(async () => {
  world = await createWorld({ env: { WORKER_ROLES: 'temporal,relay', WORKER_BATCH_SLOTS: '1' } });
  engine = await startEngine(world);
});
test.after.always(async () => {
  await engine?.stop();
  await world?.close();
});

/** Number of launchers that wait for locked leads. */
const WAITING = 6;
/**
 * Maximum time (ms) until a launcher with work gets the only slot. Far below the 20 s for which each of the others would
 * hold the slot if it waited inside its activity.
 */
const SOON_MS = 15_000;

/** Creates a campaign that must signal its only lead, and the launcher of which has not started. */
async function resumed() {
  const { deps } = world;
  const { organizationId } = await world.tenant();
  await createMailbox(deps, organizationId);
  const { campaignId } = await createCampaign(deps, organizationId, [{ subject: 'S', body_plain: 'b' }]);
  const contactId = await createContact(deps.db, deps.clock.now(), organizationId);
  const [enrollmentId] = (await enroll(deps, organizationId, campaignId, [contactId])) as [string];
  const ctx = world.system(organizationId);
  await advanceEnrollment(ctx, enrollmentId);
  await transact(ctx, (tx) => addRechecks(tx, campaignId, RESUMED));
  return { organizationId, campaignId, enrollmentId };
}

test('launchers that wait for locked leads leave the only slot to one that has work', async (t) => {
  const { db } = world.deps;
  const waiting: Awaited<ReturnType<typeof resumed>>[] = [];
  for (let n = 0; n < WAITING; n += 1) waiting.push(await resumed());
  const last = await resumed();
  const isSignalled = async (id: string) => (await db('enrollments').where({ id }).first()).signalled_epoch === 2;
  await db.transaction(async (held) => {
    const ids = [...waiting, last].map(({ enrollmentId }) => enrollmentId);
    await db.transaction(async (own) => {
      await held('enrollments').whereIn('id', ids.slice(0, -1)).forUpdate();
      await own('enrollments').where({ id: last.enrollmentId }).forUpdate();
      for (const { organizationId, campaignId } of [...waiting, last]) await engine.launch(organizationId, campaignId);
      const open = `WorkflowType = 'campaign' and ExecutionStatus = 'Running'`;
      await eventually(async () => (await engine.temporal.workflow.count(open)).count > WAITING, 30_000);
    });
    const freedAt = performance.now();
    await eventually(() => isSignalled(last.enrollmentId), 60_000);
    t.true(performance.now() - freedAt < SOON_MS, `${Math.round(performance.now() - freedAt)} ms`);
  });
  for (const { enrollmentId } of waiting) await eventually(() => isSignalled(enrollmentId), SOON_MS);
});
