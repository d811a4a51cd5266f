import test from 'ava';
import { isPermitted } from '../../api/http/authorize.ts';
import { fullPath } from '../../api/http/route.ts';
import { routes } from '../../api/routes.ts';
import { ANONYMOUS, may } from '../../domain/platform/kernel/actor.ts';
import { classifyInbound } from '../../domain/mail/inbound/classify.ts';
import { parseInbound } from '../../domain/mail/inbound/parse.ts';
import type { DnsRecords } from '../../lib/dns.ts';
import { newId } from '../../lib/ids.ts';
import { PERMISSIONS } from '../../lib/permissions.ts';
import { openDesk } from '../harness/campaign-desk.ts';
import { heron } from '../harness/heron.ts';
import { egressWithHealth } from '../harness/tracking-health.ts';
import { assertStatus, call, createWorld, noRecords, type World } from '../harness/world.ts';

/*
 * Attacks that once worked, repeated through the API with the harmful input. Attacks on a single function are tested
 * next to that function.
 */

const SHARED = 'track.shared.example.com';
/** TXT records of the DNS name that proves a domain's ownership. */
let proof: string[] = [];
const dns: DnsRecords = {
  ...noRecords,
  cname: async (host) => (host === SHARED ? [new URL(world.deps.config.TRACKING_DOMAIN).hostname] : []),
  txt: async (name) => (name === `_heron.${SHARED}` ? proof : []),
};

let world: World;
test.before(async () => {
  world = await createWorld({ dns });
  world.deps.egress = await egressWithHealth(world.deps);
});
test.after.always(() => world?.close());

const NESTED = [
  '<div>',
  '</div>',
  '<table><tr><td>',
  '<b><i></b>',
  '<blockquote>',
  '<ul><li>',
  '<blockquote class="gmail_quote"></div>',
];

for (const unit of NESTED)
  test(`256 KB of ${unit} in an email leave its words to be read`, async (t) => {
    const html = `yes, call me${unit.repeat(Math.ceil((256 * 1024) / unit.length))}`;
    const raw = `From: bob@example.org\r\nSubject: Re: x\r\nContent-Type: text/html\r\n\r\n${html.replaceAll(/.{900}/g, '$&\r\n')}`;
    const parsed = await parseInbound(Buffer.from(raw));
    t.regex(parsed.text, /^yes, call me/);
    t.is(classifyInbound(parsed, {}, new Date(), 'UTC').kind, 'reply');
  });

test('of two workspaces that claim one tracking domain at the same moment, the one that its owner names has it', async (t) => {
  const desks = [await openDesk(world), await openDesk(world)] as const;
  const ids = await Promise.all(
    desks.map(async (desk) => (await desk.campaign({ tracking_domain: SHARED })).id as string),
  );
  const verify = () =>
    Promise.all(desks.map((desk, n) => desk.call('POST', `/campaigns/${ids[n]}/tracking-domain/verify`)));
  const verified = async () =>
    Promise.all(desks.map(async (desk, n) => (await desk.row(ids[n]!)).tracking_domain_verified as boolean));
  proof = [];
  t.deepEqual(
    (await verify()).map(({ status }) => status),
    [400, 400],
    'a CNAME alone is no proof',
  );
  proof = [`heron-workspace=${desks[1].tenant.organizationId}`];
  t.deepEqual(
    (await verify()).map(({ status }) => status),
    [400, 200],
  );
  t.deepEqual(await verified(), [false, true]);
  proof = desks.map(({ tenant }) => `heron-workspace=${tenant.organizationId}`);
  await verify();
  t.deepEqual(await verified(), [false, true], 'while both are named it stays where it is');
});

/** Values that look like times but that PostgreSQL does not accept. */
const NO_MOMENTS = [
  '2026-13-01 00:00:00+00',
  '2026-02-30 00:00:00+00',
  '2026-02-01 25:00:00+00',
  '2026-02-01 00:00:61+00',
  '2026-02-01 00:00:00+99',
  '0000-02-01 00:00:00+00',
  '+275760-09-13T00:00:00.000Z',
  'Thu, 01 Jan 1970 00:00:00 GMT+0200 (at home)',
];

test('a cursor that was made up is refused, whatever moment it names', async (t) => {
  const { apiKey: token } = await world.tenant();
  for (const n of [1, 2]) {
    await call(world, 'POST', '/v1/contacts', { token, body: [{ email: `c${n}@lead.test` }] });
    const headers = { 'idempotency-key': `event ${n}` };
    await call(world, 'POST', '/v1/events', { token, body: { name: 'signed.up', email: `c${n}@lead.test` }, headers });
  }
  for (const [method, path] of [
    ['POST', '/contacts/search'],
    ['GET', '/events'],
  ] as const) {
    const ask = (query: string) =>
      call(world, method, `/v1${path}?limit=1${query}`, { token, ...(method === 'POST' ? { body: {} } : {}) });
    const { body } = await ask('');
    const parts = JSON.parse(Buffer.from(body.pagination.next_cursor, 'base64url').toString()) as unknown[];
    const made = (at: unknown) => Buffer.from(JSON.stringify(parts.with(2, at))).toString('base64url');
    t.is((await ask(`&cursor=${made(parts[2])}`)).status, 200, path);
    for (const at of NO_MOMENTS) t.is((await ask(`&cursor=${made(at)}`)).status, 400, `${path} ${at}`);
  }
});

test('an anonymous caller is permitted nothing but what is public, whatever a route asks for', async (t) => {
  const closed = routes.filter(({ scope }) => scope !== 'public');
  t.true(closed.length > 100);
  const anonymous = { ...ANONYMOUS, organizationId: (await world.tenant()).organizationId };
  t.deepEqual(closed.filter((spec) => isPermitted(spec, anonymous)).map(fullPath), []);
  for (const { name } of PERMISSIONS) t.false(may(anonymous, [name], []), name);
  t.false(may(anonymous, [], ['manage_settings']));
  const { apiKey, sessionToken } = await world.tenant();
  for (const secret of [apiKey, sessionToken])
    for (const headers of elsewhere(secret))
      t.is(
        (await call(world, 'GET', `/v1/campaigns?access_token=${secret}`, { headers })).status,
        401,
        Object.keys(headers)[0],
      );
  assertStatus(t, await call(world, 'GET', `/v1/campaigns/${newId()}`), 401);
});

test('production does not start with mail that goes to the log', async (t) => {
  const env = {
    APP_ENV: 'prod',
    AUTH_SECRET: 'a secret of more than thirty-two characters',
    CREDENTIALS_ENCRYPTION_KEY: 'ab'.repeat(32),
    PRIMARY_DB: 'postgres://heron:own@127.0.0.1:1/heron',
  };
  const { code, stderr } = await heron(['api'], { ...env, MAIL_TRANSPORT: 'log' });
  t.is(code, 1);
  t.regex(stderr, /^ {2}- MAIL_TRANSPORT: /m);
});

/** Returns headers with a credential in places where it must be ignored. */
function elsewhere(secret: string): Record<string, string>[] {
  return [
    { authorization: secret },
    { authorization: `Basic ${secret}` },
    { authorization: `bearer${secret}` },
    { 'x-api-key': secret },
    { cookie: `session=${secret}` },
  ];
}
