import { z } from 'zod';
import {
  listConflicts,
  reopenConflict,
  resolveConflict,
  type ConflictView,
} from '../../../domain/audience/people/conflicts.ts';
import { getPerson, listPeople, type PersonView } from '../../../domain/audience/people/read.ts';
import { deletePerson } from '../../../domain/audience/people/remove.ts';
import { may } from '../../../domain/platform/kernel/actor.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { idParams, iso, paged, pageQuery, presentPage, resource, timestamp, uuid } from '../../http/schemas.ts';

const kind = z.enum(['email', 'user_id', 'anonymous_id']);

const person = resource('Person', {
  id: uuid,
  organization_id: uuid,
  contact_id: uuid.nullable().meta({ description: 'Null for a person without a contact' }),
  identifiers: z
    .array(z.strictObject({ kind, value: z.string(), first_seen_at: timestamp }))
    .meta({ description: 'Identifiers of the person, oldest first; at most 100' }),
  identifier_count: z.int().meta({ description: 'Total number of identifiers' }),
  event_count: z.int().meta({ description: 'Number of stored product events' }),
  conversion_count: z.int().meta({ description: 'Number of conversions, counting repeated ones' }),
  first_event_at: timestamp.nullable().meta({ description: 'Time of the earliest stored event' }),
  last_event_at: timestamp.nullable(),
  created_at: timestamp,
});

const named = z.strictObject({ email: z.string(), first_name: z.string(), last_name: z.string() }).nullable();

const conflict = resource('IdentityConflict', {
  id: uuid,
  organization_id: uuid,
  kind,
  value: z.string().meta({ description: 'The identifier' }),
  person_id: uuid.meta({ description: 'Person whose event named the identifier' }),
  other_person_id: uuid.meta({
    description: 'Owner of the identifier; in a merged conflict, the person that was merged and no longer exists',
  }),
  contact_id: uuid.nullable().meta({ description: 'Contact of person_id' }),
  other_contact_id: uuid
    .nullable()
    .meta({ description: 'Contact of other_person_id. Two people with contacts cannot be merged' }),
  contact: named.meta({ description: 'Null without such a contact, and for callers who may not read contacts' }),
  other_contact: named,
  status: z.enum(['open', 'merged', 'dismissed']),
  created_at: timestamp,
  resolved_at: timestamp.nullable(),
  resolved_by: uuid.nullable().meta({ description: 'User who resolved the conflict' }),
});

/** Routes of people who cause product events. */
export const peopleRoutes: readonly AnyRoute[] = [
  route({
    area: 'people',
    operationId: 'people.list',
    method: 'get',
    path: '/people',
    summary: 'People without a contact, newest first',
    description:
      'Lists people of product events that have a `user_id` or an `anonymous_id` and no contact with their email.',
    scope: ['READ_CONTACTS'],
    permission: 'view_contacts',
    query: z.object(pageQuery(200)),
    success: { status: 200, body: paged(person) },
    handler: async (ctx, { query }) => presentPage(await listPeople(ctx, query), presentPerson),
  }),
  route({
    area: 'people',
    operationId: 'people.get',
    method: 'get',
    path: '/people/:id',
    summary: 'One person, with or without a contact',
    description: 'Includes the identifiers of the person and the number of stored events and conversions.',
    scope: ['READ_CONTACTS'],
    permission: 'view_contacts',
    params: idParams,
    success: { status: 200, body: person },
    handler: async (ctx, { params }) => presentPerson(await getPerson(ctx, params.id)),
  }),
  route({
    area: 'people',
    operationId: 'people.delete',
    method: 'delete',
    path: '/people/:id',
    summary: 'Erase a person without a contact',
    description:
      'Also deletes its identifiers, events, conversions and identity conflicts. To erase a person with a contact, delete the contact.',
    scope: ['MANAGE_ACQUISITION'],
    permission: 'manage_settings',
    params: idParams,
    success: { status: 204 },
    errors: ['person_has_contact'],
    handler: async (ctx, { params }) => {
      await deletePerson(ctx, params.id);
    },
  }),
];

/** Routes of identity conflicts: identifiers that belong to two people. */
export const identityConflictRoutes: readonly AnyRoute[] = [
  route({
    area: 'people',
    operationId: 'identityConflicts.list',
    method: 'get',
    path: '/identity-conflicts',
    summary: 'Identity conflicts, newest first',
    description: 'A conflict arises when an event of one person names an identifier of another. Each is raised once.',
    scope: ['READ_ANALYTICS'],
    permission: 'view_analytics',
    query: z.object({
      ...pageQuery(200),
      status: z
        .enum(['open', 'dismissed', 'all'])
        .default('open')
        .meta({ description: 'Open conflicts, dismissed ones, or both' }),
    }),
    success: { status: 200, body: paged(conflict) },
    handler: async (ctx, { query: { status, ...page } }) =>
      presentPage(await listConflicts(ctx, status, page), (row) => presentConflict(row, ctx)),
  }),
  route({
    area: 'people',
    operationId: 'identityConflicts.resolve',
    method: 'post',
    path: '/identity-conflicts/:id/resolve',
    summary: 'Merge the two people of a conflict, or keep them apart',
    description:
      '`merge` moves the identifiers, events and conversions of the other person to `person_id` and deletes the other person. Other conflicts between the two are merged with it; conflicts with third people move to `person_id`. Two people who both have a contact cannot be merged. `dismiss` keeps them separate and does not raise the conflict again. Answers 409 if the conflict was resolved before.',
    scope: ['MANAGE_ACQUISITION'],
    permission: 'manage_settings',
    params: idParams,
    body: z.strictObject({ action: z.enum(['merge', 'dismiss']) }),
    success: { status: 200, body: conflict },
    errors: ['conflict', 'identity_merge_contacts'],
    handler: async (ctx, { params, body }) => presentConflict(await resolveConflict(ctx, params.id, body.action), ctx),
  }),
  route({
    area: 'people',
    operationId: 'identityConflicts.reopen',
    method: 'post',
    path: '/identity-conflicts/:id/reopen',
    summary: 'Open a dismissed conflict again',
    description: 'Undoes a `dismiss`. A merge cannot be undone.',
    scope: ['MANAGE_ACQUISITION'],
    permission: 'manage_settings',
    params: idParams,
    success: { status: 200, body: conflict },
    errors: ['conflict'],
    handler: async (ctx, { params }) => presentConflict(await reopenConflict(ctx, params.id), ctx),
  }),
];

function presentPerson(row: PersonView): z.input<typeof person> {
  return {
    id: row.id,
    organization_id: row.organization_id,
    contact_id: row.contact_id,
    identifiers: row.identifiers.map(({ kind: of, value, first_seen_at: seenAt }) => ({
      kind: of,
      value,
      first_seen_at: iso(new Date(seenAt)),
    })),
    identifier_count: row.identifier_count,
    event_count: row.event_count,
    conversion_count: row.conversion_count,
    first_event_at: iso(row.first_event_at),
    last_event_at: iso(row.last_event_at),
    created_at: iso(row.created_at),
  };
}

function presentConflict(row: ConflictView, { actor }: Pick<Ctx, 'actor'>): z.input<typeof conflict> {
  const maySee = may(actor, ['READ_CONTACTS'], ['view_contacts']);
  return {
    id: row.id,
    organization_id: row.organization_id,
    kind: row.kind,
    value: row.value,
    person_id: row.person_id,
    other_person_id: (row.other_person_id ?? row.merged_person_id)!,
    contact_id: row.contact_id,
    other_contact_id: row.other_contact_id,
    contact: maySee ? row.contact : null,
    other_contact: maySee ? row.other_contact : null,
    status: row.state,
    created_at: iso(row.created_at),
    resolved_at: iso(row.resolved_at),
    resolved_by: row.resolved_by,
  };
}
