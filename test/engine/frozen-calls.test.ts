/** Tests a worker process that is suspended during calls of other systems. Each call is made once. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { createAppConnection } from '../../domain/connect/app-connections/connections.ts';
import { mailboxProvider } from '../../domain/billing/mailbox-orders/http-provider.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { signalLauncher } from '../../domain/sending/control/signals.ts';
import { DAY_MS, HOUR_MS, utcDay } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import { forkSource } from '../../local/typescript.ts';
import { start } from '../../temporal/dispatch.ts';
import { domainRenewalWorkflow } from '../../workflows/domain-renewal/contract.ts';
import { warmupWorkflow } from '../../workflows/warmup/contract.ts';
import { eventually } from '../harness/eventually.ts';
import { createCampaign, createContact, createMailbox, enroll } from '../harness/factories.ts';
import { createOrderWorld, openOrderDesk, type OrderWorld } from '../harness/mailbox-orders.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';
import { createOrderToPay } from '../harness/payments.ts';
import { startReceiver, type Receiver } from '../harness/receiver.ts';

const PROCESS = fileURLToPath(new URL('../harness/engine-process.ts', import.meta.url));
/** Contacts whose step calls the app at the same time. */
const LEADS = 4;
const PATIENCE_MS = 120_000;

let orders: OrderWorld;
let app: Receiver;
let mail: MailWorld;
let env: Record<string, string>;
const workers = new Set<ChildProcess>();
test.before(async () => {
  env = {
    WORKER_ROLES: 'temporal,relay',
    TEMPORAL_TASK_QUEUE: `frozen-${newId()}`,
    APP_ACTION_TIMEOUT_MS: '55000',
    PROVISIONING_TIMEOUT_MS: '55000',
  };
  [orders, app, mail] = await Promise.all([createOrderWorld({ env }), startReceiver(), startMailWorld()]);
});
test.after.always(async () => {
  for (const worker of workers) worker.kill('SIGKILL');
  await Promise.all([app?.stop(), mail?.stop()]);
  await orders?.close();
});

async function startWorkerProcess(): Promise<ChildProcess> {
  const { world, sandbox, stripe } = orders;
  const worker = forkSource(PROCESS, [], {
    env: {
      ...process.env,
      PRIMARY_DB: world.databaseUrl,
      WORLD_ENV: JSON.stringify({ ...sandbox.env, ...stripe.env, ...env }),
    },
  });
  workers.add(worker);
  const [first] = await Promise.race([once(worker, 'message'), once(worker, 'exit').then(() => [undefined])]);
  if (!first) throw new Error('the worker ended before it worked');
  return worker;
}

/** Calls to a slow external system. */
interface SlowCalls {
  name: string;
  /** Returns the number of calls that the system has received so far. */
  calls: () => number;
  /** Number of calls that are open when the worker is suspended. */
  open: number;
  /** Expected number of calls at the end. */
  total: number;
  /** Returns true once the answers are stored. */
  isDone: () => Promise<boolean>;
}

/** Starts a campaign whose step calls the app for every contact. */
async function callApp(slowMs: number): Promise<SlowCalls> {
  const { world } = orders;
  const { organizationId } = await world.tenant();
  const ctx = world.system(organizationId);
  const { connection } = await createAppConnection(ctx, { name: 'App', baseUrl: app.url });
  app.clear();
  app.respond({ status: 200, body: { score: 1 }, delayMs: slowMs });
  const action = { type: 'app_action', app_connection_id: connection.id, path: '/score', inputs: {}, output_key: 's' };
  const { campaignId } = await createCampaign(world.deps, organizationId, [{ kind: 'action', action }]);
  const contacts = Array.from({ length: LEADS }, () => createContact(world.deps.db, new Date(), organizationId));
  await enroll(world.deps, organizationId, campaignId, await Promise.all(contacts));
  await transact(ctx, async (tx) => signalLauncher(tx, campaignId, 'started'));
  return {
    name: 'app calls',
    calls: () => app.requests.length,
    open: LEADS,
    total: LEADS,
    async isDone() {
      const runs = await world.deps.db('step_runs').where({ organization_id: organizationId, outcome: 'success' });
      return runs.length === LEADS && runs.every(({ attempts }) => attempts === 1);
    },
  };
}

/** Pays an order of two mailboxes, whose first step at the provider is slow. */
async function order(slowMs: number): Promise<SlowCalls> {
  const { sandbox, stripe } = orders;
  const desk = await openOrderDesk(orders);
  const id = await desk.place();
  sandbox.behave({ does: 'slow', key: `${id}/domain:0`, ms: slowMs });
  await eventually(
    async () => (await desk.call('GET', `/mailbox-provisioning/${id}`)).body.checkout_url !== undefined,
    PATIENCE_MS,
  );
  await stripe.pay(stripe.sessionOf((await desk.row(id)).payment_id)!.id);
  return {
    name: 'steps of an order',
    calls: () => sandbox.requests.filter((request) => request.includes(id)).length,
    open: 1,
    total: 6,
    isDone: async () => (await desk.row(id)).state === 'ready',
  };
}

/** Starts the workflow of a managed domain whose renewal is due, at a slow provider. */
async function renew(slowMs: number): Promise<SlowCalls> {
  const { world, sandbox, stripe } = orders;
  const { db } = world.deps;
  const desk = await createOrderToPay(orders);
  const { organizationId } = desk.tenant;
  const ctx = world.system(organizationId);
  await stripe.pay(await desk.checkout());
  await db('mailbox_orders').where({ id: desk.orderId }).update({ state: 'ready', ready_at: new Date() });
  const [domain, domainId] = [`${desk.orderId}.test`, newId()];
  const registered = await mailboxProvider(ctx).registerDomain(`${desk.orderId}/domain:0`, domain);
  await db('managed_domains').insert({
    id: domainId,
    organization_id: organizationId,
    domain,
    order_id: desk.orderId,
    provider_ref: registered.ref,
    state: 'active',
    registered_at: registered.registeredAt,
    expires_at: new Date(Date.now() + 30 * DAY_MS - HOUR_MS),
  });
  sandbox.behave({ does: 'slow', operation: 'domains/renew', key: domainId, ms: slowMs });
  await transact(ctx, async (tx) => tx.intend(start(domainRenewalWorkflow, { organizationId, domainId })));
  return {
    name: 'renewals',
    calls: () =>
      sandbox.requests.filter((request) => request.startsWith('domains/renew') && request.includes(domainId)).length,
    open: 1,
    total: 1,
    isDone: async () => (await db('domain_renewals').where({ domain_id: domainId, state: 'renewed' })).length === 1,
  };
}

/** Starts the warmup of a mailbox with one due email, at a slow mail server. */
async function warmUp(slowMs: number): Promise<SlowCalls> {
  const { world } = orders;
  const { organizationId } = await world.tenant();
  const { db } = world.deps;
  const mailbox = async (): Promise<[id: string, email: string]> => {
    const box = await mail.addMailbox({ email: `warm-${newId()}@ours.test`, password: 'secret' });
    const hours = { warmup_days: 127, warmup_start_time: '00:00', warmup_end_time: '00:00', min_wait_time: 0 };
    const id = await createMailbox(world.deps, organizationId, box.email, box, { ...hours, warmup: new Date() });
    await db('warmup_standings').insert({
      mailbox_id: id,
      organization_id: organizationId,
      planned_day: utcDay(Date.now() + DAY_MS),
    });
    return [id, box.email];
  };
  const [[mailboxId], [partnerId, partner]] = [await mailbox(), await mailbox()];
  mail.script(partner, { kind: 'delay', ms: slowMs });
  const id = newId();
  await db('warmup_mails').insert({
    id,
    organization_id: organizationId,
    mailbox_id: mailboxId,
    partner_id: partnerId,
    slot_at: new Date(),
    slot_day: utcDay(Date.now()),
    created_at: new Date(),
  });
  await transact(world.system(organizationId), async (tx) =>
    tx.intend(start(warmupWorkflow, { organizationId, mailboxId })),
  );
  const row = () => db('warmup_mails').where({ id }).first();
  return {
    name: 'warmup emails',
    calls: () => mail.messages.filter(({ envelope }) => envelope.to[0] === partner).length,
    open: 1,
    total: 1,
    async isDone() {
      const { state, attempts } = await row();
      return state === 'sent' && attempts === 1;
    },
  };
}

/**
 * If `others` is true, another worker serves the queues in the meantime, and the suspension exceeds the heartbeat
 * timeout.
 */
for (const { frozenMs, others } of [
  { frozenMs: 3_500, others: false },
  { frozenMs: 18_000, others: true },
])
  test.serial(
    `a worker that stands still for ${frozenMs} ms${others ? ' beside another' : ''} during slow calls: apps, orders, renewals and warmup are called once each`,
    async (t) => {
      t.timeout(300_000);
      const worker = await startWorkerProcess();
      // Longer (ms) than the maximum age of the last heartbeat, so that one is due during the suspension.
      const beforeMs = 13_000;
      const slowMs = beforeMs + frozenMs + 8_000;
      const all = await Promise.all([callApp, order, renew, warmUp].map((begin) => begin(slowMs)));
      await eventually(async () => all.every(({ calls, open }) => calls() >= open), PATIENCE_MS);
      if (others) await startWorkerProcess();
      await sleep(beforeMs);
      worker.kill('SIGSTOP');
      await sleep(frozenMs);
      worker.kill('SIGCONT');
      for (const { name, calls, total, isDone } of all) {
        await eventually(isDone, PATIENCE_MS).catch(() => t.fail(`${name} are not done`));
        t.is(calls(), total, name);
      }
      t.deepEqual(orders.sandbox.violations, []);
      for (const each of workers) each.kill('SIGKILL');
      workers.clear();
    },
  );
