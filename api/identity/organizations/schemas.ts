import { z } from 'zod';
import { ORG_PERMISSIONS } from '../../../lib/permissions.ts';
import { MAX_LOGO_BYTES } from '../../../domain/identity/organizations/settings.ts';
import { LANGUAGES } from '../../../messages/index.ts';
import { emailAddress, expectedVersion, pageQuery, resource, timestamp, uuid } from '../../http/schemas.ts';

/** Maximum characters of a logo in base64. A file that is a little too large gets its own message. */
const MAX_LOGO_TEXT = 2 * MAX_LOGO_BYTES;

const organizationName = z.string().trim().min(1).max(200);
const roleName = z.string().trim().min(1).max(100);
const permissions = z
  .array(z.enum(ORG_PERMISSIONS))
  .max(ORG_PERMISSIONS.length)
  .transform((list) => [...new Set(list)]);

export const createBody = z.strictObject({
  name: organizationName,
  is_test: z
    .boolean()
    .optional()
    .meta({ description: 'True for a test workspace: its emails are accepted and shown as sent, but never delivered' }),
});
export const updateBody = z.strictObject({
  name: organizationName.optional(),
  weekly_report: z
    .boolean()
    .optional()
    .meta({ description: 'Email the weekly report to the members who may see analytics' }),
  timezone: z.string().max(64).optional().meta({ description: 'IANA name; defines when a week begins' }),
  language: z
    .enum(LANGUAGES)
    .nullable()
    .optional()
    .meta({ description: 'Language of emails to people who have not chosen one, such as invitations' }),
  logo: z
    .base64()
    .max(MAX_LOGO_TEXT)
    .nullable()
    .optional()
    .meta({ description: 'PNG, JPEG or WebP of at most 200 kB, in base64; null removes it' }),
  member_email_domains: z
    .array(z.string().max(255))
    .max(50)
    .optional()
    .meta({ description: 'Domains of addresses that may be invited and may join; empty for any' }),
  session_max_hours: z.int().min(1).max(8760).nullable().optional().meta({
    description:
      'Hours after a sign-in from which the session must sign in again to act in the workspace; null for any',
  }),
  ...expectedVersion,
});
export const memberQuery = z.object({
  ...pageQuery(),
  outside_domains: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'True for only those whose address is in none of `member_email_domains`' }),
});
export const deletionBody = z.strictObject({
  name: z.string().max(200).meta({ description: 'Name of the workspace, as confirmation' }),
});
export const memberBody = z.strictObject({ role_id: z.string() });
export const roleBody = z.strictObject({ name: roleName, permissions });
export const roleUpdateBody = z.strictObject({ name: roleName.optional(), permissions: permissions.optional() });
export const inviteBody = z.strictObject({ email: emailAddress, role_id: z.string() });
export const acceptBody = z.strictObject({
  token: z.string().min(1).max(1024).meta({ description: 'Last part of the mailed link' }),
});
export const memberRemoval = z.object({
  made: z
    .enum(['keep', 'revoke'])
    .optional()
    .meta({ description: 'What happens to API keys, applications and connections that they created' }),
});
export const memberParams = z.object({ userId: z.string() });

export const organization = resource('Organization', {
  id: uuid,
  name: z.string(),
  plan: z.enum(['free', 'paid']),
  weekly_report: z.boolean(),
  timezone: z.string(),
  is_test: z.boolean().meta({ description: 'True for a test workspace, whose emails are never delivered' }),
  language: z.enum(LANGUAGES).nullable(),
  logo_id: uuid
    .nullable()
    .meta({ description: 'Changes with the logo. GET /organizations/current/logo returns the logo' }),
  member_email_domains: z.array(z.string()),
  session_max_hours: z.int().nullable(),
  needs_sign_in: z
    .boolean()
    .meta({ description: 'True if this session is older than `session_max_hours`, and cannot act in it' }),
  current: z.boolean().meta({ description: 'True if it is the selected workspace of this session' }),
  role: z
    .strictObject({ id: uuid, name: z.string(), is_owner: z.boolean() })
    .meta({ description: "The caller's role" }),
  permissions: z.array(z.string()).meta({ description: 'Permissions of that role' }),
  deletion_scheduled_at: timestamp.nullable().meta({ description: 'When its deletion was requested' }),
  deletion_scheduled_for: timestamp.nullable().meta({ description: 'When it will be erased; null unless scheduled' }),
  created_at: timestamp,
  updated_at: timestamp,
});
export const organizationList = z.strictObject({ data: z.array(organization) });

export const member = resource('Member', {
  user_id: uuid,
  email: z.string(),
  first_name: z.string(),
  last_name: z.string(),
  role: z.strictObject({ id: uuid, name: z.string(), is_owner: z.boolean() }),
  joined_at: timestamp,
});

export const role = resource('Role', {
  id: uuid,
  name: z.string(),
  permissions: z.array(z.string()),
  is_owner: z.boolean(),
  is_system: z.boolean(),
  created_at: timestamp,
  updated_at: timestamp,
});
export const roleList = z.strictObject({ data: z.array(role) });

export const invitation = resource('Invitation', {
  id: uuid,
  email: z.string(),
  role: z.strictObject({ id: uuid, name: z.string() }),
  status: z.enum(['open', 'expired']),
  invited_by: uuid.nullable(),
  created_at: timestamp,
  expires_at: timestamp,
});
