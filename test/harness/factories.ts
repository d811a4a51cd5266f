import type { RawDb } from './database.ts';
import { json } from '../../db/connection.ts';
import { cookieNames } from '../../api/pages/cookies.ts';
import { browserSession } from '../../domain/identity/browser-session.ts';
import { signSessionToken } from '../../domain/identity/session-token.ts';
import type { TestDeps } from './database.ts';
import { newSecret, SECRET_PREFIX, sha256 } from '../../lib/crypto.ts';
import { newId } from '../../lib/ids.ts';
import { ALL_PERMISSIONS, SYSTEM_ROLES } from '../../lib/permissions.ts';

/** Organization with its owner, a session of the owner and a key with every permission. */
export interface Tenant {
  organizationId: string;
  userId: string;
  email: string;
  sessionToken: string;
  apiKey: string;
  apiKeyId: string;
}

/**
 * Creates a tenant directly in the database, without the functions that create one for people. One statement inserts
 * its rows, because almost every test creates a tenant.
 */
export async function createTenant(deps: TestDeps, name = 'Acme'): Promise<Tenant> {
  const { db, clock } = deps;
  const now = clock.now();
  const organizationId = newId();
  const userId = newId();
  const email = `owner-${userId.slice(-12)}@example.com`;
  const roles = SYSTEM_ROLES.map((role) => ({
    id: newId(),
    organization_id: organizationId,
    name: role.name,
    permissions: [...role.permissions],
    is_owner: role.isOwner,
    is_system: true,
    created_at: now,
    updated_at: now,
  }));
  const session = sessionRow(deps, userId, organizationId);
  const { apiKey, row: key } = apiKeyRow(deps, organizationId, userId);
  const rows = {
    users: {
      id: userId,
      email,
      password_hash: 'none',
      first_name: 'Olivia',
      last_name: 'Owner',
      created_at: now,
      updated_at: now,
    },
    organizations: { id: organizationId, name, created_by: userId, created_at: now, updated_at: now },
    roles,
    memberships: { organization_id: organizationId, user_id: userId, role_id: roles[0]!.id, created_at: now },
    sessions: session,
    api_keys: key,
  };
  const statement = db.select(db.raw('1'));
  for (const [table, inserted] of Object.entries(rows)) statement.with(`new_${table}`, db(table).insert(inserted));
  await statement;
  const { token } = await signSessionToken(deps.config, clock, { id: session.id, userId });
  return { organizationId, userId, email, sessionToken: token, apiKey, apiKeyId: key.id };
}

/** Adds a member with a system role, and creates a session for them. */
export async function createMember(
  deps: TestDeps,
  tenant: Tenant,
  roleName: string,
): Promise<{ userId: string; sessionToken: string }> {
  const now = deps.clock.now();
  const userId = newId();
  await deps.db('users').insert({
    id: userId,
    email: `member-${userId.slice(-12)}@example.com`,
    password_hash: 'none',
    created_at: now,
    updated_at: now,
  });
  await addMember(deps, tenant.organizationId, userId, roleName);
  return { userId, sessionToken: await createSession(deps, userId, tenant.organizationId) };
}

/** Adds a person to an organization with one of its roles. */
export async function addMember(
  deps: TestDeps,
  organizationId: string,
  userId: string,
  roleName: string,
): Promise<void> {
  const role = await deps.db('roles').where({ organization_id: organizationId, name: roleName }).first('id');
  await deps
    .db('memberships')
    .insert({ organization_id: organizationId, user_id: userId, role_id: role.id, created_at: deps.clock.now() });
}

/** Creates a session and returns its bearer token. */
export async function createSession(deps: TestDeps, userId: string, organizationId: string | null): Promise<string> {
  const id = await insertSession(deps, userId, organizationId);
  return (await signSessionToken(deps.config, deps.clock, { id, userId })).token;
}

async function insertSession(deps: TestDeps, userId: string, organizationId: string | null): Promise<string> {
  const row = sessionRow(deps, userId, organizationId);
  await deps.db('sessions').insert(row);
  return row.id;
}

function sessionRow({ clock }: TestDeps, userId: string, organizationId: string | null) {
  const now = clock.now();
  return {
    id: newId(),
    user_id: userId,
    organization_id: organizationId,
    refresh_hash: sha256(newSecret()),
    created_at: now,
    last_active_at: now,
    expires_at: new Date(now.getTime() + 30 * 86400_000),
  };
}

/** Returns the cookie of a person's browser for their first session. */
export async function createBrowserCookie(deps: TestDeps, userId: string): Promise<string> {
  const session = await deps.db('sessions').where('user_id', userId).orderBy('id').first('id');
  return cookieOf(deps, session.id);
}

/** Creates another session of a person, in the workspace of their first one. Returns its cookie. */
export async function createVisitorCookie(deps: TestDeps, userId: string): Promise<string> {
  const first = await deps.db('sessions').where('user_id', userId).orderBy('id').first('organization_id');
  return cookieOf(deps, await insertSession(deps, userId, first.organization_id));
}

async function cookieOf(deps: TestDeps, sessionId: string): Promise<string> {
  const { value } = await browserSession(deps, { sessionId });
  return `${cookieNames(deps.config).session}=${value}`;
}

export interface KeyOptions {
  permissions?: number;
  allowedIps?: string[];
  allowedMailboxes?: string[];
  ratePerMinute?: number;
  expiresAt?: Date;
}

/** Creates an API key; by default with every permission and no practical rate limit. */
export async function createApiKey(
  deps: TestDeps,
  organizationId: string,
  userId: string,
  options: KeyOptions = {},
): Promise<{ apiKey: string; apiKeyId: string }> {
  const { apiKey, row } = apiKeyRow(deps, organizationId, userId, options);
  await deps.db('api_keys').insert(row);
  return { apiKey, apiKeyId: row.id };
}

function apiKeyRow({ clock }: TestDeps, organizationId: string, userId: string, options: KeyOptions = {}) {
  const now = clock.now();
  const apiKey = newSecret(SECRET_PREFIX.apiKey);
  const row = {
    id: newId(),
    organization_id: organizationId,
    user_id: userId,
    name: 'test',
    secret_hash: sha256(apiKey),
    key_prefix: apiKey.slice(0, 7),
    key_suffix: apiKey.slice(-4),
    permissions: options.permissions ?? ALL_PERMISSIONS,
    allowed_ips: options.allowedIps ?? [],
    allowed_email_accounts: options.allowedMailboxes ?? [],
    rate_limit_per_minute: options.ratePerMinute ?? 1_000_000,
    expires_at: options.expiresAt ?? null,
    created_at: now,
    updated_at: now,
  };
  return { apiKey, row };
}

/** Creates a contact directly in the database. */
export async function createContact(
  db: RawDb,
  now: Date,
  organizationId: string,
  fields: Record<string, unknown> = {},
): Promise<string> {
  const id = newId();
  const { custom_fields, ...rest } = fields;
  await db('contacts').insert({
    id,
    organization_id: organizationId,
    email: `${id}@example.com`,
    created_at: now,
    updated_at: now,
    ...(custom_fields ? { custom_fields: json(custom_fields) } : {}),
    ...rest,
  });
  return id;
}

/** Creates a label of a registry directly in the database. */
export async function createLabel(
  deps: TestDeps,
  organizationId: string,
  registry: 'tag' | 'folder' | 'category',
  title: string = registry,
  id: string = newId(),
): Promise<string> {
  const now = deps.clock.now();
  await deps.db('labels').insert({
    id,
    organization_id: organizationId,
    registry,
    title,
    color: '#000000',
    position: 0,
    created_at: now,
    updated_at: now,
  });
  return id;
}

export interface MailboxServers {
  smtp: { host: string; port: number };
  imap?: { host: string; port: number };
  password?: string;
}

/** Servers of a mailbox from which no test sends; nothing listens on the port. */
export const NO_SERVER: MailboxServers = { smtp: { host: '127.0.0.1', port: 1 } };

/** Creates a connected mailbox directly in the database, with credentials sealed as by POST /emails. */
export async function createMailbox(
  deps: TestDeps,
  organizationId: string,
  email = `${newId()}@ours.test`,
  servers = NO_SERVER,
  fields: Record<string, unknown> = {},
): Promise<string> {
  const id = newId();
  const now = deps.clock.now();
  const password = servers.password ?? 'secret';
  await deps.db('mailboxes').insert({
    id,
    organization_id: organizationId,
    email,
    name: 'Sam Sender',
    smtp: json({ ...servers.smtp, username: email, security: 'none' }),
    imap: servers.imap ? json({ ...servers.imap, username: email, security: 'none' }) : null,
    credentials: deps.keyring.seal(
      JSON.stringify({ smtp_password: password, imap_password: password }),
      `mailboxes/${id}`,
    ),
    min_wait_time: 0,
    campaign_limit: 1000,
    created_at: now,
    updated_at: now,
    ...fields,
  });
  if (servers.imap) await deps.db('mailbox_sync').insert({ mailbox_id: id, organization_id: organizationId });
  return id;
}

export interface StepSpec {
  kind?: 'email' | 'action' | 'wait';
  name?: string;
  subject?: string;
  body_plain?: string;
  body_html?: string;
  wait_after?: number;
  thread_reply?: boolean;
  action?: Record<string, unknown>;
  conditions?: Record<string, unknown>;
}

/**
 * Creates an active campaign directly in the database. Its sending hours never end, and its steps are linked in order.
 */
export async function createCampaign(
  deps: TestDeps,
  organizationId: string,
  steps: StepSpec[],
  fields: Record<string, unknown> = {},
): Promise<{ campaignId: string; stepIds: string[] }> {
  const now = deps.clock.now();
  const campaignId = newId();
  const stepIds = steps.map(() => newId());
  await deps.db('campaigns').insert({
    id: campaignId,
    organization_id: organizationId,
    name: 'Spring',
    status: 'active',
    days: 127,
    start_time: '00:00',
    end_time: '00:00',
    daily_limit: 100_000,
    had_leads: true,
    control_epoch: 1,
    graph_version: 1,
    created_at: now,
    updated_at: now,
    ...fields,
  });
  for (const [index, step] of steps.entries()) {
    const type = step.action?.type;
    const to = stepIds[index + 1] ?? null;
    const when = type === 'app_action' ? [{ field: 'node_outcome', operator: 'equals', value: 'success' }] : undefined;
    await deps.db('campaign_steps').insert({
      id: stepIds[index]!,
      organization_id: organizationId,
      campaign_id: campaignId,
      position: index + 1,
      name: step.name ?? '',
      kind: step.kind ?? 'email',
      subject: step.subject ?? '',
      body_plain: step.body_plain ?? '',
      body_html: step.body_html ?? '',
      wait_after: step.wait_after ?? 0,
      thread_reply: step.thread_reply ?? index > 0,
      conditions: json(step.conditions ?? { branches: to ? [{ to, ...(when ? { when } : {}) }] : [] }),
      action: step.action ? json(step.action) : null,
      created_at: now,
      updated_at: now,
    });
  }
  return { campaignId, stepIds };
}

/**
 * Adds contacts to a campaign as leads, directly in the database. Returns enrollment ids in the order of the contacts.
 */
export async function enroll(
  deps: TestDeps,
  organizationId: string,
  campaignId: string,
  contactIds: readonly string[],
): Promise<string[]> {
  const now = deps.clock.now();
  const rows = contactIds.map((contactId) => ({
    id: newId(),
    organization_id: organizationId,
    campaign_id: campaignId,
    contact_id: contactId,
    entered_at: now,
    last_activity_at: now,
  }));
  for (let at = 0; at < rows.length; at += 1000) await deps.db('enrollments').insert(rows.slice(at, at + 1000));
  return rows.map((row) => row.id);
}
