import test from 'ava';
import { startImport } from '../../domain/audience/imports/start.ts';
import { reconcile } from '../../domain/operations/system/reconcile.ts';
import type { TemporalServer } from '../../local/temporal/index.ts';
import { createWorkflowGateway } from '../../temporal/client.ts';
import { prepareNamespace } from '../../temporal/prepare.ts';
import { maintenanceWorkflow } from '../../workflows/maintenance/contract.ts';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCampaign, createContact, createMailbox, enroll } from '../harness/factories.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';
import { startReceiver, type Receiver } from '../harness/receiver.ts';
import { startOwnTemporal } from '../harness/temporal.ts';
import { createEndpoint, emitEvents } from '../harness/webhooks.ts';
import { createWorld, type World } from '../harness/world.ts';

/*
 * Tests the loss of Temporal's storage. `PEOPLE` is the number of contacts. Covers all state that then waits only for a
 * time: waiting contacts, unlaunched leads, a webhook delivery between attempts, an import that keeps failing.
 */

const PEOPLE = 4;
const LATE = 2;
/** Time that the contacts wait for their event. */
const TIMEOUT_MINUTES = 60;

let world: World;
let mail: MailWorld;
let receiver: Receiver;
let servers: TemporalServer[];
let folder: string;
const engines: Engine[] = [];
test.before(async () => {
  servers = await Promise.all([startOwnTemporal({ bare: true }), startOwnTemporal({ bare: true })]);
  [world, mail, receiver, folder] = await Promise.all([
    createWorld({
      env: {
        TEMPORAL_ADDRESS: servers[0]!.address,
        WORKER_ROLES: 'temporal,relay,fanout',
        WEBHOOK_RETRY_BASE_MS: '6000',
      },
    }),
    startMailWorld(),
    startReceiver({ respond: 500 }),
    mkdtemp(join(tmpdir(), 'heron-restore-')),
  ]);
});
test.after.always(async () => {
  // A worker left by a failed test would keep the process alive.
  await Promise.allSettled(engines.map((engine) => engine.stop()));
  await world?.close();
  await mail?.stop();
  await receiver?.stop();
  await Promise.all((servers ?? []).map((server) => server.stop()));
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Starts a worker on one of the servers in its current state. */
async function workOn(server: TemporalServer): Promise<Engine> {
  world.deps.config.TEMPORAL_ADDRESS = server.address;
  const engine = await startEngine(world);
  engines.push(engine);
  const { TEMPORAL_NAMESPACE: namespace, TEMPORAL_TASK_QUEUE: taskQueue } = world.deps.config;
  await prepareNamespace(engine.temporal, { namespace, taskQueue }, world.deps.log);
  world.deps.workflows = createWorkflowGateway(engine.temporal, world.deps.config, world.deps.log, world.deps.db);
  return engine;
}

/** Sets the deadline of a campaign's open waits to `inMs` from now, and their start to fit. */
async function endWaits(campaignId: string, inMs: number): Promise<void> {
  const deadline = new Date(Date.now() + inMs);
  await world.deps
    .db('waits')
    .where({ campaign_id: campaignId, state: 'open' })
    .update({ deadline, opened_at: new Date(deadline.getTime() - TIMEOUT_MINUTES * 60_000) });
}

async function beginEverything(engine: Engine) {
  const { db, clock } = world.deps;
  const { organizationId } = await world.tenant();
  for (const name of ['ann', 'bob']) {
    const box = await mail.addMailbox({ email: `${name}@sender.example.com`, password: 'secret' });
    await createMailbox(
      world.deps,
      organizationId,
      box.email,
      { smtp: box.smtp, imap: box.imap },
      { min_wait_time: 0 },
    );
  }
  const { campaignId } = await createCampaign(world.deps, organizationId, [
    { name: 'Opening', subject: 'Hello', body_plain: 'Hi' },
    {
      name: 'Paid?',
      kind: 'action',
      action: {
        type: 'wait_for_event',
        wait_event_name: 'order.paid',
        timeout_minutes: TIMEOUT_MINUTES,
        on_timeout: 'continue',
      },
    },
    { name: 'Follow-up', body_plain: 'Still there?' },
  ]);
  const person = (n: number) =>
    createContact(db, clock.now(), organizationId, { email: `person${n}@lead.example.org` });
  const contacts = await Promise.all(Array.from({ length: PEOPLE }, (_, n) => person(n)));
  await enroll(world.deps, organizationId, campaignId, contacts);
  await engine.launch(organizationId, campaignId);

  const endpoint = await createEndpoint(world.deps, organizationId, receiver.url, {
    event_types: ['team.member_joined'],
  });
  await emitEvents(world.deps, organizationId, 1);

  await db.raw(
    `create function fail_import() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$`,
  );
  await db.raw(
    `create trigger fail_import before insert on contacts for each row when (new.email = 'imported@lead.example.org') execute function fail_import()`,
  );
  const path = join(folder, 'people.csv');
  await writeFile(path, 'email\nimported@lead.example.org\n');
  const job = await startImport(world.system(organizationId), { file: { path, filename: 'people.csv', size: 32 } });

  await eventually(async () => (await db('waits').where({ campaign_id: campaignId, state: 'open' })).length === PEOPLE);
  const delivery = await eventually(() =>
    db('webhook_deliveries').where({ endpoint_id: endpoint.id, status: 'failed' }).first(),
  );
  await eventually(() => db('contact_imports').where({ id: job.id, status: 'running' }).first());
  await eventually(async () => (await db('outbox')).length === 0);
  const runs = {
    launcher: `campaign/${campaignId}`,
    enrollment: `enrollment/${campaignId}/${contacts[0]}`,
    delivery: `webhook-delivery/${delivery.id}`,
    contactImport: `contact-import/${job.id}`,
  };
  return { organizationId, campaignId, contacts, endpoint, delivery, job, person, runs };
}

test.serial(
  'runs that were ended come back by the sweep; runs lost with their server by `reconcile`; no contact is mailed twice',
  async (t) => {
    t.timeout(120_000);
    const { db } = world.deps;
    const first = await workOn(servers[0]!);
    const { organizationId, campaignId, contacts, endpoint, delivery, job, person, runs } =
      await beginEverything(first);
    const ids = Object.values(runs);
    const runIds = (engine: Engine) =>
      Promise.all(ids.map(async (id) => (await engine.temporal.workflow.getHandle(id).describe()).runId));
    const statuses = (engine: Engine) =>
      Promise.all(ids.map(async (id) => (await engine.temporal.workflow.getHandle(id).describe()).status.name));
    t.deepEqual(await statuses(first), ['RUNNING', 'RUNNING', 'RUNNING', 'RUNNING']);

    // On a healthy installation reconciliation finds no missing workflow and starts none.
    const healthy = await reconcile(world.deps, { dryRun: true });
    t.deepEqual(
      healthy.filter(({ missing }) => missing > 0),
      [],
    );
    const before = await runIds(first);
    for (const id of ids) await first.temporal.workflow.getHandle(id).terminate('an operator');
    await eventually(async () => {
      const dry = await reconcile(world.deps, { dryRun: true });
      return dry.reduce((sum, { missing }) => sum + missing, 0) === ids.length;
    });
    await first.temporal.workflow.execute(maintenanceWorkflow.type, {
      taskQueue: world.deps.config.TEMPORAL_TASK_QUEUE,
      workflowId: 'maintenance/test',
      args: [],
    });
    await eventually(async () => {
      const [now, states] = [await runIds(first), await statuses(first)];
      return now.every((id, index) => id !== before[index]) && states.every((state) => state === 'RUNNING');
    });
    await first.stop();
    await servers[0]!.stop();

    // All of Temporal's data is lost; only PostgreSQL remains. Leads were added that no launcher has seen.
    t.is(mail.messages.length, PEOPLE);
    const late = await Promise.all(Array.from({ length: LATE }, (_, n) => person(PEOPLE + n)));
    await enroll(world.deps, organizationId, campaignId, late);
    await db.raw('drop trigger fail_import on contacts');
    receiver.respond(204);
    await endWaits(campaignId, 2_000);
    const second = await workOn(servers[1]!);
    const found = await reconcile(world.deps);
    const missing = Object.fromEntries(found.map(({ family, missing: count }) => [family, count]));
    t.like(missing, { campaign: 1, enrollment: PEOPLE, 'contact-import': 1, 'webhook-delivery': 1 });
    const looks = await db('reconciliations').where({ family: 'enrollment' }).first();
    t.is(Number(looks!.last_missing), PEOPLE, 'readiness and the gauge read it here');

    await eventually(() => db('contact_imports').where({ id: job.id, status: 'completed' }).first());
    await eventually(() => db('webhook_deliveries').where({ id: delivery.id, status: 'delivered' }).first());
    // Newly launched leads would wait for an hour.
    await eventually(
      async () => (await db('waits').where({ campaign_id: campaignId }).whereIn('contact_id', late)).length === LATE,
    );
    await endWaits(campaignId, 0);
    for (const contactId of late)
      await second.temporal.workflow
        .getHandle(`enrollment/${campaignId}/${contactId}`)
        .signal('control', { cause: 'campaign', epoch: null });
    await eventually(() => db('campaigns').where({ id: campaignId, status: 'completed' }).first(), 60_000);

    const received = new Map<string, number>();
    for (const { envelope } of mail.messages)
      for (const to of envelope.to) received.set(to, (received.get(to) ?? 0) + 1);
    const everybody = Array.from({ length: PEOPLE + LATE }, (_, n) => `person${n}@lead.example.org`);
    t.deepEqual(
      Object.fromEntries(received),
      Object.fromEntries(everybody.map((address) => [address, 2])),
      'the mail server has exactly two emails for each of them',
    );
    t.is((await db('sends').where({ campaign_id: campaignId, state: 'sent' })).length, 2 * (PEOPLE + LATE));
    const delivered = receiver.requests.filter(({ json }) => json.id === delivery.event_id);
    t.true(delivered.length >= 2);
    t.is((await db('webhook_deliveries').where({ endpoint_id: endpoint.id })).length, 1);
    t.is(contacts.length, PEOPLE);

    // All workflows have ended, so another reconciliation finds none missing.
    const after = await reconcile(world.deps);
    t.deepEqual(
      after.map(({ missing: count }) => count).filter((count) => count > 0),
      [],
    );
    await second.stop();
  },
);
