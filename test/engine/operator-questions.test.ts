import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import type { WorkflowHandle } from '@temporalio/client';
import { newId } from '../../lib/ids.ts';
import { enrollmentWorkflow } from '../../workflows/enrollment/contract.ts';
import { mailboxCheckWorkflow } from '../../workflows/mailbox-check/contract.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { createCampaign, createContact, createMailbox, enroll } from '../harness/factories.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';
import { startReceiver, type Receiver } from '../harness/receiver.ts';
import { openRunDesk, type RunDesk } from '../harness/run-desk.ts';
import { createEndpoint, emitEvents } from '../harness/webhooks.ts';
import { call, createWorld, type World } from '../harness/world.ts';

/*
 * Answers ten questions of an operator from Temporal alone, without PostgreSQL: by search attributes, by a workflow's
 * details, and by its description. Each query stands in the guide for operators.
 */

const GUIDE = fileURLToPath(new URL('../../docs/guides/troubleshooting/temporal-queries.md', import.meta.url));
/** Ids, times and builds in a query, for which the guide has `…`. */
const VALUES = /'(?:[0-9a-f-]{36}|\d{4}-\d\d-[^']*|unversioned:[^']*)'/g;

const MINUTE_MS = 60_000;

let world: World;
let engine: Engine;
let desk: RunDesk;
let mail: MailWorld;
let receiver: Receiver;
test.before(async () => {
  world = await createWorld({
    env: {
      RUN_BLOCK_AFTER_MS: '200',
      WORKER_ROLES: 'temporal,relay,fanout',
      TEMPORAL_UI_URL: 'https://temporal.example',
    },
  });
  mail = await startMailWorld();
  receiver = await startReceiver();
  engine = await startEngine(world);
  desk = await openRunDesk(world);
});
test.after.always(async () => {
  await engine?.stop();
  await receiver?.stop();
  await mail?.stop();
  await world?.close();
});

/**
 * Returns the ids of workflows that a visibility query finds.
 * @throws Error if the guide lacks the query
 */
async function found(query: string): Promise<string[]> {
  const listed = (await readFile(GUIDE, 'utf8')).split('\n');
  if (!listed.includes(query.replace(VALUES, "'…'"))) throw new Error(`not in the guide: ${query}`);
  const ids: string[] = [];
  for await (const { workflowId } of engine.temporal.workflow.list({ query })) ids.push(workflowId);
  return ids.sort();
}
const finds = (query: string, workflowId: string) =>
  eventually(async () => {
    const ids = await found(query);
    return ids.includes(workflowId) && ids;
  });
const handleOf = (workflowId: string) => engine.temporal.workflow.getHandle(workflowId);
const detailsOf = async (handle: WorkflowHandle): Promise<string> =>
  (await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata')).currentDetails ?? '';

/** Creates a contact that waits one hour for a product event, in a campaign. */
async function waitingContact() {
  // Creates a mailbox at the mail server, because that of the other tests has no server.
  const { organizationId } = await world.tenant();
  const box = await mail.addMailbox({ email: `q${newId()}@ours.test`, password: 'secret' });
  await createMailbox(world.deps, organizationId, box.email, box, { min_wait_time: 1 });
  const order = { type: 'wait_for_event', wait_event_name: 'order.paid', timeout_minutes: 60, on_timeout: 'continue' };
  const { campaignId } = await createCampaign(world.deps, organizationId, [
    { name: 'Paid?', kind: 'action', action: order },
    { name: 'Thanks', subject: 'Thanks', body_plain: 'Hello' },
  ]);
  const contactId = await createContact(world.deps.db, world.deps.clock.now(), organizationId);
  await enroll(world.deps, organizationId, campaignId, [contactId]);
  await engine.launch(organizationId, campaignId);
  const args = { organizationId, campaignId, contactId };
  const handle = handleOf(enrollmentWorkflow.id(args));
  await eventually(async () => (await handle.describe().catch(() => undefined)) !== undefined);
  return { ...args, handle };
}

test.serial('which campaign, which contact, what does it wait for, until when, and what would Cancel do', async (t) => {
  const { organizationId, campaignId, contactId, handle } = await waitingContact();
  const ofCampaign = await finds(
    `OrganizationId = '${organizationId}' AND CampaignId = '${campaignId}' AND Kind = 'enrollment'`,
    handle.workflowId,
  );
  t.deepEqual(ofCampaign, [handle.workflowId]);
  t.deepEqual(enrollmentWorkflow.partsOf(handle.workflowId), { campaignId, contactId });
  const details = await eventually(async () => {
    const text = await detailsOf(handle);
    return / until \d{4}-\d\d-\d\dT/.test(text) && text;
  });
  const [, until] = / until (\S+Z)/.exec(details)!;
  t.true(Math.abs(new Date(until!).getTime() - Date.now() - 60 * MINUTE_MS) < 10 * MINUTE_MS);
  t.regex(details, /^step 1 of 2 \(Paid\?\), waiting for order\.paid until /);
  t.regex(
    details,
    /\n\nCancel: .*Pause the campaign or finish the lead to stop\.\n\nTerminate: Maintenance opens the run again/,
  );
});

test.serial('which runs of this organization are blocked', async (t) => {
  const { db } = world.deps;
  await db.raw(
    `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no report'; end $$;
     create trigger refuse before insert on preflight_reports for each row execute function refuse()`,
  );
  const { id } = await desk.create({ intent: 'draft' });
  const query = (organizationId: string) => `State = 'blocked' AND OrganizationId = '${organizationId}'`;
  t.deepEqual(await finds(query(desk.tenant.organizationId), `run/${id}`), [`run/${id}`]);
  t.deepEqual(await found(query(newId())), []);
  t.regex(await detailsOf(handleOf(`run/${id}`)), /^blocked: it kept failing/);
  await db.raw('drop trigger refuse on preflight_reports');
  await desk.call('POST', `/runs/${id}/cancel`);
});

test.serial('which failed today, and which build ran it', async (t) => {
  const args = { organizationId: desk.tenant.organizationId, checkId: newId() };
  await t.throwsAsync(world.deps.workflows.execute(mailboxCheckWorkflow, args, 30_000));
  const today = new Date().toISOString().slice(0, 10);
  const failed = mailboxCheckWorkflow.id(args);
  const query = `ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut') AND CloseTime >= '${today}T00:00:00Z' AND OrganizationId = '${args.organizationId}'`;
  t.true((await finds(query, failed)).includes(failed));
  const { searchAttributes } = await handleOf(failed).describe();
  const builds = (searchAttributes.BuildIds ?? []) as string[];
  const build = builds.find((one) => one.startsWith('unversioned:'));
  t.truthy(build, `which build: ${builds.join(', ')}`);
  // Memos of other tests' workflows are encrypted with another key and unreadable here, so the query is limited to the
  // organization.
  t.true((await finds(`BuildIds = '${build}' AND OrganizationId = '${args.organizationId}'`, failed)).includes(failed));
});

test.serial('which webhook deliveries of this endpoint are in retry, and which run made a first attempt', async (t) => {
  const { organizationId, apiKey: token } = desk.tenant;
  receiver.respond(500);
  const endpoint = await createEndpoint(world.deps, organizationId, `${receiver.url}/hook`);
  await emitEvents(world.deps, organizationId, 1);
  const delivery = await eventually(() =>
    world.deps.db('webhook_deliveries').where({ endpoint_id: endpoint.id, status: 'failed' }).first(),
  );
  const inRetry = `Kind = 'webhook-delivery' AND EndpointId = '${endpoint.id}' AND ExecutionStatus = 'Running'`;
  t.deepEqual(await finds(inRetry, `webhook-delivery/${delivery.id}`), [`webhook-delivery/${delivery.id}`]);
  t.deepEqual(await found(inRetry.replace(endpoint.id, newId())), []);
  const { body } = await call(world, 'GET', `/v1/webhooks/deliveries/${delivery.id}/attempts`, { token });
  const first = body.data.find(({ attempt }: { attempt: number }) => attempt === 1);
  const batch = decodeURIComponent(first.temporal_url.split('/').at(-1));
  t.regex(batch, /^webhook-batch\//);
  t.is((await handleOf(batch).describe()).type, 'webhookBatch');
});

test.serial('which approvals time out in the next ten minutes, and which campaign a finished run led to', async (t) => {
  const { id } = await desk.create();
  const within = (ms: number) =>
    `State = 'awaiting_approval' AND Deadline < '${new Date(Date.now() + ms).toISOString()}' AND ExecutionStatus = 'Running'`;
  const { APPROVAL_EXPIRES_MS: openMs } = world.deps.config;
  await finds(within(openMs + MINUTE_MS), `run/${id}`);
  t.false((await found(within(openMs - 10 * MINUTE_MS))).includes(`run/${id}`));
  await desk.decide(id, 'approved');
  t.is(await handleOf(`run/${id}`).result(), 'active');
  const { campaign_id: campaignId } = await desk.row(id);
  await finds(`Kind = 'run' AND CampaignId = '${campaignId}' AND ExecutionStatus = 'Completed'`, `run/${id}`);
  t.is(await detailsOf(handleOf(`run/${id}`)), `finished: active; campaign/${campaignId}`);
});

test.serial('a healthy warmup waits by a timer, and no activity of it has failed', async (t) => {
  const { organizationId, apiKey: token } = desk.tenant;
  const box = await mail.addMailbox({ email: `w${newId()}@ours.test`, password: 'secret' });
  const mailboxId = await createMailbox(world.deps, organizationId, box.email, box);
  t.is((await call(world, 'POST', `/v1/emails/${mailboxId}/warmup/start`, { token })).status, 200);
  const handle = handleOf(`warmup/${mailboxId}`);
  await eventually(async () => / until /.test(await detailsOf(handle).catch(() => '')));
  const { raw } = await handle.describe();
  t.deepEqual(raw.pendingActivities ?? [], []);
  const { events } = await handle.fetchHistory();
  t.deepEqual(
    events!.filter(({ activityTaskFailedEventAttributes: failed }) => failed),
    [],
  );
  t.true(events!.some(({ timerStartedEventAttributes: timer }) => timer));
});
