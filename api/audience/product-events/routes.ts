import type { z } from 'zod';
import { eventProblems, publishEvent } from '../../../domain/audience/product-events/publish.ts';
import { getEvent, listEvents } from '../../../domain/audience/product-events/read.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { idParams, iso, paged, presentPage } from '../../http/schemas.ts';
import * as schemas from './schemas.ts';

const reads = { area: 'product-events', scope: ['READ_CAMPAIGNS'], permission: 'view_campaigns' } as const;

type ProductEvent = Awaited<ReturnType<typeof getEvent>>;

/** Routes of product events: actions of contacts in the customer's product. */
export const productEventRoutes: readonly AnyRoute[] = [
  route({
    area: 'product-events',
    scope: ['WRITE_EVENTS'],
    permission: 'send_campaigns',
    operationId: 'events.publish',
    method: 'post',
    path: '/events',
    summary: "Report a contact's action and resume the steps that wait for it",
    description:
      'Name the person by exactly one of `email` and `contact_id`, and add `user_id` and `anonymous_id` if known: they are linked to the person. An email without a contact is refused unless the event has a `user_id` or an `anonymous_id`: then the event is stored for a person without a contact, and a contact created later with that email takes the person over. An identifier of another person creates an identity conflict. An `occurred_at` more than one hour in the future is refused. Repeating the request with its Idempotency-Key repeats the answer and resumes nothing.',
    idempotency: 'required',
    body: schemas.publishBody,
    furtherProblems: async ({ clock }, { data, occurred_at: occurredAt }) =>
      eventProblems({ data, occurredAt }, clock.now()),
    success: { status: 202, body: schemas.accepted },
    errors: ['event_contact_not_found'],
    handler: async (ctx, { body }) => {
      const { event, resumed } = await publishEvent(ctx, {
        name: body.name,
        email: body.email,
        contactId: body.contact_id,
        userId: body.user_id,
        anonymousId: body.anonymous_id,
        occurredAt: body.occurred_at,
        data: body.data,
      });
      return {
        event_id: event.id,
        contact_id: event.contact_id,
        person_id: event.person_id,
        name: event.name,
        received_at: iso(event.received_at),
        matched_waits: resumed.length,
        matched_runs: resumed.map(({ run_id, campaign_id, step_id, contact_id, mode }) => ({
          run_id,
          campaign_id,
          step_id,
          contact_id,
          state: 'resumed' as const,
          mode,
        })),
      };
    },
  }),
  route({
    ...reads,
    operationId: 'events.list',
    method: 'get',
    path: '/events',
    summary: 'Product events, latest received first',
    description: 'Lists the events that your product has published.',
    query: schemas.listQuery,
    success: { status: 200, body: paged(schemas.productEvent) },
    handler: async (ctx, { query: { limit, cursor, contact_id: contactId, ...filter } }) =>
      presentPage(await listEvents(ctx, { ...filter, contactId }, { limit, cursor }), present),
  }),
  route({
    ...reads,
    operationId: 'events.get',
    method: 'get',
    path: '/events/:id',
    summary: 'One product event',
    params: idParams,
    success: { status: 200, body: schemas.productEvent },
    errors: ['event_not_found'],
    handler: async (ctx, { params }) => present(await getEvent(ctx, params.id)),
  }),
];

function present(event: ProductEvent): z.input<typeof schemas.productEvent> {
  const { id, organization_id, contact_id, person_id, name, data } = event;
  return {
    id,
    organization_id,
    contact_id,
    person_id,
    name,
    data,
    occurred_at: iso(event.occurred_at),
    received_at: iso(event.received_at),
  };
}
