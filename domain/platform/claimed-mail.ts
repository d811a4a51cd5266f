import { MailFailure, type SystemMessage } from '../../lib/mail/index.ts';
import type { Ctx } from './kernel/context.ts';

/** The row of a mail that this attempt alone may send. */
interface ClaimedRow {
  update(fields: { state: 'sent' | 'refused' | 'uncertain'; settled_at: Date }): PromiseLike<unknown>;
  delete(): PromiseLike<unknown>;
}

/**
 * Sends a claimed mail of the installation and settles its row: as uncertain where the server's answer was lost.
 * @param about ids for the log
 * @returns the failure of one that the server did not take now, whose row is deleted so that it can be claimed again; undefined otherwise
 */
export async function sendClaimedMail(
  ctx: Ctx,
  message: SystemMessage,
  row: ClaimedRow,
  about: Record<string, string>,
): Promise<unknown> {
  const settle = (state: 'sent' | 'refused' | 'uncertain') => row.update({ state, settled_at: ctx.clock.now() });
  try {
    await ctx.systemMail.send(message);
  } catch (error) {
    const fate = error instanceof MailFailure ? error.fate : 'unknown';
    ctx.log.warn({ err: error, ...about, fate }, 'a mail to a member failed');
    if (fate === 'later') {
      await row.delete();
      return error;
    }
    await settle(fate === 'never' ? 'refused' : 'uncertain');
    return undefined;
  }
  await settle('sent');
  return undefined;
}
