import { askingOnly } from '../../../db/shares.ts';
import { inReadOnly } from '../../../db/transaction.ts';
import type { Ctx } from './context.ts';

/** Maximum run time (ms) of each statement of a question. */
export const QUESTION_MS = 5_000;

/**
 * Runs a search, count or report, whose work grows with the rows of the workspace. It reads in one transaction that
 * cannot write, in the share of connections that the workspace has for questions, and with {@link QUESTION_MS} for each
 * statement. `reader` reads in that transaction.
 */
export function askQuestion<T>(ctx: Ctx, work: (ctx: Ctx) => Promise<T>): Promise<T> {
  if (ctx.trx) return work(ctx);
  const db = askingOnly(ctx.db);
  const statementMs = Math.min(QUESTION_MS, ctx.config.DB_STATEMENT_TIMEOUT_MS || QUESTION_MS);
  return inReadOnly(db, statementMs, (trx) => work({ ...ctx, db, trx }));
}
