import { readFileSync } from 'node:fs';
import test from 'ava';
import { z } from 'zod';
import { fullPath, idempotencyOf, type AnyRoute, type PermissionRule } from '../../api/http/route.ts';
import { routes } from '../../api/routes.ts';
import { apiDocument } from '../../api/servers/api.ts';
import { newId } from '../../lib/ids.ts';
import { ALL_PERMISSIONS, maskOf, ORG_PERMISSIONS, type OrgPermission } from '../../lib/permissions.ts';
import { createApiKey, createMember, type Tenant } from '../harness/factories.ts';
import { call, createWorld, type Answer, type World } from '../harness/world.ts';
import { bodySchema, wrongBody } from './bodies.ts';
import { makeRows, parametersOf, ROWS, SHARED } from './foreign-ids.ts';
import { each, send as sendTo, wellFormed, type Request } from './walk.ts';

/** Fields of bodies that accept any JSON value, so that no value is wrong. */
const OPEN_FIELDS = new Set<string>([]);

let world: World;
test.before(async () => {
  world = await createWorld({ env: { ROW_SECURITY: 'true' } });
});
test.after.always(() => world?.close());

const guarded = routes.filter((spec) => spec.scope !== 'public');
const withParameters = guarded.filter((spec) => parametersOf(spec.path).length > 0);
const withJsonBody = routes.filter((spec) => spec.body && (spec.consumes ?? 'json') === 'json');

const send = (spec: AnyRoute, request: Request): Promise<Answer> => sendTo(world, spec, request);

/** Returns a credential of the kind that a route expects. */
const credential = (spec: AnyRoute, tenant: Tenant) => (spec.scope === 'session' ? tenant.sessionToken : tenant.apiKey);

function expect(answer: Answer, status: number, code: string, what: string): string[] {
  return answer.status === status && answer.body?.code === code
    ? []
    : [`${what} gives ${answer.status} ${answer.body?.code ?? answer.text.slice(0, 80)}, not ${status} ${code}`];
}

test('every route asks for a credential, and refuses one that is none', async (t) => {
  await each(t, guarded, async (spec) => [
    ...expect(await send(spec, {}), 401, 'unauthorized', 'no credential'),
    ...expect(await send(spec, { token: 'ssk_made-up' }), 401, 'unauthorized', 'a made-up key'),
    ...expect(await send(spec, { token: 'eyJhbGciOiJub25lIn0.e30.' }), 401, 'unauthorized', 'a made-up token'),
  ]);
});

test('every route refuses a key that lacks one of its scopes; routes for people refuse every key', async (t) => {
  const tenant = await world.tenant();
  const keys = new Map<number, string>();
  const keyWith = async (permissions: number) => {
    if (!keys.has(permissions))
      keys.set(
        permissions,
        (await createApiKey(world.deps, tenant.organizationId, tenant.userId, { permissions })).apiKey,
      );
    return keys.get(permissions)!;
  };
  await each(
    t,
    guarded.filter((spec) => spec.scope !== 'any'),
    async (spec) => {
      if (spec.scope === 'session')
        return expect(await send(spec, { token: tenant.apiKey }), 403, 'forbidden', 'a key with every scope');
      const faults = [];
      for (const scope of spec.scope as readonly Parameters<typeof maskOf>[0][number][]) {
        faults.push(
          ...expect(
            await send(spec, { token: await keyWith(ALL_PERMISSIONS - maskOf([scope])) }),
            403,
            'forbidden',
            `a key without ${scope}`,
          ),
        );
      }
      return faults;
    },
  );
});

/** Returns maximal sets of permissions that do not satisfy a rule. */
function insufficient(rule: PermissionRule): OrgPermission[][] {
  const without = (names: readonly (OrgPermission | 'owner')[]) =>
    ORG_PERMISSIONS.filter((permission) => !names.includes(permission));
  if (typeof rule === 'string') return [without([rule])];
  return 'anyOf' in rule ? [without(rule.anyOf)] : rule.allOf.map((permission) => without([permission]));
}

test('every route refuses a person whose role lacks its permission', async (t) => {
  const tenant = await world.tenant();
  const people = new Map<string, string>();
  const personWith = async (permissions: OrgPermission[]) => {
    const name = permissions.join(' ');
    if (!people.has(name)) {
      const now = world.deps.clock.now();
      await world.deps.db('roles').insert({
        id: newId(),
        organization_id: tenant.organizationId,
        name,
        permissions,
        created_at: now,
        updated_at: now,
      });
      people.set(name, (await createMember(world.deps, tenant, name)).sessionToken);
    }
    return people.get(name)!;
  };
  await each(
    t,
    guarded.filter((spec) => spec.permission !== null),
    async (spec) => {
      const faults = [];
      for (const permissions of insufficient(spec.permission!))
        faults.push(
          ...expect(
            await send(spec, { token: await personWith(permissions) }),
            403,
            'forbidden',
            'a role without the permission',
          ),
        );
      return faults;
    },
  );
});

test('routes of a mailbox say so, and refuse a key restricted to other mailboxes', async (t) => {
  const ofMailboxes = routes.filter((spec) => spec.path.startsWith('/emails/:id'));
  t.deepEqual(
    ofMailboxes
      .filter((spec) => spec.mailboxParam !== 'id' && spec.scope !== 'session')
      .map((spec) => spec.operationId),
    [],
  );
  const tenant = await world.tenant();
  const { apiKey } = await createApiKey(world.deps, tenant.organizationId, tenant.userId, {
    allowedMailboxes: [newId()],
  });
  const faults = [];
  for (const spec of routes.filter((candidate) => candidate.mailboxParam)) {
    const params = await makeRows(spec.path, world, tenant);
    faults.push(
      ...expect(
        await send(spec, { ...wellFormed(spec), token: apiKey, params }),
        403,
        'forbidden',
        `${spec.operationId} with a key for another mailbox`,
      ),
    );
  }
  t.deepEqual(faults, []);
});

test('a required Idempotency-Key is asked for', async (t) => {
  const tenant = await world.tenant();
  await each(
    t,
    guarded.filter((spec) => idempotencyOf(spec) === 'required'),
    async (spec) => {
      const answer = await send(spec, { ...wellFormed(spec), headers: {}, token: credential(spec, tenant) });
      const named = answer.body?.problems?.some(
        (problem: { path: string }) => problem.path === 'headers.Idempotency-Key',
      );
      return [
        ...expect(answer, 400, 'bad_request', 'no Idempotency-Key'),
        ...(named ? [] : ['the header is not named']),
      ];
    },
  );
});

test('each path parameter has a factory', (t) => {
  const used = new Set(withParameters.flatMap((spec) => parametersOf(spec.path).map(({ prefix }) => prefix)));
  t.deepEqual(
    [...used].filter((prefix) => !ROWS[prefix]),
    [],
  );
});

test('malformed, unknown and foreign ids are the same 404; own ids are not', async (t) => {
  const tenant = await world.tenant('Own');
  const other = await world.tenant('Other');
  await each(t, withParameters, async (spec) => {
    const parameters = parametersOf(spec.path);
    const foreign = await makeRows(spec.path, world, other);
    const faults: string[] = [];
    for (const [index, { name, prefix }] of parameters.entries()) {
      const own = await makeRows(spec.path, world, tenant);
      const attempt = async (what: string, params: Record<string, string>) => {
        const answer = await send(spec, {
          ...wellFormed(spec),
          token: credential(spec, tenant),
          params: { ...own, ...params },
        });
        faults.push(
          ...expect(
            answer,
            404,
            spec.errors?.find((code) => code.endsWith('_not_found')) ?? 'not_found',
            `${what} ${name}`,
          ),
        );
      };
      await attempt('a malformed', { [name]: 'not-an-id' });
      await attempt('an unknown', { [name]: newId() });
      if (!SHARED.has(prefix)) await attempt('a foreign', { [name]: foreign[name]! });
      if (index === 0 && parameters.length > 1) await attempt('a wholly foreign', foreign);
    }
    const own = await makeRows(spec.path, world, tenant);
    const answer = await send(spec, { ...wellFormed(spec), token: credential(spec, tenant), params: own });
    if (answer.status === 404) faults.push(`own ids give 404: ${answer.text}`);
    return faults;
  });
});

/** Returns the fields named by an error in OAuth's format; none unless it is a bad request. */
function namedByOAuth({ status, body }: Answer): string[] {
  const description =
    status === 400 && String(body?.error).startsWith('invalid_') ? String(body.error_description) : '';
  return description.split('; ').map((part) => `body.${part.split(':')[0]}`);
}

test('a wrong type in every field, an unknown field and a missing Idempotency-Key at once: each is named', async (t) => {
  const tenant = await world.tenant();
  await each(t, withJsonBody, async (spec) => {
    const wrong = wrongBody(spec);
    // RFC 7591 requires unknown metadata to be ignored.
    const extra = wrong && spec.errorStyle !== 'registration' ? { no_such_field: 1 } : {};
    const params = spec.scope === 'public' ? {} : await makeRows(spec.path, world, tenant);
    const answer = await send(spec, {
      body: wrong ? { ...wrong.body, ...extra } : { wrong: true },
      params,
      ...(spec.scope === 'public' ? {} : { token: credential(spec, tenant) }),
    });
    const paths: string[] = spec.errorStyle
      ? namedByOAuth(answer)
      : (answer.body?.problems ?? []).map((problem: { path: string }) => problem.path);
    const faults = spec.errorStyle
      ? []
      : expect(answer, 400, spec.refusal?.(answer.body?.problems?.[0]) ?? 'bad_request', 'a body of wrong types');
    const fields = wrong ? Object.keys({ ...wrong.body, ...extra }).map((name) => `body.${name}`) : ['body'];
    if (idempotencyOf(spec) === 'required') fields.push('headers.Idempotency-Key');
    for (const field of fields)
      if (!paths.some((path) => path === field || path.startsWith(`${field}.`))) faults.push(`${field} is not named`);
    for (const name of wrong?.open ?? [])
      if (!OPEN_FIELDS.has(`${spec.operationId}.${name}`)) faults.push(`${name} takes anything`);
    return faults;
  });
});

test('an unknown field of a body is refused by its name', async (t) => {
  const tenant = await world.tenant();
  // RFC 7591 requires unknown metadata to be ignored.
  const strict = withJsonBody.filter((spec) => bodySchema(spec).properties && spec.errorStyle !== 'registration');
  await each(t, strict, async (spec) => {
    const sample = wellFormed(spec);
    const params = spec.scope === 'public' ? {} : await makeRows(spec.path, world, tenant);
    const body = { ...(sample.body as object), no_such_field: 1 };
    const answer = await send(spec, {
      ...sample,
      body,
      params,
      ...(spec.scope === 'public' ? {} : { token: credential(spec, tenant) }),
    });
    const named = answer.body?.problems?.some((problem: { path: string }) => problem.path === 'body.no_such_field');
    return named ? [] : [`gives ${answer.status} ${answer.text.slice(0, 120)}`];
  });
});

interface Documented {
  operationId: string;
  'x-scope': string;
  'x-org-permission': string;
  'x-idempotency': string;
  responses: Record<string, unknown>;
}

test('scopes, permissions and statuses are those of the published table', (t) => {
  const { paths } = apiDocument('http://127.0.0.1') as { paths: Record<string, Record<string, Documented>> };
  const shape = (method: string, path: string) => `${method} ${path.replace(/:\w+|\{\w+\}/g, '*')}`;
  const operations = new Map<string, Documented>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods))
      operations.set(shape(method.toUpperCase(), path), operation);
  }
  const faults: string[] = [];
  let compared = 0;
  for (const row of publishedTable()) {
    const operation = operations.get(shape(row.method, row.path));
    if (!operation) continue;
    compared += 1;
    const is = [operation['x-scope'], operation['x-org-permission'], Object.keys(operation.responses)[0]].join(' ');
    const should = [row.scope, row.permission, row.success].join(' ');
    if (is !== should) faults.push(`${operation.operationId}: ${is}, not ${should}`);
    if (/idempotency/i.test(row.note) && operation['x-idempotency'] === 'none')
      faults.push(`${operation.operationId} takes no Idempotency-Key`);
    if (/idempotency.*required/i.test(row.note) && operation['x-idempotency'] !== 'required')
      faults.push(`${operation.operationId} does not require an Idempotency-Key`);
  }
  t.deepEqual(faults, []);
  t.true(compared >= 30, `${compared} routes compared`);
});

test('every list takes an empty cursor as none, and refuses one that it did not make', async (t) => {
  const lists = guarded.filter(
    ({ method, path, query }) =>
      method === 'get' && !path.includes(':') && query instanceof z.ZodObject && 'cursor' in query.shape,
  );
  t.true(lists.length > 12);
  const { apiKey, sessionToken } = await world.tenant();
  for (const spec of lists) {
    const ask = (cursor: string) =>
      call(world, 'GET', `${fullPath(spec)}?limit=2&cursor=${cursor}`, {
        token: spec.scope === 'session' ? sessionToken : apiKey,
      });
    const none = await ask('');
    const needed = (none.body?.problems ?? []).map(({ path }: { path: string }) => path);
    t.true(
      none.status === 200 || (none.status === 400 && !needed.includes('query.cursor')),
      `${spec.operationId} ${none.text}`,
    );
    if (none.status !== 200) continue;
    // The cursor of the list of campaigns may be any campaign's id, as documented.
    const foreign = spec.operationId === 'campaigns.list' ? [] : [newId()];
    for (const cursor of [...foreign, 'x', Buffer.from('[1,"x","y"]').toString('base64url')])
      t.is((await ask(cursor)).status, 400, `${spec.operationId} ${cursor}`);
  }
});

test('operation ids are unique', (t) => {
  t.is(new Set(routes.map((spec) => spec.operationId)).size, routes.length);
});

function publishedTable() {
  const lines = readFileSync(new URL('endpoints.tsv', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'));
  return lines.map((line) => {
    const [, , method, path, scope, permission, success, note = ''] = line.split('\t') as [
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string?,
    ];
    return { method, path: path.startsWith('!') ? path.slice(1) : `/v1${path}`, scope, permission, success, note };
  });
}
