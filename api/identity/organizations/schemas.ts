import { z } from 'zod';
import { ORG_PERMISSIONS } from '../../../lib/permissions.ts';
import { emailAddress, resource, timestamp, uuid } from '../../http/schemas.ts';

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
    .meta({ description: 'True for a test workspace: its emails are accepted, shown as sent, and never leave' }),
});
export const updateBody = z.strictObject({
  name: organizationName.optional(),
  weekly_report: z
    .boolean()
    .optional()
    .meta({ description: 'Mail the weekly report to the members who may see analytics' }),
  timezone: z.string().max(64).optional().meta({ description: 'IANA name; defines when a week begins' }),
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
    .meta({ description: 'What becomes of API keys, applications and connections that they made' }),
});
export const memberParams = z.object({ userId: z.string() });

export const organization = resource('Organization', {
  id: uuid,
  name: z.string(),
  plan: z.enum(['free', 'paid']),
  weekly_report: z.boolean(),
  timezone: z.string(),
  is_test: z.boolean().meta({ description: 'True for a test workspace, whose emails never leave' }),
  current: z.boolean().meta({ description: 'True if this session works in it' }),
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
