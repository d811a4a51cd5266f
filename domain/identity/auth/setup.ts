import { across } from '../../../db/across.ts';
import { inTransaction } from '../../../db/transaction.ts';
import type { Trx } from '../../../db/connection.ts';
import { hashPassword, newSecret, sha256 } from '../../../lib/crypto.ts';
import { AppError } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { ALL_PERMISSIONS, ORG_PERMISSIONS } from '../../../lib/permissions.ts';
import { createKey } from '../api-keys/create.ts';
import { systemActor } from '../../platform/kernel/actor.ts';
import type { Ctx, Deps } from '../../platform/kernel/context.ts';
import { insertOrganization, type OrganizationRow } from '../organizations/organizations.ts';
import { assertStrong } from '../passwords.ts';
import { actingAs, openSession, type TokenPair } from '../sessions.ts';
import { message } from '../../../messages/index.ts';

/** Validity (ms) of a setup link. */
const SETUP_LINK_MS = 24 * 3600_000;
const SETUP_LOCK = 7_201_947;

async function hasUsers(db: Deps['db'] | Trx): Promise<boolean> {
  return (await across(db, 'operator').table('users').first('id')) !== undefined;
}

/** Returns true if this installation has an account, so that setup links no longer work. */
export async function isClaimed({ db }: Pick<Deps, 'db'>): Promise<boolean> {
  return hasUsers(db);
}

/** Returns true if a setup link is currently valid. The check does not use the link up. */
export async function isSetupLink({ db, clock }: Pick<Deps, 'db' | 'clock'>, token: string): Promise<boolean> {
  const link = await across(db, 'operator')
    .table('setup_links')
    .where('token_hash', sha256(token))
    .whereNull('used_at')
    .where('expires_at', '>', clock.now())
    .first('id');
  return link !== undefined && !(await hasUsers(db));
}

/**
 * Creates a first-run setup link for the log of a starting process. Returns null once an account exists. Each start
 * creates its own link, because only hashes are stored. The first claim invalidates all links.
 */
export async function ensureSetupLink({ db, clock, config }: Deps): Promise<{ url: string; expiresAt: Date } | null> {
  if (await hasUsers(db)) return null;
  const token = newSecret();
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + SETUP_LINK_MS);
  await across(db, 'operator').insert('setup_links', {
    id: newId(),
    token_hash: sha256(token),
    created_at: now,
    expires_at: expiresAt,
  });
  return { url: `${config.APP_URL}/setup/${token}`, expiresAt };
}

/** Returns true if this installation has no account yet and an unused setup link exists. */
export async function awaitsClaim(db: Deps['db']): Promise<boolean> {
  const link = await across(db, 'operator').table('setup_links').first('id');
  return link !== undefined && !(await hasUsers(db));
}

interface Setup {
  token: string;
  email: string;
  password: string;
  firstName: string;
  lastName: string;
  organization: string;
}

/**
 * Claims a fresh installation: creates the platform administrator, their organization, and a session.
 * @throws AppError setup_already_complete (403) when an account exists; setup_token_invalid (401); bad_request for a
 * weak password
 */
export async function claimSetup(ctx: Ctx, input: Setup): Promise<TokenPair> {
  return claim(ctx, input, (trx, userId) => openSession(ctx, trx, userId));
}

/**
 * Variant of {@link claimSetup} that also creates a first API key with every permission. The setup page shows this key
 * once.
 * @throws AppError as claimSetup
 */
export async function claimSetupWithKey(
  ctx: Ctx,
  input: Setup,
): Promise<{ session: TokenPair; apiKey: Bootstrap['apiKey'] }> {
  return claim(ctx, input, async (trx, userId, organization) => ({
    apiKey: await fullKey(ctx, trx, userId, organization.id, 'Setup'),
    session: await openSession(ctx, trx, userId, { organizationId: organization.id }),
  }));
}

async function claim<T>(
  ctx: Ctx,
  input: Setup,
  enter: (trx: Trx, userId: string, organization: OrganizationRow) => Promise<T>,
): Promise<T> {
  if (await hasUsers(ctx.db)) throw complete();
  // Checks the token before the password is hashed, because hashing takes tens of milliseconds of processor time.
  if (!(await openLink(ctx.db, input.token, ctx.clock.now()).first('id'))) throw invalidToken();
  assertStrong(input.password, input.email);
  const passwordHash = await hashPassword(input.password);
  return inTransaction(ctx.db, async (trx) => {
    await across(trx, 'operator').sql('select pg_advisory_xact_lock(:lock)', { lock: SETUP_LOCK });
    if (await hasUsers(trx)) throw complete();
    const now = ctx.clock.now();
    if ((await openLink(trx, input.token, now).update({ used_at: now })) === 0) throw invalidToken();
    const userId = newId();
    await across(trx, 'operator').insert('users', {
      id: userId,
      email: input.email,
      password_hash: passwordHash,
      first_name: input.firstName,
      last_name: input.lastName,
      language: ctx.language ?? null,
      is_platform_admin: true,
      created_at: now,
      updated_at: now,
    });
    return enter(trx, userId, await insertOrganization(ctx, trx, userId, { name: input.organization }));
  });
}

function openLink(handle: Deps['db'] | Trx, token: string, now: Date) {
  return across(handle, 'operator')
    .table('setup_links')
    .where('token_hash', sha256(token))
    .whereNull('used_at')
    .where('expires_at', '>', now);
}

function invalidToken(): AppError {
  return new AppError('setup_token_invalid', message('setup.link_invalid'), {
    fix: message('setup.link_invalid.fix'),
  });
}

function complete(): AppError {
  return new AppError('setup_already_complete', message('setup.complete'), { fix: message('setup.complete.fix') });
}

interface Bootstrap {
  organization: OrganizationRow;
  user: { id: string; email: string };
  session: TokenPair;
  /** Key with every permission. Its `secret` is returned only here. */
  apiKey: { id: string; secret: string };
}

/**
 * Runs the operator's `heron bootstrap`. Creates the person and the organization if they are missing; the first person
 * of an installation becomes its administrator. Each call adds a session and a full-access key. The password is set
 * only on a new account. Without a password, the person signs in by a password reset.
 */
export async function bootstrap(
  deps: Deps,
  input: { email: string; organization: string; password?: string },
): Promise<Bootstrap> {
  const email = input.email.trim().toLowerCase();
  if (input.password !== undefined) assertStrong(input.password, email);
  const passwordHash = await hashPassword(input.password ?? newSecret());
  return inTransaction(deps.db, async (trx) => {
    await across(trx, 'operator').sql('select pg_advisory_xact_lock(:lock)', { lock: SETUP_LOCK });
    const ctx: Ctx = { ...deps, requestId: 'bootstrap', actor: { ...systemActor(''), organizationId: null } };
    const now = deps.clock.now();
    let user = await across(trx, 'operator').table('users').where('email', email).first('id', 'email');
    if (!user) {
      user = { id: newId(), email };
      const isFirst = !(await hasUsers(trx));
      await across(trx, 'operator').insert('users', {
        ...user,
        password_hash: passwordHash,
        has_given_password: input.password !== undefined,
        is_platform_admin: isFirst,
        created_at: now,
        updated_at: now,
      });
    }
    const [existing] = await across(trx, 'operator').sql<OrganizationRow>(
      `select o.* from organizations o join memberships m on m.organization_id = o.id
       where o.name = :name and m.user_id = :user order by o.id limit 1`,
      { name: input.organization, user: user.id },
    );
    const organization = existing ?? (await insertOrganization(ctx, trx, user.id, { name: input.organization }));
    const apiKey = await fullKey(ctx, trx, user.id, organization.id, 'Bootstrap');
    const session = await openSession(ctx, trx, user.id, { organizationId: organization.id });
    return { organization, user, session, apiKey };
  });
}

/**
 * Creates an API key with every permission. The actor is the operator of the machine, so the person's role does not
 * limit the key.
 */
async function fullKey(
  ctx: Ctx,
  trx: Trx,
  userId: string,
  organizationId: string,
  name: string,
): Promise<Bootstrap['apiKey']> {
  const person = actingAs(ctx, trx, userId, organizationId);
  const acting: Ctx = { ...person, actor: { ...person.actor, orgPermissions: new Set(ORG_PERMISSIONS) } };
  const { key, secret } = await createKey(acting, { name, permissions: ALL_PERMISSIONS });
  return { id: key.id, secret };
}
