/** Tests the workspace commands as typed by a person, on a real API, inbox and event stream. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { startRealtime } from '../../api/servers/realtime.ts';
import { recordInbound } from '../../domain/sending/outcomes/record-inbound.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { TYPESCRIPT } from '../../local/typescript.ts';
import { verifySignature } from '../../lib/signature.ts';
import { startEngine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { createCampaign, createContact, createMailbox, enroll, type Tenant } from '../harness/factories.ts';
import { createSend, replyTo } from '../harness/inbound.ts';
import { heron } from '../harness/heron.ts';
import { startReceiver } from '../harness/receiver.ts';
import { fanOut } from '../harness/webhooks.ts';
import { createWorld, type World } from '../harness/world.ts';

const HERON = fileURLToPath(new URL('../../deploy/heron.ts', import.meta.url));
/** Timeout (ms) for starting a process on a busy machine. */
const PATIENCE_MS = 120_000;

let world: World;
test.before(async () => {
  world = await createWorld({ env: { WORKER_ROLES: 'temporal,relay' } });
});
test.after.always(() => world?.close());

const envOf = ({ apiKey }: Tenant) => ({ HERON_API_URL: world.url, HERON_API_KEY: apiKey });

test('campaigns, leads and mailboxes as tables and as JSON', async (t) => {
  const tenant = await world.tenant();
  const { organizationId: org } = tenant;
  const env = envOf(tenant);
  const { campaignId } = await createCampaign(world.deps, org, [{ subject: 'Hi', body_plain: 'b' }], {
    name: 'Spring \u001b[31mof\u202e 2026',
    status: 'draft',
  });
  const mailbox = await createMailbox(world.deps, org, 'mia@ours.test');
  const [listed, json, added, held] = await Promise.all([
    heron(['campaigns', 'list'], env),
    heron(['campaigns', 'list', '--json', '--status', 'active'], env),
    heron(['leads', 'add', campaignId, 'ada@lead.test', 'bob@lead.test'], env),
    heron(['mailboxes', 'hold', mailbox], env),
  ]);
  t.is(listed.code, 0, listed.stderr);
  const [heading, row, ...more] = listed.stdout.trimEnd().split('\n');
  t.deepEqual(more, []);
  t.regex(heading!, /^id +status +name +created$/);
  t.true(row!.includes(campaignId) && row!.includes('Spring [31mof 2026'), 'what others wrote moves no cursor');
  const campaigns = JSON.parse(json.stdout);
  t.deepEqual(campaigns, [], 'none is active');
  t.is(added.code, 0, added.stderr);
  t.is((await world.deps.db('enrollments').where({ campaign_id: campaignId })).length, 2);
  t.is(held.stdout, 'mia@ours.test sends nothing until it is released.\n');
  t.is((await world.deps.db('mailboxes').where({ id: mailbox }).first('status')).status, 'inactive');
  const [leads, mailboxes, unknown, wrong] = await Promise.all([
    heron(['leads', 'list', campaignId, '--limit', '1'], env),
    heron(['mailboxes', 'list'], env),
    heron(['campaigns', 'show', '00000000-0000-4000-8000-000000000000'], env),
    heron(['leads', 'add', campaignId, 'nobody'], env),
  ]);
  t.is(leads.stdout.trimEnd().split('\n').length, 2);
  t.regex(mailboxes.stdout, /mia@ours\.test +inactive/);
  t.is(unknown.code, 1);
  t.regex(unknown.stderr, /Campaign not found/);
  t.is(wrong.code, 2);
});

test('runs, replies and events of the product', async (t) => {
  const tenant = await world.tenant();
  const env = envOf(tenant);
  const contactId = await createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId, {
    email: 'eve@lead.test',
  });
  const [runs, replies, sent, faulty] = await Promise.all([
    heron(['runs'], env),
    heron(['replies', 'list', '--json'], env),
    heron(
      [
        'events',
        'send',
        'trial.started',
        '--email',
        'eve@lead.test',
        '--data',
        'seats=3',
        '--data',
        'plan=pro',
        '--json',
      ],
      env,
    ),
    heron(['events', 'send', 'trial.started', '--email', 'eve@lead.test', '--data', 'seats'], env),
  ]);
  t.deepEqual([runs.code, runs.stdout], [0, 'There is no run.\n']);
  t.deepEqual(JSON.parse(replies.stdout), []);
  t.like(JSON.parse(sent.stdout), { name: 'trial.started', contact_id: contactId, matched_waits: 0 }, sent.stderr);
  const [event] = await world.deps.db('product_events').where({ organization_id: tenant.organizationId });
  t.deepEqual(event.data, { seats: 3, plan: 'pro' });
  t.is(faulty.code, 2);
});

test('a file of leads is imported into a campaign, and waited for', async (t) => {
  const tenant = await world.tenant();
  const engine = await startEngine(world);
  t.teardown(() => engine.stop());
  const { campaignId } = await createCampaign(world.deps, tenant.organizationId, [{ subject: 'Hi', body_plain: 'b' }], {
    status: 'draft',
  });
  const folder = await mkdtemp(join(tmpdir(), 'heron-leads-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const file = join(folder, 'leads.csv');
  await writeFile(file, 'email,first name\nada@lead.test,Ada\nnobody,Nobody\nbob@lead.test,Bob\n');
  const [imported, missing] = await Promise.all([
    heron(['leads', 'import', campaignId, file], envOf(tenant)),
    heron(['leads', 'import', campaignId, join(folder, 'none.csv')], envOf(tenant)),
  ]);
  t.regex(imported.stdout, /^rows +3\nnew contacts +2$/m, imported.stderr);
  t.regex(imported.stdout, /^left out +1$/m);
  t.is((await world.deps.db('enrollments').where({ campaign_id: campaignId })).length, 2);
  t.is(missing.code, 1);
  t.regex(missing.stderr, /none\.csv cannot be read: ENOENT/);
});

test('a reply is listed and answered; the answer of a key waits for a person', async (t) => {
  const tenant = await world.tenant();
  const { organizationId: org } = tenant;
  const { db, clock } = world.deps;
  const [from, email] = ['mia@ours.test', 'lea@lead.test'];
  const mailboxId = await createMailbox(world.deps, org, from);
  const { campaignId, stepIds } = await createCampaign(world.deps, org, [{ subject: 'Hello', body_plain: 'b' }]);
  const contactId = await createContact(db, clock.now(), org, { email });
  const [enrollmentId] = await enroll(world.deps, org, campaignId, [contactId]);
  const { messageId } = await createSend(world.deps, org, {
    campaignId,
    enrollmentId: enrollmentId!,
    stepId: stepIds[0]!,
    contactId,
    mailboxId,
    recipient: email,
  });
  await recordInbound(
    world.system(org),
    { id: mailboxId, email: from },
    replyTo({ messageId, from, to: email }, 'Sounds great, tell me more!'),
    { folder: 'INBOX', uidValidity: 1, uid: 1, receivedAt: clock.now() },
  );
  const listed = await heron(['replies', 'list'], envOf(tenant));
  t.regex(listed.stdout, /lea@lead\.test .*Sounds great, tell me more!/, listed.stderr);
  const id = listed.stdout.split('\n')[1]!.split(' ')[0]!;
  const answered = await heron(['replies', 'answer', id, '--text', 'Gladly.'], envOf(tenant));
  t.regex(answered.stdout, /^A person decides at http/, answered.stderr);
  t.is((await db('direct_sends').where({ organization_id: org })).length, 1);
  t.is((await heron(['replies', 'answer', id, '--text', ' '], envOf(tenant))).code, 1);
});

test('heron webhooks listen posts events as webhooks would, signed, and ends when it is stopped', async (t) => {
  const tenant = await world.tenant();
  const receiver = await startReceiver();
  const realtime = await startRealtime(world.deps, createMetrics(), { port: 0 });
  const secret = 'whsec_of_the_test';
  const child = spawn(
    process.execPath,
    [
      ...TYPESCRIPT,
      HERON,
      'webhooks',
      'listen',
      '--forward',
      `${receiver.url}/hooks`,
      '--secret',
      secret,
      '--events',
      'contact.created',
      '--json',
    ],
    { env: { ...process.env, ...envOf(tenant), HERON_REALTIME_URL: realtime.url } },
  );
  t.teardown(async () => {
    child.kill('SIGKILL');
    await realtime.close();
    await receiver.stop();
  });
  let said = '';
  let out = '';
  child.stderr.on('data', (bytes: Buffer) => (said += bytes.toString('utf8')));
  child.stdout.on('data', (bytes: Buffer) => (out += bytes.toString('utf8')));
  await eventually(async () => said.includes('events go to'), PATIENCE_MS);
  const response = await fetch(`${world.url}/v1/contacts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify([{ email: 'new@lead.test' }]),
  });
  t.is(response.status, 200);
  // Emits an event of another type, to which the command has not subscribed.
  await transact(world.system(tenant.organizationId), async (tx) =>
    tx.emit('contact.updated', { metadata: { bulk: true, count: 1 } }),
  );
  await fanOut(world.deps);
  const [request] = await receiver.received(1, PATIENCE_MS);
  t.is(request!.path, '/hooks');
  t.like(request!.json, { event_type: 'contact.created', organization_id: tenant.organizationId });
  t.is(request!.headers['x-service-event-id'], request!.json.id);
  t.true(verifySignature(String(request!.headers['x-service-signature']), secret, request!.raw, { now: new Date() }));
  await eventually(async () => out.includes('\n'), PATIENCE_MS);
  t.like(JSON.parse(out), { event_type: 'contact.created', id: request!.json.id, status: 204, error: null });
  child.kill('SIGTERM');
  t.deepEqual(await once(child, 'exit'), [0, null]);
  t.is(receiver.requests.length, 1);
});
