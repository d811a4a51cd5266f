import type { OrgScope } from '../../db/tenancy.ts';
import { AppError } from '../../lib/errors.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader, type Tx } from '../platform/kernel/transact.ts';
import { message } from '../../messages/index.ts';

/** Maximum number of mailboxes of a free workspace. Paid workspaces have no limit here. */
const FREE_MAILBOXES = 10;

/** Number of mailboxes that a workspace has and may have. `limit` and `remaining` are null if there is no limit. */
export interface Allowance {
  limit: number | null;
  used: number;
  remaining: number | null;
}

/** Returns the mailbox allowance of the workspace (GET /emails/allowance). */
export async function mailboxAllowance(ctx: Ctx): Promise<Allowance> {
  return read(reader(ctx));
}

/**
 * Refuses to add `count` mailboxes if the allowance is too small.
 * @param count number of mailboxes to add
 * @throws AppError mailbox_allowance_reached
 */
export async function assertRoom(org: OrgScope, count = 1): Promise<void> {
  const { limit, remaining } = await read(org);
  if (remaining === null || remaining >= count) return;
  const said =
    remaining > 0
      ? message('mailboxes.some_left', { left: remaining, wanted: count })
      : message('mailboxes.none_left', { limit: limit! });
  throw new AppError('mailbox_allowance_reached', said, {
    fix: message('mailboxes.none_left.fix'),
  });
}

/**
 * Checks the allowance before an OAuth consent starts, when the address is not yet known. Passes if the workspace
 * already has a mailbox of the provider, because the person may want to reconnect that mailbox.
 * @throws AppError mailbox_allowance_reached
 */
export async function assertReconnectable(org: OrgScope, provider: string): Promise<void> {
  const known = await org
    .table('mailboxes')
    .where({ provider: provider as 'gmail' })
    .first('id');
  if (!known) await assertRoom(org);
}

/** Locks the allowance of a workspace, so that two requests cannot both connect a mailbox for the last free place. */
export async function lockAllowance(tx: Tx): Promise<void> {
  await tx.org.sql(`select pg_advisory_xact_lock(hashtextextended('mailbox-allowance/' || cast(:org as text), 0))`);
}

async function read(org: OrgScope): Promise<Allowance> {
  const [row] = await org.sql<{ plan: string; used: number }>(
    `select o.plan, (select count(*)::int from mailboxes where organization_id = :org) as used from organizations o where o.id = :org`,
  );
  if (!row) throw new Error(`organization ${org.organizationId} is gone`);
  if (row.plan !== 'free') return { limit: null, used: row.used, remaining: null };
  return { limit: FREE_MAILBOXES, used: row.used, remaining: Math.max(0, FREE_MAILBOXES - row.used) };
}
