import { across } from '../../db/across.ts';
import { AppError } from '../../lib/errors.ts';
import { systemCtx, type Deps } from '../kernel/context.ts';
import { transact } from '../kernel/transact.ts';
import { identifyPerson } from './identify.ts';

const PAGE = 1_000;
const EVENTS_PER_PAGE = 5_000;
/** Contacts that one sweep identifies at most; the next one continues. */
const MAX_CONTACTS = 50_000;

/**
 * Gives their people to events that have none, from releases before there were people, and contacts to people that an event and the
 * contact's creation made at the same moment. In pages, each its own transaction.
 * @returns how many events and contacts
 */
export async function settlePeople(deps: Deps): Promise<number> {
  let done = 0;
  for (;;) {
    const { rowCount } = await across(deps.db, 'maintenance').run(FOLLOW, {});
    done += rowCount;
    if (rowCount < EVENTS_PER_PAGE) break;
  }
  for (const select of [UNKNOWN, APART])
    for (let contacts = 0; contacts < MAX_CONTACTS;) {
      const due = await across(deps.db, 'maintenance').sql<{ id: string; organization_id: string }>(select, {});
      for (const { id, organization_id: organizationId } of due)
        await transact(systemCtx(deps, organizationId, 'sweep'), (tx) => identifyPerson(tx, { contactId: id })).catch(
          (error: unknown) => ignoreDeleted(error),
        );
      contacts += due.length;
      done += due.length;
      if (due.length === 0) break;
    }
  return done;
}

/** Of contacts that have a person. */
const FOLLOW = `
  update product_events e set person_id = f.person_id from (
    select e.id, p.id as person_id from product_events e join people p on p.contact_id = e.contact_id
    where e.person_id is null limit ${EVENTS_PER_PAGE} for key share of p
  ) f where e.id = f.id`;

/** Contacts with events and without a person. */
const UNKNOWN = `
  select distinct organization_id, contact_id as id from (
    select organization_id, contact_id from product_events e
    where person_id is null and not exists (select from people p where p.contact_id = e.contact_id)
    order by organization_id, contact_id limit ${PAGE}
  ) events`;

/** Contacts whose address is that of a person without a contact. */
const APART = `
  select c.organization_id, c.id from people p
  join person_identifiers i on i.person_id = p.id and i.kind = 'email'
  join contacts c on c.organization_id = p.organization_id and c.email = i.value
  where p.contact_id is null limit ${PAGE}`;

/** A contact that was deleted meanwhile took its events along. */
function ignoreDeleted(error: unknown): void {
  if (!(error instanceof AppError && error.code === 'event_contact_not_found')) throw error;
}
