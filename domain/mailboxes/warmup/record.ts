import { randomInt } from 'node:crypto';
import type { Columns } from '../../../db/rows.ts';
import { MINUTE_MS, utcDay } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import { countDaily } from '../../sending/campaign/counters.ts';
import { advanceFolder, type MessageLocation } from '../../sending/outcomes/record-inbound.ts';
import { freeFrom, readSeats } from '../../sending/seats.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { nextSpan } from '../../platform/scheduling/windows.ts';
import { evaluateHealth } from './health.ts';
import { insertMails, openingHours, type Window } from './plan.ts';
import { matchedOf, pairWeight, type WarmupRule } from './routing.ts';
import { signalWarmup } from './standing.ts';

/** Minimum and maximum delay (ms) of a reply after its email arrived. */
const REPLY_AFTER_MS = [4 * MINUTE_MS, 120 * MINUTE_MS] as const;
const NO_CAMPAIGN = { id: '00000000-0000-0000-0000-000000000000' };

type Landed = Columns<'warmup_mails', 'id' | 'mailbox_id' | 'answers' | 'subject'> & { landed: string | null };

/**
 * Records the placement of a message if it is a warmup email. Evaluates its sender's health and may plan a reply. A
 * warmup email is not stored as an inbound message and has no effect on threads, replies or contacts. The same
 * transaction also stores the folder's reading progress.
 * @returns true if the message is a warmup email
 */
export async function recordWarmup(
  ctx: Ctx,
  mailbox: { id: string },
  raw: Buffer,
  location: MessageLocation,
): Promise<boolean> {
  const messageId = messageIdOf(raw);
  if (!messageId) return false;
  const bindings = { message: messageId, mailbox: mailbox.id };
  const [known] = await reader(ctx).sql<Columns<'warmup_mails', 'mailbox_id'>>(
    `select mailbox_id from warmup_mails where organization_id = :org and message_id = :message and partner_id = :mailbox limit 1`,
    bindings,
  );
  if (!known) return false;
  const isSpam = location.folder !== 'INBOX';
  await transact(ctx, async (tx) => {
    const pair = await lockPair(tx, [mailbox.id, known.mailbox_id]);
    const [mail] = await tx.org.sql<Landed>(
      `with old as (
         select id, landed from warmup_mails where organization_id = :org and message_id = :message and partner_id = :mailbox for update)
       update warmup_mails w set landed = coalesce(w.landed, :where), landed_at = coalesce(w.landed_at, :now),
         state = 'sent', sent_at = coalesce(w.sent_at, w.claimed_at)
       from old where w.id = old.id returning w.id, w.mailbox_id, w.answers, w.subject, old.landed`,
      { ...bindings, where: isSpam ? 'spam' : 'inbox', now: tx.now },
    );
    await advanceFolder(tx, mailbox.id, location);
    // Returns early if the email was recorded before: it was moved from the spam folder, or read again under another
    // UID.
    if (!mail || mail.landed) return;
    if (isSpam) tx.emit('warmup.placement_in_spam', { email_account_id: mail.mailbox_id, warmup_email_id: mail.id });
    if (mail.answers === null) await planReply(tx, mail, pair, mailbox.id);
    await evaluateHealth(tx, mail.mailbox_id);
  });
  return true;
}

type Replier = Window &
  Columns<'mailboxes', 'id' | 'email' | 'provider' | 'status' | 'warmup' | 'warmup_paused_at' | 'warmup_reply_rate'> & {
    host: string;
  };

/**
 * Locks both mailboxes in the order of their ids, before any of their other rows. Planning and sending use the same
 * order, so that transactions cannot deadlock.
 */
function lockPair(tx: Tx, ids: readonly string[]): Promise<Replier[]> {
  return tx.org.sql<Replier>(
    `select id, email, provider, smtp ->> 'host' as host, status, warmup, warmup_paused_at, warmup_reply_rate, timezone, warmup_days,
       warmup_start_time, warmup_end_time
     from mailboxes where organization_id = :org and id = any(:ids::uuid[]) order by id for no key update`,
    { ids },
  );
}

/**
 * Plans a reply, with the mailbox's reply rate as probability. Plans no reply if a rule excludes the pair in either
 * direction. Signals the mailbox's workflow if the reply is due before the time for which the workflow waits.
 */
async function planReply(tx: Tx, mail: Landed, rows: readonly Replier[], mailboxId: string): Promise<void> {
  const replier = rows.find(({ id }) => id === mailboxId);
  const writer = rows.find(({ id }) => id === mail.mailbox_id);
  if (!replier?.warmup || !writer?.warmup || replier.warmup_paused_at || replier.status !== 'active') return;
  if (randomInt(100) >= replier.warmup_reply_rate) return;
  const rules = await tx.org.sql<WarmupRule>(
    `select * from warmup_rules where organization_id = :org and enabled order by priority, id`,
  );
  const [from, to] = [matchedOf(replier), matchedOf(writer)];
  if (pairWeight(rules, from, to) === 0 || pairWeight(rules, to, from) === 0) return;
  const now = tx.now.getTime();
  const [seat] = await readSeats(tx.org, NO_CAMPAIGN, [mailboxId], { day: utcDay(now), from: now, until: now });
  const wanted = freeFrom(seat!, now + randomInt(...REPLY_AFTER_MS));
  if (!Number.isFinite(wanted)) return;
  const span = nextSpan(openingHours(replier), wanted);
  if (!span) return;
  const at = span.from <= wanted ? wanted : freeFrom(seat!, span.from + randomInt(60 * MINUTE_MS));
  if (!Number.isFinite(at) || at >= span.to) return;
  await insertMails(tx, [
    { id: newId(), mailbox_id: mailboxId, partner_id: mail.mailbox_id, answers: mail.id, slot_at: new Date(at) },
  ]);
  await countDaily(tx.org, [{ scope: 'mailbox', scopeId: mailboxId, day: utcDay(at), by: 1 }]);
  await signalIfEarlier(tx, mailboxId, at);
}

/**
 * Signals the workflow of a mailbox if an email at `at` (epoch ms) is due before the time for which the workflow waits.
 */
export async function signalIfEarlier(tx: Tx, mailboxId: string, at: number): Promise<void> {
  const [earlier] = await tx.org.sql(
    `select 1 from warmup_mails where organization_id = :org and mailbox_id = :mailbox and state in ('reserved', 'sending') and slot_at < :at limit 1`,
    { mailbox: mailboxId, at: new Date(at) },
  );
  if (!earlier) signalWarmup(tx, mailboxId, 'reply');
}

/** Returns the Message-ID of a message, with angle brackets. */
function messageIdOf(raw: Buffer): string | undefined {
  const end = raw.indexOf('\r\n\r\n');
  const head = raw.toString('latin1', 0, end === -1 ? Math.min(raw.length, 65_536) : Math.min(end, 65_536));
  return /^message-id:\s*(<[^<>\s]{1,500}>)/im.exec(head)?.[1];
}
