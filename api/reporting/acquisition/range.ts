import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { refuseProblems } from '../../../lib/errors.ts';
import { rangeProblem } from './schemas.ts';

const DEFAULT_DAYS = 30;

/**
 * The time that a report is about: `from` is in it, `to` is not. Without `to` it ends now, without `from` it begins 30 days before its end.
 * @param part of the request that the ends are in
 * @throws AppError bad_request when an end that is given and one that is not do not go together
 */
export function rangeOf(
  ctx: Ctx,
  given: { from?: Date | undefined; to?: Date | undefined },
  part: 'query' | 'body' = 'query',
): { from: Date; to: Date } {
  const to = given.to ?? ctx.clock.now();
  const from = given.from ?? new Date(to.getTime() - DEFAULT_DAYS * DAY_MS);
  const fault = rangeProblem({ from, to });
  refuseProblems(fault ? [{ path: `${part}.to`, message: fault }] : []);
  return { from, to };
}
