import test from 'ava';
import { fullPath, idempotencyOf, isWrite, type AnyRoute } from '../../api/http/route.ts';
import { routes } from '../../api/routes.ts';
import { json } from '../../db/connection.ts';
import { recordInbound } from '../../domain/sending/outcomes/record-inbound.ts';
import { newId } from '../../lib/ids.ts';
import {
  createApiKey,
  createCampaign,
  createContact,
  createMailbox,
  enroll,
  NO_SERVER,
  type Tenant,
} from '../harness/factories.ts';
import { createDirectSend } from '../harness/direct-sends.ts';
import { createDelivery } from '../harness/webhook-rows.ts';
import { createEndpoint } from '../harness/webhooks.ts';
import { call, createWorld, type Answer, type World } from '../harness/world.ts';
import { QUERIES, sampleBody } from './bodies.ts';
import { makeRows, parametersOf } from './foreign-ids.ts';
import { externalText } from '../../domain/platform/external-text.ts';

/*
 * Checks the effect of a key's `allowed_email_accounts` on every route; docs/explanation/security.md has the table. The
 * mail, settings and errors of a mailbox that the key may not use contain a word that must not occur in any answer to
 * the key.
 */

/** Rule for each area. A new area must be added. */
const RULING: Record<'refused' | 'narrowed' | 'whole', readonly string[]> = {
  // Areas whose routes show or change data of every mailbox; the key is refused. Of integrations and automations these
  // are only the writes, of warmup only the routing rules.
  refused: ['webhooks', 'oauth', 'integrations', 'automations', 'audit', 'mailbox-orders', 'warmup'],
  // Areas whose routes return only data of the key's mailboxes, and send only from them.
  narrowed: [
    'mailboxes',
    'threads',
    'direct-sends',
    'analytics',
    'acquisition',
    'dead-letters',
    'campaigns',
    'step-runs',
    'test-runs',
    'runs',
    'agent-policies',
    'agent-tools',
    'mcp',
  ],
  // Areas whose routes concern the workspace but no mailbox.
  whole: [
    'api-keys',
    'app-connections',
    'auth',
    'contacts',
    'crm',
    'deliverability',
    'domain-renewals',
    'goals',
    'imports',
    'labels',
    'lead-database',
    'meetings',
    'outreach-settings',
    'people',
    'product-events',
    'prospect-catalogue',
    'reply-templates',
    'segments',
    'suppressions',
    'system',
    'teams',
  ],
};

/** Refused routes of areas that are not refused, with the reason. */
const REFUSED_ALONE: Record<string, string> = {
  'contacts.downloadData': 'the file of a person has the emails of every mailbox',
};

/** Word that occurs in all data of the other mailbox. */
const MARK = 'quincewood';

let world: World;
let tenant: Tenant;
let key: string;
let planted: Planted;
test.before(async () => {
  world = await createWorld();
  tenant = await world.tenant();
  const own = await createMailbox(world.deps, tenant.organizationId, 'own@ours.test');
  key = (await createApiKey(world.deps, tenant.organizationId, tenant.userId, { allowedMailboxes: [own] })).apiKey;
  planted = await plant();
});
test.after.always(() => world?.close());

const MAIL = Buffer.from(
  [
    'From: lea@lead.test',
    'Message-ID: <answer@lead.test>',
    `Subject: ${MARK}`,
    'Content-Type: multipart/mixed; boundary=b',
    '',
    `--b\r\nContent-Type: text/plain\r\n\r\n${MARK}`,
    `--b\r\nContent-Type: text/plain; name="a.txt"\r\nContent-Disposition: attachment; filename="${MARK}.txt"\r\n\r\n${MARK}`,
    '--b--',
    '',
  ].join('\r\n'),
);

interface Planted {
  /** Path parameters of the other mailbox's records, by the path before them. */
  ids: Record<string, string>;
  threadId: string;
}

/** Creates another mailbox of the workspace with every kind of data. */
async function plant(): Promise<Planted> {
  const { deps } = world;
  const { db } = deps;
  const { organizationId: organization_id } = tenant;
  const at = deps.clock.now();
  const stamps = { created_at: at, updated_at: at };
  const email = 'other@ours.test';
  const id = await createMailbox(deps, organization_id, email, NO_SERVER, { name: MARK });
  await recordInbound(world.system(organization_id), { id, email }, MAIL, {
    folder: 'INBOX',
    uidValidity: 1,
    uid: 1,
    receivedAt: at,
  });
  const message = await db('inbound_messages').where({ mailbox_id: id }).first('id', 'thread_id');
  const file = await db('inbound_attachments').where({ message_id: message.id }).first('id');
  const contactId = await createContact(db, at, organization_id, { email: 'lea@lead.test' });
  const draft = newId();
  const written = { to_emails: ['lea@lead.test'], cc_emails: [], bcc_emails: [], subject: MARK, body_plain: MARK };
  const thread_id = message.thread_id;
  await db('email_drafts').insert({ id: draft, organization_id, mailbox_id: id, thread_id, ...written, ...stamps });
  const scheduled = await createDirectSend(deps, organization_id, { id, email }, { subject: MARK, body_plain: MARK });
  await createDirectSend(deps, organization_id, { id, email }, { subject: MARK, state: 'sent', finished_at: at });
  const error = { error_code: 'auth_failed', severity: 'error', message: externalText(MARK) };
  await db('mailbox_errors').insert({ id: newId(), organization_id, mailbox_id: id, ...error, created_at: at });
  const letter = newId();
  const task = { task_id: scheduled, task_type: 'direct_email', last_error: externalText(MARK) };
  await db('dead_letters').insert({ id: letter, organization_id, ...task, ...stamps });
  const changes = json({ name: { from: null, to: MARK } });
  const entry = { actor_kind: 'session', action: 'update', entity_type: 'email_account', entity_id: id, changes };
  await db('audit_logs').insert({ id: newId(), organization_id, ...entry, created_at: at });
  const endpoint = await createEndpoint(deps, organization_id, 'http://127.0.0.1:1');
  const delivery = await createDelivery(deps, organization_id, endpoint.id);
  await db('webhook_payloads')
    .where({ organization_id })
    .update({ body: db.raw(`replace(body, '"data":{', '"data":{"subject":"${MARK}",')`) });
  return {
    threadId: thread_id,
    ids: {
      '/emails/:id': id,
      '/analytics/accounts/:id': id,
      '/unibox/:id': message.id,
      '/unibox/:id/attachments/:fileId': file.id,
      '/unibox/drafts/:id': draft,
      '/unibox/scheduled/:taskId': scheduled,
      '/tasks/dlq/:id': letter,
      '/acquisition/prospects/:contactId': contactId,
      '/webhooks/:id': endpoint.id,
      '/webhooks/deliveries/:deliveryId': delivery,
    },
  };
}

/** Requests the other mailbox's data from a route that accepts one of its ids. */
async function ask(spec: AnyRoute, token: string): Promise<Answer> {
  const params: Record<string, string> = await makeRows(spec.path, world, tenant);
  for (const { name, prefix } of parametersOf(spec.path)) params[name] = planted.ids[prefix] ?? params[name]!;
  const path = fullPath(spec).replace(/:([A-Za-z]+)/g, (_, name: string) => params[name]!);
  const query = { ...QUERIES[spec.operationId], ...OTHERS[spec.operationId] };
  return call(world, spec.method.toUpperCase(), `${path}?${new URLSearchParams(query).toString()}`, {
    token,
    ...(spec.body && (spec.consumes ?? 'json') === 'json' ? { body: sampleBody(spec) } : {}),
    headers: idempotencyOf(spec) === 'required' ? { 'idempotency-key': newId() } : {},
  });
}

/** Queries that refer to the other mailbox. */
const OTHERS: Record<string, Record<string, string>> = {
  get 'unibox.getThread'() {
    return { thread_id: planted.threadId };
  },
  get 'analytics.getWarmup'() {
    return { email_id: planted.ids['/emails/:id']! };
  },
};

const forKeys = routes.filter(({ scope }) => scope !== 'public' && scope !== 'session');

test('somebody has ruled what a key that is restricted to mailboxes may do in each area', (t) => {
  const areas = [...new Set(forKeys.map(({ area }) => area))].toSorted();
  t.deepEqual(areas, Object.values(RULING).flat().toSorted());
  const refused = forKeys.filter((spec) => spec.everyMailbox);
  t.true(Object.keys(REFUSED_ALONE).every((id) => refused.some(({ operationId }) => operationId === id)));
  const refusing = [
    ...new Set(refused.flatMap(({ operationId, area }) => (operationId in REFUSED_ALONE ? [] : [area]))),
  ];
  t.deepEqual(refusing.toSorted(), [...RULING.refused].toSorted());
  const open = forKeys.filter((spec) => RULING.refused.includes(spec.area) && !spec.everyMailbox && isWrite(spec));
  t.deepEqual(
    open.map(({ operationId }) => operationId),
    ['integrations.pushContacts', 'warmup.start', 'warmup.pause', 'warmup.resume', 'warmup.stop'],
    'contacts are pushed to a CRM; warmup changes one mailbox of the key',
  );
});

test('what is about every mailbox is refused to a key that is restricted to some', async (t) => {
  const whole = forKeys.filter((spec) => spec.everyMailbox);
  t.true(whole.length > 30);
  for (const spec of whole) {
    const { status, body } = await ask(spec, key);
    t.like({ status, ...body }, { status: 403, code: 'forbidden' }, spec.operationId);
    t.regex(body.fix, /allowed_email_accounts/, spec.operationId);
  }
});

test('no answer to a restricted key has anything of the mail, settings and troubles of another mailbox', async (t) => {
  const reads = forKeys.filter((spec) => !isWrite(spec) && spec.success.contentType !== 'text/event-stream');
  t.true(reads.length > 100);
  const shown: string[] = [];
  const leaks: string[] = [];
  for (const spec of reads) {
    if ((await ask(spec, tenant.apiKey)).text.includes(MARK)) shown.push(spec.operationId);
    const answer = await ask(spec, key);
    if (answer.text.includes(MARK)) leaks.push(`${spec.operationId}: ${answer.text.slice(0, 200)}`);
  }
  t.deepEqual(leaks, []);
  t.deepEqual(shown.toSorted(), [
    'acquisition.getTimeline',
    'agentTools.call',
    'analytics.getMailbox',
    'analytics.listMailboxes',
    'auditLogs.list',
    'campaigns.previewLaunch',
    'mailboxes.get',
    'mailboxes.list',
    'tasks.listDeadLetters',
    'unibox.downloadFile',
    'unibox.get',
    'unibox.getDraft',
    'unibox.getOverview',
    'unibox.getThread',
    'unibox.list',
    'unibox.listDrafts',
    'unibox.listScheduled',
    'unibox.listSent',
    'webhooks.listDeliveries',
    'webhooks.listEndpointDeliveries',
  ]);
});

test('a restricted key does nothing with what is of another mailbox', async (t) => {
  const ofMailboxes = forKeys.filter(
    (spec) =>
      isWrite(spec) && parametersOf(spec.path).some(({ prefix }) => prefix in planted.ids) && !spec.everyMailbox,
  );
  t.true(ofMailboxes.length > 10);
  for (const spec of ofMailboxes) t.true([403, 404].includes((await ask(spec, key)).status), spec.operationId);
  const { threadId: thread_id, ids } = planted;
  const [emailId, mailbox] = [ids['/unibox/:id']!, ids['/emails/:id']!];
  const email = { to: ['lea@lead.test'], subject: 'Hi', body_plain: 'Hi' };
  for (const [method, path, body] of [
    ['PUT', '/unibox/thread/labels', { thread_id, category_ids: [] }],
    ['POST', '/unibox/snooze', { thread_id, snoozed_until: new Date(Date.now() + 3_600_000).toISOString() }],
    ['POST', '/unibox/compose', { email_account_id: mailbox, ...email }],
    ['POST', '/unibox/drafts', { email_account_id: mailbox, ...email }],
    ['GET', `/analytics/explain?figure=sent&email_account_id=${mailbox}`, undefined],
    ['GET', `/unibox?email_ids=${mailbox}`, undefined],
  ] as const) {
    const { status, text } = await call(world, method, `/v1${path}`, {
      token: key,
      ...(body && { body }),
      headers: { 'idempotency-key': newId() },
    });
    t.true([400, 403, 404].includes(status), `${method} ${path}: ${status} ${text}`);
  }
  await call(world, 'PATCH', '/v1/unibox/seen', { token: key, body: { email_ids: [emailId], seen: true } });
  t.false((await world.deps.db('inbound_messages').where({ id: emailId }).first('seen')).seen);
});

test('a restricted key sets nothing going that mails from another mailbox', async (t) => {
  const { deps } = world;
  const { organizationId: organization_id } = tenant;
  const at = deps.clock.now();
  // Without senders and tags every mailbox of the workspace is a sender.
  const { campaignId, stepIds } = await createCampaign(deps, organization_id, [{ subject: 's', body_plain: 'b' }]);
  const contactId = await createContact(deps.db, at, organization_id, { email: 'held@lead.test' });
  const [enrollment_id] = await enroll(deps, organization_id, campaignId, [contactId]);
  const held = { state: 'active', hold_since: at, hold_reason: externalText('asked'), hold_source: 'manual' };
  await deps.db('enrollments').where({ id: enrollment_id }).update(held);
  const runId = newId();
  const ids = { organization_id, enrollment_id, campaign_id: campaignId, contact_id: contactId, step_id: stepIds[0] };
  await deps.db('step_runs').insert({ id: runId, ...ids, seq: 1, kind: 'email', state: 'blocked', started_at: at });
  const letter = async (task_type: string, task_id = newId()) => {
    const id = newId();
    const stamps = { created_at: at, updated_at: at };
    await deps
      .db('dead_letters')
      .insert({ id, organization_id, task_id, task_type, last_error: externalText(MARK), ...stamps });
    return id;
  };
  const mailbox = planted.ids['/emails/:id'];
  const letters = {
    listed: [
      await letter('enrollment_run', enrollment_id),
      await letter('campaign_launch', campaignId),
      await letter('automation_run'),
    ],
    hidden: [await letter('warmup', mailbox), await letter('mailbox_order'), await letter('webhook_delivery')],
  };
  const lead = `/campaigns/${campaignId}/leads/${contactId}`;
  const soon = new Date(Date.now() + 60_000).toISOString();
  for (const [path, body] of [
    [`${lead}/resume`, undefined],
    [`${lead}/pause`, { until: soon, reason: 'for a minute' }],
    [`/campaigns/${campaignId}/step-runs/${runId}/retry`, undefined],
    ...Object.values(letters).flatMap((all) => all.map((id) => [`/tasks/dlq/${id}/replay`, undefined])),
  ] as [string, object | undefined][]) {
    const { status, body: answer } = await call(world, 'POST', `/v1${path}`, { token: key, ...(body && { body }) });
    t.like({ status, ...answer }, { status: 403, code: 'forbidden' }, path);
    t.regex(answer.fix, /allowed_email_accounts/, path);
  }
  const { body } = await call(world, 'GET', '/v1/tasks/dlq', { token: key });
  const seen = body.data.map(({ id }: { id: string }) => id);
  t.deepEqual(
    [letters.listed.every((id) => seen.includes(id)), letters.hidden.some((id) => seen.includes(id))],
    [true, false],
  );
  t.is(
    (await call(world, 'POST', `/v1${lead}/pause`, { token: key, body: { until: null, reason: 'longer' } })).status,
    200,
  );
  await deps.db('dead_letters').whereIn('id', Object.values(letters).flat()).delete();
  for (const path of [`${lead}/resume`, `/campaigns/${campaignId}/step-runs/${runId}/retry`])
    t.is((await call(world, 'POST', `/v1${path}`, { token: tenant.apiKey })).status, 200, path);
});
