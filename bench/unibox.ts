import { listSent, type SentFilters } from '../domain/inbox/threads/sent.ts';
import { listWritten } from '../domain/inbox/threads/written.ts';
import { listThreads, type ThreadFilters } from '../domain/inbox/threads/threads.ts';
import { systemCtx, type Ctx } from '../domain/platform/kernel/context.ts';
import { readOverview } from '../domain/inbox/threads/overview.ts';
import { countUnseen } from '../domain/inbox/threads/seen.ts';
import { newId } from '../lib/ids.ts';
import { createMailbox, createTenant } from '../test/harness/factories.ts';
import type { TestDeps } from '../test/harness/database.ts';
import { openSeries } from './measure.ts';
import type { BenchContext, BenchResult } from './context.ts';

const PAGE = 50;
/**
 * Number of words of the vocabulary. As in real texts, the n-th most frequent word occurs n times less often than the
 * first (Zipf's law).
 */
const VOCABULARY = 50_000;
const WORD = `'w' || floor(exp(random() * ln(${VOCABULARY})))`;
const MAILBOXES = 20;
const CHUNK = 50_000;
const TARGET_MS = 100;

/**
 * Measures searches and lists of an inbox with many messages: frequent to unique words, phrases, filters, pages and
 * counts.
 */
export async function run({ assembly, quick, log }: BenchContext): Promise<BenchResult> {
  const messages = quick ? 20_000 : 1_000_000;
  const filled = await fillInbox(assembly.deps, messages, log);
  await fillSent(assembly.deps, filled, messages, log);
  await fillCampaignEmails(assembly.deps, filled, messages, log);
  return measureInbox(assembly.deps, filled, messages, quick ? 5 : 20, log);
}

/** Measures the inbox of {@link fillInbox}; each search and list runs several times with different words. */
async function measureInbox(
  deps: TestDeps,
  filled: Filled,
  messages: number,
  rounds: number,
  log: (line: string) => void,
): Promise<BenchResult> {
  const ctx = systemCtx(deps, filled.organizationId, 'bench');
  const { figures, raw, measure, p95 } = openSeries(rounds, [{ label: 'messages', value: String(messages) }], log);
  for (const [what, query] of Object.entries(searches(messages)))
    await measure(`search: ${what}`, (round) => listThreads(ctx, { limit: PAGE }, { q: query(round) }));
  for (const [what, filters] of Object.entries(narrowed(filled)))
    await measure(`search: ${what}`, (round) => listThreads(ctx, { limit: PAGE }, filters(round)));
  for (const [what, filters] of Object.entries(lists(filled)))
    await measure(`list: ${what}`, (round) => listThreads(ctx, { limit: PAGE }, filters(round)));
  await measure('list: page after page', pages(ctx));
  for (const [what, filters] of Object.entries(sentMail(messages, filled)))
    await measure(`sent: ${what}`, (round) => listSent(ctx, { limit: PAGE }, filters(round)));
  for (const [what, filters] of Object.entries(folderOfSent(filled)))
    await measure(`folder of sent emails: ${what}`, (round) =>
      listWritten(ctx, { limit: PAGE }, { ...filters(round), folder: 'sent' }),
    );
  await measure('count: messages not seen', () => countUnseen(ctx));
  await measure('count: overview', () => readOverview(ctx));
  const target = (series: string, what: string) => ({
    what: `${what} over ${messages} messages, p95 of all`,
    target: `under ${TARGET_MS} ms`,
    got: `${p95(series).toFixed(1)} ms`,
    met: p95(series) < TARGET_MS,
  });
  return {
    figures,
    targets: [
      target('search', 'searches'),
      target('list', 'lists'),
      target('sent', 'sent mail'),
      target('folder', 'the folder of sent emails'),
    ],
    raw,
  };
}

function searches(messages: number): Record<string, (round: number) => string> {
  return {
    'in most messages': (round) => `w${1 + (round % 3)}`,
    'in one of ten': (round) => `w${40 + round}`,
    'in one of a hundred': (round) => `w${500 + round}`,
    'in one of five hundred': (round) => `w${2_500 + round}`,
    'in one of ten thousand': (round) => `w${VOCABULARY - 100 + round}`,
    'in one message': (round) => `once${Math.floor((messages / 21) * (round + 1))}`,
    'a sender': (round) => `p${Math.floor((messages / 21) * (round + 1))}@else.test`,
    'two frequent words': (round) => `w${3 + round} w${7 + round}`,
    'two less frequent words': (round) => `w${500 + round} w${600 + round}`,
    'a frequent and a rare word': (round) => `w1 w${VOCABULARY - 200 + round}`,
    'either of two': (round) => `w${9_000 + round} or w${12_000 + round}`,
    'a word without another': (round) => `w${30 + round} -w1`,
    'without a word': (round) => `-w${1 + round}`,
    'a phrase of frequent words': (round) => `"w${1 + round} w${2 + round}"`,
    'a phrase of less frequent words': (round) => `"w${100 + round} w${200 + round}"`,
    'a word that does not occur': (round) => `nothing${round}`,
  };
}

interface Filled {
  organizationId: string;
  mailboxIds: string[];
  frequentLabel: string;
  rareLabel: string;
}

function narrowed({ mailboxIds, rareLabel }: Filled): Record<string, (round: number) => ThreadFilters> {
  const mailbox = (round: number) => [mailboxIds[round % mailboxIds.length]!];
  return {
    'a frequent word in one mailbox': (round) => ({ q: `w${1 + round}`, mailboxIds: mailbox(round) }),
    'a rare word in one mailbox': (round) => ({ q: `w${40_000 + round}`, mailboxIds: mailbox(round) }),
    'a word in messages not seen': (round) => ({ q: `w${300 + round}`, unseen: true }),
    'a word in bounces': (round) => ({ q: `w${100 + round}`, kind: 'bounce' }),
    'a word under a category': (round) => ({ q: `w${20 + round}`, categoryIds: [rareLabel] }),
    'part of a frequent sender': () => ({ from: 'else.te' }),
    'part of a rare sender': (round) => ({ from: `son ${12_340 + round}` }),
    'part of a subject': (round) => ({ subject: `w${600 + round} ` }),
    'part that does not occur': (round) => ({ subject: `qqx${round}` }),
  };
}

function lists({ mailboxIds, frequentLabel, rareLabel }: Filled): Record<string, (round: number) => ThreadFilters> {
  return {
    newest: () => ({}),
    'not seen': () => ({ unseen: true }),
    'one mailbox': (round) => ({ mailboxIds: [mailboxIds[round % mailboxIds.length]!] }),
    'half of the mailboxes': () => ({ mailboxIds: mailboxIds.slice(0, MAILBOXES / 2) }),
    bounces: () => ({ kind: 'bounce' }),
    archive: () => ({ folder: 'archive' }),
    trash: () => ({ folder: 'trash' }),
    'one day of long ago': () => ({ since: '2023-02-01', until: '2023-02-01' }),
    'awaiting a reply': () => ({ awaitingReply: true }),
    'a frequent category': () => ({ categoryIds: [frequentLabel] }),
    'a rare category': () => ({ categoryIds: [rareLabel] }),
  };
}

function sentMail(messages: number, { mailboxIds }: Filled): Record<string, (round: number) => SentFilters> {
  return {
    newest: () => ({}),
    'of one mailbox': (round) => ({ mailboxIds: [mailboxIds[round % mailboxIds.length]!] }),
    'of half of the mailboxes': () => ({ mailboxIds: mailboxIds.slice(0, MAILBOXES / 2) }),
    'a word in most emails': (round) => ({ q: `w${1 + (round % 3)}` }),
    'a word in one of a hundred': (round) => ({ q: `w${500 + round}` }),
    'a word in one email': (round) => ({ q: `once${Math.floor((messages / 21) * (round + 1))}` }),
    'two frequent words': (round) => ({ q: `w${3 + round} w${7 + round}` }),
    'a phrase': (round) => ({ q: `"w${100 + round} w${200 + round}"` }),
    'without a word': (round) => ({ q: `-w${1 + round}` }),
    'a frequent word of one mailbox': (round) => ({
      q: `w${1 + round}`,
      mailboxIds: [mailboxIds[round % mailboxIds.length]!],
    }),
    'part of a frequent recipient': () => ({ to: 'else.te' }),
    'part of a rare recipient': (round) => ({ to: `q${12_340 + round}@` }),
    'part of a subject': (round) => ({ subject: `w${600 + round} ` }),
    'a word that does not occur': (round) => ({ q: `nothing${round}` }),
  };
}

function folderOfSent({
  mailboxIds,
  frequentLabel,
  rareLabel,
}: Filled): Record<string, (round: number) => ThreadFilters> {
  return {
    newest: () => ({}),
    'of one mailbox': (round) => ({ mailboxIds: [mailboxIds[round % mailboxIds.length]!] }),
    'until a day of long ago': () => ({ until: '2025-02-01' }),
    'a frequent category': () => ({ categoryIds: [frequentLabel] }),
    'a rare category': () => ({ categoryIds: [rareLabel] }),
  };
}

function pages(ctx: Ctx): () => Promise<void> {
  let cursor: string | undefined;
  return async () => {
    cursor = (await listThreads(ctx, { limit: PAGE, cursor }, {})).nextCursor ?? undefined;
  };
}

/**
 * Creates a workspace with many messages from two years in conversations of two, over 20 mailboxes. 10 % are unseen;
 * some are bounces, some are filed elsewhere, and some conversations end with an email of the workspace. Written in
 * bulk, with triggers off and the large indexes built at the end.
 */
async function fillInbox(deps: TestDeps, messages: number, log: (line: string) => void): Promise<Filled> {
  const { db } = deps;
  const { organizationId } = await createTenant(deps, 'Bench');
  const mailboxIds: string[] = [];
  for (let i = 0; i < MAILBOXES; i += 1)
    mailboxIds.push(await createMailbox(deps, organizationId, `bench${i}@ours.test`));
  const { rows } = (await db.raw(`select indexdef from pg_indexes where indexname = 'message_words_search'`)) as {
    rows: { indexdef: string }[];
  };
  await db.raw('drop index message_words_search');
  log(`writing ${messages} messages`);
  for (let from = 0; from < messages; from += CHUNK)
    await db.transaction(async (trx) => {
      await trx.raw('set local session_replication_role = replica');
      const to = Math.min(from + CHUNK, messages);
      await trx.raw(
        `insert into inbound_messages (id, organization_id, mailbox_id, folder, uid_validity, uid, message_id, thread_id, from_email, from_name, subject, body_plain, kind,
           seen, filed, received_at, created_at)
         select cast(lpad(to_hex(1700000000000 + i), 12, '0') || '7000a' || lpad(to_hex(i), 15, '0') as uuid), :org, (cast(:mailboxes as uuid[]))[1 + (i / 2) % ${MAILBOXES}], 'INBOX', 1, i,
           '<' || i || '@bench>', '<t' || i / 2 || '@bench>', 'p' || i || '@else.test', 'Person ' || i, 'About ' || ${WORD} || ' ' || ${WORD},
           (select string_agg(${WORD}, ' ') from generate_series(1, 40 + i % 40)) || ' once' || i,
           case when i % 50 = 0 then 'bounce' else 'reply' end, random() < 0.9, case when i % 100 < 3 then 'trash' when i % 100 < 20 then 'archive' else 'inbox' end,
           timestamptz '2023-01-01' + make_interval(secs => i * ${Math.floor((2 * 365 * 86_400) / messages)}), now()
         from generate_series(cast(:from as int) + 1, cast(:to as int)) as i`,
        { org: organizationId, mailboxes: mailboxIds, from, to },
      );
      await trx.raw(
        `insert into message_words (message_id, organization_id, number, thread_id, shelves, sender, subject, words)
         select id, organization_id, number, thread_id, message_shelves(organization_id, mailbox_id, kind, number), from_email || ' ' || from_name, subject,
           inbound_message_words(subject, from_name, from_email, body_plain)
         from (select *, nextval('message_words_number') as number from inbound_messages
           where organization_id = :org and mailbox_id = any(cast(:mailboxes as uuid[])) and uid > :from and uid <= :to order by id) m`,
        { org: organizationId, mailboxes: mailboxIds, from, to },
      );
    });
  log('conversations');
  await db.raw(
    `insert into inbox_threads (organization_id, thread_id, mailbox_id, newest_id, newest_at, seen, filed, kind, message_count, unseen_count, is_answered)
     select distinct on (thread_id) organization_id, thread_id, mailbox_id, id, received_at, seen, filed, kind, count(*) over whole,
       count(*) filter (where not seen and filed in ('inbox', 'archive')) over whole, uid % 40 = 1
     from inbound_messages where organization_id = :org window whole as (partition by thread_id) order by thread_id, received_at desc`,
    { org: organizationId },
  );
  const [frequentLabel, rareLabel] = [newId(), newId()];
  await db('labels').insert(
    [frequentLabel, rareLabel].map((id, position) => ({
      id,
      organization_id: organizationId,
      registry: 'category',
      title: `Category ${position}`,
      color: '#16a34a',
      position,
      created_at: new Date(),
      updated_at: new Date(),
    })),
  );
  await db.raw(
    `insert into thread_labels (organization_id, thread_id, label_id, created_at)
     select organization_id, thread_id, label, now() from inbox_threads
     cross join lateral (select cast(:frequent as uuid) as label where random() < 0.2 union all select cast(:rare as uuid) where random() < 0.0002) l where organization_id = :org`,
    { org: organizationId, frequent: frequentLabel, rare: rareLabel },
  );
  log('indexing');
  await db.transaction(async (trx) => {
    await trx.raw(`set local maintenance_work_mem = '512MB'`);
    await trx.raw(rows[0]!.indexdef);
  });
  await db.raw('vacuum analyze inbound_messages, message_words, inbox_threads, thread_labels');
  return { organizationId, mailboxIds, frequentLabel, rareLabel };
}

/** Adds the same number of sent emails that were written in Heron, with the same vocabulary. */
async function fillSent(
  { db }: TestDeps,
  { organizationId, mailboxIds }: Filled,
  emails: number,
  log: (line: string) => void,
): Promise<void> {
  const { rows } = (await db.raw(`select indexdef from pg_indexes where indexname = 'sent_words_search'`)) as {
    rows: { indexdef: string }[];
  };
  await db.raw('drop index sent_words_search');
  log(`writing ${emails} sent emails`);
  for (let from = 0; from < emails; from += CHUNK)
    await db.transaction(async (trx) => {
      await trx.raw('set local session_replication_role = replica');
      const bounds = { org: organizationId, mailboxes: mailboxIds, from, to: Math.min(from + CHUNK, emails) };
      await trx.raw(
        `insert into direct_sends (id, organization_id, kind, state, mailbox_id, to_emails, subject, body_plain, message_id, thread_id, send_mode, scheduled_at, finished_at, created_at, updated_at)
         select cast(lpad(to_hex(1700000000000 + i), 12, '0') || '7000b' || lpad(to_hex(i), 15, '0') as uuid), :org, 'compose', 'sent', (cast(:mailboxes as uuid[]))[1 + i % ${MAILBOXES}],
           array['q' || i || '@else.test'], 'About ' || ${WORD} || ' ' || ${WORD}, (select string_agg(${WORD}, ' ') from generate_series(1, 40 + i % 40)) || ' once' || i,
           '<s' || i || '@bench>', '<s' || i || '@bench>', 'instant', now(), now(), now(), now()
         from generate_series(cast(:from as int) + 1, cast(:to as int)) as i`,
        bounds,
      );
      await trx.raw(
        `insert into sent_words (direct_send_id, organization_id, mailbox_id, number, shelves, recipients, subject, words)
         select id, organization_id, mailbox_id, number, sent_shelves(organization_id, mailbox_id, number), to_emails[1], subject,
           inbound_message_words(subject, '', to_emails[1], body_plain)
         from (select *, nextval('sent_words_number') as number from direct_sends where organization_id = :org and mailbox_id = any(cast(:mailboxes as uuid[]))
           and id > cast(lpad(to_hex(1700000000000 + cast(:from as bigint)), 12, '0') || '7000b' || lpad(to_hex(cast(:from as bigint)), 15, '0') as uuid) order by id) d`,
        bounds,
      );
    });
  await db.transaction(async (trx) => {
    await trx.raw(`set local maintenance_work_mem = '512MB'`);
    await trx.raw(rows[0]!.indexdef);
  });
  await db.raw('vacuum analyze direct_sends, sent_words');
}

/**
 * Adds the same number of campaign emails, an email and a follow-up in each conversation of the inbox, and the times of
 * emails that people wrote. One of 500 is uncertain.
 */
async function fillCampaignEmails(
  { db }: TestDeps,
  { organizationId, mailboxIds }: Filled,
  emails: number,
  log: (line: string) => void,
): Promise<void> {
  log(`writing ${emails} campaign emails`);
  await db.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica');
    await trx.raw(
      `insert into sends (id, organization_id, enrollment_id, step_id, mailbox_id, state, recipient, message_id, conversation, slot_at, slot_day, claimed_at, sent_at, created_at, updated_at)
       select cast(lpad(to_hex(1700000000000 + i), 12, '0') || '7000c' || lpad(to_hex(i), 15, '0') as uuid), :org,
         cast(lpad(to_hex(1700000000000 + i / 2), 12, '0') || '7000d' || lpad(to_hex(i / 2), 15, '0') as uuid), gen_random_uuid(),
         (cast(:mailboxes as uuid[]))[1 + (i / 2) % ${MAILBOXES}], case when i % 500 = 0 then 'uncertain' else 'sent' end, 'p' || i || '@else.test',
         case when i % 2 = 0 then '<t' || i / 2 || '@bench>' else '<f' || i / 2 || '@bench>' end,
         jsonb_build_object('messageIds', jsonb_build_array('<t' || i / 2 || '@bench>')), at, cast(at as date), at, case when i % 500 <> 0 then at end, at, at
       from (select i, now() - (cast(:emails as int) - i) * interval '1 minute' as at from generate_series(0, cast(:emails as int) - 1) i) e`,
      { org: organizationId, mailboxes: mailboxIds, emails },
    );
    await trx.raw(
      `insert into sends (id, organization_id, mailbox_id, state, recipient, message_id, subject, slot_at, slot_day, claimed_at, sent_at, created_at, updated_at)
       select id, organization_id, mailbox_id, 'sent', to_emails[1], message_id, subject, at, cast(at as date), at, at, at, at
       from (select *, now() - random() * interval '2 years' as at from direct_sends where organization_id = :org) d`,
      { org: organizationId },
    );
  });
  await db.raw('vacuum analyze sends');
}
