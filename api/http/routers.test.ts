import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import Koa from 'koa';
import { Routers } from './routers.ts';

test('a request reaches the first route of its path, in any case and with a slash at its end', async (t) => {
  const routers = new Routers();
  const paths = [
    '/v1/contacts/lookup',
    '/v1/contacts/:id',
    '/v1/contacts',
    '/v1/:anything/else',
    '/:page',
    '/.well-known/oauth/:resource',
  ];
  for (const path of paths)
    routers.of(path).get(path, (koa) => {
      koa.body = `${path} ${JSON.stringify(koa.params)}`;
    });
  routers.of('/v1/contacts/:id').patch('/v1/contacts/:id', () => {});
  const app = new Koa();
  app.use(routers.dispatch);
  app.use((koa) => {
    koa.body = `none, ${routers.methodsOf(koa.path).join(' ') || 'nothing'}`;
  });
  const server = createServer((request, response) => void app.callback()(request, response)).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const ask = async (path: string, method = 'GET') =>
    (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { method })).text();

  t.is(await ask('/v1/contacts/lookup'), '/v1/contacts/lookup {}');
  t.is(await ask('/V1/Contacts/LOOKUP/'), '/v1/contacts/lookup {}');
  t.is(await ask('/v1/contacts/7?limit=1'), '/v1/contacts/:id {"id":"7"}');
  t.is(await ask('/v1/contacts/'), '/v1/contacts {}');
  t.is(await ask('/v1/other/else'), '/v1/:anything/else {"anything":"other"}');
  t.is(await ask('/about'), '/:page {"page":"about"}');
  t.is(await ask('/.well-known/oauth/api'), '/.well-known/oauth/:resource {"resource":"api"}');
  t.is(await ask('/v1/contacts/7', 'DELETE'), 'none, HEAD GET PATCH');
  t.is(await ask('/v1/contacts/7/notes'), 'none, nothing');
  t.is(await ask('//v1/contacts'), 'none, nothing');
});
