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

/** How the warmup of a mailbox stands (GET /emails/:id/warmup). */
export interface WarmupStanding {
  mailbox: MailboxRow;
  status: 'warming' | 'paused' | 'stopped' | 'blocked';
  health: Pick<StandingRow, 'health_state' | 'reason' | 'blocked_until'>;
  dailyTarget: number;
}

const HEALTHY: WarmupStanding['health'] = { health_state: 'healthy', reason: null, blocked_until: null };

/** How the warmup of a mailbox stands. @throws AppError not_found */
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
 * Begins the warmup of a mailbox: its ramp starts today. One that is paused goes on where it was; one that is warming stays as it is.
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
 * Pauses the warmup of a mailbox; its ramp is kept. One that is paused stays as it is.
 * @throws AppError not_found, conflict where warmup is off
 */
export async function pauseWarmup(ctx: Ctx, id: string): Promise<MailboxView> {
  return change(ctx, id, 'pause', async (tx, { warmup, warmup_paused_at: pausedAt }) => {
    if (!warmup)
      throw new AppError('conflict', message('warmup.not_warming'), { fix: message('warmup.not_warming.fix', { id }) });
    return pausedAt ? {} : { warmup_paused_at: tx.now };
  });
}

/**
 * Goes on with the warmup of a mailbox where it was paused: the ramp's anchor moves by the length of the pause.
 * @throws AppError not_found, warmup_enable_failed
 */
export async function resumeWarmup(ctx: Ctx, id: string): Promise<MailboxView> {
  return change(ctx, id, 'resume', async (tx, mailbox) => {
    if (!mailbox.warmup) throw refused(message('warmup.not_warming'), message('warmup.not_warming.fix', { id }));
    await assertEnabled(tx, mailbox);
    return mailbox.warmup_paused_at ? resumed(mailbox, tx.now) : {};
  });
}

/** Ends the warmup of a mailbox and forgets its ramp: the next start begins anew. @throws AppError not_found */
export async function stopWarmup(ctx: Ctx, id: string): Promise<MailboxView> {
  return change(ctx, id, 'stop', async (_tx, { warmup }) => (warmup ? { warmup: null, warmup_paused_at: null } : {}));
}

/** The stored standing of a mailbox; undefined for one that was never warmed. */
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

/** Signals the run of a mailbox that is being warmed, and starts it where none is open. */
export function signalWarmup(tx: Tx, mailboxId: string, cause: WarmupSignals['changed']['cause']): void {
  const args = { organizationId: tx.org.organizationId, mailboxId };
  tx.intend(signal(warmupWorkflow, args, 'changed', { cause }));
}

/** Gives the planned emails of a locked mailbox back, and their places in its cap; it is planned anew when it goes on. */
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
  await offerAgain(tx, [mailboxId]);
}

/** Has the allocator of campaigns look again at locked mailboxes that may have got room: its note of when they are free is forgotten. */
export async function offerAgain(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.org.sql(
    `update mailboxes set next_free_at = 'epoch' where organization_id = :org and id = any(:ids::uuid[])`,
    { ids },
  );
}

function resumed({ warmup, warmup_paused_at: pausedAt }: MailboxRow, now: Date): Anchors {
  return { warmup: new Date(warmup!.getTime() + now.getTime() - pausedAt!.getTime()), warmup_paused_at: null };
}

/** @throws AppError warmup_enable_failed naming what stands in the way */
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
