import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { EXPORT_PARTS } from '../../domain/identity/workspace-exports/parts.ts';
import { makeExport } from '../../domain/identity/workspace-exports/make.ts';
import { sweepExpired } from '../../domain/operations/system/sweep.ts';
import { HOUR_MS, type Clock } from '../../lib/clock.ts';
import { MailFailure } from '../../lib/mail/index.ts';
import { newId } from '../../lib/ids.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import {
  createApiKey,
  createCampaign,
  createContact,
  createMailbox,
  createMember,
  createSession,
  type Tenant,
} from '../harness/factories.ts';
import { createDirectSend } from '../harness/direct-sends.ts';
import { createConnectionRow } from '../harness/integrations.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { createApplication } from '../harness/oauth.ts';
import { createEndpoint } from '../harness/webhooks.ts';
import { assertStatus, call, createWorld, type World } from '../harness/world.ts';

/** Tables of an organization that its export leaves out, with the reason. */
const LEFT_OUT: Record<string, readonly string[]> = {
  'They hold secrets, or addresses of receivers that contain one.': [
    'api_keys',
    'app_connections',
    'integration_connections',
    'integration_oauth_states',
    'integration_revocations',
    'mailbox_checks',
    'mailbox_consents',
    'mailbox_revocations',
    'mailbox_tokens',
    'oauth_applications',
    'oauth_grants',
    'order_mailboxes',
    'sessions',
    'webhook_endpoints',
  ],
  'They belong to those secrets.': [
    'agent_policy_usage',
    'api_key_usage_logs',
    'api_key_usage_minutes',
    'idempotency_keys',
    'integration_deliveries',
    'integration_field_mappings',
    'integration_inbound',
    'integration_lanes',
    'integration_pace',
    'integration_records',
    'integration_runs',
    'integration_subscriptions',
    'lead_allowances',
    'webhook_attempts',
    'webhook_counts',
    'webhook_deliveries',
    'webhook_throttle_drops',
  ],
  'They are counts or indexes of rows that are in the file, and are made again from them.': [
    'acquisition_facts',
    'answer_corrections',
    'automation_references',
    'campaign_flow_counts',
    'contact_outreach',
    'crm_deal_counts',
    'crm_task_counts',
    'daily_counters',
    'fact_campaign_days',
    'fact_campaign_hours',
    'fact_groups',
    'fact_mailbox_days',
    'fact_mailbox_hours',
    'fact_steps',
    'fact_visits',
    'inbound_bodies',
    'inbox_count_changes',
    'inbox_counts',
    'lead_company_counts',
    'message_words',
    'prospect_facts',
    'send_facts',
    'send_groups',
    'sent_contents',
    'sent_copies',
    'sent_words',
    'stale_groups',
    'visit_facts',
  ],
  'They are the state of work under way, or its log, which the rows in the file repeat.': [
    'approval_mails',
    'approval_notices',
    'approvals',
    'automation_budgets',
    'blobs',
    'bulk_edit_contacts',
    'bulk_edits',
    'contact_import_problems',
    'contact_verifications',
    'crm_seeds',
    'dead_letters',
    'domain_events',
    'goal_replays',
    'identity_conflicts',
    'legal_threat_mails',
    'mailbox_errors',
    'mailbox_sync',
    'preflight_reports',
    'reaction_parked_events',
    'reaction_streams',
    'removed_steps',
    'run_events',
    'test_run_steps',
    'test_runs',
    'thread_snoozes',
    'waits',
    'warmup_mails',
    'warmup_standings',
    'webhook_payloads',
    'weekly_report_mails',
    'weekly_report_opt_outs',
    'weekly_reports',
    'workspace_exports',
  ],
  'They are the operator’s books of what was bought.': [
    'ai_usage',
    'domain_renewals',
    'mailbox_orders',
    'mailbox_quotes',
    'managed_domains',
    'order_steps',
    'payment_events',
    'payments',
  ],
};

const clock = new ManualClock(new Date('2026-03-09T09:00:00Z'));
let world: World;
let engine: Engine;
test.before(async () => {
  world = await createWorld({ clock });
  engine = await startEngine(world);
});
test.after.always(async () => {
  await engine?.stop();
  await world?.close();
});

const path = '/v1/organizations/current/exports';
const ask = (tenant: Pick<Tenant, 'sessionToken'>, method: 'GET' | 'POST', at = path) =>
  call(world, method, at, { token: tenant.sessionToken });
const linesOf = (bytes: Buffer) =>
  gunzipSync(bytes)
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string } & Record<string, unknown>);

async function download(tenant: Tenant, id: string): Promise<Buffer> {
  const answer = await fetch(`${world.url}${path}/${id}/file`, {
    headers: { authorization: `Bearer ${tenant.sessionToken}` },
  });
  return Buffer.from(await answer.arrayBuffer());
}

test.serial('a workspace is exported as one file without a secret, and its requester gets the link', async (t) => {
  const tenant = await world.tenant();
  const { organizationId } = tenant;
  const { db } = world.deps;
  const mailbox = { id: await createMailbox(world.deps, organizationId), email: 'a@ours.test' };
  const contactId = await createContact(db, clock.now(), organizationId, { email: 'ada@lead.test' });
  await createCampaign(world.deps, organizationId, [{ subject: 'Hello', body_plain: 'Hi' }]);
  await createDirectSend(world.deps, organizationId, mailbox);
  await createApiKey(world.deps, organizationId, tenant.userId);
  await createApplication(world.deps, organizationId);
  await createEndpoint(world.deps, organizationId, 'https://receiver.test/hook');
  await createConnectionRow(world, tenant);
  await call(world, 'POST', '/v1/organizations/current/invitations', {
    token: tenant.sessionToken,
    body: {
      email: 'new@example.com',
      role_id: (await db('roles').where({ organization_id: organizationId, name: 'Viewer' }).first('id')).id,
    },
  });
  const other = await world.tenant();
  await createContact(db, clock.now(), other.organizationId, { email: 'foreign@lead.test' });

  const asked = await ask(tenant, 'POST');
  assertStatus(t, asked, 202);
  const { id } = asked.body;
  const done = await eventually(async () => {
    const [row] = (await ask(tenant, 'GET')).body.data;
    return row.status === 'completed' && row;
  });
  t.like(done, { id, progress: 1, requested_by: tenant.userId });
  const mail = await eventually(async () => world.outgoing.find(({ to }) => to === tenant.email));
  t.regex(mail.text, /\/settings\/workspace\n/);

  const file = await download(tenant, id);
  t.is(file.length, done.size_bytes);
  const lines = linesOf(file);
  t.is(lines.length, done.row_count);
  const types = new Set(lines.map(({ type }) => type));
  for (const type of ['workspace', 'member', 'role', 'contact', 'campaign', 'campaign_step', 'mailbox', 'audit_log'])
    t.true(types.has(type), type);
  t.like(
    lines.find(({ type }) => type === 'contact'),
    { id: contactId, email: 'ada@lead.test' },
  );
  const text = gunzipSync(file).toString('utf8');
  t.false(text.includes('foreign@lead.test'));
  for (const { place, secret } of await secretsOf(organizationId)) t.false(text.includes(secret), place);

  t.is((await ask(other, 'GET')).body.data.length, 0);
  assertStatus(t, await ask(other, 'GET', `${path}/${id}/file`), 404);
  assertStatus(t, await ask(await createMember(world.deps, tenant, 'Member'), 'POST'), 403);
  const trail = await db('audit_logs').where({ entity_type: 'workspace_export', entity_id: id }).pluck('action');
  t.deepEqual(trail.toSorted(), ['create', 'export']);

  clock.advance(8 * 86_400_000);
  await sweepExpired(world.deps);
  t.is(
    (await ask({ sessionToken: await createSession(world.deps, tenant.userId, organizationId) }, 'GET')).body.data
      .length,
    0,
  );
  t.deepEqual(await db('blobs').where({ organization_id: organizationId }), []);
});

test.serial(
  'a workspace has one export at a time; a mail that fails for now is sent later, one that may be gone is not',
  async (t) => {
    const tenant = await world.tenant();
    const { db } = world.deps;
    const id = newId();
    await db('workspace_exports').insert({
      id,
      organization_id: tenant.organizationId,
      user_id: tenant.userId,
      created_at: clock.now(),
    });
    assertStatus(t, await ask(tenant, 'POST'), 409);
    assertStatus(t, await ask(tenant, 'GET', `${path}/${id}/file`), 404);

    const ctx = world.system(tenant.organizationId);
    const away = {
      ...ctx,
      systemMail: { ...ctx.systemMail, send: () => Promise.reject(new MailFailure('later', new Error('away'))) },
    };
    const signal = new AbortController().signal;
    await t.throwsAsync(makeExport(away, id, signal), { instanceOf: MailFailure });
    const file = (await db('workspace_exports').where({ id }).first()).blob_id;
    t.is((await makeExport(ctx, id, signal)).why, 'written and mailed');
    t.like(await db('workspace_exports').where({ id }).first(), { mail: 'sent', blob_id: file });
    await db('workspace_exports').where({ id }).update({ mail: 'sending' });
    await makeExport(ctx, id, signal);
    t.is((await db('workspace_exports').where({ id }).first()).mail, 'uncertain');
    t.is(world.outgoing.filter(({ to }) => to === tenant.email).length, 1);
  },
);

test.serial('a workspace whose deletion is scheduled is still exported', async (t) => {
  const tenant = await world.tenant('Leaving');
  const session = { token: tenant.sessionToken };
  assertStatus(
    t,
    await call(world, 'DELETE', '/v1/organizations/current', { ...session, body: { name: 'Leaving' } }),
    200,
  );
  const asked = await ask(tenant, 'POST');
  assertStatus(t, asked, 202);
  await eventually(async () => (await ask(tenant, 'GET')).body.data[0].status === 'completed');
  t.true(linesOf(await download(tenant, asked.body.id)).some(({ name }) => name === 'Leaving'));
});

test.serial('a workspace has three exports a day, and one file; a refused request does not count', async (t) => {
  const tenant = await world.tenant();
  const { organizationId } = tenant;
  const { db } = world.deps;
  const files: string[] = [];
  for (let count = 1; count <= 3; count += 1) {
    const asked = await ask(tenant, 'POST');
    assertStatus(t, asked, 202);
    const { id } = asked.body;
    await eventually(async () => (await ask(tenant, 'GET')).body.data[0].status === 'completed');
    files.push(id);
    const { data } = (await ask(tenant, 'GET')).body as { data: { id: string }[] };
    t.deepEqual(
      data.map((one) => one.id),
      [id],
    );
    t.is((await db('blobs').where({ organization_id: organizationId })).length, 1);
    if (count > 1) assertStatus(t, await ask(tenant, 'GET', `${path}/${files[count - 2]}/file`), 404);
    if (count === 2) {
      // While another one is open.
      const openId = newId();
      await db('workspace_exports').insert({ id: openId, organization_id: organizationId, created_at: clock.now() });
      assertStatus(t, await ask(tenant, 'POST'), 409);
      await db('workspace_exports').where({ id: openId }).delete();
    }
  }
  assertStatus(t, await ask(tenant, 'POST'), 429);
});

test.serial(
  'an export that reads for an hour is blocked with that reason, and goes on when it is retried',
  async (t) => {
    const tenant = await world.tenant();
    const { timeout } = AbortSignal;
    AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms === HOUR_MS ? 0 : ms);
    t.teardown(() => void (AbortSignal.timeout = timeout));
    const asked = await ask(tenant, 'POST');
    assertStatus(t, asked, 202);
    const blocked = await eventually(async () => {
      const [row] = (await ask(tenant, 'GET')).body.data;
      return row.blocked_reason && row;
    });
    t.is(blocked.blocked_reason, 'blocked: the data could not be written within 60 minutes');
    AbortSignal.timeout = timeout;
    await engine.temporal.workflow
      .getHandle(`workspace-export/${asked.body.id}`)
      .signal('retry', { cause: 'operator' });
    await eventually(async () => (await ask(tenant, 'GET')).body.data[0].status === 'completed');
  },
);

test.serial('the temporary file of an export has no name that a killed worker would leave behind', async (t) => {
  const tenant = await world.tenant();
  const id = newId();
  await world.deps.db('workspace_exports').insert({
    id,
    organization_id: tenant.organizationId,
    user_id: tenant.userId,
    created_at: clock.now(),
  });
  const named: string[][] = [];
  // The clock is read before the file is written, and before it is stored.
  const watching: Clock = {
    now: () => {
      named.push(readdirSync(tmpdir()).filter((name) => name.startsWith('heron-export-')));
      return clock.now();
    },
  };
  await makeExport({ ...world.system(tenant.organizationId), clock: watching }, id, new AbortController().signal);
  t.true(named.length > 2);
  t.deepEqual(named.flat(), []);
  t.true(linesOf(await download(tenant, id)).length > 5);
});

test('every table of a workspace is in its export or left out with a reason, and no column is a secret', async (t) => {
  const { rows } = await world.deps.db.raw(`
    select c.relname as table, a.attname as column, format_type(a.atttypid, null) as type
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`);
  const columns = rows as { table: string; column: string; type: string }[];
  const tables = columns.filter(({ column }) => column === 'organization_id').map(({ table }) => table);
  const exported = EXPORT_PARTS.map(({ table }) => table);
  t.deepEqual([...exported, ...Object.values(LEFT_OUT).flat()].toSorted(), tables.toSorted());
  const suspects = EXPORT_PARTS.flatMap(({ table, omit = [] }) =>
    columns.filter(
      (one) =>
        one.table === table &&
        !omit.includes(one.column) &&
        (one.type === 'bytea' || /secret|token|password|sealed|credential|_hash$/.test(one.column)),
    ),
  ).map(({ table, column }) => `${table}.${column}`);
  t.deepEqual(suspects, []);
});

/** Returns the stored secrets of an organization: sealed bytes in hex and base64, and hashes. */
async function secretsOf(organizationId: string): Promise<{ place: string; secret: string }[]> {
  const { db } = world.deps;
  const { rows } = await db.raw(`
    select c.relname as table, a.attname as column, a.atttypid = 'bytea'::regtype as bytes
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and (a.atttypid = 'bytea'::regtype or a.attname ~ '(secret|token|credentials|sealed|_hash)')
      and exists (select from pg_attribute o where o.attrelid = c.oid and o.attname = 'organization_id')`);
  const found: { place: string; secret: string }[] = [];
  for (const { table, column, bytes } of rows as { table: string; column: string; bytes: boolean }[])
    for (const value of await db(table).where({ organization_id: organizationId }).whereNotNull(column).pluck(column)) {
      const place = `${table}.${column}`;
      if (bytes)
        for (const encoding of ['hex', 'base64'] as const) {
          const secret = (value as Buffer).toString(encoding);
          if (secret.length > 8) found.push({ place, secret });
        }
      else if (typeof value === 'string' && value.length > 8) found.push({ place, secret: value });
    }
  return found;
}
