import { across } from '../../../db/across.ts';
import { isDatabaseUnavailable } from '../../../db/errors.ts';
import type { Columns } from '../../../db/rows.ts';
import { AppError } from '../../../lib/errors.ts';
import { ZERO_UUID } from '../../../lib/ids.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { forEachIsolated } from '../../platform/kernel/for-each-isolated.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { identifyPerson } from './identify.ts';

const PAGE = 1_000;
const EVENTS_PER_PAGE = 5_000;
/** Maximum number of contacts that one sweep processes. The next sweep continues. */
const MAX_CONTACTS = 50_000;

type Due = Columns<'contacts', 'id' | 'organization_id'>;

/**
 * Assigns people to events without a person. Also links contacts to people that a concurrent event created. Each
 * contact has its own transaction, so a failing contact does not affect the others and is retried in the next sweep.
 * @returns number of assigned events and linked contacts
 * @throws AggregateError after all contacts, if some of them failed
 */
export async function settlePeople(deps: Deps): Promise<number> {
  let done = await assignEventsInBulk(deps);
  let contacts = 0;
  const isEnough = () => contacts >= MAX_CONTACTS;
  await forEachIsolated(deps, contactsDue(deps, isEnough), async ({ id, organization_id: organizationId }) => {
    await transact(systemCtx(deps, organizationId, 'sweep'), (tx) => settleContact(tx, id)).catch((error: unknown) =>
      ignoreDeleted(error),
    );
    contacts += 1;
    done += 1;
  });
  return done;
}

/**
 * Assigns events to the existing people of their contacts, in pages. If a page fails, its contacts are processed one by
 * one afterwards.
 */
async function assignEventsInBulk({ db, log }: Deps): Promise<number> {
  let done = 0;
  try {
    for (;;) {
      const { rowCount } = await across(db, 'maintenance').run(FOLLOW, {});
      done += rowCount;
      if (rowCount < EVENTS_PER_PAGE) return done;
    }
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    log.warn({ err: error }, 'product events could not follow their people together; each contact has its turn');
    return done;
  }
}

/** Finds or creates the person of a contact, and assigns to it the contact's events without a person. */
async function settleContact(tx: Tx, contactId: string): Promise<void> {
  const { personId } = await identifyPerson(tx, { contactId });
  await tx.org.sql(
    'update product_events set person_id = :person where organization_id = :org and contact_id = :contact and person_id is null',
    { person: personId, contact: contactId },
  );
}

/** Yields every contact that has something to process, each once, even if earlier contacts fail. */
async function* contactsDue({ db }: Deps, isEnough: () => boolean): AsyncGenerator<Due> {
  for (const select of [UNSETTLED, APART])
    for (let after: Due = { id: ZERO_UUID, organization_id: ZERO_UUID }; !isEnough();) {
      const page = await across(db, 'maintenance').sql<Due>(select, { ...after });
      yield* page;
      if (page.length < PAGE) break;
      after = page.at(-1)!;
    }
}

/** SQL that assigns events to the person of their contact, if the contact has one. */
const FOLLOW = `
  update product_events e set person_id = f.person_id from (
    select e.id, p.id as person_id from product_events e join people p on p.contact_id = e.contact_id
    where e.person_id is null limit ${EVENTS_PER_PAGE} for key share of p
  ) f where e.id = f.id`;

/** SQL that selects contacts with an event without a person. */
const UNSETTLED = `
  select distinct organization_id, contact_id as id from product_events
  where person_id is null and (organization_id, contact_id) > (cast(:organization_id as uuid), cast(:id as uuid))
  order by organization_id, contact_id limit ${PAGE}`;

/** SQL that selects contacts whose address belongs to a person without a contact. */
const APART = `
  select distinct c.organization_id, c.id from people p
  join person_identifiers i on i.person_id = p.id and i.kind = 'email'
  join contacts c on c.organization_id = p.organization_id and c.email = i.value
  where p.contact_id is null and (c.organization_id, c.id) > (cast(:organization_id as uuid), cast(:id as uuid))
  order by c.organization_id, c.id limit ${PAGE}`;

/** Ignores a contact deleted concurrently, because its events were deleted too. */
function ignoreDeleted(error: unknown): void {
  if (!(error instanceof AppError && error.code === 'event_contact_not_found')) throw error;
}
