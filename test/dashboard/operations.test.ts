import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { apiDocument } from '../../api/servers/api.ts';

const SOURCES = fileURLToPath(new URL('../../web/src', import.meta.url));

/**
 * Operations that no page calls, by the reason. An operation that gets a page leaves this list. A new operation needs a
 * page or a line here.
 */
const WITHOUT_PAGE: Readonly<Record<string, readonly string[]>> = {
  'The pages of sign-in, invitations and new passwords are rendered by the server.': [
    'POST /v1/auth/setup',
    'POST /v1/auth/register',
    'POST /v1/auth/register/confirm',
    'POST /v1/auth/login',
    'POST /v1/auth/login/confirm',
    'POST /v1/auth/refresh',
    'POST /v1/auth/reset-password',
    'POST /v1/auth/reset-password/confirm',
    'POST /v1/invitations/accept',
  ],
  'Only programs call them.': [
    'POST /v1/oauth/register',
    'POST /v1/oauth/token',
    'POST /v1/oauth/revoke',
    'POST /v1/ai/tools/{name}/call',
    'POST /v1/runs',
    'POST /v1/emails/bulk',
    'POST /v1/deliverability/events',
    'GET /v1/emails/onboarding/oauth/session/{session}',
  ],
  'It stores values for programs; Heron acts on none of them, so a page would mislead.': [
    'PATCH /v1/integrations/connections/{id}/config',
  ],
  'A page shows the same from a list or from another operation.': [
    'GET /v1/campaigns/{id}/leads/{contactId}/hold',
    'GET /v1/campaigns/{id}/test-runs/{runId}',
    'GET /v1/events/{id}',
    'GET /v1/teams/{id}',
    'GET /v1/app-connections/{id}',
    'GET /v1/me',
    'GET /v1/organizations',
    'GET /v1/timezones',
    'GET /v1/crm/pipelines/{id}',
    'GET /v1/crm/deals',
    'GET /v1/crm/tasks',
    'GET /v1/goals/{id}/replays/{replayId}',
    'GET /v1/unibox/{id}',
    'GET /v1/api-keys/usage/analytics',
    'GET /v1/integrations/connections/{id}/events',
    'GET /v1/integrations/bookings',
    'GET /v1/analytics/accounts',
    'GET /v1/emails/{id}/warmup/ban-status',
    'GET /v1/acquisition/prospects/{contactId}/attribution',
    'POST /v1/emails/{id}/send',
    'POST /v1/unibox/compose',
    'POST /v1/unibox/reply',
    'PATCH /v1/contacts',
  ],
  'A person would use them, and no page has them yet.': [],
};

test('a person reaches every operation by a page, but for those with a reason', async (t) => {
  const names = (await readdir(SOURCES, { recursive: true })).filter((name) => /\.tsx?$/.test(name));
  const sources = await Promise.all(names.map((name) => readFile(join(SOURCES, name), 'utf8')));
  const called = new Set(
    sources.flatMap((source) =>
      [...source.matchAll(/heron\.(GET|POST|PUT|PATCH|DELETE)\(\s*'([^']+)'/g)].map(
        ([, method, path]) => `${method} ${path}`,
      ),
    ),
  );
  const { paths } = apiDocument('https://heron.test') as { paths: Record<string, object> };
  const operations = Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));
  t.true(operations.length > 300 && called.size > 200);
  t.deepEqual(operations.filter((one) => !called.has(one)).toSorted(), Object.values(WITHOUT_PAGE).flat().toSorted());
  t.deepEqual(
    [...called].filter((one) => !operations.includes(one)),
    [],
    'pages call only documented operations',
  );
});
