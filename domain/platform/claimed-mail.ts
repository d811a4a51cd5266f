import { MailFailure, type SystemMessage } from '../../lib/mail/index.ts';
import type { Ctx } from './kernel/context.ts';

/** Row of a mail that the caller has claimed and only the caller may send. */
interface ClaimedRow {
  update(fields: { state: 'sent' | 'refused' | 'uncertain'; settled_at: Date }): PromiseLike<unknown>;
  delete(): PromiseLike<unknown>;
}

/**
 * Sends a claimed email of the installation and stores the result in its row. If the server's response was lost, the
 * row gets the state `uncertain`.
 * @param about ids that are logged with the mail
 * @returns the error of a temporary failure, after deleting the row so that another attempt can claim the email;
 * undefined otherwise
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
