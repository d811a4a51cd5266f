import { json } from '../../../db/connection.ts';
import type { Columns } from '../../../db/rows.ts';
import type { RenewalReport } from '../../../workflows/domain-renewal/contract.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { CALL_IS_FREE, CALL_RECHECK_MS, callClaimMs, CLAIM_CALL } from '../../platform/kernel/call-claim.ts';
import { reader, singleStatement, transact } from '../../platform/kernel/transact.ts';
import { STRIPE_TIMEOUT_MS } from '../payments/stripe.ts';
import { requireAction } from './move.ts';
import { GRACE_MS, RECHECK_MS, type ManagedDomain, type RenewalCode, type RenewalRow } from './states.ts';

/** A domain with its renewal cycle. */
export interface Cycle {
  domain: ManagedDomain;
  renewal: RenewalRow;
}

/**
 * Returns a report to wait for `inMs` (default: a day). The wait ends earlier if the registration or its grace period
 * ends.
 */
export function recheckLater(ctx: Ctx, { renewal }: Cycle, where: string, inMs = RECHECK_MS): RenewalReport {
  const now = ctx.clock.now().getTime();
  const ends = renewal.expires_at.getTime();
  const next = [ends, ends + GRACE_MS].find((end) => now < end) ?? Infinity;
  const until = Math.min(now + inMs, next);
  return { kind: 'wait', state: renewal.state as 'charging', until, where };
}

/** Maximum number of successive calls to the payment provider and the mailbox provider in one step. */
const CALLS = 3;

/**
 * Claims the cycle and runs a step, which may call providers. Returns a short wait if another attempt may still be
 * running a step. The claim ends after the step. If the process crashes, the claim expires.
 */
export async function stepUnderClaim(
  ctx: Ctx,
  cycle: Cycle,
  step: () => Promise<RenewalReport | undefined>,
): Promise<RenewalReport | undefined> {
  const { id, state } = cycle.renewal;
  const claimMs = callClaimMs(CALLS * Math.max(ctx.config.PROVISIONING_TIMEOUT_MS, STRIPE_TIMEOUT_MS));
  const [claim] = await singleStatement(ctx).sql<{ until: string }>(
    `update domain_renewals set ${CLAIM_CALL} where organization_id = :org and id = :id and state = :state and ${CALL_IS_FREE}
     returning call_until::text as until`,
    { id, state, claimMs },
  );
  if (!claim) return recheckLater(ctx, cycle, 'another attempt may be under way', CALL_RECHECK_MS);
  try {
    return await step();
  } finally {
    await singleStatement(ctx).sql(
      `update domain_renewals set call_until = null
       where organization_id = :org and id = :id and call_until = cast(:until as timestamptz)`,
      { id, until: claim.until },
    );
  }
}

/** Records that the cycle needs a person, and returns the wait until the next check. */
export async function recordPersonNeeded(
  ctx: Ctx,
  cycle: Cycle,
  code: RenewalCode,
  detail?: string,
): Promise<RenewalReport> {
  const { renewal } = cycle;
  await transact(ctx, (tx) => requireAction(tx, renewal, code, detail ? { detail } : {}));
  return recheckLater(ctx, { ...cycle, renewal: { ...renewal, state: 'requires_action' } }, `needs a person: ${code}`);
}

/** Returns the newest order with active, paid mailboxes on a domain; undefined if there is none. */
export async function orderInUse(
  ctx: Ctx,
  { domain }: Pick<ManagedDomain, 'domain'>,
): Promise<Columns<'mailbox_orders', 'id' | 'payment_id'> | undefined> {
  const [order] = await reader(ctx).sql<Columns<'mailbox_orders', 'id' | 'payment_id'>>(
    `select id, payment_id from mailbox_orders
     where organization_id = :org and state = 'ready' and error is null and domains @> cast(:domains as jsonb) order by id desc limit 1`,
    { domains: json([{ domain }]) },
  );
  return order;
}
