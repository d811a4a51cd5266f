const KEY = 'organization_id, mailbox_id, filed, label_id';
const COUNTS = 'conversations, unread, answered';

/** SQL that sums rows `c` of inbox_threads by category `l`, weighted by the sign of the row. */
const SUMS = `
  coalesce(sum(c.sign), 0) as conversations,
  coalesce(sum(c.sign) filter (where c.unseen_count > 0 or not c.seen), 0) as unread,
  coalesce(sum(c.sign) filter (where c.is_answered), 0) as answered`;

const LABELS_OF_THREAD = `
  select cast(null as uuid) as label_id
  union all
  select k.label_id from thread_labels k
  where k.organization_id = c.organization_id and k.thread_id = c.thread_id and c.filed in ('inbox', 'archive')`;

/**
 * Returns SQL that adds count changes. Skips an organization, mailbox or category that is being deleted, because its
 * counts are deleted too.
 */
const addChanges = (changed: string, labels: string): string => `
    insert into inbox_count_changes (${KEY}, ${COUNTS})
    select * from (
      select c.organization_id, c.mailbox_id, c.filed, l.label_id, ${SUMS}
      from (${changed}) c
      cross join lateral (${labels}) l
      where exists (select from organizations o where o.id = c.organization_id) and exists (select from mailboxes b where b.id = c.mailbox_id)
        and (l.label_id is null or exists (select from labels x where x.id = l.label_id))
      group by c.organization_id, c.mailbox_id, c.filed, l.label_id
    ) counted
    where conversations <> 0 or unread <> 0 or answered <> 0;`;

const trigger = (name: string, event: string, table: string, transition: string, body: string): string => `
  create function ${name}() returns trigger language plpgsql security definer set search_path from current as $$
  begin
    ${body}
    return null;
  end $$;
  create trigger ${name} after ${event} on ${table} referencing ${transition} for each statement execute function ${name}();
`;

/*
 * Lock order: adding a category locks the conversation's rows and counts them afterwards. Changing a row locks the row,
 * and its categories are read afterwards. So the second of two concurrent changes sees the first. Inserting a row locks
 * the conversation's rows in other mailboxes.
 */
const COUNT_THREADS = [
  trigger(
    'inbox_threads_counted_insert',
    'insert',
    'inbox_threads',
    'new table as added',
    `perform from inbox_threads t where exists (
       select from added a where a.organization_id = t.organization_id and a.thread_id = t.thread_id and a.mailbox_id <> t.mailbox_id
     ) for share;
     ${addChanges('select a.*, 1 as sign from added a', LABELS_OF_THREAD)}`,
  ),
  trigger(
    'inbox_threads_counted_update',
    'update',
    'inbox_threads',
    'old table as removed new table as added',
    addChanges('select a.*, 1 as sign from added a union all select r.*, -1 from removed r', LABELS_OF_THREAD),
  ),
  trigger(
    'inbox_threads_counted_delete',
    'delete',
    'inbox_threads',
    'old table as removed',
    addChanges('select r.*, -1 as sign from removed r', LABELS_OF_THREAD),
  ),
].join('');

/** Returns SQL that counts the conversations of rows of thread_labels. */
const labelled = (table: string, sign: number): string => `
    perform from inbox_threads t where (t.organization_id, t.thread_id) in (
      select k.organization_id, k.thread_id from ${table} k where exists (select from labels x where x.id = k.label_id)
    ) order by t.organization_id, t.thread_id, t.mailbox_id for no key update;
    ${addChanges(
      `select t.*, k.label_id, ${sign} as sign from ${table} k join inbox_threads t on t.organization_id = k.organization_id and t.thread_id = k.thread_id
       where t.filed in ('inbox', 'archive')`,
      'select c.label_id',
    )}`;

const COUNT_LABELS = [
  trigger('thread_labels_counted_insert', 'insert', 'thread_labels', 'new table as added', labelled('added', 1)),
  trigger('thread_labels_counted_delete', 'delete', 'thread_labels', 'old table as removed', labelled('removed', -1)),
].join('');

/** Tables and triggers that count conversations, so that an inbox overview reads no conversation. */
export const INBOX_COUNTS = `
create table inbox_counts (
  organization_id uuid not null references organizations on delete cascade,
  mailbox_id uuid not null references mailboxes on delete cascade,
  filed text not null,
  label_id uuid references labels on delete cascade,
  conversations integer not null,
  unread integer not null,
  answered integer not null,
  constraint inbox_counts_key unique nulls not distinct (${KEY})
);
comment on table inbox_counts is 'Counts of conversations per mailbox, folder and category. A count is the sum of this table and inbox_count_changes.';
comment on column inbox_counts.label_id is 'Category. Null: all conversations of the folder. A category counts only conversations in inbox and archive.';
create index inbox_counts_mailbox on inbox_counts (mailbox_id);
create index inbox_counts_label on inbox_counts (label_id);
call heron_guard_rows('inbox_counts');

create table inbox_count_changes (
  id bigint generated always as identity primary key,
  organization_id uuid not null references organizations on delete cascade,
  mailbox_id uuid not null references mailboxes on delete cascade,
  filed text not null,
  label_id uuid references labels on delete cascade,
  conversations integer not null,
  unread integer not null,
  answered integer not null
);
comment on table inbox_count_changes is 'A difference to inbox_counts. Triggers add it, maintenance folds it in.';
create index inbox_count_changes_organization on inbox_count_changes (organization_id);
create index inbox_count_changes_mailbox on inbox_count_changes (mailbox_id);
create index inbox_count_changes_label on inbox_count_changes (label_id);
call heron_guard_rows('inbox_count_changes');
${COUNT_THREADS}
${COUNT_LABELS}`;
