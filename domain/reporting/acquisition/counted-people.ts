import type { Bindings } from '../../../db/statement.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { decodeIdCursor, encodeCursor, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { readCountedRows } from '../aggregates/counted-rows.ts';

/** Somebody whom a number of a trend or a funnel counts. */
export interface CountedPerson {
  /** Of the person, or of the contact where a funnel follows one. */
  id: string;
  contact_id: string | null;
  contact_email: string | null;
  /** The first time at which they count. */
  at: Date;
}

/**
 * A page of the people that a number counts, by id, with how many there are.
 * @param counted selects id, contact and moment of each, once; those without an id are nobody
 */
export function readPeople(
  org: OrgScope,
  counted: string,
  bindings: Bindings,
  { list, named, page }: { list: string; named: unknown; page: PageRequest },
): Promise<Page<CountedPerson>> {
  const after = decodeIdCursor(list, named, page.cursor);
  return readCountedRows<CountedPerson>(
    org,
    `select * from (${counted}) people where id is not null`,
    'b.id, b.contact_id, k.email as contact_email, b.at',
    bindings,
    {
      after: after === undefined ? undefined : { id: after },
      limit: page.limit,
      cursorFor: ({ id }) => encodeCursor(list, named, [id]),
    },
  );
}
