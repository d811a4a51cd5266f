import { utcDay } from '../../lib/clock.ts';
import test from 'ava';
import { retryRun } from '../../domain/operations/system/blocked-runs.ts';
import { reconcile } from '../../domain/operations/system/reconcile.ts';

import { newId } from '../../lib/ids.ts';
import { breakWrites } from '../harness/broken-writes.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { createCampaign, createMailbox, type Tenant } from '../harness/factories.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';
import { approve, createApplication } from '../harness/oauth.ts';
import { startReceiver } from '../harness/receiver.ts';
import { call, createWorld, type World } from '../harness/world.ts';
import type { Message } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';

/*
 * Failures of direct sends, test runs, warmups and verifications on a real Temporal. Work that keeps failing is shown
 * as blocked and continues after a retry, and `reconcile` finds a lost workflow. Agent runs are tested in runs.test.ts.
 */

let world: World;
let mail: MailWorld;
let engine: Engine;
let tenant: Tenant;
let mailboxId: string;
test.before(async () => {
  [world, mail] = await Promise.all([
    createWorld({ env: { RUN_BLOCK_AFTER_MS: '300', WORKER_ROLES: 'temporal,relay' } }),
    startMailWorld(),
  ]);
  engine = await startEngine(world);
  tenant = await world.tenant();
  mailboxId = await addMailbox('writer');
});
test.after.always(async () => {
  await engine?.stop();
  await mail?.stop();
  await world?.close();
});

const REASON = /^blocked: it kept failing \(PostgreSQL P0001\)$/;

async function addMailbox(name: string, fields: Record<string, unknown> = {}): Promise<string> {
  const box = await mail.addMailbox({ email: `${name}@ours.test`, password: 'secret' });
  return createMailbox(world.deps, tenant.organizationId, box.email, box, fields);
}

const row = (table: string, id: string) => world.deps.db(table).where({ id }).first();
const reached = (table: string, id: string, state: string) =>
  eventually(async () => {
    const found = await row(table, id);
    return found.state === state && found;
  });
const handleOf = (workflowId: string) => engine.temporal.workflow.getHandle(workflowId);
const receivedBy = (address: string) => mail.messages.filter(({ envelope }) => envelope.to.includes(address)).length;

async function ask(method: string, path: string, body: unknown, token = tenant.sessionToken): Promise<any> {
  const answer = await call(world, method, `/v1${path}`, { token, body, headers: { 'idempotency-key': newId() } });
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.body;
}

/** Requests an email. If the key has no policy, the email waits for a person's approval. */
async function compose(to: string, { token = tenant.sessionToken, inMs = 0 } = {}): Promise<any> {
  const later = inMs > 0 && { send_mode: 'scheduled', scheduled_at: new Date(Date.now() + inMs).toISOString() };
  return ask(
    'POST',
    '/unibox/compose',
    { email_account_id: mailboxId, to: [to], subject: 'Hello', body_plain: 'Hi', ...later },
    token,
  );
}

/** Waits until a workflow is blocked with a dead letter, repairs the cause, and retries it. */
async function mendAndRetry(
  workflowId: string,
  repair: () => Promise<void>,
): Promise<{ task_type: string; last_error: Message }> {
  const letter = await eventually(() =>
    world.deps
      .db('dead_letters')
      .whereRaw(`payload ->> 'workflow_id' = ?`, [workflowId])
      .where({ status: 'pending' })
      .first(),
  );
  await repair();
  if (!(await retryRun(world.deps, workflowId))) throw new Error(`${workflowId} is not blocked`);
  return letter;
}

/** Ends a workflow as if its storage were lost, and lets `reconcile` start it again. */
async function loseAndReconcile(workflowId: string): Promise<Record<string, number>> {
  const before = (await handleOf(workflowId).describe()).runId;
  await handleOf(workflowId).terminate('lost');
  const missing: Record<string, number> = {};
  await eventually(async () => {
    for (const { family, missing: count } of await reconcile(world.deps))
      missing[family] = (missing[family] ?? 0) + count;
    return Object.values(missing).some((count) => count > 0);
  });
  await eventually(async () => (await handleOf(workflowId).describe()).runId !== before);
  return missing;
}

test.serial("an agent's email leaves when a person approves it, and not when one denies it", async (t) => {
  const [yes, no] = ['yes@else.test', 'no@else.test'];
  const [approved, denied] = [
    await compose(yes, { token: tenant.apiKey }),
    await compose(no, { token: tenant.apiKey }),
  ];
  t.is(approved.result, 'awaiting_approval');
  const workflowId = `direct-send/${approved.task_id}`;
  await eventually(async () => {
    // The workflow starts shortly after the API's answer.
    const shown = await handleOf(workflowId)
      .describe()
      .catch(() => undefined);
    return shown?.searchAttributes.State?.[0] === 'awaiting_approval';
  });
  await ask('POST', `/approvals/${approved.approval_id}/decision`, { decision: 'approved' });
  await ask('POST', `/approvals/${denied.approval_id}/decision`, { decision: 'denied' });
  t.is(await handleOf(workflowId).result(), 'sent');
  t.is(await handleOf(`direct-send/${denied.task_id}`).result(), 'denied');
  t.deepEqual([receivedBy(yes), receivedBy(no)], [1, 0]);
  t.is((await row('approvals', approved.approval_id)).status, 'executed');
});

test.serial('a direct send that waits for a person is found again when its workflow is lost', async (t) => {
  const to = 'lost@else.test';
  const email = await compose(to, { token: tenant.apiKey });
  const workflowId = `direct-send/${email.task_id}`;
  await eventually(() =>
    handleOf(workflowId)
      .describe()
      .catch(() => undefined),
  );
  t.is((await loseAndReconcile(workflowId))['direct-send'], 1);
  await ask('POST', `/approvals/${email.approval_id}/decision`, { decision: 'approved' });
  t.is(await handleOf(workflowId).result(), 'sent');
  t.is(receivedBy(to), 1);
});

test.serial('a direct send without a slot or a claim is blocked, and leaves once when it is retried', async (t) => {
  const to = 'blocked@else.test';
  const noSlot = await breakWrites(world, 'sends', 'insert', `new.recipient = '${to}'`);
  const { task_id: id } = await compose(to, { inMs: 1_000 });
  const workflowId = `direct-send/${id}`;
  await eventually(async () => (await row('direct_sends', id)).blocked_reason !== null);
  t.regex(render((await row('direct_sends', id)).blocked_reason), REASON);
  let noClaim = async (): Promise<void> => {};
  const letter = await mendAndRetry(workflowId, async () => {
    await noSlot();
    noClaim = await breakWrites(world, 'sends', 'update', `new.id = '${id}' and new.state = 'sending'`);
  });
  t.is(letter.task_type, 'direct_send');
  t.regex(render(letter.last_error), REASON);
  // The worker that should send the second email cannot claim it.
  const second = await mendAndRetry(workflowId, noClaim);
  t.regex(render(second.last_error), REASON);
  t.is(await handleOf(workflowId).result(), 'sent');
  t.is(receivedBy(to), 1);
  t.is((await row('direct_sends', id)).blocked_reason, null);
});

test.serial('a test run that cannot go on is blocked, and goes on where it was when it is retried', async (t) => {
  const { campaignId } = await createCampaign(
    world.deps,
    tenant.organizationId,
    [
      { subject: 'First', body_plain: 'Hi' },
      { body_plain: 'Again', wait_after: 1 },
    ],
    { status: 'draft' },
  );
  const to = 'tested@else.test';
  const repair = await breakWrites(world, 'test_run_steps', 'insert', 'new.seq = 2');
  const { id } = await ask('POST', `/campaigns/${campaignId}/test`, {
    prospect_email: to,
    mailbox_id: mailboxId,
    max_wait_seconds: 1,
  });
  const path = `/campaigns/${campaignId}/test-runs/${id}`;
  await eventually(async () => (await row('test_runs', id)).blocked_reason !== null);
  t.like(await ask('GET', path, undefined), { state: 'running' });
  t.regex(render((await row('test_runs', id)).blocked_reason), REASON);
  const letter = await mendAndRetry(`test-run/${id}`, repair);
  t.is(letter.task_type, 'test_run');
  t.is(await handleOf(`test-run/${id}`).result(), 'completed');
  t.like(await row('test_runs', id), { state: 'completed', blocked_reason: null });
  t.is(receivedBy(to), 2);
});

test.serial('a test run that waits for an event is found again when its workflow is lost', async (t) => {
  const { campaignId } = await createCampaign(
    world.deps,
    tenant.organizationId,
    [
      {
        kind: 'action',
        action: { type: 'wait_for_event', wait_event_name: 'order.paid', timeout_minutes: 60, on_timeout: 'continue' },
      },
      { subject: 'Thanks', body_plain: 'Hi' },
    ],
    { status: 'draft' },
  );
  const to = 'waiting@else.test';
  const { id } = await ask('POST', `/campaigns/${campaignId}/test`, { prospect_email: to, mailbox_id: mailboxId });
  await reached('test_runs', id, 'waiting_for_event');
  t.is((await loseAndReconcile(`test-run/${id}`))['test-run'], 1);
  t.like(await ask('POST', '/events', { name: 'order.paid', email: to, data: {} }, tenant.apiKey), {
    matched_waits: 1,
  });
  t.is(await handleOf(`test-run/${id}`).result(), 'completed');
  t.is(receivedBy(to), 1);
});

test.serial(
  'a warmup whose turns keep failing is blocked, and sends when it is retried; a lost one is found again',
  async (t) => {
    const always = { warmup_days: 127, warmup_start_time: '00:00', warmup_end_time: '00:00', warmup: new Date() };
    const [id, partnerId] = [
      await addMailbox('warm-a', { ...always, warmup: null }),
      await addMailbox('warm-b', always),
    ];
    const standing = { organization_id: tenant.organizationId, planned_day: utcDay(Date.now()) };
    await world.deps.db('warmup_standings').insert([id, partnerId].map((mailbox_id) => ({ mailbox_id, ...standing })));
    const give = async (): Promise<string> => {
      const mailId = newId();
      const now = new Date();
      const mine = { id: mailId, organization_id: tenant.organizationId, mailbox_id: id, partner_id: partnerId };
      await world.deps
        .db('warmup_mails')
        .insert({ ...mine, slot_at: now, slot_day: utcDay(now.getTime()), created_at: now });
      return mailId;
    };
    const repair = await breakWrites(
      world,
      'warmup_mails',
      'update',
      `new.mailbox_id = '${id}' and new.state = 'sending'`,
    );
    const first = await give();
    await ask('POST', `/emails/${id}/warmup/start`, {});
    const letter = await mendAndRetry(`warmup/${id}`, async () => {
      t.regex(render((await world.deps.db('warmup_standings').where({ mailbox_id: id }).first()).run_blocked), REASON);
      await repair();
    });
    t.is(letter.task_type, 'warmup');
    await reached('warmup_mails', first, 'sent');
    t.is((await world.deps.db('warmup_standings').where({ mailbox_id: id }).first()).run_blocked, null);

    const second = await give();
    // The partner's warmup is on too but has no workflow, so more than one may be missing.
    t.true((await loseAndReconcile(`warmup/${id}`)).warmup! >= 1);
    await reached('warmup_mails', second, 'sent');
    t.is(receivedBy('warm-b@ours.test'), 2);
    await ask('POST', `/emails/${id}/warmup/stop`, {});
    t.is(await handleOf(`warmup/${id}`).result(), 'warmup is off');
  },
);

test.serial(
  'a verification whose result cannot be stored is blocked, and challenges again when it is retried',
  async (t) => {
    const receiver = await startReceiver({
      respond: (request) => ({ status: 200, body: { challenge: request.json.data.challenge } }),
    });
    t.teardown(() => receiver.stop());
    const repair = await breakWrites(world, 'webhook_endpoints', 'update', 'new.verified_at is not null');
    const client = await createApplication(world.deps, tenant.organizationId, {
      allowed_webhook_domains: ['127.0.0.1'],
      webhook_url: receiver.url,
    });
    await approve(world.deps, tenant, client);
    const { id } = await world.deps.db('webhook_endpoints').where({ application_id: client.id }).first('id');
    const letter = await mendAndRetry(`webhook-verify/${id}`, async () => {
      t.regex(
        render((await row('webhook_endpoints', id)).last_failure_reason),
        /blocked: it kept failing \(PostgreSQL P0001\)$/,
      );
      await repair();
    });
    t.is(letter.task_type, 'webhook_verification');
    t.is(await handleOf(`webhook-verify/${id}`).result(), 'verified');
    t.truthy((await row('webhook_endpoints', id)).verified_at);
  },
);
