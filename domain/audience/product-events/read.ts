import { ProductEvents, type ProductEventRow } from '../../../db/models/product-event.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { decodeCursor, encodeCursor, isInstant, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { AppError } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';

interface EventFilter {
  name?: string | undefined;
  email?: string | undefined;
  contactId?: string | undefined;
  /** Returns only events received after this time. */
  since?: Date | undefined;
}

/**
 * Lists product events, latest received first (GET /events). An address selects the events of its contact. Without a
 * contact, it selects those of the person with this address. An unknown address gives an empty page. Every combination
 * of filters has an index, so all pages are equally fast.
 * @throws AppError bad_request for a cursor of another list or filter
 */
export async function listEvents(ctx: Ctx, filter: EventFilter, request: PageRequest): Promise<Page<ProductEventRow>> {
  const org = reader(ctx);
  const bound = { ...filter, since: filter.since?.toISOString() };
  const after = decodeCursor<[receivedAt: string, id: string]>('product_events', bound, request.cursor, [
    isInstant,
    isUuid,
  ]);
  const query = org
    .query(ProductEvents)
    .orderBy('received_at', 'desc')
    .orderBy('id', 'desc')
    .limit(request.limit + 1);
  if (filter.name !== undefined) void query.where('name', filter.name);
  if (filter.contactId !== undefined) void query.where('contact_id', filter.contactId);
  if (filter.email !== undefined) {
    const whose = await findByEmail(org, filter.email);
    if (!whose) return { rows: [], nextCursor: null };
    if (whose.contactId) void query.where('contact_id', whose.contactId);
    else void query.whereNull('contact_id').where('person_id', whose.personId!);
  }
  if (filter.since !== undefined) void query.where('received_at', '>', filter.since);
  if (after) void query.whereRaw('(received_at, id) < (?::timestamptz, ?::uuid)', [...after]);
  return pageOf(await query, request.limit, (last) =>
    encodeCursor('product_events', bound, [last.received_at.toISOString(), last.id]),
  );
}

/** Returns the owner of the events of an email address: its contact, otherwise the person who has it as identifier. */
async function findByEmail(
  org: OrgScope,
  email: string,
): Promise<{ personId: string | null; contactId: string | null } | undefined> {
  const [found] = await org.sql<{ person: string | null; contact: string | null }>(
    `select null::uuid as person, id as contact, 0 as rank from contacts where organization_id = :org and email = :email
     union all
     select p.id, p.contact_id, 1 from person_identifiers i join people p on p.id = i.person_id
     where i.organization_id = :org and i.kind = 'email' and i.value = :email
     order by rank limit 1`,
    { email },
  );
  return found && { personId: found.person, contactId: found.contact };
}

/**
 * Returns one product event.
 * @throws AppError event_not_found (404)
 */
export async function getEvent(ctx: Ctx, id: string): Promise<ProductEventRow> {
  const event = isUuid(id) ? await reader(ctx).query(ProductEvents).findById(id) : undefined;
  if (!event)
    throw new AppError('event_not_found', message('audience.event_not_found'), {
      fix: message('audience.event_not_found.fix'),
    });
  return event;
}
