import { DAY_MS } from '../../../lib/clock.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { isOut, type HealthState } from './ramp.ts';
import { resetFreeTime, releaseMails } from './standing.ts';
import { message } from '../../../messages/index.ts';
import { json } from '../../../db/connection.ts';
import { codedReason } from '../../platform/coded-reason.ts';
import { render } from '../../../messages/render.ts';

/**
 * Period (ms) from which emails are counted. `SAMPLES` limits their number. With fewer than `SAMPLES.least` emails the
 * mailbox is treated as healthy.
 */
const HEALTH_WINDOW_MS = 7 * DAY_MS;
const SAMPLES = { least: 8, most: 100 };
/** States and the share (percent) of emails in spam from which each applies, worst state first. */
const BANDS: readonly [HealthState, number][] = [
  ['blocked', 70],
  ['quarantined', 50],
  ['throttled', 30],
  ['watch', 15],
];
const OUT_MS: Partial<Record<HealthState, number>> = { quarantined: 3 * DAY_MS, blocked: 14 * DAY_MS };

/** States in which a mailbox sends fewer warmup emails than its ramp would allow. */
const SMALLER = new Set<HealthState>(['throttled', 'quarantined', 'blocked']);

interface Counted {
  health_state: HealthState;
  spam: number;
  bounced: number;
  samples: number;
}

/** Returns the state and score of a mailbox. `missed` of `samples` emails landed in spam or bounced. */
export function healthOf(missed: number, samples: number): { state: HealthState; score: number } {
  if (samples < SAMPLES.least) return { state: 'healthy', score: 100 };
  const share = (100 * missed) / samples;
  return { state: BANDS.find(([, from]) => share >= from)?.[0] ?? 'healthy', score: Math.round(100 - share) };
}

/**
 * Evaluates a mailbox's health from the placement of its recent warmup emails. A bounce is treated like spam. A
 * quarantined or blocked mailbox leaves the pool for some time. When that time ends, its earlier emails are no longer
 * considered. The mailbox must be locked.
 */
export async function evaluateHealth(tx: Tx, mailboxId: string): Promise<void> {
  const [now] = await tx.org.sql<Counted>(
    `with standing as (select * from warmup_standings where organization_id = :org and mailbox_id = :mailbox for update),
       recent as (
         select w.landed from warmup_mails w join standing s on s.mailbox_id = w.mailbox_id
         where w.landed is not null and w.landed_at > greatest(cast(:since as timestamptz), coalesce(s.blocked_until, '-infinity'))
         order by w.landed_at desc limit :most)
     select s.health_state, (select count(*) from recent)::int as samples,
       (select count(*) filter (where landed = 'spam') from recent)::int as spam,
       (select count(*) filter (where landed = 'bounced') from recent)::int as bounced
     from standing s`,
    { mailbox: mailboxId, since: new Date(tx.now.getTime() - HEALTH_WINDOW_MS), most: SAMPLES.most },
  );
  // Returns early for a quarantined or blocked mailbox, which keeps its state until the end of that time.
  if (!now || isOut(now.health_state)) return;
  const { state, score } = healthOf(now.spam + now.bounced, now.samples);
  const counts = { spam: now.spam, count: now.samples };
  const reason =
    state === 'healthy'
      ? null
      : now.bounced > 0
        ? message('warmup.in_spam_returned', { ...counts, returned: now.bounced })
        : message('warmup.in_spam', counts);
  const outMs = OUT_MS[state];
  await tx.org
    .table('warmup_standings')
    .where({ mailbox_id: mailboxId })
    .update({
      health_state: state,
      score,
      reason: reason && json(reason),
      evaluated_at: tx.now,
      ...(outMs ? { blocked_until: new Date(tx.now.getTime() + outMs) } : {}),
    });
  if (state === now.health_state) return;
  // Releases the planned emails, so that the rest of the day is planned again with fewer emails.
  if (SMALLER.has(state)) await releaseMails(tx, mailboxId);
  else await resetFreeTime(tx, [mailboxId]);
  const data = {
    email_account_id: mailboxId,
    health_state: state,
    previous_state: now.health_state,
    reason: reason && render(reason),
    ...codedReason(reason),
  };
  tx.emit('warmup.health_changed', data);
  if (state === 'quarantined') tx.emit('warmup.quarantined', data);
  if (state === 'blocked') tx.emit('warmup.blocked', data);
}
