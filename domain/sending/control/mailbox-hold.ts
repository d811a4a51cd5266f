import type { Columns } from '../../../db/rows.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { holdTitle, isOrderHold, ORDER_HOLDS, READING_HOLDS, type HoldCode } from './hold-codes.ts';
import { announcePoolChange, findCampaignsOfSender } from './pool-change.ts';
import { releaseReservedSends } from './release.ts';
import { message, type Message } from '../../../messages/index.ts';
import { json } from '../../../db/connection.ts';
import { codedReason } from '../../platform/coded-reason.ts';
import { render } from '../../../messages/render.ts';

/** Reason and end of a hold. If `until` is null, the hold lasts until a person ends it. */
interface MailboxHold {
  code: HoldCode;
  reason: Message;
  until: Date | null;
}

/**
 * Time (ms) for which a mailbox with a refused sign-in is held before an automatic retry, for sending and for reading.
 * Providers lock accounts that retry too often. New credentials end the hold at once.
 */
export const AUTH_HOLD_MS = 6 * HOUR_MS;

/**
 * Holds a mailbox without changing its status: releases reserved slots and emits one event. Holds for sending and for
 * reading are stored separately. While either lasts nothing is sent, because replies would not be seen. A later hold
 * replaces an earlier one of the same kind unless the earlier one lasts longer. Otherwise a refusal with a hold of a
 * minute could shorten a hold until tomorrow. A hold caused by a purchase of mailboxes is replaced only by another such
 * hold. The workflows of the contacts request new slots when their slot times come.
 */
export async function holdMailbox(tx: Tx, mailboxId: string, hold: MailboxHold): Promise<void> {
  const side = sideOf(hold.code);
  // Locks sends before mailboxes, as all writers do. The claim refuses a slot that is reserved between the two locks.
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
  await announcePoolChange(tx, mailboxId, await findCampaignsOfSender(tx, mailboxId), {
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

/**
 * Codes of receivers' objections to a mailbox's mail, and of missing capabilities of its IMAP server. They are shown
 * with the mailbox but do not hold it.
 */
const WARNINGS = { content_refused: true, refused_by_receiver: true, report_without_email: true, imap_lacks: true };
type WarningCode = keyof typeof WARNINGS;

/**
 * Minimum time (ms) between two equal warnings per mailbox and code, because many receivers may send the same
 * objection.
 */
const WARNING_EVERY_MS = DAY_MS;

/**
 * Records a warning with the mailbox and emits an event. The warning is stored as resolved, because it does not stop
 * the mailbox.
 */
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

/** Returns the title of a hold or a warning, by its error code. */
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
    title: render(title),
    message: render(said),
    ...codedReason(said),
  });
}

/**
 * Lifts the holds of a mailbox and resolves their errors. Holds caused by a purchase are kept unless `code` names them.
 * With `code`, only that hold is lifted. Returns true if a hold was lifted.
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
      await announcePoolChange(tx, mailboxId, await findCampaignsOfSender(tx, mailboxId), {
        type: 'sender_back',
        message: message('log.mailbox_back'),
      });
  }
  return mailbox !== undefined;
}

/**
 * SQL condition that {@link clearHold} lifts the hold for sending or for reading, as `side` states. It lifts the hold
 * with `:code`, or any hold not in `:lasting` if `:code` is null.
 */
function isLifted(side: (typeof SIDES)[number]): string {
  return `${side}_code is not null and case when :code::text is null then ${side}_code <> all(:lasting) else ${side}_code = :code end`;
}

function liftedSide(side: (typeof SIDES)[number]): string {
  const column = (name: string) =>
    `${side}_${name} = case when ${isLifted(side).replaceAll(`${side}_code`, `old.${side}_code`)} then null else m.${side}_${name} end`;
  return ['code', 'reason', 'until'].map(column).join(', ');
}

/** A mailbox with its holds before a change. */
interface HeldMailbox extends Held {
  email: string;
}

/** Hold columns of a mailbox for sending (`hold_`) and for reading (`imap_hold_`). */
type Held = Columns<'mailboxes', 'hold_code' | 'hold_until' | 'imap_hold_code' | 'imap_hold_until'>;

const HOLD_COLUMNS = 'hold_code, hold_until, imap_hold_code, imap_hold_until';
const SIDES = ['hold', 'imap_hold'] as const;

/** Returns the prefix of the columns in which a hold is stored. */
function sideOf(code: HoldCode): (typeof SIDES)[number] {
  return (READING_HOLDS as readonly string[]).includes(code) ? 'imap_hold' : 'hold';
}

/** Returns a mailbox's health: `warning` if every hold has an end, `error` if a person must end one. */
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
    reason: reason && render(reason),
    ...codedReason(reason),
  });
}
