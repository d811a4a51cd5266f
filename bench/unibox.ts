import { listThreads } from '../domain/unibox/threads.ts';
import { systemCtx } from '../domain/kernel/context.ts';
import { createMailbox, createTenant } from '../test/harness/factories.ts';
import { percentile, timed } from './measure.ts';
import type { BenchContext, BenchResult } from './context.ts';

const PAGE = 50;
/** Words of the vocabulary; a word is the more frequent the lower its number. */
const VOCABULARY = 20_000;
const WORDS = 60;
const TARGET_MS = 100;

/** Searches of the inbox over many messages: words from the most frequent to those that occur once, two at a time, and pages. */
export async function run({ assembly, quick, log }: BenchContext): Promise<BenchResult> {
  const messages = quick ? 20_000 : 1_000_000;
  const rounds = quick ? 3 : 15;
  const { deps } = assembly;
  const { organizationId } = await createTenant(deps, 'Bench');
  const mailboxId = await createMailbox(deps, organizationId, 'bench@ours.test', {
    smtp: { host: '127.0.0.1', port: 1 },
  });
  log(`writing ${messages} messages`);
  await deps.db.raw('drop index inbound_messages_words');
  const page = 20_000;
  for (let from = 0; from < messages; from += page)
    await deps.db.raw(
      `insert into inbound_messages (id, organization_id, mailbox_id, folder, uid_validity, uid, message_id, thread_id, from_email, from_name, subject, body_plain, kind, received_at, created_at)
       select cast(lpad(to_hex(1700000000000 + i), 12, '0') || '7000a' || lpad(to_hex(i), 15, '0') as uuid), :org, :mailbox, 'INBOX', 1, i, '<' || i || '@bench>',
         '<t' || i / 2 || '@bench>', 'p' || i || '@else.test', 'Person ' || i, 'w' || floor(power(random(), 4) * ${VOCABULARY})::int,
         (select string_agg('w' || floor(power(random(), 4) * ${VOCABULARY})::int, ' ') from generate_series(1, ${WORDS} + i * 0)) || ' once' || i,
         'other', now(), now()
       from generate_series(cast(:from as int) + 1, cast(:to as int)) as i`,
      { org: organizationId, mailbox: mailboxId, from, to: from + page },
    );
  log('indexing');
  await deps.db.raw('create index inbound_messages_words on inbound_messages using gin (organization_id, words)');
  await deps.db.raw('vacuum analyze inbound_messages');

  const ctx = systemCtx(deps, organizationId, 'bench');
  const searches: Record<string, (round: number) => string> = {
    'in every third message or more': (round) => `w${round % 2}`,
    'in one of a hundred': (round) => `w${80 + round}`,
    'in one of five hundred': (round) => `w${1_500 + round}`,
    rare: (round) => `w${VOCABULARY - 100 + round}`,
    once: (round) => `once${Math.floor((messages / 20) * (round + 1))}`,
    'two frequent ones': (round) => `w${round} w${round + 3}`,
    'a frequent and a rare one': (round) => `w1 w${VOCABULARY - 200 + round}`,
    'nothing at all': (round) => `nothing${round}`,
  };
  const raw: Record<string, number[]> = {};
  const figures: BenchResult['figures'] = [];
  for (const [what, query] of Object.entries(searches)) {
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1)
      times.push(await timed(() => listThreads(ctx, { limit: PAGE }, { q: query(round) })));
    raw[what] = times;
    figures.push({
      label: `search: ${what}`,
      value: `p50 ${percentile(times, 0.5).toFixed(1)} ms, p95 ${percentile(times, 0.95).toFixed(1)} ms`,
    });
    log(`${what}: p95 ${percentile(times, 0.95).toFixed(1)} ms`);
  }
  const all = Object.values(raw).flat();
  const p95 = percentile(all, 0.95);
  return {
    figures: [{ label: 'messages', value: String(messages) }, ...figures],
    targets: [
      {
        what: `search over ${messages} messages, p95 of all searches`,
        target: `under ${TARGET_MS} ms`,
        got: `${p95.toFixed(1)} ms`,
        met: p95 < TARGET_MS,
      },
    ],
    raw,
  };
}
