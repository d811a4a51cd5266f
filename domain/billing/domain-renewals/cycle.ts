import { json } from '../../../db/connection.ts';
import type { Columns } from '../../../db/rows.ts';
import type { RenewalReport } from '../../../workflows/domain-renewal/contract.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { requireAction } from './move.ts';
import { GRACE_MS, LOOK_AGAIN_MS, type ManagedDomain, type RenewalCode, type RenewalRow } from './states.ts';

/** A domain with its cycle. */
export interface Cycle {
  domain: ManagedDomain;
  renewal: RenewalRow;
}

/** A wait of a day, or until the registration or the time after it ends. */
export function checkAgainLater(ctx: Ctx, { renewal }: Cycle, where: string, inMs = LOOK_AGAIN_MS): RenewalReport {
  const now = ctx.clock.now().getTime();
  const ends = renewal.expires_at.getTime();
  const next = [ends, ends + GRACE_MS].find((end) => now < end) ?? Infinity;
  const until = Math.min(now + inMs, next);
  return { kind: 'wait', state: renewal.state as 'charging', until, where };
}

/** Records that a person is needed, and waits. */
export async function needPerson(ctx: Ctx, cycle: Cycle, code: RenewalCode, detail?: string): Promise<RenewalReport> {
  const { renewal } = cycle;
  await transact(ctx, (tx) => requireAction(tx, renewal, code, detail ? { detail } : {}));
  return checkAgainLater(
    ctx,
    { ...cycle, renewal: { ...renewal, state: 'requires_action' } },
    `needs a person: ${code}`,
  );
}

/** The newest order whose mailboxes are on a domain, are in use and are paid for; undefined when there is none. */
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
