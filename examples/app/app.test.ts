import type { AddressInfo } from 'node:net';
import { webcrypto } from 'node:crypto';
import test from 'ava';
import Stripe from 'stripe';
import { newId } from '../../lib/ids.ts';
import { call, createWorld, type World } from '../../test/harness/world.ts';
import { startApp } from './app.ts';
import { isFromHeron } from './verify.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const SECRET = 'ss_app_an-example-secret';
const BODY = Buffer.from('{"ping":true,"name":"Åsa"}');

/** Signs a body as documented. Uses another implementation of HMAC than the code that verifies it. */
async function sign(seconds: number, body = BODY, secret = SECRET): Promise<string> {
  const name = { name: 'HMAC', hash: 'SHA-256' };
  const key = await webcrypto.subtle.importKey('raw', Buffer.from(secret), name, false, ['sign']);
  const mac = await webcrypto.subtle.sign('HMAC', key, Buffer.concat([Buffer.from(`${seconds}.`), body]));
  return `t=${seconds},v1=${Buffer.from(mac).toString('hex')}`;
}

const now = () => Math.floor(Date.now() / 1000);

test('what another implementation signs is accepted, and nothing else', async (t) => {
  const header = await sign(now());
  t.true(isFromHeron(header, SECRET, BODY));
  t.true(isFromHeron(`v0=00, ${header}, v1=${'0'.repeat(64)}`, SECRET, BODY));
  const stripe = new Stripe('sk_test_x').webhooks.generateTestHeaderString({
    payload: BODY.toString(),
    secret: SECRET,
  });
  t.true(isFromHeron(stripe, SECRET, BODY));
  for (const wrong of [
    undefined,
    '',
    't=1',
    header.replace('v1=', 'v2='),
    header.replace(/v1=../, 'v1=zz'),
    await sign(now() - 301),
    await sign(now() + 301),
    await sign(now(), Buffer.from('{}')),
    await sign(now(), BODY, `${SECRET}x`),
  ])
    t.false(isFromHeron(wrong, SECRET, BODY), String(wrong));
});

test('the app believes a connection of Heron, refuses others, and answers an event that comes again as before', async (t) => {
  let secret = '';
  const server = await startApp(() => secret);
  t.teardown(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { apiKey: token } = await world.tenant();
  const made = await call(world, 'POST', '/v1/app-connections', { token, body: { name: 'Example', base_url: url } });
  const ping = () => call(world, 'POST', `/v1/app-connections/${made.body.connection.id}/test`, { token });
  t.like((await ping()).body, { authentication: false, status: 401, error: { code: 'app_connection_failed' } });
  secret = made.body.secret;
  t.like((await ping()).body, { dns: true, connection: true, authentication: true, status: 200 });

  const ask = async (id: string, mode: string) => {
    const body = Buffer.from(
      JSON.stringify({
        run_mode: mode,
        contact: { email: 'kim@example.com', first_name: 'Kim' },
        inputs: { topic: 'stock' },
      }),
    );
    const headers = {
      'x-service-event': 'app.action',
      'x-service-event-id': id,
      'x-service-signature': await sign(now(), body, secret),
    };
    return (await fetch(url, { method: 'POST', headers, body })).json();
  };
  const id = newId();
  t.deepEqual(await ask(id, 'live'), { demo_url: `https://app.example.com/demo/${id}`, greeting: 'Hello Kim, stock' });
  t.deepEqual(await ask(id, 'test'), { demo_url: `https://app.example.com/demo/${id}`, greeting: 'Hello Kim, stock' });
  const other = newId();
  t.like((await ask(other, 'test')) as object, { demo_url: `https://app.example.com/demo/sandbox-${other}` });
});
