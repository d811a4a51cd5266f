import { z } from 'zod';
import {
  addTeamMember,
  createTeam,
  deleteTeam,
  listTeams,
  readTeam,
  removeTeamMember,
  TEAM_COLOR,
  teamMemberProblems,
  updateTeam,
  type Team,
} from '../../../domain/identity/teams/teams.ts';
import { color } from '../../crm/schemas.ts';
import { route } from '../../http/route.ts';
import { besideFaults, idParams, iso, resource, timestamp, uuid } from '../../http/schemas.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';

const area = 'teams';
const read = { area, scope: ['READ_CRM'], permission: 'view_contacts' } as const;
const write = { area, scope: ['WRITE_CRM'], permission: 'manage_contacts' } as const;
const membership = { area, scope: ['WRITE_CRM'], permission: 'manage_team' } as const;

const name = z.string().trim().min(1).max(255);
const team = resource('Team', {
  id: uuid,
  organization_id: uuid,
  name: z.string(),
  color: z.string(),
  members: z.array(z.strictObject({ user_id: uuid, email: z.string(), name: z.string(), added_at: timestamp })),
  created_at: timestamp,
  updated_at: timestamp,
});

/** Routes of a workspace's teams, to which tasks can be assigned. */
export const teamRoutes = [
  route({
    ...read,
    operationId: 'teams.list',
    method: 'get',
    path: '/teams',
    summary: 'Teams with their members',
    description: 'Oldest first, all on one page.',
    success: { status: 200, body: z.strictObject({ data: z.array(team) }) },
    handler: async (ctx) => ({ data: (await listTeams(ctx)).map(present) }),
  }),
  route({
    ...write,
    operationId: 'teams.create',
    method: 'post',
    path: '/teams',
    summary: 'Create a team',
    description: 'It starts without members.',
    body: z.strictObject({ name, color: color.default(TEAM_COLOR) }),
    success: { status: 201, body: team },
    handler: async (ctx, { body }) => present(await createTeam(ctx, body)),
  }),
  route({
    ...read,
    operationId: 'teams.get',
    method: 'get',
    path: '/teams/:id',
    summary: 'One team',
    description: 'Members are in the order in which they joined.',
    params: idParams,
    success: { status: 200, body: team },
    handler: async (ctx, { params }) => present(await readTeam(ctx, params.id)),
  }),
  route({
    ...write,
    operationId: 'teams.update',
    method: 'patch',
    path: '/teams/:id',
    summary: 'Rename or recolour a team',
    description: 'At least one of the two fields is required.',
    params: idParams,
    body: z
      .strictObject({ name: name.optional(), color: color.optional() })
      .refine((edit) => Object.keys(edit).length > 0, {
        path: [],
        error: ruleMessage('field.one_of_fields'),
        ...besideFaults,
      }),
    success: { status: 200, body: team },
    handler: async (ctx, { params, body }) => present(await updateTeam(ctx, params.id, body)),
  }),
  route({
    ...write,
    operationId: 'teams.delete',
    method: 'delete',
    path: '/teams/:id',
    summary: 'Delete a team',
    description: 'Its tasks are kept without a team; its members stay in the workspace.',
    params: idParams,
    success: { status: 204 },
    handler: (ctx, { params }) => deleteTeam(ctx, params.id),
  }),
  route({
    ...membership,
    operationId: 'teams.addMember',
    method: 'post',
    path: '/teams/:id/members',
    summary: 'Add a member of the workspace to a team',
    description: 'A member who leaves the workspace leaves its teams.',
    params: idParams,
    body: z.strictObject({ user_id: z.uuid().toLowerCase() }),
    furtherProblems: (ctx, body) => teamMemberProblems(ctx, body.user_id),
    errors: ['conflict'],
    success: { status: 200, body: team },
    handler: async (ctx, { params, body }) => present(await addTeamMember(ctx, params.id, body.user_id)),
  }),
  route({
    ...membership,
    operationId: 'teams.removeMember',
    method: 'delete',
    path: '/teams/:id/members/:userId',
    summary: 'Remove a member from a team',
    description: 'The member stays in the workspace.',
    params: z.object({ id: z.string(), userId: z.string() }),
    success: { status: 204 },
    handler: (ctx, { params }) => removeTeamMember(ctx, params.id, params.userId),
  }),
];

function present({ members, ...row }: Team): z.input<typeof team> {
  return {
    ...row,
    members: members.map(({ user_id, email, name: called, added_at }) => ({
      user_id,
      email,
      name: called,
      added_at: iso(added_at),
    })),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}
