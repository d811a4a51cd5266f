import test from 'ava';
import { newId } from '../../../lib/ids.ts';
import { maskOf } from '../../../lib/permissions.ts';
import { createApiKey, createMember } from '../../../test/harness/factories.ts';
import { createApplication, createPublicClient } from '../../../test/harness/oauth.ts';
import { createDelivery } from '../../../test/harness/webhook-rows.ts';
import { createEndpoint } from '../../../test/harness/webhooks.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { assertNowhere } from '../../../test/harness/secrets.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const HOOK = 'http://127.0.0.1:9/hook';

async function installed() {
  const [owner, first, second] = [
    await world.tenant('Owner'),
    await world.tenant('First'),
    await world.tenant('Second'),
  ];
  const { id: applicationId } = await createApplication(world.deps, owner.organizationId, { webhook_url: HOOK });
  const endpoints = [];
  for (const { organizationId } of [first, second])
    endpoints.push((await createEndpoint(world.deps, organizationId, HOOK, { application_id: applicationId })).id);
  const ask = (method: string, path: string, token = owner.apiKey) =>
    call(world, method, `/v1/oauth/applications/${applicationId}/${path}`, { token });
  return { owner, first, second, applicationId, endpoints, ask };
}

test('the secret is there to be read, one for all installs, until it is rotated', async (t) => {
  const { owner, applicationId, ask } = await installed();
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask('GET', 'webhook-secret')));
  t.deepEqual(
    answers.map((answer) => answer.status),
    [200, 200, 200, 200, 200],
    answers[0]!.text,
  );
  const secret = answers[0]!.body.webhook_secret;
  t.regex(secret, /^whsec_[A-Za-z0-9_-]{43}$/);
  t.deepEqual(
    answers.map((answer) => answer.body),
    Array(5).fill({ webhook_secret: secret }),
  );
  t.is(
    (await world.deps.db('webhook_secrets').where({ application_id: applicationId })).length,
    1,
    'first readers at once make one',
  );
  const rotated = await ask('POST', 'webhook-secret/rotate');
  assertStatus(t, rotated, 200);
  t.not(rotated.body.webhook_secret, secret);
  t.deepEqual((await ask('GET', 'webhook-secret')).body, rotated.body);
  const log = await world.deps
    .db('audit_logs')
    .where({ organization_id: owner.organizationId, entity_id: applicationId });
  t.deepEqual(
    log.map((row) => row.action),
    ['rotate_webhook_secret'],
  );
  assertNowhere(t, log, [secret, rotated.body.webhook_secret]);
});

test('endpoints and deliveries of all installs are listed with the workspace they belong to, and no bodies', async (t) => {
  const { first, second, endpoints, applicationId, ask } = await installed();
  const shown = (await ask('GET', 'webhook-endpoints')).body.endpoints;
  t.deepEqual(
    shown.map((row: { id: string; organization_id: string }) => [row.id, row.organization_id]),
    [
      [endpoints[1], second.organizationId],
      [endpoints[0], first.organizationId],
    ],
  );
  t.deepEqual(Object.keys(shown[0]), [
    'id',
    'organization_id',
    'url',
    'enabled',
    'verified_at',
    'consecutive_failures',
    'last_success_at',
    'last_failure_at',
  ]);

  const made: string[] = [];
  for (let n = 0; n < 6; n += 1) {
    const at = n % 2;
    made.unshift(
      await createDelivery(world.deps, [first, second][at]!.organizationId, endpoints[at]!, {
        application_id: applicationId,
        status: n < 3 ? 'failed' : 'delivered',
        event_type: n % 3 ? 'contact.updated' : 'contact.created',
      }),
    );
  }
  await createDelivery(
    world.deps,
    first.organizationId,
    (await createEndpoint(world.deps, first.organizationId, HOOK)).id,
  );
  const list = async (query: string) => (await ask('GET', `webhook-deliveries${query}`)).body;
  const ids = (page: { data: { id: string }[] }) => page.data.map((row) => row.id);
  const all = await list('');
  t.deepEqual(ids(all), made);
  t.deepEqual(
    all.data.map((row: { organization_id: string }) => row.organization_id),
    made.map((_, n) => (n % 2 ? first : second).organizationId),
  );
  t.false(all.data.some((row: object) => 'payload' in row));
  t.deepEqual(ids(await list('?status=failed')), made.slice(3));
  t.deepEqual(ids(await list('?event_type=contact.created')), [made[2], made[5]]);
  const page = await list('?limit=4');
  t.deepEqual(ids(page), made.slice(0, 4));
  t.deepEqual(ids(await list(`?limit=4&cursor=${page.pagination.next_cursor}`)), made.slice(4));
  for (const query of [
    '?limit=0',
    '?limit=201',
    '?status=done',
    '?event_type=nope',
    '?cursor=x',
    `?status=failed&cursor=${page.pagination.next_cursor}`,
  ]) {
    t.is((await ask('GET', `webhook-deliveries${query}`)).status, 400, query);
  }
});

test('an application belongs to its workspace: whoever installed it, or another, does not know it', async (t) => {
  const { first, applicationId, ask } = await installed();
  const { id: selfRegistered } = await createPublicClient(world.deps);
  const requests = [
    ['GET', 'webhook-secret'],
    ['POST', 'webhook-secret/rotate'],
    ['GET', 'webhook-endpoints'],
    ['GET', 'webhook-deliveries'],
  ] as const;
  for (const [method, path] of requests) {
    t.is((await ask(method, path, first.apiKey)).status, 404, path);
    for (const id of [newId(), 'nonsense', selfRegistered]) {
      t.is(
        (await call(world, method, `/v1/oauth/applications/${id}/${path}`, { token: first.apiKey })).status,
        404,
        `${id} ${path}`,
      );
    }
  }
  t.deepEqual(
    await world.deps.db('webhook_secrets').where({ application_id: applicationId }),
    [],
    'no other role creates a secret',
  );
});

test('keys and roles need the scope and the permission', async (t) => {
  const { owner, ask } = await installed();
  const key = await createApiKey(world.deps, owner.organizationId, owner.userId, { permissions: maskOf(['WEBHOOKS']) });
  assertStatus(t, await ask('GET', 'webhook-secret', key.apiKey), 403);
  const member = await createMember(world.deps, owner, 'Member');
  assertStatus(t, await ask('GET', 'webhook-secret', member.sessionToken), 403);
});

test("a credential with API_KEYS alone does not redirect an application's event stream, whatever it narrows first", async (t) => {
  const { owner, first, applicationId } = await installed();
  const { db } = world.deps;
  const path = `/v1/oauth/applications/${applicationId}`;
  await db('oauth_applications')
    .where({ id: applicationId })
    .update({ scopes: maskOf(['READ_CAMPAIGNS', 'READ_CONTACTS']), allowed_webhook_domains: ['127.0.0.1'] });
  const evil = 'http://127.0.0.1:9/evil';
  const before = await db('oauth_applications').where({ id: applicationId }).first();
  const edit = (token: string, body: object) => call(world, 'PATCH', path, { token, body });
  const keyWith = async (...scopes: Parameters<typeof maskOf>[0]) =>
    (await createApiKey(world.deps, owner.organizationId, owner.userId, { permissions: maskOf(scopes) })).apiKey;

  const alone = await keyWith('API_KEYS');
  const almost = await keyWith('API_KEYS', 'WEBHOOKS', 'READ_CAMPAIGNS');
  for (const [token, bodies] of [
    [
      alone,
      [
        { webhook_url: evil },
        { webhook_url: evil, scopes: ['api_keys'] },
        { webhook_url: '', webhook_events: [] },
        { allowed_webhook_domains: ['127.0.0.1', 'evil.example.com'] },
        { webhook_events: ['campaign.reply_received'] },
        { redirect_uris: ['https://evil.example.com/callback'] },
      ],
    ],
    [almost, [{ webhook_url: evil }, { webhook_url: evil, webhook_events: ['campaign.updated'] }]],
  ] as const)
    for (const body of bodies) {
      const answer = await edit(token, body);
      t.is(answer.status, 403, `${JSON.stringify(body)} ${answer.text}`);
    }
  assertStatus(t, await call(world, 'POST', `${path}/rotate-secret`, { token: alone }), 403);
  const after = await db('oauth_applications').where({ id: applicationId }).first();
  t.deepEqual(after, before);
  const urls = await db('webhook_endpoints').where({ application_id: applicationId }).pluck('url');
  t.deepEqual(new Set(urls), new Set([HOOK]), 'the endpoints of all workspaces');

  // A workspace that installed the application reaches it only through its grant.
  assertStatus(t, await edit(first.apiKey, { webhook_url: evil }), 404);
  // The change is allowed if it also removes those scopes that the credential does not have.
  assertStatus(t, await edit(almost, { webhook_url: evil, scopes: ['read_campaigns'] }), 200);
  assertStatus(t, await edit(almost, { scopes: ['read_campaigns', 'read_contacts'] }), 403);
  assertStatus(t, await edit(owner.sessionToken, { webhook_url: HOOK }), 200);
});
