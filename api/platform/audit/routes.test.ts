import { promisify } from 'node:util';
import { execFile } from 'node:child_process';
import test from 'ava';
import { parse } from 'csv-parse/sync';
import { isWrite } from '../../http/route.ts';
import { routes } from '../../routes.ts';
import { rawDb } from '../../../test/harness/database.ts';
import { createMember, type Tenant } from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createReachableWorld, prepareAttempt } from '../../../test/fuzz/attempt.ts';
import { sendAttempt } from '../../../test/fuzz/run.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { exportAuditLogs } from '../../../domain/platform/audit/export.ts';
import { newId } from '../../../lib/ids.ts';
import { TYPESCRIPT } from '../../../local/typescript.ts';
import { externalText } from '../../../domain/platform/external-text.ts';

const clock = new ManualClock(new Date('2026-11-18T23:59:00Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

const list = (tenant: Tenant, query = '') => call(world, 'GET', `/v1/audit-logs${query}`, { token: tenant.apiKey });

/** Creates segments, one per minute, the first before midnight. */
async function scene(count: number) {
  const tenant = await world.tenant();
  clock.set(new Date('2026-11-18T23:59:00Z'));
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const { body } = await call(world, 'POST', '/v1/segments', {
      token: tenant.apiKey,
      body: { name: `Segment ${n}`, conditions: [] },
    });
    ids.push(body.id);
    clock.advance(60_000);
  }
  return { tenant, ids };
}

test.serial('pages, newest first, each entry once', async (t) => {
  const { tenant, ids } = await scene(25);
  const seen: string[] = [];
  for (let cursor: string | null = null, pages = 0; pages < 4; pages += 1) {
    const { status, body } = await list(tenant, `?limit=10&entity_type=segment${cursor ? `&cursor=${cursor}` : ''}`);
    t.is(status, 200);
    seen.push(...body.data.map(({ entity_id: id }: { entity_id: string }) => id));
    cursor = body.pagination.next_cursor;
    t.is(body.pagination.has_more, cursor !== null);
    if (!cursor) break;
  }
  t.deepEqual(seen, [...ids].reverse());
});

test.serial('an entry says who, what, whence; of a deleted person only the id', async (t) => {
  const { tenant, ids } = await scene(1);
  const [entry] = (await list(tenant, `?entity_id=${ids[0]}`)).body.data;
  t.like(entry, { org_id: tenant.organizationId, action: 'create', entity_type: 'segment', entity_id: ids[0] });
  t.is(entry.actor?.id ?? entry.user_id, tenant.userId);
  t.is(entry.timestamp, '2026-11-18T23:59:00.000Z');
  t.is(entry.action_date, entry.timestamp);
  const member = await createMember(world.deps, tenant, 'Admin');
  const made = await call(world, 'POST', '/v1/segments', {
    token: member.sessionToken,
    body: { name: 'Theirs', conditions: [] },
  });
  t.is((await list(tenant, `?actor_id=${member.userId}`)).body.data.length, 1);
  await world.deps.db('users').where({ id: member.userId }).delete();
  const [orphan] = (await list(tenant, `?entity_id=${made.body.id}`)).body.data;
  t.like(orphan, { actor: null, user_id: member.userId });
});

test.serial('by day and by moments; the moments take the place of the day', async (t) => {
  const { tenant, ids } = await scene(4);
  const of = async (query: string) =>
    (await list(tenant, `?entity_type=segment&${query}`)).body.data
      .map(({ entity_id: id }: { entity_id: string }) => ids.indexOf(id))
      .reverse();
  t.deepEqual(await of('date=2026-11-18'), [0]);
  t.deepEqual(await of('date=2026-11-19'), [1, 2, 3]);
  t.deepEqual(await of('date=2026-11-18&start_date=2026-11-19'), [1, 2, 3]);
  t.deepEqual(await of('end_date=2026-11-18'), [0]);
  t.deepEqual(await of('start_date=2026-11-19T00:01:00Z&end_date=2026-11-19T00:02:00Z'), [2, 3]);
  t.deepEqual(await of('action=delete'), []);
});

test.serial('bad input is refused whole; another workspace sees nothing', async (t) => {
  const { tenant, ids } = await scene(1);
  const { status, body } = await list(
    tenant,
    '?limit=9&cursor=x&actor_id=y&entity_id=z&date=18.11.2026&start_date=now',
  );
  t.is(status, 400);
  t.deepEqual(body.problems.map(({ path }: { path: string }) => path).sort(), [
    'query.actor_id',
    'query.cursor',
    'query.date',
    'query.entity_id',
    'query.limit',
    'query.start_date',
  ]);
  assertStatus(t, await list(tenant, `?cursor=${newId()}`), 400);
  const other = await world.tenant();
  t.deepEqual((await list(other, `?entity_id=${ids[0]}`)).body.data, []);
  const [entry] = (await list(tenant)).body.data;
  assertStatus(t, await list(other, `?cursor=${entry.id}`), 400);
});

test.serial('as CSV: everything, newest first, no cell a spreadsheet would run', async (t) => {
  const { tenant, ids } = await scene(3);
  await rawDb(world.deps.db)('audit_logs').where({ entity_id: ids[0] }).update({ user_agent: '=cmd()' });
  let text = '';
  for await (const lines of exportAuditLogs(world.system(tenant.organizationId), {})) text += lines;
  const rows = parse(text, { columns: true }) as Record<string, string>[];
  const segments = rows.filter(({ entity_type: type }) => type === 'segment');
  t.deepEqual(
    segments.map(({ entity_id: id }) => id),
    [...ids].reverse(),
  );
  t.is(segments[2]!.user_agent, "'=cmd()");
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...TYPESCRIPT, 'deploy/heron.ts', 'audit', '--organization', tenant.organizationId, '--to', '2026-11-18'],
    { env: { ...process.env, PRIMARY_DB: world.databaseUrl } },
  );
  t.is(
    (parse(stdout, { columns: true }) as Record<string, string>[]).filter(({ entity_type: type }) => type === 'segment')
      .length,
    1,
  );
});

async function entries({ deps }: World): Promise<number> {
  return (await deps.db('audit_logs').select('id')).length;
}

/** Write operations that make no audit entry, grouped by reason. */
const SILENT: Record<string, readonly string[]> = {
  'an account or a session belongs to a person and to no workspace': [
    'auth.confirmLogin',
    'auth.confirmPasswordReset',
    'auth.confirmRegistration',
    'auth.login',
    'auth.refreshTokens',
    'auth.register',
    'auth.requestPasswordReset',
    'auth.updateMe',
    'organizations.select',
    'pages.askReset',
    'pages.chooseWorkspace',
    'pages.confirmReset',
    'pages.renewSession',
    'pages.restartSignIn',
    'pages.signIn',
    'pages.signUpInvited',
  ],
  'an application that registers itself belongs to no workspace; a token is made of a grant, which has its entry': [
    'oauth.issueToken',
    'oauth.registerClient',
  ],
  'it asks another system and changes nothing that is set': [
    'appConnections.test',
    'campaigns.runPreflight',
    'integrations.pushContacts',
    'integrations.startOAuth',
    'integrations.test',
    'mailboxOrders.getQuote',
    'mailboxes.startConsent',
    'mailboxes.test',
    'pages.confirmMailboxConsent',
    'webhooks.verify',
  ],
  'it records what happened elsewhere, in a record of its own': [
    'deliverability.reportEvent',
    'integrations.receiveBooking',
  ],
  'how somebody keeps an inbox': [
    'unibox.createDraft',
    'unibox.deleteDraft',
    'unibox.markSeen',
    'unibox.moveToFolder',
    'unibox.replaceDraft',
    'unibox.setLabels',
    'unibox.snooze',
    'unibox.unsnooze',
  ],
};

/** Bodies with which a route changes something. For routes whose generated body changes nothing. */
const CHANGES: Record<string, unknown> = {
  'apiKeys.update': { name: 'Another name' },
  'appConnections.update': { name: 'Another name' },
  'contacts.updateNote': { content: 'Other words' },
  'goals.update': { name: 'Another name' },
  'crm.updatePipeline': { name: 'Another name' },
  'oauth.updateApplication': { name: 'Another name' },
  'organizations.update': { name: 'Another name' },
  'roles.update': { name: 'Another name' },
  'templates.update': { name: 'Another name' },
};

/** Rows that must exist before a route can change them. */
const FIRST: Record<string, (world: World, params: Record<string, string>) => Promise<unknown>> = {
  'acquisition.removeCampaignSpend': ({ deps }, { campaignId }) =>
    rawDb(deps.db).raw(
      `insert into campaign_spend (organization_id, campaign_id, amount_minor, currency, updated_at)
       select organization_id, id, 1, 'EUR', now() from campaigns where id = ?`,
      [campaignId!],
    ),
  'acquisition.restoreAttribution': ({ deps }, { personId }) =>
    rawDb(deps.db).raw(
      `insert into attribution_corrections (id, organization_id, person_id, action, reason, is_current, created_at)
       select ?, organization_id, id, 'set', 'Known', true, now() from people where id = ?`,
      [newId(), personId!],
    ),
  'campaigns.resumeLead': ({ deps }, { id, contactId }) =>
    deps
      .db('enrollments')
      .where({ campaign_id: id, contact_id: contactId })
      .update({ hold_since: deps.clock.now(), hold_source: 'manual', hold_reason: externalText('by hand') }),
  'warmup.resume': ({ deps }, { id }) =>
    deps.db('mailboxes').where({ id }).update({ warmup: deps.clock.now(), warmup_paused_at: deps.clock.now() }),
  'warmup.stop': ({ deps }, { id }) => deps.db('mailboxes').where({ id }).update({ warmup: deps.clock.now() }),
};

test('an entry names its request, and a request its entries', async (t) => {
  const tenant = await world.tenant();
  const make = (name: string) =>
    call(world, 'POST', '/v1/segments', {
      token: tenant.apiKey,
      body: { name, conditions: [] },
      headers: { 'x-request-id': `request-of-${name}` },
    });
  assertStatus(t, await make('spring'), 201);
  assertStatus(t, await make('autumn'), 201);
  const { body } = await list(tenant, '?request_id=request-of-spring');
  t.is(body.data.length, 1);
  t.like(body.data[0], { request_id: 'request-of-spring', entity_type: 'segment' });
  t.deepEqual((await list(tenant, '?request_id=request-of-winter')).body.data, []);
  t.deepEqual((await list(await world.tenant(), '?request_id=request-of-spring')).body.data, []);
});

test('whatever changes something leaves an entry', async (t) => {
  t.timeout(120_000);
  const reachable = await createReachableWorld();
  const silent: string[] = [];
  try {
    for (const spec of routes.filter(isWrite)) {
      const attempt = await prepareAttempt(reachable, spec);
      await FIRST[spec.operationId]?.(reachable, attempt.params);
      if (spec.operationId in CHANGES) attempt.reaching = { ...attempt.reaching, body: CHANGES[spec.operationId] };
      const before = await entries(reachable);
      const { status } = await sendAttempt(reachable, spec, attempt);
      if (status < 400 && (await entries(reachable)) === before) silent.push(spec.operationId);
    }
  } finally {
    await reachable.close();
  }
  t.deepEqual(silent.sort(), Object.values(SILENT).flat().sort());
});
