import { changed, created, deleted } from '../../platform/changes.ts';
import type { Columns, Row } from '../../../db/rows.ts';
import { AppError, badRequest, notFound, type Problem } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { assertNotFull, assertBelowLimit } from '../../platform/full-list.ts';
import { message } from '../../../messages/index.ts';

/** A member of a team. `added_at` is the time at which they joined it. */
interface TeamMember extends Columns<'team_members', 'user_id' | 'added_at'>, Columns<'users', 'email'> {
  name: string;
}

/** A team with its members, in the order in which they joined. */
export interface Team extends Row<'teams'> {
  members: TeamMember[];
}

/** Editable fields of a team. The colour is `#rrggbb`. */
interface TeamEdit {
  name?: string | undefined;
  color?: string | undefined;
}

export const TEAM_COLOR = '#94a3b8';
/** Maximum number of teams, because the list of teams is not paginated. */
const MAX_TEAMS = 200;
const MAX_MEMBERS = 500;

/** Lists all teams with their members, oldest first. */
export async function listTeams(ctx: Ctx): Promise<Team[]> {
  return readTeams(ctx, null);
}

/**
 * Returns one team.
 * @throws AppError not_found
 */
export async function readTeam(ctx: Ctx, id: string): Promise<Team> {
  const [team] = isUuid(id) ? await readTeams(ctx, id) : [];
  if (!team) throw notFound('team');
  return team;
}

/**
 * Creates a team without members.
 * @throws AppError bad_request when the maximum number of teams is reached
 */
export async function createTeam(ctx: Ctx, { name, color = TEAM_COLOR }: TeamEdit & { name: string }): Promise<Team> {
  return transact(ctx, async (tx) => {
    await assertBelowLimit(tx, 'teams', { most: MAX_TEAMS, what: message('team.many') });
    const id = newId();
    await tx.org.insert('teams', { id, name, color, created_at: tx.now, updated_at: tx.now });
    tx.audit({ action: 'create', entityType: 'team', entityId: id, changes: created({ name }) });
    return readTeam({ ...ctx, trx: tx.trx }, id);
  });
}

/**
 * Changes the name or colour of a team.
 * @throws AppError not_found
 */
export async function updateTeam(ctx: Ctx, id: string, edit: TeamEdit): Promise<Team> {
  return transact(ctx, async (tx) => {
    const before = await lockTeam(tx, id);
    const changes = Object.fromEntries(
      Object.entries(edit).filter(([field, value]) => value !== undefined && value !== before[field as keyof TeamEdit]),
    );
    if (Object.keys(changes).length > 0) {
      await tx.org
        .table('teams')
        .where({ id: before.id })
        .update({ ...(changes as Partial<Pick<Team, 'name' | 'color'>>), updated_at: tx.now });
      tx.audit({ action: 'update', entityType: 'team', entityId: before.id, changes: changed(before, changes) });
    }
    return readTeam({ ...ctx, trx: tx.trx }, before.id);
  });
}

/**
 * Deletes a team. Its tasks stay, without a team.
 * @throws AppError not_found
 */
export async function deleteTeam(ctx: Ctx, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const team = await lockTeam(tx, id);
    await tx.org.table('teams').where({ id: team.id }).delete();
    tx.audit({ action: 'delete', entityType: 'team', entityId: team.id, changes: deleted({ name: team.name }) });
  });
}

/** Returns a problem for a person who is not a member of the workspace. */
export async function teamMemberProblems(ctx: Ctx, userId: string | undefined): Promise<Problem[]> {
  if (userId === undefined) return [];
  const [member] = await reader(ctx).sql(
    'select 1 from memberships where organization_id = :org and user_id = :userId',
    {
      userId,
    },
  );
  return member ? [] : [{ path: 'body.user_id', message: message('field.no_member') }];
}

/**
 * Adds a member of the workspace to a team.
 * @throws AppError not_found, bad_request for a person who is not a member of the workspace, conflict for a member of
 * the team
 */
export async function addTeamMember(ctx: Ctx, id: string, userId: string): Promise<Team> {
  return transact(ctx, async (tx) => {
    const team = await lockTeam(tx, id);
    // Locks the membership until the transaction ends, because removing the member from the workspace also removes them
    // from the team.
    const [member] = await tx.org.sql(
      'select 1 from memberships where organization_id = :org and user_id = :userId for key share',
      { userId },
    );
    if (!member)
      throw badRequest(message('team.members_only'), [{ path: 'body.user_id', message: message('field.no_member') }]);
    const members = await tx.org.table('team_members').where({ team_id: team.id }).select('user_id');
    if (members.some((other) => other.user_id === userId))
      throw new AppError('conflict', message('team.member_already'));
    assertNotFull(members.length, { most: MAX_MEMBERS, what: message('team.many_members') });
    await tx.org.insert('team_members', { team_id: team.id, user_id: userId, added_at: tx.now });
    tx.audit({
      action: 'update',
      entityType: 'team',
      entityId: team.id,
      changes: { member: { from: null, to: userId } },
    });
    return readTeam({ ...ctx, trx: tx.trx }, team.id);
  });
}

/**
 * Removes a member from a team. They stay in the workspace.
 * @throws AppError not_found
 */
export async function removeTeamMember(ctx: Ctx, id: string, userId: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const team = await lockTeam(tx, id);
    const removed = isUuid(userId)
      ? await tx.org.table('team_members').where({ team_id: team.id, user_id: userId }).delete()
      : 0;
    if (removed === 0) throw notFound('team_member');
    tx.audit({
      action: 'update',
      entityType: 'team',
      entityId: team.id,
      changes: { member: { from: userId, to: null } },
    });
  });
}

async function lockTeam(tx: Tx, id: string): Promise<Row<'teams'>> {
  const team = isUuid(id) ? await tx.org.table('teams').where({ id }).forUpdate().first() : undefined;
  if (!team) throw notFound('team');
  return team;
}

async function readTeams(ctx: Ctx, id: string | null): Promise<Team[]> {
  const org = reader(ctx);
  const teams = await org.sql<Row<'teams'>>(
    'select * from teams where organization_id = :org and (cast(:id as uuid) is null or id = :id) order by id',
    { id },
  );
  const members = await org.sql<TeamMember & Columns<'team_members', 'team_id'>>(
    `select m.team_id, m.user_id, u.email, trim(u.first_name || ' ' || u.last_name) as name, m.added_at
     from team_members m join users u on u.id = m.user_id
     where m.organization_id = :org and (cast(:id as uuid) is null or m.team_id = :id) order by m.added_at, m.user_id`,
    { id },
  );
  return teams.map((team) => ({ ...team, members: members.filter(({ team_id }) => team_id === team.id) }));
}
