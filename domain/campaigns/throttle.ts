import { DAY_MS, utcDay } from '../../lib/clock.ts';
import { tooManyRequests } from '../../lib/errors.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { countDaily, readCounters } from '../sending/campaign/counters.ts';
import { startOfNextDay } from '../platform/scheduling/windows.ts';
import { message } from '../../messages/index.ts';

/**
 * Counts a created or duplicated campaign in the organization's daily limit (UTC day). The counter's row is locked
 * until the commit, so concurrent requests cannot exceed the limit.
 * @throws AppError rate_limit_exceeded until the next UTC midnight
 */
export async function countNewCampaign(ctx: Ctx, tx: Tx): Promise<void> {
  const limit = ctx.config.ORG_CAMPAIGNS_PER_DAY;
  if (limit === 0) return;
  const organizationId = tx.org.organizationId;
  const day = utcDay(tx.now);
  await countDaily(tx.org, [{ scope: 'org_campaigns', scopeId: organizationId, day, by: 1 }]);
  const counts = await readCounters(tx.org, [organizationId], [day]);
  const made = counts.get(`org_campaigns/${organizationId}/${day}`) ?? 0;
  const resetMs = startOfNextDay('UTC', tx.now).getTime() - tx.now.getTime();
  ctx.reportQuota?.({
    policy: 'campaigns',
    limit,
    windowMs: DAY_MS,
    remaining: Math.max(0, limit - made),
    resetMs,
  });
  if (made > limit) throw tooManyRequests(resetMs, message('campaigns.daily_creations', { limit }));
}
