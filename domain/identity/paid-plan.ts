import { OrgScope } from '../../db/tenancy.ts';
import { AppError } from '../../lib/errors.ts';
import type { Actor } from '../platform/kernel/actor.ts';
import type { Deps } from '../platform/kernel/context.ts';
import { message } from '../../messages/index.ts';

/**
 * Refuses paid features to a workspace on the free plan. Applies only with REQUIRE_PAID_PLAN. Without this setting,
 * every workspace can use them.
 * @throws AppError forbidden
 */
export async function assertPaidPlan(
  { config, db }: Pick<Deps, 'config' | 'db'>,
  { organizationId }: Pick<Actor, 'organizationId'>,
): Promise<void> {
  if (!config.REQUIRE_PAID_PLAN || !organizationId) return;
  const [row] = await new OrgScope(db, organizationId).sql<{ plan: string }>(
    'select plan from organizations where id = :org',
  );
  if (row?.plan === 'paid') return;
  throw new AppError('forbidden', message('plan.paid_only'), {
    fix: message('plan.paid_only.fix'),
  });
}
