import test from 'ava';
import { createAppConnection } from '../../domain/connect/app-connections/connections.ts';
import type { EventData } from '../../domain/platform/kernel/event-payloads.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { deleteAutomation } from '../../domain/connect/automations/automations.ts';
import { addLeads } from '../../domain/audience/leads/add.ts';
import { reconcile } from '../../domain/operations/system/reconcile.ts';
import { sampleData } from '../../domain/connect/triggers/vocabulary.ts';
import { verifySignature } from '../../lib/signature.ts';
import { act, chain, createAutomation } from '../harness/automations.ts';
import { breakWrites } from '../harness/broken-writes.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { createCampaign, createContact } from '../harness/factories.ts';
import { startReceiver, type Receiver } from '../harness/receiver.ts';
import { assertStatus, call, createWorld, type World } from '../harness/world.ts';
import { render } from '../../messages/render.ts';

let world: World;
let engine: Engine;
let receiver: Receiver;
test.before(async () => {
  world = await createWorld({
    env: { WORKER_ROLES: 'temporal,relay,fanout,reactions', RUN_BLOCK_AFTER_MS: '500' },
  });
  engine = await startEngine(world);
  receiver = await startReceiver();
});
test.after.always(async () => {
  await receiver?.stop();
  await engine?.stop();
  await world?.close();
});

async function desk() {
  const tenant = await world.tenant();
  const { organizationId: org } = tenant;
  const { db, clock } = world.deps;
  const ctx = world.system(org);
  const contactId = await createContact(db, clock.now(), org);
  const { connection, secret } = await createAppConnection(ctx, { name: 'App', baseUrl: receiver.url });
  const hook = act('hook', 'webhook', {
    app_connection_id: connection.id,
    path: '/hook',
    inputs: { text: 'Hello {{ .contact.email }}' },
  });
  const graph = chain(hook, act('tell', 'notify', { message: 'done' }));
  const id = await createAutomation(world, org, 'email.replied', graph);
  const sample = sampleData('email.replied') as EventData<'campaign.reply_received'>;
  await transact(ctx, async (tx) =>
    tx.emit('campaign.reply_received', { ...sample, contact_id: contactId, campaign_id: null }),
  );
  const read = () => db('automation_runs').where({ automation_id: id }).first();
  const [run] = [
    await eventually(async () => {
      const row = await read();
      return row !== undefined && row;
    }),
  ];
  return {
    tenant,
    ctx,
    id,
    secret,
    runId: run.id as string,
    read,
    ended: () =>
      eventually(async () => {
        const row = await read();
        return row !== undefined && row.finished_at !== null && row;
      }, 60_000),
    handle: engine.temporal.workflow.getHandle(`automation-run/${run.id}`),
    notified: async () =>
      (await db('domain_events').where({ organization_id: org, type: 'automation.notified' })).length,
  };
}

test.serial('a call of an app is signed, names its run and node, and the run goes on after it', async (t) => {
  receiver.clear();
  receiver.respond(204);
  const { ended, runId, secret, handle, notified } = await desk();
  t.like(await ended(), { status: 'success', graph: null, waiting: null });
  t.is(await handle.result(), 'success');
  const [request, ...more] = receiver.requests;
  t.deepEqual(more, []);
  t.is(request!.path, '/hook');
  t.is(request!.headers['idempotency-key'], `${runId}:hook`);
  t.like(request!.json, { run_id: runId, node_id: 'hook', trigger_event: 'email.replied' });
  t.regex(request!.json.inputs.text, /^Hello .+@/);
  const signature = String(request!.headers['x-service-signature']);
  t.true(verifySignature(signature, secret, request!.raw, { now: world.deps.clock.now() }));
  t.is(await notified(), 1);
});

test.serial('an app that refuses is the error of the node; one that is away is called again later', async (t) => {
  receiver.clear();
  receiver.respond(422);
  const refused = await desk();
  const ended = await refused.ended();
  t.deepEqual([ended.status, render(ended.error_detail)], ['error', 'Node "hook": The app answered 422']);
  t.is(await refused.notified(), 0);
  receiver.respond(503);
  const away = await desk();
  const waiting = await eventually(async () => {
    const row = await away.read();
    return row.waiting?.hook?.attempts === 1 && row;
  });
  t.truthy(waiting.waiting.hook.not_before);
  t.is(waiting.status, 'running');
  await deleteAutomation(away.ctx, away.id);
  t.is(await away.handle.result(), 'it has ended', 'a run whose automation is deleted ends');
});

test.serial(
  'a run that keeps failing is shown as blocked and goes on; one whose workflow is lost is started again',
  async (t) => {
    receiver.clear();
    receiver.respond(204);
    const mend = await breakWrites(world, 'automation_runs', 'update', "new.status <> 'running'");
    const [retried, lost] = [await desk(), await desk()];
    for (const run of [retried, lost]) await eventually(async () => (await run.read()).blocked_reason !== null, 60_000);
    await lost.handle.terminate('lost');
    await mend();
    const { body } = await call(world, 'GET', '/v1/tasks/dlq', { token: retried.tenant.apiKey });
    t.like(body.data[0], { task_type: 'automation_run', task_id: retried.runId });
    await call(world, 'POST', `/v1/tasks/dlq/${body.data[0].id}/replay`, { token: retried.tenant.apiKey });
    t.like(await retried.ended(), { status: 'success', blocked_reason: null });
    await reconcile(world.deps);
    t.like(await lost.ended(), { status: 'success', blocked_reason: null });
    for (const run of [retried, lost]) t.is(await run.notified(), 1);
  },
);

test.serial('a step of a campaign starts an automation, once for its run', async (t) => {
  const tenant = await world.tenant();
  const { organizationId: org } = tenant;
  const { db, clock } = world.deps;
  const id = await createAutomation(world, org, 'automation.called', chain(act('tell', 'notify', { message: 'x' })));
  const { campaignId, stepIds } = await createCampaign(world.deps, org, [
    { kind: 'action', action: { type: 'run_automation', automation_id: id } },
  ]);
  const contactId = await createContact(db, clock.now(), org);
  await transact(world.system(org), (tx) => addLeads(tx, world.deps.config, campaignId, [contactId]));
  const run = await eventually(async () => {
    const row = await db('automation_runs').where({ automation_id: id }).first();
    return row !== undefined && row;
  }, 60_000);
  const [stepRun] = await db('step_runs').where({ organization_id: org });
  t.like(run, {
    status: 'success',
    trigger_event: 'automation.called',
    contact_id: contactId,
    cause: `step/${stepRun.id}`,
  });
  t.like(run.data, { campaign_id: campaignId, step_id: stepIds[0], contact_id: contactId });
  t.is((await db('automation_runs').where({ automation_id: id })).length, 1);
  const refusal = await call(world, 'DELETE', `/v1/automations/${id}`, { token: tenant.apiKey });
  assertStatus(t, refusal, 409);
});
