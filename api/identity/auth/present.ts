import type { z } from 'zod';
import type { LabelRow, Profile } from '../../../domain/identity/auth/profile.ts';
import type { SessionRow, TokenPair } from '../../../domain/identity/sessions.ts';
import { iso } from '../../http/schemas.ts';
import { presentOrganization } from '../organizations/present.ts';
import type { loginResult, session, tokenPair, user } from './schemas.ts';

/** Returns the tokens of a session after a refresh or a switch to another workspace. */
export function presentTokens(tokens: TokenPair): z.input<typeof tokenPair> {
  return {
    access_token: tokens.accessToken,
    access_token_expires_at: iso(tokens.accessTokenExpiresAt),
    refresh_token: tokens.refreshToken,
    refresh_token_expires_at: iso(tokens.refreshTokenExpiresAt),
  };
}

/** Returns the tokens of a sign-in, with a device token if the device is new. */
export function presentLogin(tokens: TokenPair): z.input<typeof loginResult> {
  return { ...presentTokens(tokens), ...(tokens.deviceToken ? { device_token: tokens.deviceToken } : {}) };
}

/** Returns the caller's profile. `organizationId` is the selected workspace. */
export function presentUser(
  { user: row, workspaces, labels }: Profile,
  organizationId: string | null,
): z.input<typeof user> {
  const of = (registry: LabelRow['registry']) =>
    labels.filter((label) => label.registry === registry).map(({ id, title, color }) => ({ id, name: title, color }));
  return {
    id: row.id,
    email: row.email,
    first_name: row.first_name,
    last_name: row.last_name,
    language: row.language,
    avatar_url: null,
    roles: workspaces.map(({ role_id: id }) => id),
    workspaces: workspaces.map((one) => presentOrganization(one, organizationId)),
    is_admin: row.is_platform_admin,
    organization_id: organizationId,
    deletion_scheduled_at: iso(row.deletion_scheduled_at),
    deletion_scheduled_for: iso(row.deletion_scheduled_for),
    folders: of('folder'),
    tags: of('tag'),
    categories: of('category'),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** Returns a session of the caller, with browser and system guessed from its user agent. */
export function presentSession(row: SessionRow, currentId: string | undefined): z.input<typeof session> {
  return {
    id: row.id,
    current: row.id === currentId,
    browser: firstMatch(row.user_agent, BROWSERS),
    os: firstMatch(row.user_agent, SYSTEMS),
    ip_address: row.ip_address,
    auth_provider: 'email',
    created_at: iso(row.created_at),
    last_active_at: iso(row.last_active_at),
  };
}

/**
 * Patterns of browsers in user agents. The order matters, because the user agent of a browser also names the browsers
 * on which it is based.
 */
const BROWSERS: [RegExp, string][] = [
  [/Edg(e|A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const SYSTEMS: [RegExp, string][] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
];

function firstMatch(userAgent: string, names: [RegExp, string][]): string {
  return names.find(([pattern]) => pattern.test(userAgent))?.[1] ?? '';
}
