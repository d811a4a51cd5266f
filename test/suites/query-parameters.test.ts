import test from 'ava';
import { fullPath, refusesUnknownQuery, type AnyRoute } from '../../api/http/route.ts';
import { routes } from '../../api/routes.ts';
import { setPlatformAdmin } from '../../domain/operations/instance/admins.ts';
import type { Tenant } from '../harness/factories.ts';
import { assertStatus, call, createWorld, type World } from '../harness/world.ts';
import { makeRows } from './foreign-ids.ts';
import { each, send, wellFormed } from './walk.ts';

let world: World;
let tenant: Tenant;
test.before(async () => {
  world = await createWorld();
  tenant = await world.tenant();
  await setPlatformAdmin(world.deps, tenant.email, { isAdmin: true });
});
test.after.always(() => world?.close());

const STRANGE = { unknwon: '1', 'utm.source': 'x' };
const EXPECTED = ['query.unknwon', 'query.utm.source'];

const credential = (spec: AnyRoute) =>
  spec.scope === 'public' ? {} : { token: spec.scope === 'session' ? tenant.sessionToken : tenant.apiKey };

const strict = routes.filter(refusesUnknownQuery);
const lenient = routes.filter((spec) => !refusesUnknownQuery(spec));

test('every JSON route under /v1 refuses unknown query parameters and names each', async (t) => {
  await each(t, strict, async (spec) => {
    const request = wellFormed(spec);
    const { status, body, text } = await send(world, spec, {
      ...request,
      ...credential(spec),
      // Some routes answer 404 for a missing row before they report all problems.
      params: await makeRows(spec.path, world, tenant),
      query: { ...request.query, ...STRANGE },
    });
    const named = (body?.problems ?? []).filter(({ code }: { code: string }) => code.startsWith('field.unknown_param'));
    const paths = named.map(({ path }: { path: string }) => path);
    return status === 400 && paths.join() === EXPECTED.join() ? [] : [`${status} ${text.slice(0, 200)}`];
  });
});

test('pages, metadata, hooks, OAuth and MCP answer as if unknown query parameters were not there', async (t) => {
  t.deepEqual(
    lenient
      .filter((spec) => fullPath(spec).startsWith('/v1/'))
      .map(({ operationId }) => operationId)
      .toSorted(),
    ['mcp.messageV1', 'oauth.issueToken', 'oauth.registerClient', 'oauth.revokeToken'],
  );
  await each(t, lenient, async (spec) => {
    const request = { ...wellFormed(spec), ...credential(spec), params: { token: 'x' } };
    const plain = await send(world, spec, request);
    const strange = await send(world, spec, { ...request, query: { ...request.query, ...STRANGE } });
    return strange.status === plain.status && !/unknown_param/.test(strange.text)
      ? []
      : [`${strange.status} ${strange.text.slice(0, 200)}, not ${plain.status}`];
  });
});

test('the nearest parameter is proposed, in the language of the request, and a whole one is still checked', async (t) => {
  const ask = (query: string, language = 'en') =>
    call(world, 'GET', `/v1/campaigns?${query}`, { token: tenant.apiKey, headers: { 'accept-language': language } });
  const { body, status } = await ask('limitt=5&cursr=x&colour=red&status=nonsense');
  t.is(status, 400);
  t.is(body.code, 'bad_request');
  const messages = Object.fromEntries(
    body.problems.map(({ path, message }: { path: string; message: string }) => [path, message]),
  );
  t.is(messages['query.limitt'], 'is not a query parameter of this request, but limit is');
  t.is(messages['query.cursr'], 'is not a query parameter of this request, but cursor is');
  t.is(messages['query.colour'], 'is not a query parameter of this request');
  t.truthy(messages['query.status']);
  const german = await ask('limitt=5', 'de');
  t.is(german.body.problems[0].message, 'ist kein Query-Parameter dieser Anfrage, limit schon');
  assertStatus(t, await ask('limit=5'), 200);
});
