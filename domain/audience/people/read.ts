import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';

/** Maximum number of identifiers listed per person, oldest first. */
const MAX_IDENTIFIERS = 100;

/** A person with identifiers. Times are in UTC. */
export interface PersonView extends Columns<'people', 'id' | 'organization_id' | 'contact_id' | 'created_at'> {
  /** At most 100 identifiers; `first_seen_at` as text. */
  identifiers: (Columns<'person_identifiers', 'kind' | 'value'> & { first_seen_at: string })[];
  identifier_count: number;
  event_count: number;
  conversion_count: number;
  first_event_at: Date | null;
  last_event_at: Date | null;
}

/**
 * Lists people without a contact, newest first.
 * @throws AppError bad_request for a cursor of another list
 */
export async function listPeople(ctx: Ctx, page: PageRequest): Promise<Page<PersonView>> {
  const after = decodeIdCursor('people.list', null, page.cursor);
  const org = reader(ctx);
  const people = await org.sql<PersonView>(
    `select ${VIEW} from people p
     where p.organization_id = :org and p.contact_id is null ${after ? 'and p.id < :after' : ''}
     order by p.id desc limit :limit`,
    { ...(after ? { after } : {}), limit: page.limit + 1 },
  );
  return pageOf(people, page.limit, (last) => encodeCursor('people.list', null, [last.id]));
}

/**
 * Returns one person, with or without a contact.
 * @throws AppError not_found
 */
export async function getPerson(ctx: Ctx, id: string): Promise<PersonView> {
  const person = isUuid(id) ? await findPerson(reader(ctx), id) : undefined;
  if (!person) throw notFound('person');
  return person;
}

async function findPerson(org: OrgScope, id: string): Promise<PersonView | undefined> {
  const [person] = await org.sql<PersonView>(
    `select ${VIEW} from people p where p.organization_id = :org and p.id = :id`,
    { id },
  );
  return person;
}

const VIEW = `p.id, p.organization_id, p.contact_id, p.created_at,
  (select coalesce(json_agg(i), '[]') from (
     select kind, value, first_seen_at from person_identifiers where person_id = p.id order by first_seen_at, kind, value limit ${MAX_IDENTIFIERS}
   ) i) as identifiers,
  (select count(*)::int from person_identifiers where person_id = p.id) as identifier_count,
  (select count(*)::int from product_events where person_id = p.id) as event_count,
  (select count(*)::int from conversions where person_id = p.id) as conversion_count,
  (select min(occurred_at) from product_events where person_id = p.id) as first_event_at,
  (select max(occurred_at) from product_events where person_id = p.id) as last_event_at`;
