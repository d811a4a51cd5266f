import test from 'ava';
import { reader, transact } from '../../../domain/platform/kernel/transact.ts';
import { suppressedAmong } from '../../../domain/directory/suppression-check.ts';
import { recordSendUnsubscribe } from '../../../domain/sending/outcomes/effects.ts';
import { suppress } from '../../../domain/sending/outcomes/suppress.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { newId } from '../../../lib/ids.ts';
import { createContact } from '../../../test/harness/factories.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { externalText } from '../../../domain/platform/external-text.ts';

let world: World;
const clock = new ManualClock();
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

async function subscribed(organizationId: string): Promise<Record<string, boolean>> {
  const rows = await world.deps.db('contacts').where({ organization_id: organizationId });
  return Object.fromEntries(rows.map((row) => [row.email, row.subscribed]));
}

const removed = (fields: Record<string, string>) =>
  Object.fromEntries(Object.entries(fields).map(([name, from]) => [name, { from, to: null }]));

test('addresses and domains are suppressed, listed, lifted', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  for (const email of ['ada@example.com', 'bo@example.com', 'cy@host.test', 'di@sub.host.test'])
    await createContact(world.deps.db, clock.now(), organizationId, { email });
  const added = await call(world, 'POST', '/v1/suppressions', {
    token,
    body: {
      reason: 'asked us to stop',
      entries: [
        { value: ' Ada@Example.com ', reason: 'legal' },
        { value: '@Host.test' },
        { value: 'nonsense' },
        { value: 'a b@c.test' },
        { value: '@' },
        { value: 'ADA@example.com' },
      ],
    },
  });
  assertStatus(t, added, 200);
  t.deepEqual(added.body, {
    added: 2,
    skipped: ['nonsense', 'a b@c.test', '@'],
    problems: [
      { index: 2, value: 'nonsense', reason: 'not_a_domain' },
      { index: 3, value: 'a b@c.test', reason: 'not_an_address' },
      { index: 4, value: '@', reason: 'empty' },
    ],
  });
  t.deepEqual(await subscribed(organizationId), {
    'ada@example.com': false,
    'bo@example.com': true,
    'cy@host.test': false,
    'di@sub.host.test': true,
  });

  const listed = await call(world, 'GET', '/v1/suppressions', { token });
  t.deepEqual(listed.body.data.map((row: any) => [row.email, row.kind, row.source, row.reason]).sort(), [
    ['ada@example.com', 'email', 'manual', 'asked us to stop'],
    ['host.test', 'domain', 'manual', 'asked us to stop'],
  ]);
  t.deepEqual(
    (await call(world, 'GET', '/v1/suppressions?q=XAMP', { token })).body.data.map((row: any) => row.email),
    ['ada@example.com'],
  );
  t.is((await call(world, 'GET', '/v1/suppressions?q=%25', { token })).body.data.length, 0);

  const again = await call(world, 'POST', '/v1/suppressions', {
    token,
    body: { entries: [{ value: 'ada@example.com', reason: 'second' }] },
  });
  t.is(again.body.added, 1);
  const rows = (await call(world, 'GET', '/v1/suppressions', { token })).body.data;
  t.is(rows.length, 2);
  const ada = rows.find((row: any) => row.kind === 'email');
  const host = rows.find((row: any) => row.kind === 'domain');
  t.is(ada.reason, 'asked us to stop', 'an entry keeps its first reason');

  assertStatus(t, await call(world, 'DELETE', `/v1/suppressions/${ada.id}`, { token }), 204);
  t.true((await subscribed(organizationId))['ada@example.com']);
  assertStatus(t, await call(world, 'DELETE', `/v1/suppressions/${host.id}`, { token }), 204);
  t.false((await subscribed(organizationId))['cy@host.test'], 'only an address entry restores the flag');
  const audit = await world.deps
    .db('audit_logs')
    .where({ organization_id: organizationId, action: 'delete' })
    .orderBy('id')
    .pluck('changes');
  t.deepEqual(audit, [
    removed({ value: 'ada@example.com', kind: 'email', source: 'manual' }),
    removed({ value: 'host.test', kind: 'domain', source: 'manual' }),
  ]);
  for (const id of [ada.id, newId(), 'x'])
    assertStatus(t, await call(world, 'DELETE', `/v1/suppressions/${id}`, { token }), 404);
});

test('an address stays unsubscribed while its domain is listed', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  await createContact(world.deps.db, clock.now(), organizationId, { email: 'ada@host.test' });
  await call(world, 'POST', '/v1/suppressions', {
    token,
    body: { entries: [{ value: 'ada@host.test' }, { value: 'host.test' }] },
  });
  const { data } = (await call(world, 'GET', '/v1/suppressions', { token })).body;
  t.is(
    (await call(world, 'DELETE', `/v1/suppressions/${data.find((row: any) => row.kind === 'email').id}`, { token }))
      .status,
    204,
  );
  t.deepEqual(await subscribed(organizationId), { 'ada@host.test': false });
});

test('removing an entry subscribes again only whom that entry had unsubscribed', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  const ctx = world.system(organizationId);
  const patch = (id: string, body: object) => call(world, 'PATCH', `/v1/contacts/${id}`, { token, body });
  const idOf = Object.fromEntries(
    await Promise.all(
      ['listed', 'edited', 'opted', 'late', 'bounced', 'complained'].map(async (name) => {
        const email = `${name}@example.com`;
        return [name, await createContact(world.deps.db, clock.now(), organizationId, { email })];
      }),
    ),
  );
  assertStatus(t, await patch(idOf.edited, { subscribed: false }), 200);
  await transact(ctx, (tx) => recordSendUnsubscribe(tx, { email: 'opted@example.com' }, 'link'));
  await transact(ctx, (tx) =>
    suppress(tx, { email: 'bounced@example.com', reason: externalText('gone'), source: 'bounce' }),
  );
  await transact(ctx, (tx) =>
    suppress(tx, { email: 'complained@example.com', reason: externalText('spam'), source: 'complaint' }),
  );
  const entries = ['listed', 'edited', 'opted', 'late', 'arrives', 'bounced'].map((name) => ({
    value: `${name}@example.com`,
  }));
  assertStatus(t, await call(world, 'POST', '/v1/suppressions', { token, body: { entries } }), 200);
  // The person opts out after a user has suppressed the address.
  await transact(ctx, (tx) => recordSendUnsubscribe(tx, { email: 'late@example.com' }, 'link'));
  await call(world, 'POST', '/v1/contacts', { token, body: [{ email: 'arrives@example.com' }] });
  const { data } = (await call(world, 'GET', '/v1/suppressions?limit=100', { token })).body;
  t.is(data.find(({ email }: any) => email === 'opted@example.com').source, 'unsubscribe', 'the first source is kept');
  for (const { id } of data) assertStatus(t, await call(world, 'DELETE', `/v1/suppressions/${id}`, { token }), 204);
  t.deepEqual(await subscribed(organizationId), {
    'arrives@example.com': true,
    'bounced@example.com': true,
    'complained@example.com': false,
    'edited@example.com': false,
    'late@example.com': false,
    'listed@example.com': true,
    'opted@example.com': false,
  });
  assertStatus(t, await patch(idOf.opted, { subscribed: true }), 200);
});

test('limits and cursors', async (t) => {
  const { apiKey: token } = await world.tenant();
  const other = await world.tenant('Other');
  const status = async (path: string) => (await call(world, 'GET', path, { token })).status;
  for (const path of [
    '/v1/suppressions?limit=0',
    '/v1/suppressions?limit=201',
    '/v1/suppressions?limit=x',
    '/v1/suppressions?cursor=x',
  ])
    t.is(await status(path), 400, path);
  const post = async (count: number) =>
    await call(world, 'POST', '/v1/suppressions', {
      token,
      body: { entries: Array.from({ length: count }, (_, i) => ({ value: `p${i}@example.com` })) },
    });
  assertStatus(t, await post(0), 400);
  assertStatus(t, await post(5001), 400);
  t.deepEqual((await post(5000)).body, { added: 5000, skipped: [], problems: [] });
  const seen = new Set<string>();
  let cursor = '';
  for (let page = 0; page < 25; page += 1) {
    const { data, pagination } = (
      await call(world, 'GET', `/v1/suppressions?limit=200${cursor && `&cursor=${cursor}`}`, { token })
    ).body;
    for (const row of data) seen.add(row.email);
    cursor = pagination.next_cursor;
    t.is(pagination.has_more, page < 24);
    if (page === 0) t.is(await status(`/v1/suppressions?q=p1&cursor=${cursor}`), 400);
  }
  t.is(seen.size, 5000);
  t.is((await call(world, 'GET', '/v1/suppressions', { token: other.apiKey })).body.data.length, 0);
});

test('the check knows addresses and hosts, and forgets expired entries; the first signal is kept', async (t) => {
  const { organizationId } = await world.tenant();
  const ctx = world.system(organizationId);
  await createContact(world.deps.db, clock.now(), organizationId, { email: 'ada@example.com' });
  await transact(ctx, (tx) =>
    suppress(tx, {
      email: 'Ada@example.com',
      reason: externalText('550 no such user'),
      source: 'bounce',
      metadata: { code: '5.1.1' },
    }),
  );
  await transact(ctx, (tx) =>
    suppress(tx, { email: 'ada@example.com', reason: externalText('clicked'), source: 'unsubscribe' }),
  );
  await world.deps.db('suppressions').insert([
    {
      id: newId(),
      organization_id: organizationId,
      email: 'host.test',
      kind: 'domain',
      source: 'manual',
      reason: externalText('partner'),
      created_at: clock.now(),
      updated_at: clock.now(),
    },
    {
      id: newId(),
      organization_id: organizationId,
      email: 'old@example.com',
      kind: 'email',
      source: 'bounce',
      expires_at: new Date(clock.now().getTime() - 1),
      created_at: clock.now(),
      updated_at: clock.now(),
    },
  ]);
  t.deepEqual(await subscribed(organizationId), { 'ada@example.com': false });
  const hits = await suppressedAmong(
    reader(ctx),
    ['ADA@example.com', 'x@HOST.test', 'x@sub.host.test', 'x@nothost.test', 'old@example.com', 'host.test@example.com'],
    clock.now(),
  );
  t.deepEqual(
    [...hits].map(([email, hit]) => [email, hit.kind, hit.source, hit.reason]),
    [
      ['ADA@example.com', 'email', 'bounce', externalText('550 no such user')],
      ['x@HOST.test', 'domain', 'manual', externalText('partner')],
    ],
  );
  const { apiKey: elsewhere } = await world.tenant('Other');
  t.is((await call(world, 'GET', '/v1/suppressions', { token: elsewhere })).body.data.length, 0);
  t.is((await suppressedAmong(reader(ctx), [], clock.now())).size, 0);
});

test('an entry is taken in whatever form it is pasted, and suppresses the one form of its address', async (t) => {
  const { apiKey: token, organizationId } = await world.tenant();
  const values = {
    '\u200bzw@example.com': 'zw@example.com',
    'mailto:mt@example.com': 'mt@example.com',
    'comma@example.com,': 'comma@example.com',
    'wide＠example.com': 'wide@example.com',
    'so\u00adft@example.com': 'soft@example.com',
    '\u2068iso@example.com\u2069': 'iso@example.com',
    'Ada <angle@example.com>': 'angle@example.com',
    'info@müller.example': 'info@xn--mller-kva.example',
  };
  for (const email of [...Object.values(values), 'x@xn--bcher-kva.example', 'two@example.com'])
    await createContact(world.deps.db, clock.now(), organizationId, { email });
  const added = await call(world, 'POST', '/v1/suppressions', {
    token,
    body: {
      entries: [...Object.keys(values), '@bücher.example', 'one@example.com; two@example.com'].map((value) => ({
        value,
      })),
    },
  });
  assertStatus(t, added, 200);
  t.deepEqual(added.body.problems, []);
  t.false(Object.values(await subscribed(organizationId)).includes(true));
  const found = await call(world, 'GET', `/v1/suppressions?q=${encodeURIComponent('müller.example')}`, { token });
  t.is(found.body.data.length, 1);
});
