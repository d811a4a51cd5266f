import { AppError, badRequest, type Problem } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import { organizationOf, type Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { lockOrganization } from '../organizations/grants.ts';
import { readMyOrganization, type MyOrganization } from '../organizations/organizations.ts';
import { callBack, insertDeletion, lockOpenDeletion, ownersOf, type DeletionRow } from './deletions.ts';
import { assertNothingOwed, stopWork } from './stop-work.ts';

/**
 * Schedules the erasure of the selected workspace in 14 days. Its work stops in this transaction. People can still read
 * and export its data, and cancel the deletion. API keys and applications are refused from the next request on.
 * @param confirmed name of the workspace, as the person typed it
 * @throws AppError bad_request if the name differs; conflict if the deletion is scheduled already, or mailbox orders
 * are open
 */
export async function scheduleWorkspaceDeletion(ctx: Ctx, confirmed: string): Promise<MyOrganization> {
  await transact(ctx, async (tx) => {
    await lockOrganization(tx);
    const { name } = await readMyOrganization({ ...ctx, trx: tx.trx }, tx.org.organizationId);
    const problems = nameProblems(name, confirmed);
    if (problems.length > 0) throw badRequest(message('deletion.unconfirmed'), problems);
    if (await lockOpenDeletion(tx.trx, tx.org.organizationId))
      throw new AppError('conflict', message('deletion.already_scheduled'));
    await scheduleWithin(ctx, tx, name);
  });
  return readMyOrganization(ctx, organizationOf(ctx));
}

/** Returns problems of a request for a deletion that its schema cannot detect. */
export async function deletionProblems(ctx: Ctx, confirmed: string | undefined): Promise<Problem[]> {
  if (confirmed === undefined) return [];
  const { name } = await readMyOrganization(ctx, organizationOf(ctx));
  return nameProblems(name, confirmed);
}

/** Returns the problem of a confirmation that is not the name of the workspace. */
function nameProblems(name: string, confirmed: string): Problem[] {
  return confirmed === name ? [] : [{ path: 'body.name', message: message('field.workspace_name') }];
}

/**
 * Schedules the deletion of the locked workspace of a transaction.
 * @throws AppError conflict if mailbox orders are open
 */
export async function scheduleWithin(ctx: Ctx, tx: Tx, name: string, withAccount?: DeletionRow): Promise<void> {
  const organizationId = tx.org.organizationId;
  await assertNothingOwed(tx);
  const addressees = await ownersOf(tx.trx, organizationId);
  const deletion = await insertDeletion(tx.trx, {
    kind: 'workspace',
    subjectId: organizationId,
    requestedBy: tx.actor.userId,
    now: tx.now,
    name,
    addressees,
    ...(withAccount ? { withAccount } : {}),
  });
  await stopWork({ ...ctx, joined: tx }, tx);
  tx.audit({
    action: 'organization.deletion_scheduled',
    entityType: 'organization',
    entityId: organizationId,
    metadata: { deletion_scheduled_for: deletion.scheduled_for.toISOString() },
  });
  announce(tx);
}

/**
 * Cancels the scheduled deletion of the selected workspace. Campaigns, warmup and automations stay stopped until people
 * start them.
 * @throws AppError conflict if no deletion is scheduled, if the erasure has begun, or if the workspace is deleted with
 * an account
 */
export async function keepWorkspace(ctx: Ctx): Promise<MyOrganization> {
  await transact(ctx, async (tx) => {
    await lockOrganization(tx);
    const deletion = await lockOpenDeletion(tx.trx, tx.org.organizationId);
    if (!deletion) throw new AppError('conflict', message('deletion.none'));
    if (deletion.state === 'erasing') throw new AppError('conflict', message('deletion.has_begun'));
    if (await goesWithAccount(tx, deletion))
      throw new AppError('conflict', message('deletion.with_account'), { fix: message('deletion.with_account.fix') });
    await keepWithin(tx, deletion);
  });
  return readMyOrganization(ctx, organizationOf(ctx));
}

/**
 * Returns true if the workspace is deleted together with an account. This is so while that account's deletion is not
 * cancelled, or if the only member has scheduled the deletion of their account.
 */
async function goesWithAccount(tx: Tx, { with_account: account }: DeletionRow): Promise<boolean> {
  const [row] = await tx.org.sql<{ goes: boolean }>(
    `select exists (select from deletions where id = cast(:account as uuid) and state in ('scheduled', 'erasing'))
       or (select bool_and(u.deletion_scheduled_for is not null) and count(*) = 1
         from memberships m join users u on u.id = m.user_id where m.organization_id = :org) as goes`,
    { account },
  );
  return row!.goes;
}

/** Cancels the deletion of the transaction's workspace. The row of the deletion is locked. */
export async function keepWithin(tx: Tx, deletion: DeletionRow): Promise<void> {
  await callBack(tx.trx, deletion);
  tx.audit({
    action: 'organization.deletion_called_back',
    entityType: 'organization',
    entityId: tx.org.organizationId,
  });
  announce(tx);
}

function announce(tx: Tx): void {
  tx.emit('settings.updated', { section: 'organization', changed: ['deletion_scheduled_for'] });
}
