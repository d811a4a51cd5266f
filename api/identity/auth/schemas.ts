import { z } from 'zod';
import { emailAddress, resource, timestamp, uuid } from '../../http/schemas.ts';
import { organization } from '../organizations/schemas.ts';
import { LANGUAGES } from '../../../messages/index.ts';

const secret = z.string().min(1).max(1024);
const personName = z.string().trim().max(100);
const turnstile = z.string().optional().meta({ description: 'Accepted and ignored: this installation has no captcha' });

export const loginBody = z.strictObject({
  email: emailAddress,
  password: secret,
  device_token: secret.optional().meta({
    description:
      '`device_token` of an earlier sign-in on this device; makes the code unnecessary if AUTH_LOGIN_CODE is new_device',
  }),
  turnstile,
});

export const registerBody = z.strictObject({
  email: emailAddress,
  password: secret,
  first_name: personName.default(''),
  last_name: personName.default(''),
  invitation: secret
    .optional()
    .meta({ description: 'Token of an invitation link; required if sign-up is by invitation only' }),
  turnstile,
});

export const confirmBody = z.strictObject({
  session: secret.meta({ description: 'Handle from the answer of the first call' }),
  code: z.string().trim().min(1).max(32).meta({ description: 'The mailed code' }),
  turnstile,
});

export const refreshBody = z.strictObject({ refresh_token: secret });
export const resetBody = z.strictObject({ email: emailAddress, turnstile });
export const resetConfirmBody = z.strictObject({
  session: secret.meta({ description: 'Last part of the mailed link' }),
  password: secret,
  turnstile,
});
export const passwordBody = z.strictObject({
  current_password: secret,
  new_password: secret,
  keep_other_sessions: z.boolean().optional().meta({ description: 'True leaves other browsers signed in' }),
});
export const profileBody = z.strictObject({
  first_name: personName.optional(),
  last_name: personName.optional(),
  language: z.enum(LANGUAGES).optional().meta({ description: "Language of Heron's emails to the person" }),
});

export const accountDeletionBody = z.strictObject({
  password: secret.meta({ description: 'Password of the account, as confirmation' }),
});

export const setupBody = z.strictObject({
  token: secret.meta({ description: 'Last part of the setup link, which the starting process prints' }),
  email: emailAddress,
  password: secret,
  first_name: personName.default(''),
  last_name: personName.default(''),
  organization: z.string().trim().min(1).max(200).meta({ description: 'Name of the first workspace' }),
});

export const authSession = z.strictObject({
  session: z.string().meta({ description: 'Opaque handle; send it with the mailed code' }),
});
export const tokenPair = resource('TokenPair', {
  access_token: z.string(),
  access_token_expires_at: timestamp,
  refresh_token: z.string(),
  refresh_token_expires_at: timestamp,
});
export const loginResult = resource('SignedIn', {
  ...tokenPair.shape,
  device_token: z.string().optional().meta({ description: 'Store it on this device and send it with later sign-ins' }),
});

const label = z.strictObject({ id: uuid, name: z.string(), color: z.string() });
export const user = resource('User', {
  id: uuid,
  email: z.string(),
  first_name: z.string(),
  last_name: z.string(),
  language: z
    .string()
    .nullable()
    .meta({ description: 'Language of emails to the person; null until their first browser sign-in sets it' }),
  avatar_url: z.string().nullable(),
  roles: z.array(uuid).meta({ description: 'Role ids over all workspaces' }),
  workspaces: z.array(organization).meta({ description: 'The same as GET /organizations lists' }),
  is_admin: z.boolean().meta({ description: 'True for an administrator of the installation' }),
  organization_id: uuid.nullable().meta({ description: 'The selected workspace' }),
  deletion_scheduled_at: timestamp.nullable().meta({ description: 'When the deletion of the account was requested' }),
  deletion_scheduled_for: timestamp
    .nullable()
    .meta({ description: 'When the account will be erased; null unless scheduled' }),
  folders: z.array(label),
  tags: z.array(label),
  categories: z.array(label),
  created_at: timestamp,
  updated_at: timestamp,
});

export const session = resource('Session', {
  id: uuid,
  current: z.boolean(),
  browser: z.string(),
  os: z.string(),
  ip_address: z.string(),
  auth_provider: z.literal('email'),
  created_at: timestamp,
  last_active_at: timestamp,
});
