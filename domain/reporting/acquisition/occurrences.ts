import type { OrgScope } from '../../../db/tenancy.ts';
import type { Bindings } from '../../../db/statement.ts';
import { compilePredicates, mayBeUndecided } from '../../directory/predicates/compile.ts';
import { meetsAll } from '../../directory/predicates/evaluate.ts';
import type { Predicate } from '../../directory/predicates/predicate.ts';

/** Filter of product events: a name, conditions on the data, and a time at or after `from` and before `to`. */
export interface EventFilter {
  name: string;
  predicates: readonly Predicate[];
  from: Date;
  to: Date;
}

/** SQL condition on product events `e`, with its bindings. */
interface EventCondition {
  sql: string;
  bindings: Bindings;
}

const PAGE = 5_000;

/**
 * Returns the SQL condition on product events `e`. Events for which PostgreSQL cannot evaluate the predicates (text
 * with non-ASCII characters) are read and evaluated in TypeScript.
 * @param prefix starts the names of the bindings
 */
export async function eventCondition(
  org: OrgScope,
  { name, predicates, from, to }: EventFilter,
  prefix: string,
): Promise<EventCondition> {
  const compiled = compilePredicates(predicates, 'e.data', `${prefix}p`);
  const [named, begin, end, decided] = ['name', 'from', 'to', 'decided'].map((part) => `${prefix}${part}`);
  const within = `e.organization_id = :org and e.name = :${named} and e.occurred_at >= :${begin} and e.occurred_at < :${end}`;
  const bindings = { ...compiled.bindings, [named!]: name, [begin!]: from, [end!]: to };
  if (!mayBeUndecided(predicates)) return { sql: `${within} and ${compiled.sql}`, bindings };
  const ids: string[] = [];
  for (let after: string | undefined; ;) {
    const rows = await org.sql<{ id: string; data: unknown }>(
      `select e.id, e.data from product_events e where ${within} and ${compiled.sql} is null ${after ? 'and e.id > :after' : ''}
         and :org::uuid is not null order by e.id limit ${PAGE}`,
      { ...bindings, ...(after ? { after } : {}) },
    );
    ids.push(...rows.filter(({ data }) => meetsAll(predicates, data)).map(({ id }) => id));
    if (rows.length < PAGE) break;
    after = rows.at(-1)!.id;
  }
  return {
    sql: `${within} and (${compiled.sql} or e.id = any(:${decided}::uuid[]))`,
    bindings: { ...bindings, [decided!]: ids },
  };
}
