import { created } from '../../platform/changes.ts';
import { across } from '../../../db/across.ts';
import { inTransaction } from '../../../db/transaction.ts';
import type { Trx } from '../../../db/connection.ts';
import { Invitations, type InvitationRow } from '../../../db/models/invitation.ts';
import { Roles } from '../../../db/models/role.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { newSecret, sha256 } from '../../../lib/crypto.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { AppError, notFound, refuseProblems, type Problem } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { invitationMail } from '../mails.ts';
import { actingAs } from '../sessions.ts';
import { throttle } from '../throttle.ts';
import { organizationOf, type Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { beyondHeld, readPerson } from '../../platform/rights.ts';
import { assertOwnWorkspaceStays } from '../../platform/workspace-deletion.ts';
import { assertMayGrant, lockOrganization, roleProblems, roleToGrant } from './grants.ts';
import { isMember } from './members.ts';
import { readMyOrganization, type MyOrganization } from './organizations.ts';
import { isAdmitted } from './settings.ts';
import { message } from '../../../messages/index.ts';

/** Validity (days) of an invitation. */
const INVITATION_DAYS = 7;
const LIST = 'invitations';

/** An invitation with the name of its role. */
export type InvitationView = InvitationRow & { role_name: string };

/** Lists invitations that were neither accepted nor cancelled, newest first. Includes expired invitations. */
export async function listInvitations(ctx: Ctx, page: PageRequest): Promise<Page<InvitationView>> {
  const after = decodeIdCursor(LIST, null, page.cursor);
  const org = reader(ctx);
  const query = org
    .query(Invitations)
    .whereNull('accepted_at')
    .whereNull('cancelled_at')
    .orderBy('id', 'desc')
    .limit(page.limit + 1);
  if (after) void query.where('id', '<', after);
  const { rows, nextCursor } = pageOf(await query, page.limit, (last) => encodeCursor(LIST, null, [last.id]));
  const roles = await org
    .query(Roles)
    .findByIds(rows.map(({ role_id }) => role_id))
    .select('id', 'name');
  const names = new Map(roles.map(({ id, name }) => [id, name]));
  return { rows: rows.map((row) => ({ ...row, role_name: names.get(row.role_id)! })), nextCursor };
}

function domainProblems(email: string, domains: readonly string[]): Problem[] {
  return isAdmitted(email, domains)
    ? []
    : [{ path: 'body.email', message: message('field.member_domain', { domains: [...domains] }) }];
}

/** Returns problems of an invitation's address: its domain must be one that the workspace admits. */
export async function invitationProblems(ctx: Ctx, email: string | undefined): Promise<Problem[]> {
  if (email === undefined) return [];
  const organization = await across(ctx.trx ?? ctx.db, 'person')
    .table('organizations')
    .where('id', organizationOf(ctx))
    .first('member_email_domains');
  return domainProblems(email, organization?.member_email_domains ?? []);
}

/**
 * Counts an invitation in the limits before it is created. This is separate from {@link invite}, because the count must
 * persist if the invitation is rolled back.
 * @throws AppError rate_limit_exceeded
 */
export async function admitInvitation(ctx: Ctx, email: string): Promise<void> {
  await throttle(ctx, 'invitations', organizationOf(ctx));
  await throttle(ctx, 'invitation_mail', `${organizationOf(ctx)}/${email}`);
  await throttle(ctx, 'invitation_mail_total', email);
}

/**
 * Invites an address and emails it the link. The invitation is not stored if the email cannot be sent.
 * @throws AppError bad_request (unknown role, a domain that the workspace does not admit), forbidden (a role with more
 * permissions than the caller's), conflict (a member, or already invited), internal_error
 */
export async function invite(ctx: Ctx, input: { email: string; role_id: string }): Promise<InvitationView> {
  const token = newSecret();
  return transact(ctx, async (tx) => {
    await lockOrganization(tx);
    const people = across(tx.trx, 'person');
    const organization = (await people
      .table('organizations')
      .where('id', tx.org.organizationId)
      .first('name', 'language', 'member_email_domains'))!;
    const outside = domainProblems(input.email, organization.member_email_domains);
    if (outside.length > 0) refuseProblems([...outside, ...(await roleProblems(tx.org, input.role_id))]);
    const role = await roleToGrant(tx, input.role_id);
    await assertMayGrant(tx, role);
    if (await isMember(tx, input.email)) throw new AppError('conflict', message('invitation.member'));
    await tx.org
      .query(Invitations)
      .where('email', input.email)
      .whereNull('accepted_at')
      .whereNull('cancelled_at')
      .where('expires_at', '<=', tx.now)
      .patch({ cancelled_at: tx.now });
    const row = await tx.org.create(Invitations, {
      id: newId(),
      email: input.email,
      role_id: role.id,
      token_hash: sha256(token),
      invited_by: ctx.actor.userId,
      created_at: tx.now,
      expires_at: new Date(tx.now.getTime() + INVITATION_DAYS * DAY_MS),
    });
    tx.audit({
      action: 'create',
      entityType: 'invitation',
      entityId: row.id,
      changes: created({ email: row.email, role: role.name }),
    });
    tx.emit('team.member_invited', { invitation_id: row.id, email: row.email, role_id: role.id, role_name: role.name });
    const account = await people.table('users').where('email', input.email).first('language');
    const invited = { to: input.email, workspace: organization.name, token, days: INVITATION_DAYS };
    // Sends the email last and before the commit, so that the invitation is rolled back if the mail server refuses the
    // email.
    await ctx.systemMail.send(invitationMail(ctx, invited, { language: account?.language ?? organization.language }));
    return { ...row, role_name: role.name } as InvitationView;
  });
}

/**
 * Cancels an open invitation, so that its link stops working.
 * @throws AppError not_found, also for an accepted or cancelled invitation
 */
export async function cancelInvitation(ctx: Ctx, id: string): Promise<void> {
  if (!isUuid(id)) throw notFound('invitation');
  await transact(ctx, async (tx) => {
    const cancelled = await tx.org
      .query(Invitations)
      .findById(id)
      .whereNull('accepted_at')
      .whereNull('cancelled_at')
      .patch({ cancelled_at: tx.now });
    if (cancelled === 0) throw notFound('invitation');
    tx.audit({ action: 'delete', entityType: 'invitation', entityId: id });
    tx.emit('team.invitation_cancelled', { invitation_id: id });
  });
}

/**
 * Returns the open invitation of an emailed token.
 * @throws AppError invitation_invalid (403) when the invitation is unknown, used, cancelled, expired or for another
 * address
 */
export async function findOpenInvitation(ctx: Ctx, token: string, email: string): Promise<{ id: string }> {
  const row = await across(ctx.db, 'person')
    .table('invitations')
    .where({ token_hash: sha256(token), email })
    .whereNull('accepted_at')
    .whereNull('cancelled_at')
    .where('expires_at', '>', ctx.clock.now())
    .first('id', 'organization_id');
  if (!row) throw invalid();
  await assertAdmitted(across(ctx.db, 'person'), row.organization_id, email);
  return { id: row.id };
}

/** @throws AppError invitation_invalid when the organization does not admit the address's domain */
async function assertAdmitted(db: ReturnType<typeof across>, organizationId: string, email: string): Promise<void> {
  const organization = await db.table('organizations').where('id', organizationId).first('member_email_domains');
  const domains = organization?.member_email_domains ?? [];
  if (isAdmitted(email, domains)) return;
  throw new AppError('invitation_invalid', message('invitation.domain', { domains }), {
    fix: message('invitation.domain.fix'),
  });
}

/**
 * Returns the content of an invitation's page for anybody with its link.
 * @throws AppError invitation_invalid
 */
export async function readInvitation(
  ctx: Ctx,
  token: string,
): Promise<{ email: string; organization: string; role: string; hasAccount: boolean }> {
  const db = across(ctx.db, 'person');
  const row = await db
    .table('invitations')
    .where({ token_hash: sha256(token) })
    .whereNull('accepted_at')
    .whereNull('cancelled_at')
    .where('expires_at', '>', ctx.clock.now())
    .first('email', 'organization_id', 'role_id');
  if (!row) throw invalid();
  const [organization, role, account] = await Promise.all([
    db.table('organizations').where('id', row.organization_id).first('name'),
    db.table('roles').where('id', row.role_id).first('name'),
    db.table('users').where('email', row.email).first('id'),
  ]);
  if (!organization || !role) throw invalid();
  await assertAdmitted(db, row.organization_id, row.email);
  return { email: row.email, organization: organization.name, role: role.name, hasAccount: account !== undefined };
}

function invalid(): AppError {
  return new AppError('invitation_invalid', message('invitation.invalid'), {
    fix: message('invitation.invalid.fix'),
  });
}

/**
 * Uses an invitation once and makes its address a member, inside an open transaction. The inviter must still have the
 * permissions of the invitation's role.
 * @param acting creates the context of the joining person in the organization that they join
 * @throws AppError invitation_invalid, workspace_deletion_scheduled
 */
export async function joinByInvitation(
  trx: Trx,
  invitationId: string,
  email: string,
  acting: (organizationId: string) => Ctx,
): Promise<string> {
  const found = await across(trx, 'person').table('invitations').where('id', invitationId).first('organization_id');
  if (!found) throw invalid();
  const ctx = acting(found.organization_id);
  return transact(ctx, async (tx) => {
    await lockOrganization(tx);
    await assertOwnWorkspaceStays(tx);
    const [invitation] = await tx.org
      .query(Invitations)
      .where({ id: invitationId, email })
      .whereNull('accepted_at')
      .whereNull('cancelled_at')
      .where('expires_at', '>', tx.now)
      .patch({ accepted_at: tx.now })
      .returning('*');
    if (!invitation) throw invalid();
    await assertAdmitted(across(tx.trx, 'person'), tx.org.organizationId, email);
    await assertInviterHolds(tx, invitation);
    const userId = ctx.actor.userId!;
    const joined = await tx.org
      .insert('memberships', { user_id: userId, role_id: invitation.role_id, created_at: tx.now })
      .onConflict(['organization_id', 'user_id'])
      .ignore()
      .returning('user_id');
    if (joined.length > 0) {
      tx.audit({
        action: 'create',
        entityType: 'member',
        entityId: userId,
        metadata: { invitation_id: invitation.id },
      });
      tx.emit('team.member_joined', {
        user_id: userId,
        email,
        role_id: invitation.role_id,
        invitation_id: invitation.id,
      });
    }
    return tx.org.organizationId;
  });
}

/**
 * Refuses an invitation whose role has permissions that the inviter no longer has. Otherwise a member could keep access
 * after leaving, by inviting another address of their own.
 * @throws AppError invitation_invalid
 */
async function assertInviterHolds(
  tx: Tx,
  { invited_by, role_id }: Pick<InvitationRow, 'invited_by' | 'role_id'>,
): Promise<void> {
  const { permissions, is_owner: isOwner } = await roleToGrant(tx, role_id);
  if (beyondHeld(await readPerson(tx.org, invited_by), { permissions, isOwner }).length > 0) throw invalid();
}

/**
 * Accepts an invitation for the signed-in person. Their session selects the organization if no other is selected.
 * @throws AppError invitation_invalid, workspace_deletion_scheduled
 */
export async function acceptInvitation(ctx: Ctx, token: string): Promise<MyOrganization> {
  const user = await across(ctx.db, 'person').table('users').where('id', ctx.actor.userId!).first('id', 'email');
  if (!user) throw invalid();
  const { id } = await findOpenInvitation(ctx, token, user.email);
  return inTransaction(ctx.db, async (trx) => {
    const organizationId = await joinByInvitation(trx, id, user.email, (organization) =>
      actingAs(ctx, trx, user.id, organization),
    );
    await across(trx, 'person')
      .table('sessions')
      .where('id', ctx.actor.sessionId!)
      .whereNull('organization_id')
      .update({ organization_id: organizationId });
    return readMyOrganization({ ...ctx, trx }, organizationId);
  });
}
