import { z } from 'zod';
import {
  applicationSecret,
  listApplicationDeliveries,
  listApplicationEndpoints,
  rotateApplicationSecret,
} from '../../../domain/connect/webhooks/applications.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { idParams, paged, presentPage } from '../../http/schemas.ts';
import { presentApplicationDelivery, presentManagedEndpoint } from './present.ts';
import * as schemas from './schemas.ts';

const applications = {
  area: 'webhooks',
  scope: ['API_KEYS'],
  permission: 'manage_api_keys',
  everyMailbox: true,
  params: idParams,
} as const;

/** Routes for the developers of an OAuth application: its webhooks in all workspaces that granted it access. */
export const appWebhooksRoutes: readonly AnyRoute[] = [
  route({
    ...applications,
    operationId: 'oauth.getWebhookSecret',
    method: 'get',
    path: '/oauth/applications/:id/webhook-secret',
    summary: 'Get the secret that signs the deliveries to all installs of the application',
    success: { status: 200, body: schemas.applicationSecret },
    errors: ['no_organization'],
    handler: async (ctx, { params }) => ({ webhook_secret: await applicationSecret(ctx, params.id) }),
  }),
  route({
    ...applications,
    operationId: 'oauth.rotateWebhookSecret',
    method: 'post',
    path: '/oauth/applications/:id/webhook-secret/rotate',
    summary: 'Replace the webhook secret of all installs',
    description:
      'A delivery whose first attempt was signed with the old secret keeps it until it settles. All others use the new secret.',
    success: { status: 200, body: schemas.applicationSecret },
    errors: ['no_organization'],
    handler: async (ctx, { params }) => ({ webhook_secret: await rotateApplicationSecret(ctx, params.id) }),
  }),
  route({
    ...applications,
    operationId: 'oauth.listWebhookEndpoints',
    method: 'get',
    path: '/oauth/applications/:id/webhook-endpoints',
    summary: "List the application's endpoints in the workspaces that granted it access, newest first",
    success: { status: 200, body: z.strictObject({ endpoints: z.array(schemas.managedEndpoint) }) },
    errors: ['no_organization'],
    handler: async (ctx, { params }) => ({
      endpoints: (await listApplicationEndpoints(ctx, params.id)).map(presentManagedEndpoint),
    }),
  }),
  route({
    ...applications,
    operationId: 'oauth.listWebhookDeliveries',
    method: 'get',
    path: '/oauth/applications/:id/webhook-deliveries',
    summary: "List the application's deliveries over all workspaces, newest first",
    query: schemas.deliveryQuery,
    success: { status: 200, body: paged(schemas.applicationDelivery) },
    errors: ['no_organization'],
    handler: async (ctx, { params, query: { status, event_type, ...page } }) =>
      presentPage(await listApplicationDeliveries(ctx, params.id, { status, event_type }, page), (row) =>
        presentApplicationDelivery(row, ctx),
      ),
  }),
];
