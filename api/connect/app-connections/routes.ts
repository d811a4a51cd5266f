import { z } from 'zod';
import { baseUrlProblems } from '../../../domain/connect/app-connections/base-url.ts';
import {
  createAppConnection,
  deleteAppConnection,
  getAppConnection,
  listAppConnections,
  rotateAppSecret,
  updateAppConnection,
} from '../../../domain/connect/app-connections/connections.ts';
import { testAppConnection } from '../../../domain/connect/app-connections/ping.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { idParams, iso } from '../../http/schemas.ts';
import * as schemas from './schemas.ts';
import { render } from '../../../messages/render.ts';

const connections = { area: 'app-connections', scope: ['INTEGRATIONS'], permission: 'manage_settings' } as const;

type Connection = Awaited<ReturnType<typeof getAppConnection>>;

/** Routes of app connections. An app_action step calls the customer's own app through one. */
export const appConnectionsRoutes: readonly AnyRoute[] = [
  route({
    ...connections,
    operationId: 'appConnections.list',
    method: 'get',
    path: '/app-connections',
    summary: 'App connections, newest first',
    success: { status: 200, body: z.strictObject({ data: z.array(schemas.appConnection) }) },
    handler: async (ctx) => ({ data: (await listAppConnections(ctx)).map(present) }),
  }),
  route({
    ...connections,
    operationId: 'appConnections.create',
    method: 'post',
    path: '/app-connections',
    summary: 'Connect an app; its signing secret is shown once',
    description: 'Repeating the request with its Idempotency-Key repeats the answer, including the secret.',
    body: schemas.createBody,
    furtherProblems: async (ctx, { base_url: url }) =>
      baseUrlProblems(url, { allowUnsafe: ctx.config.ALLOW_UNSAFE_WEBHOOK_URLS }),
    success: { status: 201, body: z.strictObject({ connection: schemas.appConnection, secret: schemas.secret }) },
    errors: ['conflict'],
    handler: async (ctx, { body }) => {
      const { connection, secret } = await createAppConnection(ctx, { name: body.name, baseUrl: body.base_url });
      return { connection: present(connection), secret };
    },
  }),
  route({
    ...connections,
    operationId: 'appConnections.get',
    method: 'get',
    path: '/app-connections/:id',
    summary: 'One app connection',
    params: idParams,
    success: { status: 200, body: schemas.appConnection },
    handler: async (ctx, { params }) => present(await getAppConnection(ctx, params.id)),
  }),
  route({
    ...connections,
    operationId: 'appConnections.update',
    method: 'patch',
    path: '/app-connections/:id',
    summary: 'Rename an app connection or change its base URL',
    params: idParams,
    body: schemas.updateBody,
    furtherProblems: async (ctx, { base_url: url }) =>
      baseUrlProblems(url, { allowUnsafe: ctx.config.ALLOW_UNSAFE_WEBHOOK_URLS }),
    success: { status: 200, body: schemas.appConnection },
    errors: ['conflict'],
    handler: async (ctx, { params, body }) =>
      present(await updateAppConnection(ctx, params.id, { name: body.name, baseUrl: body.base_url })),
  }),
  route({
    ...connections,
    operationId: 'appConnections.delete',
    method: 'delete',
    path: '/app-connections/:id',
    summary: 'Delete an app connection',
    description: 'Refused while a campaign step or an automation uses it.',
    params: idParams,
    success: { status: 204 },
    errors: ['app_connection_in_use'],
    handler: async (ctx, { params }) => deleteAppConnection(ctx, params.id),
  }),
  route({
    ...connections,
    operationId: 'appConnections.rotateSecret',
    method: 'post',
    path: '/app-connections/:id/rotate-secret',
    summary: 'Replace the signing secret; the old one is invalid at once',
    description: 'All further requests are signed with the new secret, which is shown once.',
    params: idParams,
    success: { status: 200, body: z.strictObject({ secret: schemas.secret }) },
    handler: async (ctx, { params }) => ({ secret: await rotateAppSecret(ctx, params.id) }),
  }),
  route({
    ...connections,
    operationId: 'appConnections.test',
    method: 'post',
    path: '/app-connections/:id/test',
    summary: 'Send a signed app.ping and report the result',
    description: 'Always 200: errors of the app are in the checklist.',
    params: idParams,
    success: { status: 200, body: schemas.connectionTest },
    prepare: (ctx, { params }) => testAppConnection(ctx, params.id),
    handler: async ({ language }, { prepared: { latencyMs, error, ...check } }) => ({
      ...check,
      latency_ms: latencyMs,
      ...(error && {
        error: {
          code: 'app_connection_failed' as const,
          message: render(error.said, language),
          fix: render(error.fix, language),
        },
      }),
    }),
  }),
];

function present(connection: Connection): z.input<typeof schemas.appConnection> {
  const { id, organization_id, name, base_url, created_by } = connection;
  return {
    id,
    organization_id,
    name,
    base_url,
    created_by,
    created_at: iso(connection.created_at),
    updated_at: iso(connection.updated_at),
  };
}
