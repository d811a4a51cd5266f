import type { Bindings } from '../../../db/statement.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { likeLiteral } from '../../platform/conditions.ts';

/**
 * Each message has a number in the order of arrival, and lies on shelves: of its workspace and of its mailbox, the run of 2^12, 2^15, 2^18
 * and 2^60 numbers it belongs to. The index knows shelves, words and parts of senders and subjects, so that it finds at once what fits
 * among the newest messages. Only where that is not enough, a larger run is looked through. So a frequent word costs what the
 * newest run costs, and a rare one, which is looked for everywhere, what its few messages cost.
 */
const LEVELS = [12, 15, 18, 60];
/** Up to which run parts of one or two characters are looked for: the index has no shorter parts than three. */
const SHORT_LEVELS = LEVELS.filter((level) => level <= 15);
const SHORTEST_INDEXED = 3;
/** Messages that are compared with the filters at first; eight times as many when too few of them fit. */
const FIRST_TAKE = 400;
const TAKE_MORE = 8;
/** Tables of words: of what came in, and of what was written here and has left. */
type WordsTable = 'message_words' | 'sent_words';

/** A conversation in which something was found, and the number of the newest message that fits. */
export interface Hit {
  number: number;
  thread_id: string;
}

/** What is looked for in a message; at least one of them. */
interface SearchText {
  /** Words; "in quotes" a phrase, `or`, and `-` before a word that must not occur. */
  q?: string | undefined;
  /** Part of the sender's address or name; in sent emails part of the recipients' addresses. */
  from?: string | undefined;
  /** Part of the subject. */
  subject?: string | undefined;
}

/** What a search is limited to. */
interface SearchLimits {
  /** SQL conditions on a row of inbound_messages under an alias. */
  conditions: (alias: string) => readonly string[];
  bindings: Bindings;
  /** Only messages of these mailboxes; null for all. */
  mailboxes: readonly string[] | null;
  /** Only messages of this kind. */
  kind: string | undefined;
  /** SQL of the few conversations to look through, where a filter leaves no more. */
  among: string | undefined;
  /** Of conversations whose newest fitting message comes before this number. */
  after: number | null;
  count: number;
}

/** Conversations with a message that fits a search, by its newest fitting one, newest first. */
export async function searchMessages(org: OrgScope, text: SearchText, limits: SearchLimits): Promise<Hit[]> {
  const plan = await planSearch(org, 'message_words', text, limits);
  if (!plan) return [];
  if (limits.among !== undefined) return searchThreads(org, text, limits);
  return searchRuns(plan, limits.count, (shelves, take) =>
    searchShelves(org, text, limits, { ...plan, shelves, take }),
  );
}

/** Looks through one run after the other, in each through more and more of what was found, until as many fit as are wanted. */
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

/** Emails that were written here and have left, by what is looked for in them, newest first: their numbers and ids. */
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

/** An email in which something was found. */
interface SentHit {
  number: number;
  id: string;
}

interface Plan {
  /** Arrays as PostgreSQL writes them, from the newest run to all: their numbers are larger than those of JavaScript. */
  shelves: string[];
  /** A search that says only what must not occur: no index can tell. */
  isNegative: boolean;
}

/** What to look through, from the smallest run to the largest; undefined when nothing can be found. */
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
      // One mailbox's messages of a kind have no shelf.
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

/** Looks through a few conversations, message by message. */
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

/** A conversation is shown once, by its newest fitting message: not again on a later page. */
function notShown(fits: string, conditions: readonly string[]): string {
  return `not exists (select from message_words n join inbound_messages o on o.id = n.message_id
         where n.organization_id = :org and n.thread_id = f.thread_id and n.number >= :after and ${fits} ${and(conditions)})`;
}

/** @param byIndex whether the index may be asked for the words; else each message is compared */
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
