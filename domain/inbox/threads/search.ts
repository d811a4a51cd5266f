import type { Bindings } from '../../../db/statement.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { likeLiteral } from '../../platform/conditions.ts';

/**
 * Sizes of the searched ranges, as powers of two. Each message has a number in order of arrival, and belongs to ranges
 * of 2^12, 2^15, 2^18 and 2^60 consecutive numbers of its workspace and of its mailbox. The index contains the ranges
 * of each message (its shelves), its words, and parts of its sender and subject. Matches among the newest messages are
 * therefore found quickly, and a larger range is searched only if they are not enough. A frequent word needs only the
 * newest range. A rare word is searched in all ranges, but has few matches.
 */
const LEVELS = [12, 15, 18, 60];
/**
 * Ranges in which texts of one or two characters are searched. They are small, because the index contains no parts
 * shorter than three characters.
 */
const SHORT_LEVELS = LEVELS.filter((level) => level <= 15);
const SHORTEST_INDEXED = 3;
/**
 * Number of matches that are first compared with the filters. If too few of them pass, the number is multiplied by
 * `TAKE_MORE`.
 */
const FIRST_TAKE = 400;
const TAKE_MORE = 8;
/** Names of the tables with indexed words: of received messages, and of emails sent by people and agents. */
type WordsTable = 'message_words' | 'sent_words';

/** A matching conversation, and the number of its newest matching message. */
export interface Hit {
  number: number;
  thread_id: string;
}

/** Text to search for in a message. At least one field must be set. */
interface SearchText {
  /** Words. "In quotes" is a phrase; `or` and `-` (exclusion) are supported. */
  q?: string | undefined;
  /** Part of the sender's address or name. In sent emails: part of the recipients' addresses. */
  from?: string | undefined;
  /** Part of the subject. */
  subject?: string | undefined;
}

/** Filters of a search, and the page to return. */
interface SearchLimits {
  /** Returns SQL conditions on a row of inbound_messages with the given alias. */
  conditions: (alias: string) => readonly string[];
  bindings: Bindings;
  /** Only messages of these mailboxes. Null for all. */
  mailboxes: readonly string[] | null;
  /** Only messages of this kind. */
  kind: string | undefined;
  /** SQL that selects the conversations to search. Set only if a filter restricts the search to a few. */
  among: string | undefined;
  /** Only conversations whose newest matching message comes before this number. */
  after: number | null;
  count: number;
}

/** Finds conversations with a matching message, ordered by the newest matching message, newest first. */
export async function searchMessages(org: OrgScope, text: SearchText, limits: SearchLimits): Promise<Hit[]> {
  const plan = await planSearch(org, 'message_words', text, limits);
  if (!plan) return [];
  if (limits.among !== undefined) return searchThreads(org, text, limits);
  return searchRuns(plan, limits.count, (shelves, take) =>
    searchShelves(org, text, limits, { ...plan, shelves, take }),
  );
}

/**
 * Searches one range after the other. In each range, tries a growing number of matches until enough of them pass the
 * filters.
 */
async function searchRuns<Found>(
  plan: Plan,
  count: number,
  search: (shelves: string, take: number) => Promise<{ looked: number; hits: Found[] }>,
): Promise<Found[]> {
  let hits: Found[] = [];
  for (const shelves of plan.shelves)
    for (let take = FIRST_TAKE; ; take *= TAKE_MORE) {
      const found = await search(shelves, take);
      hits = found.hits;
      if (hits.length >= count) return hits;
      if (found.looked < take) break;
    }
  return hits;
}

/** Finds sent emails of people and agents, newest first, and returns their numbers and ids. */
export async function searchSent(
  org: OrgScope,
  text: SearchText,
  limits: Pick<SearchLimits, 'conditions' | 'bindings' | 'mailboxes' | 'after' | 'count'>,
): Promise<SentHit[]> {
  const { conditions, bindings, after, count } = limits;
  const plan = await planSearch(org, 'sent_words', text, { ...limits, kind: undefined });
  if (!plan) return [];
  const fits = textConditions('w', text, !plan.isNegative, 'recipients').join(' and ');
  return searchRuns(plan, count, async (shelves, take) => {
    const rows = await org.sql<{ looked: number; number: number | null; id: string }>(
      `with found as materialized (
         select w.number, w.direct_send_id as id from sent_words w
         where w.organization_id = :org and w.shelves && cast(:shelves as bigint[]) and ${fits} ${after === null ? '' : 'and w.number < :after'}
       ), newest as materialized (
         select * from found order by number desc limit :take
       ), hits as (
         select f.number, f.id from newest f join direct_sends d on d.id = f.id
         where d.organization_id = :org ${and(conditions('d'))} order by f.number desc limit :count
       )
       select (select count(*) from newest)::int as looked, h.number, h.id from (select 1) one left join hits h on true order by h.number desc`,
      { ...bindings, ...textBindings(text), shelves, take, count, ...(after === null ? {} : { after }) },
    );
    return { looked: rows[0]!.looked, hits: rows.filter((row): row is typeof row & SentHit => row.number !== null) };
  });
}

/** A matching email. */
interface SentHit {
  number: number;
  id: string;
}

interface Plan {
  /**
   * The ranges as array literals of PostgreSQL, from the newest range to the largest. Texts are used because the
   * numbers exceed the range of JavaScript numbers.
   */
  shelves: string[];
  /** True if the search contains only excluded words, for which the index cannot be used. */
  isNegative: boolean;
}

/** Returns the ranges to search, from the smallest to the largest. Undefined if nothing can be found. */
async function planSearch(
  org: OrgScope,
  table: WordsTable,
  { q, from, subject }: SearchText,
  { mailboxes, kind, after }: Pick<SearchLimits, 'mailboxes' | 'kind' | 'after'>,
): Promise<Plan | undefined> {
  const isShort = q === undefined && [from, subject].every((part) => part === undefined || isShortPart(part));
  const [row] = await org.sql<{ newest: number | null; tree: string; shelves: string[] }>(
    `with start as (
       select coalesce(cast(:after as bigint) - 1, (select max(number) from ${table} where organization_id = :org)) as newest
     )
     select newest, querytree(websearch_to_tsquery('simple', :q)) as tree, array(
       select array(
         select message_shelf(case when cast(:kind as text) is null then owner else md5(owner::text || :kind)::uuid end, level, number)
         from unnest(cast(:owners as uuid[])) owner, unnest(array[newest, newest - (1::bigint << level)]) number
       )::text from unnest(cast(:levels as int[])) level order by level) as shelves
     from start`,
    {
      after,
      q: q ?? '',
      owners: mailboxes ? [...mailboxes] : [org.organizationId],
      // Ignores the kind if mailboxes are given, because there are no ranges for messages of one kind in a single
      // mailbox.
      kind: mailboxes ? null : (kind ?? null),
      levels: isShort ? SHORT_LEVELS : LEVELS,
    },
  );
  const { newest, tree, shelves } = row!;
  if (newest === null || (q !== undefined && tree === '')) return undefined;
  return { shelves, isNegative: tree === 'T' };
}

function isShortPart(part: string): boolean {
  return (part.match(/[\p{L}\p{N}]+/gu) ?? []).every((run) => run.length < SHORTEST_INDEXED);
}

async function searchShelves(
  org: OrgScope,
  text: SearchText,
  { conditions, bindings, after, count }: SearchLimits,
  { shelves, isNegative, take }: { shelves: string; isNegative: boolean; take: number },
): Promise<{ looked: number; hits: Hit[] }> {
  const fits = (alias: string, byIndex: boolean) => textConditions(alias, text, byIndex && !isNegative).join(' and ');
  const rows = await org.sql<{ looked: number; number: number | null; thread_id: string }>(
    `with found as materialized (
       select w.number, w.message_id, w.thread_id from message_words w
       where w.organization_id = :org and w.shelves && cast(:shelves as bigint[]) and ${fits('w', true)} ${after === null ? '' : 'and w.number < :after'}
     ), newest as materialized (
       select * from found order by number desc limit :take
     ), hits as (
       select f.thread_id, max(f.number) as number from newest f join inbound_messages m on m.id = f.message_id
       where m.organization_id = :org ${and(conditions('m'))} ${after === null ? '' : `and ${notShown(fits('n', false), conditions('o'))}`}
       group by f.thread_id order by 2 desc limit :count
     )
     select (select count(*) from newest)::int as looked, h.number, h.thread_id from (select 1) one left join hits h on true order by h.number desc`,
    { ...bindings, ...textBindings(text), shelves, take, count, ...(after === null ? {} : { after }) },
  );
  return { looked: rows[0]!.looked, hits: rows.filter((row): row is typeof row & Hit => row.number !== null) };
}

/** Searches a few conversations and compares each of their messages, without the index. */
function searchThreads(
  org: OrgScope,
  text: SearchText,
  { conditions, bindings, among, after, count }: SearchLimits,
): Promise<Hit[]> {
  const fits = (alias: string) => textConditions(alias, text, false).join(' and ');
  return org.sql<Hit>(
    `with few as materialized (${among})
     select f.thread_id, max(f.number) as number
     from few join message_words f on f.organization_id = :org and f.thread_id = few.thread_id join inbound_messages m on m.id = f.message_id
     where m.organization_id = :org and ${fits('f')} ${and(conditions('m'))}
     group by f.thread_id ${after === null ? '' : 'having max(f.number) < :after'} order by 2 desc limit :count`,
    { ...bindings, ...textBindings(text), count, ...(after === null ? {} : { after }) },
  );
}

/**
 * Returns an SQL condition that excludes conversations of earlier pages. Each conversation is listed once, by its
 * newest matching message.
 */
function notShown(fits: string, conditions: readonly string[]): string {
  return `not exists (select from message_words n join inbound_messages o on o.id = n.message_id
         where n.organization_id = :org and n.thread_id = f.thread_id and n.number >= :after and ${fits} ${and(conditions)})`;
}

/**
 * Returns SQL conditions for the text.
 * @param byIndex true to search words by the index; false to compare each message
 */
function textConditions(
  alias: string,
  { q, from, subject }: SearchText,
  byIndex: boolean,
  people: 'sender' | 'recipients' = 'sender',
): string[] {
  const words = `${alias}.words @@ websearch_to_tsquery('simple', :q)`;
  return [
    ...(q === undefined ? [] : [byIndex ? words : `case when ${words} then true else false end`]),
    ...(from === undefined ? [] : [`${alias}.${people} ilike :from`]),
    ...(subject === undefined ? [] : [`${alias}.subject ilike :subject`]),
  ];
}

function textBindings({ q, from, subject }: SearchText): Bindings {
  return {
    ...(q === undefined ? {} : { q }),
    ...(from === undefined ? {} : { from: `%${likeLiteral(from)}%` }),
    ...(subject === undefined ? {} : { subject: `%${likeLiteral(subject)}%` }),
  };
}

function and(conditions: readonly string[]): string {
  return conditions.map((condition) => `and ${condition}`).join(' ');
}
