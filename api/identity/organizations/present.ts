import type { z } from 'zod';
import type { InvitationView } from '../../../domain/identity/organizations/invitations.ts';
import type { MemberRow } from '../../../domain/identity/organizations/members.ts';
import type { MyOrganization } from '../../../domain/identity/organizations/organizations.ts';
import type { RoleRow } from '../../../domain/identity/organizations/roles.ts';
import { toLanguage } from '../../../messages/index.ts';
import { iso } from '../../http/schemas.ts';
import type { invitation, member, organization, role } from './schemas.ts';

/** Returns an organization of the caller. `selected` is the id of the organization that their session works in. */
export function presentOrganization(row: MyOrganization, selected: string | null): z.input<typeof organization> {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    weekly_report: row.weekly_report,
    timezone: row.timezone,
    is_test: row.is_test,
    language: toLanguage(row.language) ?? null,
    logo_id: row.logo_blob_id,
    member_email_domains: row.member_email_domains,
    session_max_hours: row.session_max_hours,
    needs_sign_in: row.needs_sign_in,
    current: row.id === selected,
    role: { id: row.role_id, name: row.role_name, is_owner: row.is_owner },
    permissions: row.permissions,
    deletion_scheduled_at: iso(row.deletion_scheduled_at),
    deletion_scheduled_for: iso(row.deletion_scheduled_for),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** Returns a member of the workspace with their role. */
export function presentMember(row: MemberRow): z.input<typeof member> {
  return {
    user_id: row.user_id,
    email: row.email,
    first_name: row.first_name,
    last_name: row.last_name,
    role: { id: row.role_id, name: row.role_name, is_owner: row.is_owner },
    joined_at: iso(row.created_at),
  };
}

/** Returns a role with its permissions. `is_system` roles are built in and cannot be changed. */
export function presentRole(row: RoleRow): z.input<typeof role> {
  return {
    id: row.id,
    name: row.name,
    permissions: row.permissions,
    is_owner: row.is_owner,
    is_system: row.is_system,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** Returns an invitation that was not accepted yet. Compares its expiry with `now` to show it as open or expired. */
export function presentInvitation(row: InvitationView, now: Date): z.input<typeof invitation> {
  return {
    id: row.id,
    email: row.email,
    role: { id: row.role_id, name: row.role_name },
    status: row.expires_at > now ? 'open' : 'expired',
    invited_by: row.invited_by,
    created_at: iso(row.created_at),
    expires_at: iso(row.expires_at),
  };
}
