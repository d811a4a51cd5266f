import type { ApprovalRow } from '../../db/models/approval.ts';
import { across } from '../../db/across.ts';
import { HOUR_MS } from '../../lib/clock.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../platform/kernel/transact.ts';
import { sendClaimedMail } from '../platform/claimed-mail.ts';
import { approvalMail, type Approver } from './mail.ts';
import { approverPermissions } from '../platform/rights.ts';
import { approvalStatus, findApproval } from './view.ts';
import { toLanguage } from '../../messages/index.ts';

/** An email that this attempt has claimed, so that no other attempt sends it. */
interface Claim {
  approval: ApprovalRow;
  approver: Approver;
  /** Time from which the person receives further emails. Set only on the last email that the hourly limit permits. */
  nextAt: Date | null;
}

/**
 * Emails every member whose role may decide on an approval, one email each. Nobody gets two emails about one approval,
 * or more than APPROVAL_MAILS_PER_HOUR per hour in one workspace. The last one within the limit says that further
 * approvals appear only in the list. Sends no email about an approval that was decided or has ended. An email with an
 * unknown result, for example after a crash of the worker, is not sent again.
 * @returns the number of emails sent now, in `why`
 * @throws AppError internal_error when the mail server refused an email temporarily; the next attempt sends it again
 */
export async function mailApprovers(ctx: Ctx, approvalId: string): Promise<{ kind: 'done'; why: string }> {
  await markAbandonedUncertain(ctx, approvalId);
  let mailed = 0;
  let failure: unknown;
  for (const userId of await approversToMail(ctx, approvalId)) {
    const claim = await claimMail(ctx, approvalId, userId);
    if (claim === 'ended') break;
    if (claim === 'not_now') continue;
    const failed = await sendClaimed(ctx, claim);
    if (failed === undefined) mailed += 1;
    failure ??= failed;
  }
  if (failure !== undefined && (await isPending(ctx, approvalId))) throw failure;
  await reader(ctx)
    .table('approval_notices')
    .where({ approval_id: approvalId })
    .update({ state: 'done', blocked_reason: null });
  return { kind: 'done', why: `mailed ${mailed}` };
}

/**
 * Marks emails that are left in state `sending` as uncertain. Only one attempt runs at a time, so an earlier attempt
 * crashed while sending them, and they may have arrived.
 */
async function markAbandonedUncertain(ctx: Ctx, approvalId: string): Promise<void> {
  await reader(ctx)
    .table('approval_mails')
    .where({ approval_id: approvalId, state: 'sending' })
    .update({ state: 'uncertain', settled_at: ctx.clock.now() });
}

/** Returns people whose role allows them to decide, and who have not been emailed about the approval. */
async function approversToMail(ctx: Ctx, approvalId: string): Promise<string[]> {
  const org = reader(ctx);
  const approval = await org.table('approvals').where({ id: approvalId }).first('action_type');
  if (!approval) return [];
  const rows = await org.sql<{ user_id: string }>(
    `select m.user_id from memberships m join roles r on r.id = m.role_id
     where m.organization_id = :org and (r.is_owner or r.permissions @> cast(:needed as text[]))
       and not exists (select from approval_mails s where s.approval_id = :approval and s.user_id = m.user_id)
     order by m.user_id`,
    { approval: approvalId, needed: approverPermissions(approval.action_type) },
  );
  return rows.map(({ user_id: id }) => id);
}

/**
 * Claims the email to one person. Claims nothing if the approval has ended, the person may no longer decide, or the
 * hourly limit is reached.
 */
function claimMail(ctx: Ctx, approvalId: string, userId: string): Promise<Claim | 'ended' | 'not_now'> {
  return transact(ctx, async (tx) => {
    // Locks the emails to this person, so that concurrent claims for several approvals count each other's emails.
    await tx.org.lock(`approval mails ${tx.org.organizationId} ${userId}`);
    const approval = await findApproval(tx.org, approvalId);
    if (approvalStatus(approval, tx.now) !== 'pending') return 'ended';
    const approver = await approverOf(tx, userId, approval);
    if (!approver) return 'not_now';
    const { APPROVAL_MAILS_PER_HOUR: perHour } = ctx.config;
    const had = await mailsOfHour(tx, userId);
    const state = had.length < perHour ? 'sending' : 'left_out';
    const claimed = await tx.org.sql(
      `insert into approval_mails (approval_id, user_id, organization_id, state, claimed_at)
       values (:approval, :user, :org, :state, :now) on conflict do nothing returning user_id`,
      { approval: approvalId, user: userId, state, now: tx.now },
    );
    if (claimed.length === 0 || state === 'left_out') return 'not_now';
    const oldest = had[0] ?? tx.now;
    return {
      approval,
      approver,
      nextAt: had.length + 1 < perHour ? null : new Date(oldest.getTime() + HOUR_MS),
    };
  });
}

async function approverOf(
  tx: Tx,
  userId: string,
  { action_type: action }: Pick<ApprovalRow, 'action_type'>,
): Promise<Approver | undefined> {
  const [member] = await tx.org.sql<{ email: string; language: string | null }>(
    `select u.email, u.language from memberships m join roles r on r.id = m.role_id join users u on u.id = m.user_id
     where m.organization_id = :org and m.user_id = :user and (r.is_owner or r.permissions @> cast(:needed as text[]))`,
    { user: userId, needed: approverPermissions(action) },
  );
  if (!member) return undefined;
  const workspace = await across(tx.trx, 'person')
    .table('organizations')
    .where({ id: tx.org.organizationId })
    .first('name', 'language');
  const language = toLanguage(member.language ?? workspace!.language);
  return { userId, email: member.email, workspace: workspace!.name, language };
}

/** Returns the times of a person's emails within the last hour, oldest first. */
async function mailsOfHour(tx: Tx, userId: string): Promise<Date[]> {
  const rows = await tx.org.sql<{ claimed_at: Date }>(
    `select claimed_at from approval_mails
     where organization_id = :org and user_id = :user and claimed_at > :since and state in ('sending', 'sent', 'uncertain')
     order by claimed_at`,
    { user: userId, since: new Date(tx.now.getTime() - HOUR_MS) },
  );
  return rows.map(({ claimed_at: at }) => at);
}

/**
 * Sends a claimed email and stores the result. If the server refuses it temporarily, releases the claim and returns the
 * error.
 */
async function sendClaimed(ctx: Ctx, { approval, approver, nextAt }: Claim): Promise<unknown> {
  const mail = reader(ctx)
    .table('approval_mails')
    .where({ approval_id: approval.id, user_id: approver.userId, state: 'sending' });
  return sendClaimedMail(ctx, approvalMail(ctx.config, approval, approver, nextAt), mail, {
    approvalId: approval.id,
    userId: approver.userId,
  });
}

async function isPending(ctx: Ctx, approvalId: string): Promise<boolean> {
  return approvalStatus(await findApproval(reader(ctx), approvalId), ctx.clock.now()) === 'pending';
}
