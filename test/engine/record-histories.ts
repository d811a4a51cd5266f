/**
 * Records workflow executions of every family into workflows/<family>/histories, for the replay suite: npm run
 * record-histories -- [recorder…]. Once a release has open runs, never re-record: a change of the code needs `patched`.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signalControl } from '../../domain/sending/control/signals.ts';
import { startImport } from '../../domain/audience/imports/start.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { dialServers } from '../../domain/mailboxes/check.ts';
import { pauseWarmup, resumeWarmup, startWarmup, stopWarmup } from '../../domain/mailboxes/warmup/standing.ts';
import { enqueueRedelivery } from '../../domain/connect/webhooks/enqueue-redelivery.ts';
import { syncApplicationEndpoints } from '../../domain/connect/webhooks/managed.ts';
import { newId } from '../../lib/ids.ts';
import { startBackingServices } from '../../local/backing.ts';
import { maintenanceWorkflow } from '../../workflows/maintenance/contract.ts';
import { webhookVerifyWorkflow } from '../../workflows/webhook-verify/contract.ts';
import { createWorkflowGateway } from '../../temporal/client.ts';
import { start } from '../../temporal/dispatch.ts';
import { createCampaign, createContact, createMailbox, enroll } from '../harness/factories.ts';
import { startEngine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { startMailWorld } from '../harness/mail.ts';
import { approve, createApplication } from '../harness/oauth.ts';
import { startReceiver } from '../harness/receiver.ts';
import { createEndpoint, emitEvents } from '../harness/webhooks.ts';
import { createWorld } from '../harness/world.ts';
import { saveHistory } from './save-history.ts';

const folder = await mkdtemp(join(tmpdir(), 'heron-record-'));
const only = process.argv.slice(2);
const backing = process.env.HERON_TEST_PG
  ? undefined
  : await startBackingServices({ persistent: false, log: () => {} });
if (backing)
  Object.assign(process.env, { HERON_TEST_PG: backing.databaseUrl, HERON_TEST_TEMPORAL: backing.temporalAddress });
const world = await createWorld({ env: { WEBHOOK_RETRY_BASE_MS: '1000' } });
const mail = await startMailWorld();
const engine = await startEngine(world);
const app = createServer((_request, response) => {
  response.setHeader('Content-Type', 'application/json');
  response.end('{"offer":"SPRING"}');
}).listen(0, '127.0.0.1');

const save = (family: string, name: string, workflowId: string) =>
  saveHistory(engine.temporal, family, name, workflowId);

async function recordEngine(): Promise<void> {
  const { organizationId } = await world.tenant();
  const { db, clock } = world.deps;
  const box = await mail.addMailbox({ email: 'sam@sender.example.com', password: 'secret' });
  await createMailbox(world.deps, organizationId, box.email, { smtp: box.smtp, imap: box.imap }, { min_wait_time: 1 });
  const connectionId = newId();
  const now = clock.now();
  await db('app_connections').insert({
    id: connectionId,
    organization_id: organizationId,
    name: 'app',
    base_url: `http://127.0.0.1:${(app.address() as AddressInfo).port}`,
    secret: world.deps.keyring.seal('ss_app_recorded', `app_connections/${connectionId}`),
    created_at: now,
    updated_at: now,
  });
  const { campaignId } = await createCampaign(world.deps, organizationId, [
    { name: 'Opening', subject: 'Hello', body_plain: 'Hi' },
    {
      name: 'Offer',
      kind: 'action',
      action: { type: 'app_action', app_connection_id: connectionId, path: '/offer', output_key: 'offer', inputs: {} },
    },
    {
      name: 'Paid?',
      kind: 'action',
      action: { type: 'wait_for_event', wait_event_name: 'order.paid', timeout_minutes: 60, on_timeout: 'continue' },
    },
    { name: 'Follow-up', body_plain: 'Code {{.App.offer.offer}}' },
  ]);
  const contacts = [];
  for (const name of ['resumed', 'replied'])
    contacts.push(await createContact(db, now, organizationId, { email: `${name}@lead.example.org` }));
  const [resumed, replied] = await enroll(world.deps, organizationId, campaignId, contacts);
  await engine.launch(organizationId, campaignId);
  const ctx = world.system(organizationId);
  const nudge = (contactId: string) =>
    transact(ctx, async (tx) => signalControl(tx, { campaign_id: campaignId, contact_id: contactId }, 'campaign'));
  const waiting = (id: string) => eventually(() => db('waits').where({ enrollment_id: id, state: 'open' }).first());

  await waiting(resumed!);
  await db('campaigns').where({ id: campaignId }).update({ status: 'paused' });
  await nudge(contacts[0]!);
  await eventually(() =>
    db('enrollments').where({ id: resumed }).whereRaw(`waiting_for ->> 'code' = 'wait.campaign_paused'`).first(),
  );
  await db('campaigns').where({ id: campaignId }).update({ status: 'active' });
  await db('waits').where({ enrollment_id: resumed }).update({ state: 'resumed', settled_at: now });
  await nudge(contacts[0]!);
  await waiting(replied!);
  const { finishEnrollment } = await import('../../domain/sending/control/finish.ts');
  await transact(ctx, (tx) => finishEnrollment(tx, replied!, 'replied'));
  await eventually(() => db('campaigns').where({ id: campaignId, status: 'completed' }).first());
  const over = (id: string) =>
    eventually(async () => (await engine.temporal.workflow.getHandle(id).describe()).status.name === 'COMPLETED');
  for (const id of [
    `enrollment/${campaignId}/${contacts[0]}`,
    `enrollment/${campaignId}/${contacts[1]}`,
    `campaign/${campaignId}`,
  ])
    await over(id);
  await save('enrollment', 'paused-and-resumed', `enrollment/${campaignId}/${contacts[0]}`);
  await save('enrollment', 'replied-while-waiting', `enrollment/${campaignId}/${contacts[1]}`);
  await save('campaign', 'completed', `campaign/${campaignId}`);
}

async function recordImport(): Promise<void> {
  const ctx = world.system((await world.tenant()).organizationId);
  const path = join(folder, 'leads.csv');
  await writeFile(path, 'email\na@example.com\n');
  const file = { path, filename: 'leads.csv', size: 20 };
  const { id } = await startImport(ctx, { file });
  await eventually(() => world.deps.db('contact_imports').where({ id, status: 'completed' }).first());
  const { campaignId } = await createCampaign(world.deps, ctx.actor.organizationId!, [
    { subject: 'Hello', body_plain: 'Hi' },
  ]);
  const lost = await transact(ctx, async (tx) => {
    const job = await startImport({ ...ctx, trx: tx.trx }, { file, campaignId });
    await tx.org.table('campaigns').where({ id: campaignId }).delete();
    return job.id;
  });
  for (const [name, importId] of [
    ['completed', id],
    ['abandoned', lost],
  ]) {
    await eventually(
      async () =>
        (await engine.temporal.workflow.getHandle(`contact-import/${importId}`).describe()).status.name === 'COMPLETED',
    );
    await save('contact-import', name!, `contact-import/${importId}`);
  }
}

async function recordMailboxCheck(): Promise<void> {
  const { organizationId } = await world.tenant();
  const { email, smtp, imap } = await mail.addMailbox({ email: 'new@sender.example.com', password: 'secret' });
  const real = createWorkflowGateway(engine.temporal, world.deps.config, world.deps.log, world.deps.db);
  let workflowId = '';
  const workflows: typeof real = {
    ...real,
    execute(contract, args, timeoutMs) {
      workflowId = contract.id(args);
      return real.execute(contract, args, timeoutMs);
    },
  };
  const service = { username: email, security: 'none' as const, password: 'secret' };
  await dialServers(
    { ...world.system(organizationId), workflows },
    { smtp: { ...smtp, ...service }, imap: { ...imap, ...service } },
  );
  await save('mailbox-check', 'both-answer', workflowId);
}

async function recordMaintenance(): Promise<void> {
  await engine.temporal.workflow.execute(maintenanceWorkflow.type, {
    taskQueue: world.deps.config.TEMPORAL_TASK_QUEUE,
    workflowId: maintenanceWorkflow.id({}),
    args: [],
  });
  await save('maintenance', 'swept', maintenanceWorkflow.id({}));
}

/**
 * Records the verification of an endpoint that fails two challenges, and passes after its application is saved again.
 * Also records the verification of an endpoint that does not exist.
 */
async function recordWebhookVerify(): Promise<void> {
  const receiver = await startReceiver({ respond: 500 });
  const tenant = await world.tenant();
  const client = await createApplication(world.deps, tenant.organizationId, {
    allowed_webhook_domains: ['127.0.0.1'],
    webhook_url: receiver.url,
  });
  await approve(world.deps, tenant, client);
  const { id } = await world.deps.db('webhook_endpoints').where({ application_id: client.id }).first('id');
  await receiver.received(2);
  receiver.respond((request) => ({ status: 200, body: { challenge: request.json.data.challenge } }));
  const ctx = world.system(tenant.organizationId);
  await transact(ctx, (tx) => syncApplicationEndpoints(tx, client.id));
  const gone = newId();
  await transact(ctx, async (tx) =>
    tx.intend(start(webhookVerifyWorkflow, { organizationId: tenant.organizationId, endpointId: gone })),
  );
  for (const [name, endpointId] of [
    ['verified-when-armed-again', id],
    ['gone', gone],
  ]) {
    const workflowId = `webhook-verify/${endpointId}`;
    await eventually(
      async () =>
        (
          await engine.temporal.workflow
            .getHandle(workflowId)
            .describe()
            .catch(() => undefined)
        )?.status.name === 'COMPLETED',
    );
    await save('webhook-verify', name!, workflowId);
  }
  await receiver.stop();
}

/**
 * Records a batch with a failing delivery, the same delivery requested again while it waits, and the batch of a failing
 * endpoint.
 */
async function recordWebhooks(): Promise<void> {
  const receiver = await startReceiver({ respond: ({ index }) => ({ status: index === 1 ? 500 : 204 }) });
  const { db } = world.deps;
  const { organizationId } = await world.tenant();
  const endpoint = await createEndpoint(world.deps, organizationId, receiver.url);
  world.deps.config.WEBHOOK_RETRY_BASE_MS = 60_000;
  await emitEvents(world.deps, organizationId, 2);
  const failed = await eventually(() =>
    db('webhook_deliveries').where({ endpoint_id: endpoint.id, status: 'failed' }).first(),
  );
  await save('webhook-batch', 'one-fails', `webhook-batch/${await completedBatch()}`);
  await transact(world.system(organizationId), (tx) => enqueueRedelivery(world.deps, tx, failed.id));
  await eventually(() => db('webhook_deliveries').where({ id: failed.id, status: 'delivered' }).first());
  world.deps.config.WEBHOOK_RETRY_BASE_MS = 1_000;

  receiver.respond(({ index }) => ({ status: index < 6 ? 500 : 204 }));
  await db('webhook_endpoints').where({ id: endpoint.id }).update({ consecutive_failures: 5 });
  await emitEvents(world.deps, organizationId, 1);
  const retried = await eventually(() =>
    db('webhook_deliveries')
      .where({ endpoint_id: endpoint.id, status: 'delivered' })
      .where('attempt_count', '>', 2)
      .first(),
  );
  for (const [family, name, id] of [
    ['webhook-delivery', 'asked-for-while-waiting', failed.id],
    ['webhook-delivery', 'third-attempt-succeeds', retried.id],
    ['webhook-endpoint', 'more', endpoint.id],
  ]) {
    await eventually(
      async () => (await engine.temporal.workflow.getHandle(`${family}/${id}`).describe()).status.name === 'COMPLETED',
    );
    await save(family!, name!, `${family}/${id}`);
  }
  await receiver.stop();
}

/** Records a warmup that sends a due email, is paused, resumed and stopped. */
async function recordWarmup(): Promise<void> {
  const tenant = await world.tenant();
  const { db, clock } = world.deps;
  const ids: string[] = [];
  for (const email of ['ada@warm.example.com', 'bob@warm.example.com']) {
    const box = await mail.addMailbox({ email, password: 'secret' });
    const always = { warmup_days: 127, warmup_start_time: '00:00', warmup_end_time: '00:00', min_wait_time: 0 };
    ids.push(await createMailbox(world.deps, tenant.organizationId, email, box, always));
  }
  const [mailboxId, partnerId] = ids as [string, string];
  const now = clock.now();
  const standing = { organization_id: tenant.organizationId, planned_day: now.toISOString().slice(0, 10) };
  await db('warmup_standings').insert(ids.map((mailbox_id) => ({ mailbox_id, ...standing })));
  await db('mailboxes').where({ id: partnerId }).update({ warmup: now });
  const slot = new Date(now.getTime() + 4_000);
  const id = newId();
  await db('warmup_mails').insert({
    id,
    organization_id: tenant.organizationId,
    mailbox_id: mailboxId,
    partner_id: partnerId,
    slot_at: slot,
    slot_day: slot.toISOString().slice(0, 10),
    created_at: now,
  });
  const ctx = world.system(tenant.organizationId);
  await startWarmup(ctx, mailboxId);
  await eventually(async () => (await db('warmup_mails').where({ id }).first()).state === 'sent');
  await pauseWarmup(ctx, mailboxId);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await resumeWarmup(ctx, mailboxId);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await stopWarmup(ctx, mailboxId);
  await engine.temporal.workflow.getHandle(`warmup/${mailboxId}`).result();
  await save('warmup', 'sent-paused-stopped', `warmup/${mailboxId}`);
}

/** Maximum time (ms) until a batch has ended, which stays open for half a minute after its last delivery. */
const PATIENCE_MS = 90_000;

/** Returns the id of this task queue's only batch so far, once it has ended. */
function completedBatch(): Promise<string> {
  return eventually(async () => {
    const query = `WorkflowType = 'webhookBatch' AND TaskQueue = '${world.deps.config.TEMPORAL_TASK_QUEUE}' AND ExecutionStatus = 'Completed'`;
    for await (const { workflowId } of engine.temporal.workflow.list({ query })) return workflowId.split('/')[1]!;
    return undefined;
  }, PATIENCE_MS);
}

const recorders = {
  maintenance: recordMaintenance,
  mailboxCheck: recordMailboxCheck,
  engine: recordEngine,
  import: recordImport,
  webhookVerify: recordWebhookVerify,
  webhooks: recordWebhooks,
  warmup: recordWarmup,
};

try {
  for (const [name, record] of Object.entries(recorders)) if (only.length === 0 || only.includes(name)) await record();
} finally {
  await rm(folder, { recursive: true, force: true });
  app.close();
  await engine.stop();
  await mail.stop();
  await world.close();
  await backing?.stop();
}
