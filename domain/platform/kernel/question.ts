import { askingOnly } from '../../../db/shares.ts';
import { inReadOnly } from '../../../db/transaction.ts';
import type { Ctx } from './context.ts';

/** Maximum run time (ms) of each statement of a search, count or report. */
export const QUESTION_MS = 5_000;

/**
 * Runs a search, count or report, whose cost grows with the number of rows in the workspace. Opens one read-only
 * transaction, which uses a connection of the workspace's share for such reads. Each statement is limited to {@link
 * QUESTION_MS}.
 * @param work gets a context whose `reader` uses this transaction
 */
export function askQuestion<T>(ctx: Ctx, work: (ctx: Ctx) => Promise<T>): Promise<T> {
  if (ctx.trx) return work(ctx);
  const db = askingOnly(ctx.db);
  const statementMs = Math.min(QUESTION_MS, ctx.config.DB_STATEMENT_TIMEOUT_MS || QUESTION_MS);
  return inReadOnly(db, statementMs, (trx) => work({ ...ctx, db, trx }));
}
