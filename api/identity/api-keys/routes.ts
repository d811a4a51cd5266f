import { usageAnalytics } from '../../../domain/identity/api-keys/analytics.ts';
import { createKey } from '../../../domain/identity/api-keys/create.ts';
import { deleteKey, listKeys, readKey, revokeKey } from '../../../domain/identity/api-keys/keys.ts';
import { updateKey } from '../../../domain/identity/api-keys/update.ts';
import { listUsageLogs, usageSummary } from '../../../domain/identity/api-keys/usage.ts';
import { PERMISSIONS, PRESETS } from '../../../lib/permissions.ts';
import { restrictionProblems } from '../../../domain/identity/api-keys/restrictions.ts';
import { externalText } from '../../../domain/platform/external-text.ts';
import { reader } from '../../../domain/platform/kernel/transact.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { idParams, paged, presentPage } from '../../http/schemas.ts';
import { presentAnalytics, presentKey, presentSummary, presentUsageLog } from './present.ts';
import * as schemas from './schemas.ts';
import { render } from '../../../messages/render.ts';

const keys = { area: 'api-keys', scope: ['API_KEYS'], permission: 'manage_api_keys' } as const;

/** Routes of API keys. */
export const apiKeysRoutes: readonly AnyRoute[] = [
  route({
    ...keys,
    operationId: 'apiKeys.list',
    method: 'get',
    path: '/api-keys',
    summary: 'API keys, newest first',
    description: 'Secrets are not included; only their hashes are stored.',
    query: schemas.listQuery,
    success: { status: 200, body: paged(schemas.apiKey) },
    errors: ['no_organization'],
    handler: async (ctx, { query }) => presentPage(await listKeys(ctx, query), (key) => presentKey(key, ctx)),
  }),
  route({
    ...keys,
    operationId: 'apiKeys.create',
    method: 'post',
    path: '/api-keys',
    summary: 'Create an API key; its secret is shown once',
    description:
      'A key that creates a key can grant only permissions, source addresses, mailboxes and expiry dates that it has itself. Repeating the request with its Idempotency-Key repeats the answer, including the secret.',
    body: schemas.createBody,
    furtherProblems: (ctx, body) => restrictionProblems(reader(ctx), body, ctx.clock.now()),
    success: { status: 201, body: schemas.apiKeyWithSecret },
    errors: ['no_organization'],
    handler: async (ctx, { body }) => {
      const { key, secret } = await createKey(ctx, body);
      return { ...presentKey(key, ctx), secret };
    },
  }),
  route({
    ...keys,
    operationId: 'apiKeys.listPermissions',
    method: 'get',
    path: '/api-keys/permissions',
    summary: 'List the permissions and their presets',
    description:
      "Lists every scope with its bit: the sum of bits is a key's `permissions`. `read_only` and `full_access` are predefined sums. Scopes with which a program acts without a person are in neither and must be added by name: `READ_RUNS`, `WRITE_RUNS`, `EXECUTE_RUNS`, `SEND_DIRECT_EMAIL`, `SEND_INBOX_REPLY`, `WRITE_EVENTS`, `MANAGE_MAILBOX_PROVISIONING`, `MANAGE_ACQUISITION`.",
    success: { status: 200, body: schemas.catalogue },
    errors: ['no_organization'],
    handler: async (ctx) => ({
      permissions: PERMISSIONS.map((entry) => ({
        ...entry,
        description: render({ code: `permission.${entry.name}`, values: {} }, ctx.language),
      })),
      presets: { ...PRESETS },
    }),
  }),
  route({
    ...keys,
    operationId: 'apiKeys.get',
    method: 'get',
    path: '/api-keys/:id',
    summary: 'One API key',
    params: idParams,
    success: { status: 200, body: schemas.apiKey },
    errors: ['no_organization'],
    handler: async (ctx, { params }) => presentKey(await readKey(ctx, params.id), ctx),
  }),
  route({
    ...keys,
    operationId: 'apiKeys.revoke',
    method: 'delete',
    path: '/api-keys/:id',
    summary: 'Revoke an API key; this cannot be undone',
    description:
      'The key stops authenticating within a second, as do all keys created with it, directly or indirectly. `revoked_keys` is their number.',
    params: idParams,
    query: schemas.revokeQuery,
    stops: true,
    success: { status: 200, body: schemas.revoked },
    errors: ['no_organization'],
    handler: async (ctx, { params, query }) => {
      const reason = query.reason === undefined ? undefined : externalText(query.reason);
      const made = await revokeKey(ctx, params.id, reason);
      return { status: 'revoked' as const, revoked_keys: made };
    },
  }),
  route({
    ...keys,
    operationId: 'apiKeys.update',
    method: 'patch',
    path: '/api-keys/:id',
    summary: 'Change an API key',
    description:
      'Omitted fields keep their values; lists are replaced. Changes apply within a second. The secret and `expires_at` cannot be changed: create a new key and revoke this one. A key that changes a key can leave it only permissions, source addresses and mailboxes that it has itself.',
    params: idParams,
    body: schemas.updateBody,
    furtherProblems: (ctx, body) => restrictionProblems(reader(ctx), body, ctx.clock.now()),
    success: { status: 200, body: schemas.apiKey },
    errors: ['no_organization'],
    handler: async (ctx, { params, body }) => presentKey(await updateKey(ctx, params.id, body), ctx),
  }),
  route({
    ...keys,
    operationId: 'apiKeys.delete',
    method: 'delete',
    path: '/api-keys/:id/permanent',
    summary: 'Delete a revoked or expired API key with its usage records',
    description: 'The key stops working at once.',
    params: idParams,
    success: { status: 200, body: schemas.deleted },
    errors: ['no_organization', 'conflict'],
    handler: async (ctx, { params }) => {
      await deleteKey(ctx, params.id);
      return { status: 'deleted' as const };
    },
  }),
  route({
    ...keys,
    operationId: 'apiKeys.getUsageSummary',
    method: 'get',
    path: '/api-keys/usage/summary',
    summary: 'Count keys by state, with their activity of the past 24 hours',
    success: { status: 200, body: schemas.usageSummary },
    errors: ['no_organization'],
    handler: async (ctx) => presentSummary(await usageSummary(ctx)),
  }),
  route({
    ...keys,
    operationId: 'apiKeys.getWorkspaceUsage',
    method: 'get',
    path: '/api-keys/usage/analytics',
    summary: 'Report the use of all keys of the workspace over time',
    query: schemas.analyticsQuery,
    success: { status: 200, body: schemas.usageAnalytics },
    errors: ['no_organization'],
    handler: async (ctx, { query }) => presentAnalytics(await usageAnalytics(ctx, 'all', query)),
  }),
  route({
    ...keys,
    operationId: 'apiKeys.getUsage',
    method: 'get',
    path: '/api-keys/:id/analytics',
    summary: 'Report the use of a key over time',
    description: 'Use the id `all` for all keys of the workspace together.',
    params: idParams,
    query: schemas.analyticsQuery,
    success: { status: 200, body: schemas.usageAnalytics },
    errors: ['no_organization'],
    handler: async (ctx, { params, query }) => presentAnalytics(await usageAnalytics(ctx, params.id, query)),
  }),
  route({
    ...keys,
    operationId: 'apiKeys.listLogs',
    method: 'get',
    path: '/api-keys/:id/logs',
    summary: 'Requests made with a key, newest first',
    description:
      'A request appears within about two seconds. Requests refused with 401 belong to no key and are not recorded.',
    params: idParams,
    query: schemas.logsQuery,
    success: { status: 200, body: paged(schemas.usageLog) },
    errors: ['no_organization'],
    handler: async (ctx, { params, query: { request_id: requestId, ...page } }) =>
      presentPage(await listUsageLogs(ctx, params.id, { ...page, requestId }), presentUsageLog),
  }),
];
