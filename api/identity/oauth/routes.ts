import {
  checkApplication,
  createApplication,
  deleteApplication,
  applicationProblems,
  listApplications,
  readApplication,
  rotateClientSecret,
  updateApplication,
} from '../../../domain/identity/oauth/applications.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { idParams, presentPage } from '../../http/schemas.ts';
import { presentApplication } from './present.ts';
import { protocolRoutes } from './protocol-routes.ts';
import * as schemas from './schemas.ts';

const applications = {
  area: 'oauth',
  scope: ['API_KEYS'],
  permission: 'manage_api_keys',
  everyMailbox: true,
} as const;

/** Routes of OAuth: the protocol and the workspace's own applications. */
export const oauthRoutes: readonly AnyRoute[] = [
  ...protocolRoutes,
  route({
    ...applications,
    operationId: 'oauth.listApplications',
    method: 'get',
    path: '/oauth/applications',
    summary: 'OAuth applications of the workspace, newest first',
    query: schemas.listQuery,
    success: { status: 200, body: schemas.applicationPage },
    errors: ['no_organization'],
    handler: async (ctx, { query }) => {
      const page = presentPage(await listApplications(ctx, query), presentApplication);
      return { ...page, applications: page.data };
    },
  }),
  route({
    ...applications,
    operationId: 'oauth.createApplication',
    method: 'post',
    path: '/oauth/applications',
    summary: 'Create an OAuth application; its client secret is shown once',
    description:
      'A key or token can grant only scopes that it has itself. Repeating the request with its Idempotency-Key repeats the answer, including the secret.',
    body: schemas.createBody,
    furtherProblems: (ctx, body) => applicationProblems(ctx, body),
    cacheControl: 'no-store',
    success: { status: 201, body: schemas.applicationWithSecret },
    errors: ['no_organization'],
    prepare: (ctx, { body }) => checkApplication(ctx, body),
    handler: async (ctx, { body }) => {
      const { application, secret } = await createApplication(ctx, body);
      return { ...presentApplication(application), client_secret: secret };
    },
  }),
  route({
    ...applications,
    operationId: 'oauth.getApplication',
    method: 'get',
    path: '/oauth/applications/:id',
    summary: 'One OAuth application',
    params: idParams,
    success: { status: 200, body: schemas.application },
    errors: ['no_organization'],
    handler: async (ctx, { params }) => presentApplication(await readApplication(ctx, params.id)),
  }),
  route({
    ...applications,
    operationId: 'oauth.updateApplication',
    method: 'patch',
    path: '/oauth/applications/:id',
    summary: 'Change an OAuth application',
    description:
      'Omitted fields keep their values; lists are replaced. Removed scopes are removed from its tokens within a second; additional ones need a new approval.',
    params: idParams,
    body: schemas.updateBody,
    furtherProblems: (ctx, body, { id }) => applicationProblems(ctx, body, id),
    success: { status: 200, body: schemas.application },
    errors: ['no_organization'],
    prepare: (ctx, { params, body }) => checkApplication(ctx, body, params.id),
    handler: async (ctx, { params, body }) => presentApplication(await updateApplication(ctx, params.id, body)),
  }),
  route({
    ...applications,
    operationId: 'oauth.deleteApplication',
    method: 'delete',
    path: '/oauth/applications/:id',
    summary: 'Delete an OAuth application with all its grants and tokens',
    params: idParams,
    stops: true,
    success: { status: 204 },
    errors: ['no_organization'],
    handler: async (ctx, { params }) => deleteApplication(ctx, params.id),
  }),
  route({
    ...applications,
    operationId: 'oauth.rotateSecret',
    method: 'post',
    path: '/oauth/applications/:id/rotate-secret',
    summary: 'Replace the client secret; the old one stops working at once',
    params: idParams,
    cacheControl: 'no-store',
    success: { status: 200, body: schemas.applicationWithSecret },
    errors: ['no_organization'],
    handler: async (ctx, { params }) => {
      const { application, secret } = await rotateClientSecret(ctx, params.id);
      return { ...presentApplication(application), client_secret: secret };
    },
  }),
];
