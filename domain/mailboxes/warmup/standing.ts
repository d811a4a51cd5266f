import { changed } from '../../platform/changes.ts';
import type { MailboxRow } from '../../../db/models/mailbox.ts';
import { Mailboxes } from '../../../db/models/mailbox.ts';
import type { Columns, Row } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { AppError } from '../../../lib/errors.ts';
import { signal } from '../../../temporal/dispatch.ts';
import { warmupWorkflow, type WarmupSignals } from '../../../workflows/warmup/contract.ts';
import { countDaily } from '../../sending/campaign/counters.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { findMailbox, holdOf, statusMessage, view, type MailboxView } from '../read.ts';
import { dailyTarget, isOut } from './ramp.ts';
import { message, type Message } from '../../../messages/index.ts';

export type StandingRow = Row<'warmup_standings'>;

/** State of a mailbox's warmup (GET /emails/:id/warmup). */
export interface WarmupStanding {
  mailbox: MailboxRow;
  status: 'warming' | 'paused' | 'stopped' | 'blocked';
  health: Pick<StandingRow, 'health_state' | 'reason' | 'evaluated_at' | 'blocked_until'>;
  dailyTarget: number;
}

const HEALTHY: WarmupStanding['health'] = {
  health_state: 'healthy',
  reason: null,
  evaluated_at: null,
  blocked_until: null,
};

/**
 * Returns the state of a mailbox's warmup.
 * @throws AppError not_found
 */
export async function readStanding(ctx: Ctx, id: string): Promise<WarmupStanding> {
  const org = reader(ctx);
  const mailbox = await findMailbox(org, id);
  const health = (await findStanding(org, id)) ?? HEALTHY;
  return {
    mailbox,
    health,
    status: !mailbox.warmup
      ? 'stopped'
      : isOut(health.health_state)
        ? 'blocked'
        : mailbox.warmup_paused_at
          ? 'paused'
          : 'warming',
    dailyTarget: dailyTarget(mailbox, health.health_state, ctx.clock.now()),
  };
}

/**
 * Starts the warmup of a mailbox. Its ramp begins today. Resumes a paused warmup, and does not change an active one.
 * @throws AppError not_found, warmup_enable_failed
 */
export async function startWarmup(ctx: Ctx, id: string): Promise<MailboxView> {
  return change(ctx, id, 'start', async (tx, mailbox) => {
    await assertEnabled(tx, mailbox);
    if (mailbox.warmup_paused_at) return resumed(mailbox, tx.now);
    if (mailbox.warmup) return {};
    await tx.org.sql(
      `insert into warmup_standings (mailbox_id, organization_id) values (:mailbox, :org) on conflict (mailbox_id) do nothing`,
      { mailbox: id },
    );
    return { warmup: tx.now };
  });
}

/**
 * Pauses the warmup of a mailbox and keeps its ramp. A paused warmup stays paused.
 * @throws AppError not_found, conflict if warmup is off
 */
export async function pauseWarmup(ctx: Ctx, id: string): Promise<MailboxView> {
  return change(ctx, id, 'pause', async (tx, { warmup, warmup_paused_at: pausedAt }) => {
    if (!warmup)
      throw new AppError('conflict', message('warmup.not_warming'), { fix: message('warmup.not_warming.fix', { id }) });
    return pausedAt ? {} : { warmup_paused_at: tx.now };
  });
}

/**
 * Resumes a paused warmup. Shifts the first day of the ramp by the length of the pause.
 * @throws AppError not_found, warmup_enable_failed
 */
export async function resumeWarmup(ctx: Ctx, id: string): Promise<MailboxView> {
  return change(ctx, id, 'resume', async (tx, mailbox) => {
    if (!mailbox.warmup) throw refused(message('warmup.not_warming'), message('warmup.not_warming.fix', { id }));
    await assertEnabled(tx, mailbox);
    return mailbox.warmup_paused_at ? resumed(mailbox, tx.now) : {};
  });
}

/**
 * Stops the warmup of a mailbox and deletes its ramp, so that the next start begins again.
 * @throws AppError not_found
 */
export async function stopWarmup(ctx: Ctx, id: string): Promise<MailboxView> {
  return change(ctx, id, 'stop', async (_tx, { warmup }) => (warmup ? { warmup: null, warmup_paused_at: null } : {}));
}

/** Returns the stored warmup state of a mailbox, or undefined if its warmup was never started. */
export async function findStanding(org: OrgScope, mailboxId: string): Promise<StandingRow | undefined> {
  const [row] = await org.sql<StandingRow>(
    `select * from warmup_standings where organization_id = :org and mailbox_id = :mailbox`,
    { mailbox: mailboxId },
  );
  return row;
}

type Anchors = Partial<Pick<MailboxRow, 'warmup' | 'warmup_paused_at'>>;

async function change(
  ctx: Ctx,
  id: string,
  action: 'start' | 'pause' | 'resume' | 'stop',
  decide: (tx: Tx, mailbox: MailboxRow) => Promise<Anchors>,
): Promise<MailboxView> {
  return transact(ctx, async (tx) => {
    const mailbox = await findMailbox(tx.org, id, 'for update');
    const anchors = await decide(tx, mailbox);
    if (Object.keys(anchors).length > 0) {
      await tx.org
        .query(Mailboxes)
        .findById(id)
        .patch({ ...anchors, updated_at: tx.now } as never);
      if (action === 'pause' || action === 'stop') await releaseMails(tx, id);
      tx.audit({
        action: 'update',
        entityType: 'email_account',
        entityId: id,
        changes: changed(mailbox, anchors),
        metadata: { warmup: action },
      });
      signalWarmup(tx, id, action);
    }
    return (await view(tx.org, [await findMailbox(tx.org, id)]))[0]!;
  });
}

/** Signals the warmup workflow of a mailbox. Starts the workflow if none is open. */
export function signalWarmup(tx: Tx, mailboxId: string, cause: WarmupSignals['changed']['cause']): void {
  const args = { organizationId: tx.org.organizationId, mailboxId };
  tx.intend(signal(warmupWorkflow, args, 'changed', { cause }));
}

/**
 * Deletes the planned emails of a locked mailbox and reduces the daily counts accordingly. The mailbox is planned again
 * when its warmup continues.
 */
export async function releaseMails(tx: Tx, mailboxId: string): Promise<void> {
  const days = await tx.org.sql<Columns<'warmup_mails', 'slot_day'>>(
    `delete from warmup_mails where organization_id = :org and mailbox_id = :mailbox and state = 'reserved' returning slot_day`,
    { mailbox: mailboxId },
  );
  await countDaily(
    tx.org,
    days.map(({ slot_day: day }) => ({ scope: 'mailbox', scopeId: mailboxId, day, by: -1 })),
  );
  await tx.org.sql(
    `update warmup_standings set planned_day = null where organization_id = :org and mailbox_id = :mailbox`,
    { mailbox: mailboxId },
  );
  await resetFreeTime(tx, [mailboxId]);
}

/**
 * Resets the stored time of the next free slot for locked mailboxes that may have quota again. The planning of campaign
 * emails then checks these mailboxes again.
 */
export async function resetFreeTime(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.org.sql(
    `update mailboxes set next_free_at = 'epoch' where organization_id = :org and id = any(:ids::uuid[])`,
    { ids },
  );
}

function resumed({ warmup, warmup_paused_at: pausedAt }: MailboxRow, now: Date): Anchors {
  return { warmup: new Date(warmup!.getTime() + now.getTime() - pausedAt!.getTime()), warmup_paused_at: null };
}

/** Checks that the warmup of a mailbox can be started. @throws AppError warmup_enable_failed with the reason */
async function assertEnabled(tx: Tx, mailbox: MailboxRow): Promise<void> {
  if (mailbox.status !== 'active') throw refused(statusMessage(mailbox.status), message('mailboxes.switch_on.fix'));
  if (!mailbox.imap) throw refused(message('warmup.no_imap'), message('warmup.no_imap.fix'));
  const hold = holdOf(mailbox);
  if (hold && (hold.until === null || hold.until > tx.now))
    throw refused(message('mailboxes.is_held', { reason: hold.reason }), message('warmup.held.fix'));
  const standing = await findStanding(tx.org, mailbox.id);
  if (standing?.health_state === 'blocked' && standing.blocked_until && standing.blocked_until > tx.now)
    throw refused(
      message('warmup.blocked_until', { at: standing.blocked_until.toISOString() }),
      message('warmup.blocked_until.fix'),
    );
}

function refused(said: Message, fix: Message): AppError {
  return new AppError('warmup_enable_failed', said, { fix });
}
