import type { Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { findMailbox, getMailbox, type MailboxDetail } from '../read.ts';
import { updateMailbox, type MailboxEdit, type UpdateOptions } from '../update.ts';
import { releaseMails, signalWarmup, startWarmup, stopWarmup } from './standing.ts';

/** Settings that the daily plan depends on. After a change the rest of the day is planned again. */
const PLANNED_BY = [
  'warmup_base',
  'warmup_max',
  'warmup_increase',
  'warmup_start_time',
  'warmup_end_time',
  'warmup_days',
] as const satisfies readonly (keyof MailboxEdit)[];

/**
 * Changes a mailbox and its warmup in one transaction. Starts or resumes the warmup if `warmup` is true, and stops it
 * if false.
 * @throws AppError as in {@link updateMailbox}; warmup_enable_failed
 */
export async function changeMailbox(
  ctx: Ctx,
  id: string,
  { warmup, ...edit }: MailboxEdit & { warmup?: boolean | undefined },
  options: UpdateOptions = {},
): Promise<MailboxDetail> {
  return transact(ctx, async (tx) => {
    const within = { ...ctx, trx: tx.trx };
    await updateMailbox(within, id, edit, options);
    if (warmup !== undefined) await (warmup ? startWarmup : stopWarmup)(within, id);
    const mailbox = await findMailbox(tx.org, id, 'for update');
    if (mailbox.warmup && !mailbox.warmup_paused_at && PLANNED_BY.some((name) => edit[name] !== undefined)) {
      await releaseMails(tx, id);
      signalWarmup(tx, id, 'settings');
    }
    return getMailbox(within, id);
  });
}
