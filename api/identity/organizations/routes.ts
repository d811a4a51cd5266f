import { z } from 'zod';
import {
  acceptInvitation,
  admitInvitation,
  cancelInvitation,
  invitationProblems,
  invite,
  listInvitations,
} from '../../../domain/identity/organizations/invitations.ts';
import { reader } from '../../../domain/platform/kernel/transact.ts';
import { roleProblems } from '../../../domain/identity/organizations/grants.ts';
import { changeMemberRole, listMembers, removeMember } from '../../../domain/identity/organizations/members.ts';
import {
  createOrganization,
  listMyOrganizations,
  readMyOrganization,
  selectOrganization,
} from '../../../domain/identity/organizations/organizations.ts';
import {
  deletionProblems,
  keepWorkspace,
  scheduleWorkspaceDeletion,
} from '../../../domain/identity/deletion/workspace.ts';
import { organizationProblems, readLogo, updateOrganization } from '../../../domain/identity/organizations/settings.ts';
import { createRole, deleteRole, listRoles, updateRole } from '../../../domain/identity/organizations/roles.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { idParams, paged, pageQuery, presentPage } from '../../http/schemas.ts';
import { presentInvitation, presentMember, presentOrganization, presentRole } from './present.ts';
import * as schemas from './schemas.ts';

const mine = { area: 'organizations', scope: 'session', permission: null, organization: false } as const;
const inside = { area: 'organizations', scope: 'session', permission: null } as const;
const team = { area: 'organizations', scope: 'session', permission: 'manage_team' } as const;
const listQuery = z.object(pageQuery());

const organizationRoutes = [
  route({
    ...mine,
    operationId: 'organizations.list',
    method: 'get',
    path: '/organizations',
    summary: "List the caller's workspaces",
    description: "Oldest first, each with the caller's role.",
    success: { status: 200, body: schemas.organizationList },
    handler: async (ctx) => ({
      data: (await listMyOrganizations(ctx)).map((row) => presentOrganization(row, ctx.actor.organizationId)),
    }),
  }),
  route({
    ...mine,
    operationId: 'organizations.create',
    method: 'post',
    path: '/organizations',
    summary: 'Create a workspace and become its owner',
    description: 'The session selects it if no workspace is selected.',
    body: schemas.createBody,
    success: { status: 201, body: schemas.organization },
    errors: ['conflict'],
    handler: async (ctx, { body }) => {
      const row = await createOrganization(ctx, body);
      return presentOrganization(row, ctx.actor.organizationId ?? row.id);
    },
  }),
  route({
    ...mine,
    operationId: 'organizations.select',
    method: 'post',
    path: '/organizations/:id/select',
    summary: 'Switch to another workspace',
    description: 'Later requests of this session act in that workspace.',
    params: idParams,
    success: { status: 200, body: schemas.organization },
    handler: async (ctx, { params }) => {
      const row = await selectOrganization(ctx, params.id);
      return presentOrganization(row, row.id);
    },
  }),
  route({
    ...mine,
    operationId: 'invitations.accept',
    method: 'post',
    path: '/invitations/accept',
    summary: 'Accept an invitation for your address',
    description: 'The session selects the workspace if none is selected.',
    body: schemas.acceptBody,
    success: { status: 200, body: schemas.organization },
    errors: ['invitation_invalid', 'workspace_deletion_scheduled'],
    handler: async (ctx, { body }) => {
      const row = await acceptInvitation(ctx, body.token);
      return presentOrganization(row, ctx.actor.organizationId ?? row.id);
    },
  }),
  route({
    ...inside,
    operationId: 'organizations.getCurrent',
    method: 'get',
    path: '/organizations/current',
    summary: 'The selected workspace',
    success: { status: 200, body: schemas.organization },
    errors: ['no_organization'],
    handler: async (ctx) =>
      presentOrganization(await readMyOrganization(ctx, ctx.actor.organizationId!), ctx.actor.organizationId),
  }),
  route({
    ...inside,
    permission: 'manage_settings',
    operationId: 'organizations.update',
    method: 'patch',
    path: '/organizations/current',
    summary: 'Change the selected workspace',
    description:
      'Omitted fields keep their values. Members whose addresses are in none of `member_email_domains` stay; GET /organizations/current/members with `outside_domains=true` lists them. A session older than `session_max_hours` gets 401 in this workspace and no other until the person signs in again. With `expected_updated_at`, a concurrent change is not overwritten: the answer is 409.',
    body: schemas.updateBody,
    furtherProblems: async (_ctx, { expected_updated_at: _seen, ...body }) => organizationProblems(body),
    success: { status: 200, body: schemas.organization },
    errors: ['no_organization', 'conflict'],
    handler: async (ctx, { body: { expected_updated_at: seen, ...changes } }) =>
      presentOrganization(await updateOrganization(ctx, changes, seen), ctx.actor.organizationId),
  }),
  route({
    ...inside,
    operationId: 'organizations.getLogo',
    method: 'get',
    path: '/organizations/current/logo',
    summary: 'The logo of the selected workspace',
    description: 'PNG, JPEG or WebP, as `logo_id` of the workspace names it. Answers 404 without a logo.',
    success: { status: 200, body: 'stream', contentType: 'image/*' },
    errors: ['no_organization'],
    handler: async (ctx) => {
      const { id, type, stream } = await readLogo(ctx);
      return {
        stream,
        contentType: type,
        headers: {
          'Cache-Control': 'private, max-age=300',
          Vary: 'Authorization',
          ETag: `"${id}"`,
          'X-Content-Type-Options': 'nosniff',
        },
      };
    },
  }),
  route({
    ...inside,
    permission: { anyOf: ['owner'] },
    operationId: 'organizations.delete',
    method: 'delete',
    path: '/organizations/current',
    summary: 'Delete the selected workspace in 14 days',
    description:
      'Stops its work at once: campaigns, warmup and automations are paused, open runs and approvals end, unsent emails are cancelled. ' +
      'API keys and OAuth applications are refused. Members can still read and export data, and an owner can keep the workspace. ' +
      'After 14 days everything of the workspace is erased. Refused while orders of mailboxes are open.',
    body: schemas.deletionBody,
    furtherProblems: (ctx, { name }) => deletionProblems(ctx, name),
    stops: true,
    success: { status: 200, body: schemas.organization },
    errors: ['no_organization', 'conflict'],
    handler: async (ctx, { body }) =>
      presentOrganization(await scheduleWorkspaceDeletion(ctx, body.name), ctx.actor.organizationId),
  }),
  route({
    ...inside,
    permission: { anyOf: ['owner'] },
    operationId: 'organizations.restore',
    method: 'post',
    path: '/organizations/current/restore',
    summary: 'Keep a workspace whose deletion is scheduled',
    description: 'Campaigns, warmup and automations stay paused until you start them again.',
    duringDeletion: true,
    success: { status: 200, body: schemas.organization },
    errors: ['no_organization', 'conflict'],
    handler: async (ctx) => presentOrganization(await keepWorkspace(ctx), ctx.actor.organizationId),
  }),
];

const memberRoutes = [
  route({
    ...inside,
    operationId: 'members.list',
    method: 'get',
    path: '/organizations/current/members',
    summary: 'Members with their roles',
    description: 'Includes the role of each.',
    query: schemas.memberQuery,
    success: { status: 200, body: paged(schemas.member) },
    errors: ['no_organization'],
    handler: async (ctx, { query: { outside_domains: outside, ...page } }) =>
      presentPage(await listMembers(ctx, page, { outsideDomains: outside === 'true' }), presentMember),
  }),
  route({
    ...team,
    operationId: 'members.update',
    method: 'patch',
    path: '/organizations/current/members/:userId',
    summary: "Change a member's role",
    params: schemas.memberParams,
    body: schemas.memberBody,
    furtherProblems: (ctx, { role_id: id }) => roleProblems(reader(ctx), id),
    success: { status: 200, body: schemas.member },
    errors: ['no_organization', 'conflict'],
    handler: async (ctx, { params, body }) => presentMember(await changeMemberRole(ctx, params.userId, body.role_id)),
  }),
  route({
    ...team,
    operationId: 'members.remove',
    method: 'delete',
    path: '/organizations/current/members/:userId',
    summary: 'Remove a member',
    description:
      'Active API keys, OAuth applications and connections to other systems that they created belong to the workspace. If there are any, the request ' +
      'is refused with 409 and a list of them, unless `made` is given: `keep` transfers them to you, `revoke` revokes the keys, ' +
      'deletes the applications and ends the connections. An app connection that a campaign step or an automation uses cannot be ended.',
    params: schemas.memberParams,
    query: schemas.memberRemoval,
    stops: true,
    success: { status: 204 },
    errors: ['no_organization', 'conflict', 'app_connection_in_use'],
    handler: (ctx, { params, query }) => removeMember(ctx, params.userId, query.made),
  }),
];

const roleRoutes = [
  route({
    ...inside,
    operationId: 'roles.list',
    method: 'get',
    path: '/organizations/current/roles',
    summary: 'List roles, built-in ones first',
    success: { status: 200, body: schemas.roleList },
    errors: ['no_organization'],
    handler: async (ctx) => ({ data: (await listRoles(ctx)).map(presentRole) }),
  }),
  route({
    ...team,
    operationId: 'roles.create',
    method: 'post',
    path: '/organizations/current/roles',
    summary: 'Create a role',
    description: 'A role is a set of permissions. Nobody can grant permissions that they do not have.',
    body: schemas.roleBody,
    success: { status: 201, body: schemas.role },
    errors: ['no_organization', 'conflict'],
    handler: async (ctx, { body }) => presentRole(await createRole(ctx, body)),
  }),
  route({
    ...team,
    operationId: 'roles.update',
    method: 'patch',
    path: '/organizations/current/roles/:id',
    summary: 'Change a custom role',
    params: idParams,
    body: schemas.roleUpdateBody,
    success: { status: 200, body: schemas.role },
    errors: ['no_organization', 'conflict'],
    handler: async (ctx, { params, body }) => presentRole(await updateRole(ctx, params.id, body)),
  }),
  route({
    ...team,
    operationId: 'roles.delete',
    method: 'delete',
    path: '/organizations/current/roles/:id',
    summary: 'Delete a role that no member has',
    params: idParams,
    success: { status: 204 },
    errors: ['no_organization', 'conflict'],
    handler: (ctx, { params }) => deleteRole(ctx, params.id),
  }),
];

const invitationRoutes = [
  route({
    ...team,
    operationId: 'invitations.list',
    method: 'get',
    path: '/organizations/current/invitations',
    summary: 'List invitations that are neither accepted nor cancelled, newest first',
    query: listQuery,
    success: { status: 200, body: paged(schemas.invitation) },
    errors: ['no_organization'],
    handler: async (ctx, { query }) =>
      presentPage(await listInvitations(ctx, query), (row) => presentInvitation(row, ctx.clock.now())),
  }),
  route({
    ...team,
    operationId: 'invitations.create',
    method: 'post',
    path: '/organizations/current/invitations',
    summary: 'Invite an address; the link is mailed',
    description: 'The link is valid for seven days. Nothing is stored if the mail cannot be sent.',
    body: schemas.inviteBody,
    furtherProblems: async (ctx, { role_id: id, email }) => [
      ...(await invitationProblems(ctx, email)),
      ...(await roleProblems(reader(ctx), id)),
    ],
    success: { status: 201, body: schemas.invitation },
    errors: ['no_organization', 'conflict'],
    prepare: (ctx, { body }) => admitInvitation(ctx, body.email),
    handler: async (ctx, { body }) => presentInvitation(await invite(ctx, body), ctx.clock.now()),
  }),
  route({
    ...team,
    operationId: 'invitations.cancel',
    method: 'delete',
    path: '/organizations/current/invitations/:id',
    summary: 'Cancel an invitation',
    description: 'The mailed link stops working at once.',
    params: idParams,
    stops: true,
    success: { status: 204 },
    errors: ['no_organization'],
    handler: (ctx, { params }) => cancelInvitation(ctx, params.id),
  }),
];

/** Routes of workspaces, their members, roles and invitations; for signed-in people only. */
export const organizationsRoutes: readonly AnyRoute[] = [
  ...organizationRoutes,
  ...memberRoutes,
  ...roleRoutes,
  ...invitationRoutes,
];
