import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { bootstrap } from '../../../domain/identity/auth/setup.ts';
import { changePassword } from '../../../domain/identity/auth/reset-password.ts';
import { setPlatformAdmin } from '../../../domain/operations/instance/admins.ts';
import { FINDINGS, type FindingCode } from '../../../domain/operations/instance/findings.ts';
import { fleetFindings } from '../../../domain/operations/instance/fleet.ts';
import { partFindings } from '../../../domain/operations/instance/parts.ts';
import { settingFindings } from '../../../domain/operations/instance/settings.ts';
import { rebuildFacts } from '../../../domain/reporting/aggregates/rebuild.ts';
import { databaseFindings } from '../../../domain/operations/instance/database.ts';
import { readUpdate } from '../../../domain/operations/instance/update.ts';
import { openBlobStores } from '../../../lib/blobs/index.ts';
import { newId } from '../../../lib/ids.ts';
import { createMetrics } from '../../../lib/metrics.ts';
import { render } from '../../../messages/render.ts';
import { VERSION } from '../../../lib/version.ts';
import { createMailbox, createMember } from '../../../test/harness/factories.ts';
import { startMailWorld } from '../../../test/harness/mail.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { startReceiver, type Receiver } from '../../../test/harness/receiver.ts';
import { startPresenceRecorder } from '../../../workers/presence.ts';
import { assertStatus, call, createWorld, noWorkflows, testConfig, type World } from '../../../test/harness/world.ts';

const clock = new ManualClock(new Date('2026-11-22T12:00:00Z'));
let world: World;
let part: Receiver;
test.before(async () => {
  part = await startReceiver();
  world = await createWorld({ clock, env: { REALTIME_PUBLIC_URL: part.url, TRACKING_DOMAIN: part.url } });
});
test.after.always(async () => {
  await world?.close();
  await part?.stop();
});

/** Finding codes that are part of the API's contract. */
const PROMISED =
  `secret_published_default, allow_insecure_defaults, credentials_key_unset, internal_token_unset, trusted_proxies_unset, captcha_misconfigured, turnstile_bypass_set,
  dev_mode_public, unsafe_webhook_urls, tls_verification_off, app_url_unset, app_url_insecure, app_url_host_mismatch, cors_missing_origin, api_public_url_unset_oidc,
  oidc_discovery_failed, app_origin_wildcard, tracking_domain_unreachable, mail_transport_log, mail_preflight_failed, mail_identity_unset, mail_from_domain_mismatch,
  login_code_demoted, update_available, updater_unreachable, registration_mode, no_sign_in_method, google_sign_in_incomplete, apple_sign_in_incomplete,
  single_platform_admin, bootstrap_password_still_set, setup_link_outstanding, expired_invitations, no_worker_heartbeat, tracking_domain_shares_brand,
  fleet_infra_unreachable, codec_registry, migrations_dirty, warmup_pools_missing, redis_unreachable, websocket_unreachable, blob_root_missing, fleet_blobs_not_shared`.split(
    /,\s+/,
  );

/** Finding codes that are not part of the API's contract. */
const OWN = ['facts_incomplete'];

/** Codes for which a test of this file has checked that they appear and disappear. */
const covered = new Set<string>();

/** Checks that the health report has a code before a repair, and not after it. */
async function appearsAndGoes(
  t: { true(value: boolean, words?: string): unknown },
  code: FindingCode,
  ask: () => Promise<object>,
  mend: () => unknown,
): Promise<void> {
  t.true((await ask())[code as never] !== undefined, `${code} appears`);
  await mend();
  t.true((await ask())[code as never] === undefined, `${code} goes`);
  covered.add(code);
}

test.serial('what the database says: accounts, invitations, warmup', async (t) => {
  const { deps } = world;
  const ask = () => databaseFindings(deps);
  const { db } = deps;
  await db('setup_links').insert({
    id: newId(),
    token_hash: 'x',
    created_at: clock.now(),
    expires_at: new Date(clock.now().getTime() + 3_600_000),
  });
  let first!: Awaited<ReturnType<typeof bootstrap>>;
  await appearsAndGoes(t, 'setup_link_outstanding', ask, async () => {
    first = await bootstrap(deps, { email: 'ada@example.com', organization: 'Acme', password: 'lighthouse keeper 7' });
  });
  await appearsAndGoes(t, 'bootstrap_password_still_set', ask, () => {
    const ctx = world.system(first.organization.id);
    return changePassword(
      { ...ctx, actor: { ...ctx.actor, kind: 'session', userId: first.user.id } },
      { current: 'lighthouse keeper 7', next: 'harbour master 8 x' },
    );
  });
  const tenant = await world.tenant();
  await appearsAndGoes(t, 'single_platform_admin', ask, async () => {
    t.deepEqual(
      await setPlatformAdmin(deps, tenant.email, { isAdmin: true }),
      ['ada@example.com', tenant.email].toSorted(),
    );
  });
  const [role] = await db('roles').where({ organization_id: tenant.organizationId }).select('id');
  await db('invitations').insert({
    id: newId(),
    organization_id: tenant.organizationId,
    email: 'late@example.com',
    role_id: role!.id,
    token_hash: 'y',
    created_at: clock.now(),
    expires_at: clock.now(),
  });
  await appearsAndGoes(t, 'expired_invitations', ask, () => db('invitations').update({ cancelled_at: clock.now() }));
  const server = { host: '127.0.0.1', port: 1 };
  const warming = () =>
    createMailbox(
      deps,
      tenant.organizationId,
      `${newId()}@example.com`,
      { smtp: server, imap: server },
      {
        warmup: clock.now(),
      },
    );
  await warming();
  await appearsAndGoes(t, 'warmup_pools_missing', ask, warming);
  const org = tenant.organizationId;
  await db('stale_groups').insert({ organization_id: org });
  await appearsAndGoes(t, 'facts_incomplete', ask, () => rebuildFacts(deps, org));
  const [last] = (await db.raw('select * from heron_migrations order by id desc limit 1')).rows as { name: string }[];
  await db.raw('delete from heron_migrations where name = ?', [last!.name]);
  await appearsAndGoes(t, 'migrations_dirty', ask, () =>
    db.raw('insert into heron_migrations (name, batch, migration_time) select ?, 1, now()', [last!.name]),
  );
});

test.serial('the last administrator stays one', async (t) => {
  const { deps } = world;
  const admins = await deps.db('users').where('is_platform_admin', true).pluck('email');
  for (const email of admins.slice(1)) await setPlatformAdmin(deps, email, { isAdmin: false });
  await t.throwsAsync(setPlatformAdmin(deps, admins[0]!, { isAdmin: false }), {
    message: /at least one administrator/,
  });
  await t.throwsAsync(setPlatformAdmin(deps, 'nobody@example.com', { isAdmin: true }), {
    message: /nobody@example\.com/,
  });
  t.is(
    await deps
      .db('users')
      .where('is_platform_admin', true)
      .pluck('id')
      .then((ids) => ids.length),
    1,
  );
});

test.serial('what other parts answer when they are asked', async (t) => {
  const mail = await startMailWorld();
  t.teardown(() => mail.stop());
  const env: Record<string, string> = {
    API_PUBLIC_URL: world.url,
    TRACKING_DOMAIN: part.url,
    REALTIME_PUBLIC_URL: part.url,
    MAIL_TRANSPORT: 'smtp',
    SMTP_HOST: mail.smtp.host,
    SMTP_SECURITY: 'none',
  };
  let workers = 0;
  let isTemporalThere = false;
  const ask = () =>
    partFindings({
      ...world.deps,
      config: testConfig(world.databaseUrl, env),
      workflows: {
        ...noWorkflows,
        health: async () => {
          if (!isTemporalThere) throw new Error('14 UNAVAILABLE: no connection');
          return { latencyMs: 1, workers, unserved: workers === 1 ? ['mail'] : [] };
        },
      },
    });
  part.respond(502);
  await appearsAndGoes(t, 'fleet_infra_unreachable', ask, () => (isTemporalThere = true));
  await appearsAndGoes(t, 'no_worker_heartbeat', ask, () => (workers = 2));
  workers = 1;
  t.regex(render((await ask()).no_worker_heartbeat!), /mail/, 'a part of the work that nobody does');
  const both = await ask();
  t.regex(render(both.tracking_domain_unreachable!), /502/);
  await appearsAndGoes(t, 'websocket_unreachable', ask, () => part.respond(200));
  t.is((await ask()).tracking_domain_unreachable, undefined);
  covered.add('tracking_domain_unreachable');
  // The settings of this world contain a different address from that of its server.
  t.regex(render((await ask()).oidc_discovery_failed!), /names http/);
  const there = await createWorld({ ownAddress: true });
  t.teardown(() => there.close());
  await appearsAndGoes(t, 'oidc_discovery_failed', ask, () => (env.API_PUBLIC_URL = there.url));
  env.SMTP_PORT = '1';
  await appearsAndGoes(t, 'mail_preflight_failed', ask, () => (env.SMTP_PORT = String(mail.smtp.port)));
  env.REDIS_URL = 'redis://127.0.0.1:1';
  await appearsAndGoes(t, 'redis_unreachable', ask, () => delete env.REDIS_URL);
});

test.serial('the newest release is looked up where the setting says, and seldom', async (t) => {
  const feed = await startReceiver();
  t.teardown(() => feed.stop());
  const at = (path: string) => {
    const config = testConfig(world.databaseUrl, path ? { UPDATE_FEED_URL: `${feed.url}${path}` } : {});
    return readUpdate({ config, egress: world.deps.egress, cache: world.deps.cache });
  };
  t.like(await at(''), { state: 'off', newest: null });
  feed.respond(({ path }) => ({
    status: 200,
    body: { tag_name: path === '/next' ? 'v99.0.0' : `v${VERSION}`, html_url: 'https://example.com/notes' },
  }));
  t.like(await at('/same'), { state: 'current', running: { version: VERSION } });
  t.deepEqual((await at('/next')).newest, { version: '99.0.0', url: 'https://example.com/notes', publishedAt: null });
  await at('/next');
  t.is(feed.requests.length, 2, 'an answer holds for an hour');
  feed.respond({ status: 200, body: { tag_name: 'nightly' } });
  t.like(await at('/odd'), { state: 'unreachable' });
  feed.respond(500);
  t.like(await at('/down'), { state: 'unreachable' });
  const ask = (path: string) =>
    partFindings({ ...world.deps, config: testConfig(world.databaseUrl, { UPDATE_FEED_URL: `${feed.url}${path}` }) });
  t.truthy((await ask('/next')).update_available);
  t.truthy((await ask('/down')).updater_unreachable);
  t.deepEqual(
    [(await ask('/same')).update_available, (await ask('/same')).updater_unreachable],
    [undefined, undefined],
  );
  covered.add('update_available').add('updater_unreachable');
});

test.serial('processes that do not fit together, and a place of files that is not there', async (t) => {
  const { db } = world.deps;
  const root = await mkdtemp(join(tmpdir(), 'heron-place-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const at = (env: Record<string, string>) => {
    const config = testConfig(world.databaseUrl, env);
    return { ...world.deps, config, blobs: openBlobStores(config) };
  };
  const disk = (path: string) => at({ BLOB_PROVIDER: 'disk', BLOB_ROOT: path });
  const alive = async (parts: ReturnType<typeof at>) => {
    const pulse = await startPresenceRecorder(parts, createMetrics());
    t.teardown(() => pulse.stop());
    return pulse;
  };
  let ours = disk(join(root, 'later'));
  const ask = () => fleetFindings(ours);
  t.regex(render((await ask()).blob_root_missing!), /BLOB_ROOT\) is not there/);
  await appearsAndGoes(t, 'blob_root_missing', ask, () => mkdir(join(root, 'later')));
  const other = await mkdtemp(join(root, 'other-'));
  const elsewhere = await alive(disk(other));
  await appearsAndGoes(t, 'fleet_blobs_not_shared', ask, () => (ours = disk(other)));
  ours = at({});
  t.regex(render((await ask()).fleet_blobs_not_shared!), /PostgreSQL/);
  await elsewhere.stop();
  t.is((await ask()).fleet_blobs_not_shared, undefined);

  const [one, two] = [`one:${'1a'.repeat(32)}`, `two:${'2b'.repeat(32)}`];
  await alive(at({ CODEC_KEYS: `${one},${two}` }));
  ours = at({ CODEC_PROVIDER: 'aes', CODEC_KEYS: two });
  t.regex(render((await ask()).codec_registry!), /keys two of CODEC_KEYS, and a worker has one, two/);
  await appearsAndGoes(t, 'codec_registry', ask, () => (ours = at({ CODEC_KEYS: `${two},${one}` })));
  await db('workers').delete();
});

test.serial('every finding has a case that makes it appear and one that makes it go', (t) => {
  const bySettings = Object.keys(settingFindings(world.deps.config, {}));
  // Codes that domain/operations/instance/settings.test.ts checks.
  const mails = ['mail_identity_unset', 'mail_from_domain_mismatch', 'mail_transport_log'];
  const codes = new Set([...covered, ...bySettings, ...mails, 'login_code_demoted', 'no_sign_in_method']);
  t.deepEqual(
    Object.keys(FINDINGS).filter((code) => !codes.has(code)),
    [],
  );
  t.deepEqual(
    Object.keys(FINDINGS).toSorted(),
    [...PROMISED, ...OWN].toSorted(),
    'the codes that the contract of the API names',
  );
});

test.serial('only administrators of the installation see it, each page with its permission', async (t) => {
  const tenant = await world.tenant();
  const paths = ['health', 'config', 'limits', 'update'].map((name) => `/v1/admin/instance/${name}`);
  for (const path of paths) {
    t.is((await call(world, 'GET', path, { token: tenant.apiKey })).status, 403, 'a key with every scope');
    const answer = await call(world, 'GET', path, { token: tenant.sessionToken });
    t.is(answer.status, 403, 'the owner of a workspace');
    t.regex(answer.body.fix, /heron admin add/);
  }
  await setPlatformAdmin(world.deps, tenant.email, { isAdmin: true });
  for (const path of paths) t.is((await call(world, 'GET', path, { token: tenant.sessionToken })).status, 200, path);
  const viewer = await createMember(world.deps, tenant, 'Viewer');
  await world.deps.db('users').where({ id: viewer.userId }).update({ is_platform_admin: true });
  assertStatus(t, await call(world, 'GET', paths[0]!, { token: viewer.sessionToken }), 200);
  t.is(
    (await call(world, 'GET', paths[1]!, { token: viewer.sessionToken })).status,
    403,
    'config needs manage_settings',
  );

  const { body: health } = await call(world, 'GET', paths[0]!, { token: tenant.sessionToken });
  for (const { code, message, title, fix, severity, docs } of health.findings) {
    t.like({ severity, docs }, FINDINGS[code as FindingCode]);
    t.true([message, title, fix].every(Boolean), code);
  }
  const { body: german } = await call(world, 'GET', paths[0]!, {
    token: tenant.sessionToken,
    headers: { 'accept-language': 'de' },
  });
  const unsafe = german.findings.find(({ code }: { code: string }) => code === 'unsafe_webhook_urls');
  t.is(unsafe.title, 'Anfragen dürfen an Adressen im eigenen Netz gehen');
  t.true(health.findings.some(({ code }: { code: string }) => code === 'unsafe_webhook_urls'));

  const { body: config, text } = await call(world, 'GET', paths[1]!, { token: tenant.sessionToken });
  const settingOf = (key: string) => config.settings.find((each: { key: string }) => each.key === key);
  t.like(settingOf('ORG_WRITES_PER_MINUTE'), { value: 0, source: 'environment', sensitive: false });
  t.like(settingOf('APP_ENV'), { value: 'dev', source: 'default', requires_restart: true });
  for (const key of ['JWT_SECRET', 'SECRET_KEY_BASE', 'KMS_LOCAL_MASTER_KEY', 'PUBLIC_HOST'])
    t.like(settingOf(key), { value: null, source: 'unset' }, key);
  t.regex(settingOf('AUTH_SECRET').value, /^sha256:[0-9a-f]{8}$/);
  const { AUTH_SECRET, CREDENTIALS_ENCRYPTION_KEY, PRIMARY_DB } = world.deps.config;
  for (const secret of [AUTH_SECRET, CREDENTIALS_ENCRYPTION_KEY, PRIMARY_DB]) t.false(text.includes(secret));

  const { body: limits } = await call(world, 'GET', paths[2]!, { token: tenant.sessionToken });
  t.is(limits.rates.writes_per_workspace_and_minute, null, 'switched off');
  t.is(limits.sending.open_runs_per_campaign, world.deps.config.LAUNCH_MAX_IN_FLIGHT);
});
