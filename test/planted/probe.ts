/**
 * Runs in a copy of the tree to which `test/suites/planted-family.test.ts` has added a family, and prints as JSON where
 * the added family is found. Its workflow belongs to a row of contact_imports, and fails while the row has an error.
 */
import { FAMILIES } from '../../activities/index.ts';
import { decideApproval } from '../../domain/approvals/decide.ts';
import { reconcile } from '../../domain/operations/system/reconcile.ts';
import { runUrl } from '../../domain/platform/run-url.ts';
import { newId } from '../../lib/ids.ts';
import { approverCtx, createApproval } from '../harness/approvals.ts';
import { startEngine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { call, createWorld } from '../harness/world.ts';

const world = await createWorld({
  env: { RUN_BLOCK_AFTER_MS: '200', TEMPORAL_UI_URL: 'https://temporal.example', WORKER_ROLES: 'temporal,relay' },
});
const engine = await startEngine(world);
try {
  const tenant = await world.tenant();
  const { organizationId, apiKey: token } = tenant;
  const id = newId();
  const now = world.deps.clock.now();
  const rows = () => world.deps.db('contact_imports').where({ id });
  await rows().insert({
    id,
    organization_id: organizationId,
    status: 'completed',
    filename: 'planted.csv',
    error: JSON.stringify('this one fails'),
    created_at: now,
    updated_at: now,
  });
  const planted = FAMILIES.find((family) => family.contract.kind === 'planted')!;
  const reports = await reconcile(world.deps);

  await eventually(async () => (await rows().first()).blocked_reason !== null);
  const { body } = await call(world, 'GET', '/v1/tasks/dlq?status=pending', { token });
  const letter = body.data.find((one: { task_id: string }) => one.task_id === id);

  await rows().update({ error: null });
  const replayed = await call(world, 'POST', `/v1/tasks/dlq/${letter.id}/replay`, { token });
  const result = await engine.temporal.workflow.getHandle(`planted/${id}`).result();
  const subject = { type: 'mailbox_order', id } as const;
  const approval = await createApproval(world.system(organizationId), tenant, { subject });
  // Restricts the families to the added one, because another family has the same subject type.
  const person = { ...approverCtx(world.deps, tenant), families: [planted] };
  const blockedReason = (await rows().first()).blocked_reason;
  const decided = await decideApproval(person, approval.id, { decision: 'approved' });
  process.stdout.write(
    JSON.stringify({
      missing: reports.find(({ family }) => family === 'planted')?.missing,
      deadLetter: [letter.task_type, letter.payload.workflow_id === `planted/${id}`],
      replayed: replayed.status,
      blockedReason,
      result,
      link: runUrl(world.deps.config, planted.contract, { plantedId: id }).temporal_url?.endsWith(
        `/workflows/planted%2F${id}`,
      ),
      approval: [decided.status, (await rows().first()).error],
    }),
  );
} finally {
  await engine.stop();
  await world.close();
}
