import type { OrgScope } from '../../db/tenancy.ts';
import type { Bindings } from '../../db/statement.ts';

/** Newest messages that are looked through one by one before the index of words is asked. */
const NEAR = 3_000;

/** A conversation in which something was found, by the newest message that fits. */
export interface Hit {
  id: string;
  thread_id: string;
}

/** What a search is limited to: conditions on `m`, with their bindings. */
export interface SearchLimits {
  conditions: readonly string[];
  bindings: Bindings;
  /** Of conversations whose newest fitting message comes before this one. */
  after: string | null;
  count: number;
}

/**
 * Conversations with a message that fits a search, by its newest fitting one, newest first. Frequent words are met among the newest
 * messages, which are walked; for rare ones the index of words finds all messages at once. So neither reads many messages in vain.
 * @param q words; "in quotes" a phrase, `or`, and `-` before a word that must not occur
 */
export async function searchMessages(org: OrgScope, q: string, limits: SearchLimits): Promise<Hit[]> {
  const near = await searchNewest(org, q, limits);
  return near.length >= limits.count ? near : searchAll(org, q, limits);
}

const QUERY = `websearch_to_tsquery('simple', :q)`;

async function searchNewest(org: OrgScope, q: string, limits: SearchLimits): Promise<Hit[]> {
  const { conditions, after, count } = limits;
  return read(
    org,
    `with near as (
       select m.* from inbound_messages m where m.organization_id = :org ${after ? 'and m.id < cast(:after as uuid)' : ''}
       order by m.id desc limit ${NEAR}
     )
     select m.thread_id, max(m.id::text)::uuid as id from near m
     where m.words @@ ${QUERY} ${[...conditions, notShown(after)].map((one) => `and ${one}`).join(' ')}
     group by m.thread_id order by 2 desc limit :count`,
    q,
    limits,
    count,
  );
}

async function searchAll(org: OrgScope, q: string, limits: SearchLimits): Promise<Hit[]> {
  const { conditions, after, count } = limits;
  return read(
    org,
    `with found as materialized (
       select m.* from inbound_messages m where m.organization_id = :org and m.words @@ ${QUERY}
     ), hits as (
       select m.thread_id, max(m.id::text)::uuid as id from found m
       where true ${conditions.map((one) => `and ${one}`).join(' ')}
       group by m.thread_id
     )
     select id, thread_id from hits ${after ? 'where id < cast(:after as uuid)' : ''} order by id desc limit :count`,
    q,
    limits,
    count,
  );
}

/** A conversation is shown once, by its newest fitting message: not again on a later page. */
function notShown(after: string | null): string {
  if (!after) return 'true';
  return `not exists (select 1 from inbound_messages n where n.organization_id = :org and n.thread_id = m.thread_id and n.id >= cast(:after as uuid) and n.words @@ ${QUERY})`;
}

function read(
  org: OrgScope,
  sql: `${string}:org${string}`,
  q: string,
  { bindings, after }: SearchLimits,
  count: number,
): Promise<Hit[]> {
  return org.sql<Hit>(sql, { ...bindings, q, count, ...(after ? { after } : {}) });
}
