import type { OrgScope } from '../../../db/tenancy.ts';
import { ZERO_UUID } from '../../../lib/ids.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';

/**
 * Index of an email's groups in `send_groups.next_days`, as the SQL function `heron_send_groups` numbers them. Groups
 * by category have the next numbers.
 */
export const GROUP_PLACES = {
  all: 1,
  campaign: 2,
  step: 3,
  variant: 4,
  offer: 5,
  angle: 6,
  cta: 7,
  mailbox: 8,
  audience_source: 9,
  segment: 10,
  copy: 11,
} as const;

/**
 * Columns of `send_facts` that define the groups of an email, in the order of {@link GROUP_PLACES} from the second on.
 */
const KEY_COLUMNS = [
  'campaign_id',
  'step_id',
  'variant_id',
  'offer',
  'angle',
  'cta',
  'mailbox_id',
  'audience_source',
  'segment_id',
  'copy_hash',
] as const;

/** Returns SQL for the groups of an email of `send_facts`, with place, dimension and key. */
export const groupsOf = (email: string): string =>
  `heron_send_groups(${[...KEY_COLUMNS, 'category_ids'].map((column) => `${email}.${column}`).join(', ')})`;

/** Returns SQL for the UTC day of a time. */
const dayOf = (moment: string) => `(${moment} at time zone 'UTC')::date`;

/**
 * Returns SQL for the day of the contact's next email that has the same values in the given columns. Infinity if there
 * is none.
 */
const nextDay = (...columns: string[]) =>
  `coalesce(${dayOf(`lead(sent_at) over (partition by contact_id, ${[...columns, 'sent_at is null'].join(', ')} order by sent_at, send_id)`)}, 'infinity')`;

/**
 * SQL for the expected rows of `send_groups` for the emails in `mine (send_id)`, next to the stored rows. `mine` must
 * contain all or none of a contact's confirmed sends. Sorts the emails once for each index of `next_days`. Sorting one
 * row per email and group would take 50 % longer.
 */
const GROUPED = `select e.send_id, e.sent_at, e.counted_at, e.counted,
       case when e.contact_id is null then array_fill('-infinity'::date, array[cardinality(e.placed || c.next_days)]) else e.placed || c.next_days end as next_days
     from (
       select send_id, sent_at, contact_id, counted_at, counted, array[${[nextDay(), ...KEY_COLUMNS.map((column) => nextDay(column))].join(', ')}] as placed from emails
     ) e join (
       select send_id, array_agg(next_day order by place) as next_days from (
         select send_id, place, ${nextDay('category')} as next_day
         from emails cross join lateral unnest(case when category_ids = '{}' then array[null::uuid] else category_ids end) with ordinality c(category, place)
       ) of_categories group by send_id
     ) c on c.send_id = e.send_id`;

/** SQL for the emails in `mine (send_id)` that are in the group counts or should be, with their stored values. */
const EMAILS = `select f.send_id, f.sent_at, f.contact_id, s.sent_at as counted_at, s.next_days as counted, ${[...KEY_COLUMNS, 'category_ids'].map((column) => `f.${column}`).join(', ')}
     from mine m join send_facts f on f.send_id = m.send_id and f.organization_id = :org left join send_groups s on s.send_id = f.send_id
     where f.sent_at is not null or s.send_id is not null`;

/** SQL for the expected counts of `fact_groups`, from `send_groups`. */
export const COUNTED_GROUPS = `select g.dimension, g.key, ${dayOf('s.sent_at')} as day, s.next_days[g.place] as next_day, count(*)::int as sends
     from send_groups s join send_facts f on f.send_id = s.send_id cross join lateral ${groupsOf('f')} g
     where s.organization_id = :org group by 1, 2, 3, 4`;

/** SQL for the stored counts of `fact_groups`. */
export const STORED_GROUPS = `select dimension, key, day, next_day, sum(sends)::int as sends from fact_groups where organization_id = :org
     group by 1, 2, 3, 4 having sum(sends) <> 0`;

/** SQL for the emails of the contacts in `wanted (id)`, and those of the emails `:ids` that have no contact. */
const MINE = `select f.send_id from wanted w join send_facts f on f.contact_id = w.id and f.organization_id = :org
     union all select f.send_id from send_facts f where f.organization_id = :org and f.send_id = any(:ids::uuid[]) and f.contact_id is null`;

/**
 * SQL for the contacts of the emails `:ids`. Locks the contacts until the transaction ends, so that a contact that is
 * being deleted is not counted again.
 */
const WANTED = `select k.id from contacts k where k.organization_id = :org
       and k.id in (select f.contact_id from send_facts f where f.organization_id = :org and f.send_id = any(:ids::uuid[])) order by k.id for key share`;

const STORED = `stored as (
       insert into send_groups (send_id, organization_id, sent_at, next_days)
       select send_id, :org, sent_at, next_days from changed where sent_at is not null
       on conflict (send_id) do update set sent_at = excluded.sent_at, next_days = excluded.next_days
     ), gone as (
       delete from send_groups s using changed c where s.organization_id = :org and s.send_id = c.send_id and c.sent_at is null
     )`;

const CHANGED = `select * from (${GROUPED}) g where counted_at is distinct from sent_at or (sent_at is not null and counted is distinct from next_days)`;

/**
 * Updates the group counts for sent emails and for the other emails to their contacts. A new email also changes the
 * stored "next day" of the contact's previous email. The caller must have the lock of the facts. Repeated calls change
 * nothing.
 */
export async function recordGroups(tx: Tx, sendIds: readonly string[]): Promise<void> {
  if (sendIds.length === 0) return;
  await tx.org.sql(
    `with wanted as materialized (${WANTED}), mine as materialized (${MINE}), emails as materialized (${EMAILS}), changed as materialized (${CHANGED}), ${STORED},
     moved as (
       select g.dimension, g.key, v.day, v.next_day, v.sends
       from changed c join send_facts f on f.send_id = c.send_id and f.organization_id = :org cross join lateral ${groupsOf('f')} g
       cross join lateral (values (${dayOf('c.sent_at')}, c.next_days[g.place], 1), (${dayOf('c.counted_at')}, c.counted[g.place], -1)) v(day, next_day, sends)
       where v.day is not null
     ) ${added('moved')}`,
    { ids: sendIds },
  );
}

/** Returns a CTE that adds differences to the group counts. */
const added = (
  from: string,
): string => `insert into fact_groups (organization_id, dimension, key, day, next_day, sends, is_folded)
     select :org, dimension, key, day, next_day, sum(sends), true from ${from} group by dimension, key, day, next_day having sum(sends) <> 0
     on conflict (organization_id, dimension, day, key, next_day) where is_folded do update set sends = fact_groups.sends + excluded.sends`;

/** Applies the count differences that deleted contacts have left. The caller must have the lock of the facts. */
export async function foldGroups(tx: Tx): Promise<void> {
  await tx.org.sql(
    `with differences as (
       delete from fact_groups where organization_id = :org and not is_folded returning dimension, key, day, next_day, sends
     ) ${added('differences')}`,
  );
}

/** Number of contacts, or of emails without contact, per page of a rebuild. */
const PAGE = 5_000;
/** Memory (MiB) for the groups of a page, and for recounting a workspace. */
const MEMORY_MIB = 128;

/**
 * Rebuilds the group counts of an organization while writes continue. Until the rebuild ends, reports count the emails
 * themselves.
 */
export async function rebuildGroups(deps: Deps, organizationId: string): Promise<void> {
  const ctx = systemCtx(deps, organizationId, 'facts/rebuild');
  await transact(ctx, ({ org }) => org.insert('stale_groups', {}).onConflict('organization_id').ignore());
  for await (const place of placesOf(reader(ctx))) await transact(ctx, (tx) => repairPage(tx, place));
  await transact(ctx, async (tx) => {
    await tx.org.lock(`facts/${organizationId}`);
    await tx.org.allowMemory(MEMORY_MIB);
    await tx.org.sql('delete from fact_groups where organization_id = :org');
    await tx.org.sql(
      `insert into fact_groups (organization_id, dimension, key, day, next_day, sends, is_folded)
       select :org, dimension, key, day, next_day, sends, true from (${COUNTED_GROUPS}) counted`,
    );
    await tx.org.table('stale_groups').delete();
  });
}

interface Place {
  contactIds: string[];
  sendIds: string[];
}

/** Yields the ids of all contacts in pages, then those of all emails without a contact. */
async function* placesOf(org: OrgScope): AsyncGenerator<Place> {
  for (let after = ZERO_UUID; ;) {
    const rows = await org.sql<{ id: string }>(
      `select id from contacts where organization_id = :org and id > :after order by id limit ${PAGE}`,
      { after },
    );
    if (rows.length > 0) yield { contactIds: rows.map(({ id }) => id), sendIds: [] };
    if (rows.length < PAGE) break;
    after = rows.at(-1)!.id;
  }
  for (let after = ZERO_UUID; ;) {
    const rows = await org.sql<{ id: string }>(
      `select send_id as id from send_facts where organization_id = :org and contact_id is null and send_id > :after order by send_id limit ${PAGE}`,
      { after },
    );
    if (rows.length > 0) yield { contactIds: [], sendIds: rows.map(({ id }) => id) };
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.id;
  }
}

/** Repairs the `send_groups` rows of a page. The counts are rebuilt after the last page. */
async function repairPage(tx: Tx, { contactIds, sendIds }: Place): Promise<void> {
  await tx.org.lock(`facts/${tx.org.organizationId}`, { isShared: true });
  await tx.org.allowMemory(MEMORY_MIB);
  await tx.org.sql(
    `with wanted as materialized (
       select id from contacts where organization_id = :org and id = any(:contacts::uuid[]) order by id for key share
     ), mine as materialized (${MINE}), emails as materialized (${EMAILS}), changed as materialized (${CHANGED}), ${STORED}
     select count(*) from changed where :org::uuid is not null`,
    { contacts: contactIds, ids: sendIds },
  );
}

/**
 * CTEs with stored and expected `send_groups` rows for all emails to the contacts of the emails `:ids`. Emails in
 * `:ids` without a contact are included too.
 */
export const GROUPS_OF = `wanted as materialized (
       select distinct f.contact_id as id from send_facts f where f.organization_id = :org and f.send_id = any(:ids::uuid[]) and f.contact_id is not null
     ), mine as materialized (${MINE}), emails as materialized (${EMAILS}), grouped as materialized (${GROUPED})`;
