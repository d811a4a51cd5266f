import type { Bindings } from '../../../db/statement.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { decodeIdCursor, encodeCursor, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { readCountedRows } from '../aggregates/counted-rows.ts';

/** A person who is counted in a figure of a trend or a funnel. */
export interface CountedPerson {
  /** Id of the person. In a funnel, the id of the contact if there is one. */
  id: string;
  contact_id: string | null;
  contact_email: string | null;
  /** Time of the action for which the person is counted. */
  at: Date;
}

/**
 * Returns a page of the people who are counted in a number, in order of id, with their total.
 * @param counted SQL that selects id, contact and time of each person once; rows without an id are ignored
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
