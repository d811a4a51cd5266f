import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { refuseProblems } from '../../../lib/errors.ts';
import { rangeProblem } from './schemas.ts';

const DEFAULT_DAYS = 30;

/**
 * Returns the period of a report: `from` is included, `to` is not. `to` defaults to now, `from` to 30 days before `to`.
 * @param part part of the request that contains the ends
 * @throws AppError bad_request when a given end and a default one form no valid period
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
