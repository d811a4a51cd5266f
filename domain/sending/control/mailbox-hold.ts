import type { Columns } from '../../../db/rows.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { holdTitle, isOrderHold, ORDER_HOLDS, type HoldCode } from './hold-codes.ts';
import { announcePoolChange, findActiveCampaigns } from './pool-change.ts';
import { releaseReservedSends } from './release.ts';
import { message, type Message } from '../../../messages/index.ts';
import { inWords } from '../../../lib/errors.ts';
import { json } from '../../../db/connection.ts';

/** Why a mailbox rests. `until` null is until a person does something. */
interface MailboxHold {
  code: HoldCode;
  reason: Message;
  until: Date | null;
}

/**
 * How long (ms) a mailbox whose sign-in is refused rests before it is tried again by itself, for sending and for reading.
 * Providers lock accounts that try too often; new credentials end the wait at once.
 */
export const AUTH_HOLD_MS = 6 * HOUR_MS;

/**
 * Stops a mailbox from sending without changing its status: reserved slots are released, one event is emitted. Holds for sending
 * and for reading are stored apart: a later hold replaces an earlier one of its own kind, unless that lasts longer (an email that was
 * under way may be refused for a minute after another was refused until tomorrow); only another hold of an order replaces that of an
 * order. While either lasts nothing is sent, as replies would not be seen. The contacts' runs ask for another slot at the time of theirs.
 */
export async function holdMailbox(tx: Tx, mailboxId: string, hold: MailboxHold): Promise<void> {
  const side = sideOf(hold.code);
  // Sends before mailboxes, the order in which every writer takes them. A slot given out in between is refused by its claim.
  await releaseReservedSends(tx, { mailboxId });
  const [mailbox] = await tx.org.sql<HeldMailbox>(
    `with old as (select id, ${HOLD_COLUMNS} from mailboxes where organization_id = :org and id = :id for no key update)
     update mailboxes m set ${side}_code = :code, ${side}_reason = cast(:reason as jsonb), ${side}_until = :until, updated_at = :now
     from old where m.id = old.id and (:replaces or old.${side}_code is null or (old.${side}_code <> all(:lasting)
       and (:until::timestamptz is null or old.${side}_until <= greatest(:until::timestamptz, :now))))
     returning m.email, old.*`,
    {
      id: mailboxId,
      code: hold.code,
      reason: json(hold.reason),
      until: hold.until,
      now: tx.now,
      replaces: isOrderHold(hold.code),
      lasting: [...ORDER_HOLDS],
    },
  );
  if (!mailbox) return;
  const title = holdTitle(hold.code);
  await announcePoolChange(tx, mailboxId, await findActiveCampaigns(tx, mailboxId), {
    type: 'sender_held',
    message: hold.until
      ? message('log.mailbox_held_until', { until: hold.until.toISOString(), reason: title })
      : message('log.mailbox_held', { reason: title }),
  });
  const now = { ...mailbox, [`${side}_code`]: hold.code, [`${side}_until`]: hold.until };
  announceHealth(tx, mailboxId, mailbox, now, hold.reason);
  const known = await tx.org
    .table('mailbox_errors')
    .where({ mailbox_id: mailboxId, error_code: hold.code })
    .whereNull('resolved_at')
    .first('id');
  if (known) return;
  await tx.org.insert('mailbox_errors', {
    id: newId(),
    mailbox_id: mailboxId,
    severity: 'error',
    error_code: hold.code,
    message: json(hold.reason),
    created_at: tx.now,
  });
  announceError(tx, mailboxId, mailbox.email, { error_code: hold.code, title, message: hold.reason });
}

/** What receivers say of a mailbox's mail without stopping it: it is shown with the mailbox and holds nothing. */
const WARNINGS = { content_refused: true, refused_by_receiver: true, report_without_email: true };
type WarningCode = keyof typeof WARNINGS;

/** A warning is recorded once in this time (ms) per mailbox and code, because many receivers may share one opinion. */
const WARNING_EVERY_MS = DAY_MS;

/** Shows a refusal with the mailbox. It is an occurrence that nothing has to lift, so it is recorded as settled. */
export async function warnMailbox(tx: Tx, mailboxId: string, code: WarningCode, said: Message): Promise<void> {
  const [mailbox] = await tx.org.sql<Columns<'mailboxes', 'email'>>(
    `with warned as (
       insert into mailbox_errors (id, organization_id, mailbox_id, severity, error_code, message, created_at, resolved_at)
       select cast(:error as uuid), m.organization_id, m.id, 'warning', cast(:code as text), cast(:said as jsonb), cast(:now as timestamptz), :now
       from mailboxes m where m.organization_id = :org and m.id = :id and not exists (
         select 1 from mailbox_errors e where e.mailbox_id = m.id and e.error_code = :code and e.created_at > :since)
       returning mailbox_id
     )
     select m.email from mailboxes m join warned w on w.mailbox_id = m.id where m.organization_id = :org`,
    {
      code,
      said: json(said),
      error: newId(),
      id: mailboxId,
      now: tx.now,
      since: new Date(tx.now.getTime() - WARNING_EVERY_MS),
    },
  );
  if (mailbox)
    announceError(tx, mailboxId, mailbox.email, { error_code: code, title: mailboxErrorTitle(code), message: said });
}

/** The title of an error of a mailbox: what it was held for, or what receivers say of its mail. */
export function mailboxErrorTitle(code: string): Message {
  return code in WARNINGS ? message(`mailbox_warning.${code as WarningCode}`) : holdTitle(code);
}

function announceError(
  tx: Tx,
  mailboxId: string,
  email: string,
  { error_code, title, message: said }: { error_code: string; title: Message; message: Message },
): void {
  tx.emit('email_account.error', {
    email_account_id: mailboxId,
    email,
    error_code,
    title: inWords(title),
    message: inWords(said),
  });
}

/**
 * Lifts the holds of a mailbox, except that of an order, and settles their errors; with `code`, only a hold for that.
 * Returns whether there was one.
 */
export async function clearHold(tx: Tx, mailboxId: string, code: HoldCode | null = null): Promise<boolean> {
  const names = { id: mailboxId, code, lasting: [...ORDER_HOLDS], now: tx.now };
  const [mailbox] = await tx.org.sql<HeldMailbox>(
    `with old as (
       select id, ${HOLD_COLUMNS} from mailboxes
       where organization_id = :org and id = :id and (${SIDES.map(isLifted).join(' or ')}) for no key update
     )
     update mailboxes m set ${SIDES.map(liftedSide).join(', ')}, updated_at = :now
     from old where m.id = old.id returning m.email, old.*`,
    names,
  );
  await tx.org.sql(
    `update mailbox_errors set resolved_at = :now
     where organization_id = :org and mailbox_id = :id and resolved_at is null
       and case when :code::text is null then error_code <> all(:lasting) else error_code = :code end`,
    names,
  );
  if (mailbox) {
    const now = { ...mailbox };
    for (const side of SIDES)
      if (mailbox[`${side}_code`] === code || (code === null && !isOrderHold(mailbox[`${side}_code`])))
        Object.assign(now, { [`${side}_code`]: null, [`${side}_until`]: null });
    announceHealth(tx, mailboxId, mailbox, now, null);
    if (now.hold_code === null && now.imap_hold_code === null)
      await announcePoolChange(tx, mailboxId, await findActiveCampaigns(tx, mailboxId), {
        type: 'sender_back',
        message: message('log.mailbox_back'),
      });
  }
  return mailbox !== undefined;
}

/** Whether the hold of a side ends, over the row `m` or `old`. */
function isLifted(side: (typeof SIDES)[number]): string {
  return `${side}_code is not null and case when :code::text is null then ${side}_code <> all(:lasting) else ${side}_code = :code end`;
}

function liftedSide(side: (typeof SIDES)[number]): string {
  const column = (name: string) =>
    `${side}_${name} = case when ${isLifted(side).replaceAll(`${side}_code`, `old.${side}_code`)} then null else m.${side}_${name} end`;
  return ['code', 'reason', 'until'].map(column).join(', ');
}

/** A mailbox with its holds as they were before a change. */
interface HeldMailbox extends Held {
  email: string;
}

/** What a mailbox is held for: sending, and reading. */
type Held = Columns<'mailboxes', 'hold_code' | 'hold_until' | 'imap_hold_code' | 'imap_hold_until'>;

const HOLD_COLUMNS = 'hold_code, hold_until, imap_hold_code, imap_hold_until';
const SIDES = ['hold', 'imap_hold'] as const;

/** The columns a hold is kept in, by their prefix. */
function sideOf(code: HoldCode): (typeof SIDES)[number] {
  return code === 'imap_auth_failed' ? 'imap_hold' : 'hold';
}

/** How a mailbox is: `warning` when its holds end by themselves, `error` when a person has to act. */
function healthOf(held: Held): 'healthy' | 'warning' | 'error' {
  const sides = SIDES.filter((side) => held[`${side}_code`] !== null);
  if (sides.length === 0) return 'healthy';
  return sides.some((side) => held[`${side}_until`] === null) ? 'error' : 'warning';
}

function announceHealth(tx: Tx, mailboxId: string, before: HeldMailbox, now: Held, reason: Message | null): void {
  const [previous, health] = [healthOf(before), healthOf(now)];
  if (previous === health) return;
  tx.emit('email_account.health_changed', {
    email_account_id: mailboxId,
    email: before.email,
    health,
    previous_health: previous,
    reason: reason && inWords(reason),
  });
}
