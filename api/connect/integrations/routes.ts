import { z } from 'zod';
import {
  checkCredentials,
  createConnection,
  credentialProblems,
  deleteConnection,
  listCatalogue,
  listConnections,
  listRuns,
  readConnection,
  readWebhookSecret,
  updateConnectionConfig,
} from '../../../domain/connect/integrations/connections.ts';
import {
  listMappings,
  mappingProblems,
  replaceMappings,
  schemaProblems,
} from '../../../domain/connect/integrations/mappings.ts';
import { consentProblems, startProviderConsent } from '../../../domain/connect/integrations/oauth.ts';
import { pushContacts, selectionProblems, type PushSelection } from '../../../domain/connect/integrations/push.ts';
import {
  createSubscription,
  deleteSubscription,
  listSubscriptions,
  subscriptionProblems,
} from '../../../domain/connect/integrations/subscriptions.ts';
import { fireTest } from '../../../domain/connect/integrations/test-notice.ts';
import { listBookings } from '../../../domain/crm/meetings/read.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { expectedVersion, idParams, timestamp } from '../../http/schemas.ts';
import { presentConnection, presentMappings, presentProvider, presentRun, presentSubscription } from './present.ts';
import { presentBooking } from '../../crm/meetings/present.ts';
import { booking } from '../../crm/meetings/schemas.ts';
import * as schemas from './schemas.ts';
import { render } from '../../../messages/render.ts';

const area = 'integrations';
const READ = { anyOf: ['manage_settings', 'use_integrations'] } as const;
const read = { area, scope: ['INTEGRATIONS'], permission: READ } as const;
const write = {
  area,
  scope: ['INTEGRATIONS'],
  permission: 'manage_settings',
  needsPaidPlan: true,
  everyMailbox: true,
} as const;
const subscriptionParams = z.object({ id: z.string(), eventId: z.string() });

/** Maximum number of log entries shown with a connection and in its log. */
const RECENT_RUNS = 20;
const LISTED_RUNS = 50;
const LISTED_BOOKINGS = 50;

const connectionRoutes = [
  route({
    ...read,
    operationId: 'integrations.listProviders',
    method: 'get',
    path: '/integrations/catalog',
    summary: 'List the providers that can be connected',
    description:
      '`configured` is false if the installation has no OAuth client at the provider; docs/integrations describes how to create one.',
    success: { status: 200, body: z.strictObject({ catalog: z.array(schemas.catalogueEntry) }) },
    handler: async (ctx) => ({
      catalog: listCatalogue(ctx).map((entry) => presentProvider({ ...entry, language: ctx.language })),
    }),
  }),
  route({
    ...read,
    operationId: 'integrations.listConnections',
    method: 'get',
    path: '/integrations/connections',
    summary: 'Connected accounts, newest first',
    success: { status: 200, body: z.strictObject({ connections: z.array(schemas.connection) }) },
    handler: async (ctx) => ({ connections: (await listConnections(ctx)).map((row) => presentConnection(row, ctx)) }),
  }),
  route({
    ...write,
    operationId: 'integrations.connect',
    method: 'post',
    path: '/integrations/connections',
    summary: 'Connect an account by a key or a webhook URL',
    description:
      'Asks the provider if it accepts the given credentials before anything is stored. `config` is not checked if the provider is invalid. Accounts of OAuth providers are connected by consent: see POST /integrations/oauth/start. A connection to the same account with ended credentials (`reauth_required`) gets the new ones and resumes. `inbound_webhook_url` is shown once, for a scheduling provider.',
    body: schemas.createBody,
    furtherProblems: async (_ctx, body) => credentialProblems(body),
    success: { status: 201, body: schemas.connection },
    errors: ['service_unavailable'],
    prepare: (ctx, { body }) => checkCredentials(ctx, body),
    handler: async (ctx, { body, prepared }) => {
      const { connection, inboundUrl } = await createConnection(ctx, body, prepared);
      return presentConnection(connection, ctx, inboundUrl);
    },
  }),
  route({
    area,
    scope: 'session',
    permission: 'manage_settings',
    needsPaidPlan: true,
    idempotency: 'none',
    operationId: 'integrations.startOAuth',
    method: 'post',
    path: '/integrations/oauth/start',
    summary: 'Start connecting an account by OAuth consent',
    description:
      'Open `authorize_url` in the browser of the signed-in person. The provider redirects them back to this installation, which stores the connection. The URL is valid once, for 15 minutes, and only for the person who started it. Send `connection_id` to reconnect an account whose consent has ended.',
    body: schemas.startBody,
    furtherProblems: async (_ctx, body) => consentProblems(body),
    success: {
      status: 200,
      body: z.strictObject({ authorize_url: z.string(), expires_at: timestamp }),
    },
    errors: ['not_found', 'service_unavailable'],
    handler: async (ctx, { body }) => {
      const { url, expiresAt } = await startProviderConsent(ctx, body);
      return { authorize_url: url, expires_at: expiresAt.toISOString() };
    },
  }),
  route({
    ...read,
    operationId: 'integrations.getConnection',
    method: 'get',
    path: '/integrations/connections/:id',
    summary: 'One connection with its event subscriptions and latest runs',
    params: idParams,
    success: {
      status: 200,
      body: z.strictObject({
        connection: schemas.connection,
        events: z.array(schemas.subscription),
        runs: z.array(schemas.run),
      }),
    },
    handler: async (ctx, { params: { id } }) => {
      const connection = await readConnection(ctx, id);
      const [events, runs] = await Promise.all([listSubscriptions(ctx, id), listRuns(ctx, id, RECENT_RUNS)]);
      return {
        connection: presentConnection(connection, ctx),
        events: events.map(presentSubscription),
        runs: runs.map((run) => presentRun(run, ctx)),
      };
    },
  }),
  route({
    ...write,
    operationId: 'integrations.updateConfig',
    method: 'patch',
    path: '/integrations/connections/:id/config',
    summary: 'Change the options of a connection',
    description:
      'Both are stored for clients. Heron writes to providers and receives meetings from them; it does not read contacts there, so `sync_direction` has no effect.',
    params: idParams,
    body: schemas.configBody,
    success: { status: 200, body: z.strictObject({ connection: schemas.connection }) },
    handler: async (ctx, { params, body }) => ({
      connection: presentConnection(await updateConnectionConfig(ctx, params.id, body), ctx),
    }),
  }),
  route({
    ...write,
    operationId: 'integrations.disconnect',
    method: 'delete',
    path: '/integrations/connections/:id',
    summary: 'Disconnect an account',
    description:
      "Pending deliveries are dropped. Heron's webhook at the provider is removed within minutes, and its consent revoked, unless another connection of the installation uses the same account.",
    params: idParams,
    stops: true,
    success: { status: 204 },
    handler: async (ctx, { params }) => deleteConnection(ctx, params.id),
  }),
];

const eventRoutes = [
  route({
    ...read,
    operationId: 'integrations.listEventSubscriptions',
    method: 'get',
    path: '/integrations/connections/:id/events',
    summary: 'Event subscriptions of a connection',
    params: idParams,
    success: { status: 200, body: z.strictObject({ events: z.array(schemas.subscription) }) },
    handler: async (ctx, { params }) => ({
      events: (await listSubscriptions(ctx, params.id)).map(presentSubscription),
    }),
  }),
  route({
    ...write,
    operationId: 'integrations.createEventSubscription',
    method: 'post',
    path: '/integrations/connections/:id/events',
    summary: 'Create an event subscription: an action for each event',
    description:
      'It applies to events from now on. An action is carried out at least once, in order for each contact, as fast as the provider allows. A refused action becomes a dead letter (GET /tasks/dlq). docs/reference/triggers.md lists the events. `config` is not checked if the action is invalid.',
    params: idParams,
    body: schemas.subscriptionBody,
    furtherProblems: (ctx, body, params) => subscriptionProblems(ctx, params.id!, body),
    success: { status: 201, body: schemas.subscription },
    handler: async (ctx, { params, body }) => presentSubscription(await createSubscription(ctx, params.id, body)),
  }),
  route({
    ...write,
    operationId: 'integrations.deleteEventSubscription',
    method: 'delete',
    path: '/integrations/connections/:id/events/:eventId',
    summary: 'Delete an event subscription',
    description: 'Deliveries already queued are still made.',
    params: subscriptionParams,
    stops: true,
    success: { status: 204 },
    handler: async (ctx, { params }) => deleteSubscription(ctx, params.id, params.eventId),
  }),
];

const useRoutes = [
  route({
    ...read,
    operationId: 'integrations.listFieldMappings',
    method: 'get',
    path: '/integrations/connections/:id/field-mappings',
    summary: "List the mapping of contact fields to the provider's fields",
    description: "Returns the provider's defaults (`is_default`) until the connection has its own.",
    params: idParams,
    success: { status: 200, body: schemas.mappings },
    handler: async (ctx, { params }) => presentMappings(await listMappings(ctx, params.id)),
  }),
  route({
    ...write,
    operationId: 'integrations.replaceFieldMappings',
    method: 'put',
    path: '/integrations/connections/:id/field-mappings',
    summary: 'Replace all field mappings of a connection',
    description:
      "Mappings are checked against the provider's own schema if it can be queried. Empty contact fields are omitted, so nothing at the provider is cleared. An empty list restores the provider's defaults. With `expected_updated_at`, a concurrent change is not overwritten: the answer is 409.",
    params: idParams,
    body: schemas.mappingsBody.extend(expectedVersion),
    furtherProblems: async (_ctx, body) => mappingProblems(Array.isArray(body.mappings) ? body.mappings : []),
    success: { status: 200, body: schemas.mappings },
    errors: ['conflict', 'service_unavailable'],
    prepare: (ctx, { params, body }) => schemaProblems(ctx, params.id, body.mappings),
    handler: async (ctx, { params, body: { expected_updated_at: expectedUpdatedAt, ...body }, prepared }) =>
      presentMappings(await replaceMappings(ctx, params.id, body, { found: prepared, expectedUpdatedAt })),
  }),
  route({
    ...read,
    operationId: 'integrations.listRuns',
    method: 'get',
    path: '/integrations/connections/:id/runs',
    summary: 'List the latest 50 actions of a connection',
    params: idParams,
    success: { status: 200, body: z.strictObject({ runs: z.array(schemas.run) }) },
    handler: async (ctx, { params }) => ({
      runs: (await listRuns(ctx, params.id, LISTED_RUNS)).map((run) => presentRun(run, ctx)),
    }),
  }),
  route({
    area,
    scope: ['INTEGRATIONS'],
    permission: 'manage_settings',
    operationId: 'integrations.getWebhookSecret',
    method: 'get',
    path: '/integrations/connections/:id/webhook-secret',
    summary: "Get the secret that signs a connection's webhooks",
    description: 'It is created at the first request. docs/guides/webhooks.md describes verification.',
    params: idParams,
    success: {
      status: 200,
      body: z.strictObject({ signing_secret: z.string(), signature_header: z.string(), scheme: z.string() }),
    },
    cacheControl: 'no-store',
    handler: async (ctx, { params }) => ({
      signing_secret: await readWebhookSecret(ctx, params.id),
      signature_header: 'X-Service-Signature',
      scheme: 'HMAC-SHA256 over the timestamp, a dot and the body, sent as t=<unix>,v1=<hex>',
    }),
  }),
  route({
    ...write,
    operationId: 'integrations.test',
    method: 'post',
    path: '/integrations/connections/:id/test',
    summary: "Send a test event through a connection's notifications",
    description:
      "Uses its enabled notifications, or the provider's first. `sent` is false if there is none or it failed; the runs show the reason.",
    idempotency: 'none',
    params: idParams,
    success: { status: 200, body: z.strictObject({ sent: z.boolean() }) },
    prepare: (ctx, { params }) => fireTest(ctx, params.id),
    handler: async (_ctx, { prepared }) => ({ sent: prepared }),
  }),
  route({
    area,
    scope: ['INTEGRATIONS'],
    permission: 'use_integrations',
    needsPaidPlan: true,
    operationId: 'integrations.pushContacts',
    method: 'post',
    path: '/integrations/connections/:id/push',
    summary: 'Write up to 500 contacts to a CRM now',
    description:
      'Records are matched by email, so repeating the request creates no duplicates. Contacts that the provider refuses fail individually.',
    idempotency: 'none',
    params: idParams,
    body: schemas.pushBody,
    furtherProblems: (ctx, body) => selectionProblems(ctx, body as PushSelection),
    success: { status: 200, body: schemas.pushResult },
    errors: ['conflict', 'selection_too_large', 'service_unavailable'],
    prepare: (ctx, { params, body }) => pushContacts(ctx, params.id, body),
    handler: async ({ language }, { prepared: { results, ...pushed } }) => ({
      ...pushed,
      results: results.map(({ error, ...result }) => ({
        ...result,
        ...(error === undefined ? {} : { error: render(error, language) }),
      })),
    }),
  }),
  route({
    ...read,
    operationId: 'integrations.listBookings',
    method: 'get',
    path: '/integrations/bookings',
    summary: 'List the 50 most recently booked meetings',
    success: { status: 200, body: z.strictObject({ bookings: z.array(booking) }) },
    handler: async (ctx) => ({
      bookings: (await listBookings(ctx, LISTED_BOOKINGS)).map((row) => presentBooking(row, ctx)),
    }),
  }),
];

/** Routes of integrations: accounts at other services, their triggers, actions and incoming data. */
export const integrationRoutes: readonly AnyRoute[] = [...connectionRoutes, ...eventRoutes, ...useRoutes];
