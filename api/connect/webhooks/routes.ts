import { z } from 'zod';
import { EVENT_TYPES, TEST_EVENT, type EventType } from '../../../domain/platform/kernel/events.ts';
import { listAttempts, listDeliveries, listEndpointDeliveries } from '../../../domain/connect/webhooks/deliveries.ts';
import {
  assertTarget,
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listEndpoints,
  rotateEndpointSecret,
  updateEndpoint,
  type EndpointInput,
} from '../../../domain/connect/webhooks/endpoints.ts';
import { checkWebhookUrl } from '../../../domain/connect/webhooks/policy.ts';
import { redeliver } from '../../../domain/connect/webhooks/redeliver.ts';
import { listThrottleDrops } from '../../../domain/connect/webhooks/throttle-drops.ts';
import { challengeEndpoint, recordChallenge } from '../../../domain/connect/webhooks/verify.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { message } from '../../../messages/index.ts';
import { expectedVersion, idParams, paged, presentPage } from '../../http/schemas.ts';
import { presentAttempt, presentDelivery, presentDrop, presentEndpoint, presentVerification } from './present.ts';
import * as schemas from './schemas.ts';
import { render } from '../../../messages/render.ts';

const webhooks = {
  area: 'webhooks',
  scope: ['WEBHOOKS'],
  permission: 'manage_settings',
  everyMailbox: true,
} as const;

const TYPES = Object.keys(EVENT_TYPES) as EventType[];
const CATALOGUE = [
  ...TYPES.map((type) => ({ type, ...EVENT_TYPES[type] })),
  { type: TEST_EVENT, category: 'test', firehose: false },
] as const;

/** Routes of a workspace's webhook endpoints and their deliveries. */
export const webhooksRoutes: readonly AnyRoute[] = [
  route({
    ...webhooks,
    operationId: 'webhooks.list',
    method: 'get',
    path: '/webhooks',
    summary: 'Webhook endpoints, newest first',
    description: 'Endpoints of OAuth applications are not included.',
    success: { status: 200, body: schemas.endpointList },
    errors: ['no_organization'],
    handler: async (ctx) => ({
      endpoints: (await listEndpoints(ctx)).map((endpoint) => presentEndpoint(endpoint, ctx)),
      event_types: TYPES,
    }),
  }),
  route({
    ...webhooks,
    operationId: 'webhooks.listEventTypes',
    method: 'get',
    path: '/webhooks/event-types',
    summary: 'List the event types',
    description:
      'Each with its meaning and the scope that a key needs for it. `webhook.test` is the verification challenge: it is sent on request, and endpoints cannot subscribe to it.',
    success: { status: 200, body: schemas.eventTypeList },
    errors: ['no_organization'],
    handler: async ({ language }) => ({
      event_types: CATALOGUE.map(({ type, category, firehose }) => ({
        type,
        category,
        description: render(message(`event.${type}`), language),
        firehose,
      })),
    }),
  }),
  route({
    ...webhooks,
    operationId: 'webhooks.create',
    method: 'post',
    path: '/webhooks',
    summary: 'Register an endpoint; its signing secret is shown once',
    description:
      'It receives live events once it is verified: call POST /v1/webhooks/:id/verify. Repeating the request with its Idempotency-Key repeats the answer, including the secret.',
    body: schemas.endpointBody,
    furtherProblems: async (ctx, { url }) => (url === undefined ? [] : checkWebhookUrl(ctx, url)),
    success: { status: 201, body: schemas.endpointWithSecret },
    errors: ['no_organization', 'conflict'],
    prepare: (ctx, { body }) => assertTarget(ctx, body.url),
    handler: async (ctx, { body }) => {
      const { endpoint, secret } = await createEndpoint(ctx, inputOf(body));
      return { ...presentEndpoint(endpoint, ctx), secret };
    },
  }),
  route({
    ...webhooks,
    operationId: 'webhooks.update',
    method: 'patch',
    path: '/webhooks/:id',
    summary: "Replace an endpoint's configuration",
    description:
      'Replaces everything: omitted `event_types` and `description` become empty, omitted `enabled` becomes true. A new host must be verified again. Enabling it resets its failure count. With `expected_updated_at`, a concurrent change is not overwritten: the answer is 409.',
    params: idParams,
    body: schemas.endpointBody.extend(expectedVersion),
    furtherProblems: async (ctx, { url }) => (url === undefined ? [] : checkWebhookUrl(ctx, url)),
    stops: ({ enabled }) => !enabled,
    success: { status: 200, body: schemas.endpoint },
    errors: ['no_organization', 'conflict'],
    prepare: async (ctx, { params, body }) => {
      await getEndpoint(ctx, params.id);
      await assertTarget(ctx, body.url);
    },
    handler: async (ctx, { params, body }) =>
      presentEndpoint(
        await updateEndpoint(ctx, params.id, inputOf(body), { expectedUpdatedAt: body.expected_updated_at }),
        ctx,
      ),
  }),
  route({
    ...webhooks,
    operationId: 'webhooks.delete',
    method: 'delete',
    path: '/webhooks/:id',
    summary: 'Delete an endpoint with its delivery history',
    description: 'Also deletes its secrets.',
    params: idParams,
    stops: true,
    success: { status: 204 },
    errors: ['no_organization'],
    handler: async (ctx, { params }) => deleteEndpoint(ctx, params.id),
  }),
  route({
    ...webhooks,
    operationId: 'webhooks.rotateSecret',
    method: 'post',
    path: '/webhooks/:id/rotate-secret',
    summary: 'Replace the signing secret; the new one is shown once',
    description:
      'A delivery whose first attempt was signed with the old secret keeps it until it settles. All others use the new secret.',
    params: idParams,
    success: { status: 200, body: z.strictObject({ secret: schemas.secret }) },
    errors: ['no_organization'],
    handler: async (ctx, { params }) => ({ secret: await rotateEndpointSecret(ctx, params.id) }),
  }),
  route({
    ...webhooks,
    operationId: 'webhooks.verify',
    method: 'post',
    path: '/webhooks/:id/verify',
    summary: 'Send one signed challenge to the endpoint',
    description:
      'Sends a POST with X-Service-Event `webhook.test`. Any 2xx answer within the time limit of a delivery verifies the endpoint. An answer that also contains the challenge, as `challenge` in a JSON body or in the header X-Service-Webhook-Challenge, confirms its ownership. Always answers 200: errors of the receiver are in the answer. Call it later to send a test event; a verified endpoint stays verified if that fails.',
    params: idParams,
    success: { status: 200, body: schemas.verification },
    errors: ['no_organization'],
    prepare: (ctx, { params }) => challengeEndpoint(ctx, params.id),
    handler: async (ctx, { params, prepared }) =>
      presentVerification(await recordChallenge(ctx, params.id, prepared), prepared, ctx),
  }),
  route({
    ...webhooks,
    operationId: 'webhooks.listDeliveries',
    method: 'get',
    path: '/webhooks/deliveries',
    summary: 'Deliveries to all endpoints of the workspace, newest first',
    description: 'One row per event and endpoint, updated with every attempt.',
    query: schemas.deliveryQuery,
    success: { status: 200, body: paged(schemas.delivery) },
    errors: ['no_organization'],
    handler: async (ctx, { query: { status, event_type, ...page } }) =>
      presentPage(await listDeliveries(ctx, { status, event_type }, page), (row) => presentDelivery(row, ctx)),
  }),
  route({
    ...webhooks,
    operationId: 'webhooks.listEndpointDeliveries',
    method: 'get',
    path: '/webhooks/:id/deliveries',
    summary: 'Deliveries to one endpoint, newest first',
    description: 'Includes the attempts of each.',
    params: idParams,
    query: schemas.deliveryQuery,
    success: { status: 200, body: paged(schemas.delivery) },
    errors: ['no_organization'],
    handler: async (ctx, { params, query: { status, event_type, ...page } }) =>
      presentPage(await listEndpointDeliveries(ctx, params.id, { status, event_type }, page), (row) =>
        presentDelivery(row, ctx),
      ),
  }),
  route({
    ...webhooks,
    operationId: 'webhooks.listAttempts',
    method: 'get',
    path: '/webhooks/deliveries/:deliveryId/attempts',
    summary: 'List the latest 100 attempts of a delivery, newest first',
    description:
      'Includes start, duration and result of each. Only the latest answer of the receiver is stored: `response_body_excerpt` of the delivery.',
    params: schemas.deliveryParams,
    success: { status: 200, body: schemas.attempts },
    errors: ['no_organization'],
    handler: async (ctx, { params }) => ({
      data: (await listAttempts(ctx, params.deliveryId)).map((one) => presentAttempt(one, params.deliveryId, ctx)),
    }),
  }),
  route({
    ...webhooks,
    operationId: 'webhooks.redeliver',
    method: 'post',
    path: '/webhooks/deliveries/:deliveryId/redeliver',
    summary: 'Redeliver an event to its endpoint, whatever the status of its delivery',
    description:
      'Event id and body stay the same; the signature is new, with the latest secret. The attempt number continues. Answers 409 for a disabled or unverified endpoint.',
    params: schemas.deliveryParams,
    success: { status: 200, body: schemas.delivery },
    errors: ['no_organization', 'conflict'],
    handler: async (ctx, { params }) => presentDelivery(await redeliver(ctx, params.deliveryId), ctx),
  }),
  route({
    ...webhooks,
    operationId: 'webhooks.listThrottleDrops',
    method: 'get',
    path: '/webhooks/throttle-drops',
    summary: 'List events dropped by rate limits, per minute, newest first',
    description: 'An event is dropped when its endpoint or its type exceeds the limit of a minute.',
    query: schemas.pageOnlyQuery,
    success: { status: 200, body: schemas.throttleDropPage },
    errors: ['no_organization'],
    handler: async (ctx, { query }) => {
      const page = presentPage(await listThrottleDrops(ctx, query), presentDrop);
      return { ...page, drops: page.data };
    },
  }),
];

function inputOf({ event_types, ...body }: z.output<typeof schemas.endpointBody>): EndpointInput {
  return { ...body, eventTypes: event_types };
}
