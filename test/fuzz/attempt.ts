import { setPlatformAdmin } from '../../domain/operations/instance/admins.ts';
import type { AnyRoute } from '../../api/http/route.ts';
import { newSecret } from '../../lib/crypto.ts';
import { newId } from '../../lib/ids.ts';
import { maskOf } from '../../lib/permissions.ts';
import { createApiKey, createMember, type Tenant } from '../harness/factories.ts';
import { createTestCatalogue } from '../harness/catalogue.ts';
import { createAccessToken } from '../harness/oauth.ts';
import { startProvisioning } from '../../local/provisioning.ts';
import type { WorkflowGateway } from '../../temporal/dispatch.ts';
import { createWorld, noWorkflows, type World } from '../harness/world.ts';
import { makeRows, parametersOf, ROWS } from '../suites/foreign-ids.ts';
import { makeGround, type Ground, type Reaching } from './ground.ts';
import { PROSPECT, reachingRequest } from './reach.ts';

/**
 * Gateway whose mailbox checks succeed and that reports workers, because the test is about the code that follows these
 * calls.
 */
const workflows: WorkflowGateway = {
  ...noWorkflows,
  execute: async () => ({ smtp: { ok: true }, imap: { ok: true } }) as never,
  failingRuns: async () => [],
  health: async () => ({ latencyMs: 1, workers: 1, unserved: [] }),
};

/**
 * Creates a world in which no limit refuses a request, mailboxes can be ordered from a sandbox, and the prospect
 * catalogue has a person. The world trusts the source address in `X-Forwarded-For`.
 */
export async function createReachableWorld(): Promise<World> {
  const sandbox = await startProvisioning();
  const catalogue = await createTestCatalogue();
  await catalogue.load([PROSPECT]);
  const world = await createWorld({
    workflows,
    catalogue: catalogue.reader,
    limiter: { take: async () => ({ waitMs: 0, remaining: Infinity, resetMs: 0 }), close: async () => {} },
    env: {
      TRUSTED_PROXIES: 'loopback',
      ORG_WEBHOOK_ENDPOINTS: '0',
      APP_URL: 'http://127.0.0.1:8080',
      GOOGLE_MAILBOX_CLIENT_ID: 'client',
      GOOGLE_MAILBOX_CLIENT_SECRET: 'secret',
      HUBSPOT_CLIENT_ID: 'client',
      HUBSPOT_CLIENT_SECRET: 'secret',
      ...sandbox.env,
      STRIPE_SECRET_KEY: 'sk_test_nowhere',
      STRIPE_WEBHOOK_SECRET: newSecret('whsec_'),
      STRIPE_API_BASE: 'http://127.0.0.1:1',
    },
  });
  return {
    ...world,
    async close() {
      await world.close();
      await sandbox.close();
      await catalogue.drop();
    },
  };
}

/** Parts of a request to an operation. */
export interface Attempt {
  params: Record<string, string>;
  reaching: Reaching;
  /** Returns the n-th kind of credential that the operation accepts; the first one has all rights. */
  own: (n: number) => Promise<string | undefined>;
  /** Returns a credential that the operation may refuse. */
  other: (n: number) => Promise<string | undefined>;
}

/** Operations that work only before the first account exists. */
const BEFORE_SETUP: ReadonlySet<string> = new Set(['auth.setUpInstallation', 'pages.setup', 'pages.claimSetup']);

/**
 * Operations that change the emails of a campaign. If the campaign is active, a key may use them only within its
 * policy.
 */
const PREPARES_CAMPAIGN = /^campaigns\.((update|create|delete|replace).*|addLeads)$/;

/** Creates a request that the operation accepts, with its own rows, and its own tenant unless one is given. */
export async function prepareAttempt(world: World, spec: AnyRoute, given?: Tenant): Promise<Attempt> {
  // Each request has its own source address, but sign-in attempts are also limited by account.
  await world.deps.db('auth_throttles').delete();
  if (BEFORE_SETUP.has(spec.operationId)) {
    await world.deps.db.raw('truncate users, organizations, setup_links cascade');
    const reaching = await reachingRequest(spec, { world } as Ground);
    return { params: reaching.params ?? {}, reaching, own: async () => undefined, other: async () => undefined };
  }
  const tenant = given ?? (await world.tenant());
  if (spec.platformAdmin) await setPlatformAdmin(world.deps, tenant.email, { isAdmin: true });
  const made = await createParams(spec, world, tenant);
  if (PREPARES_CAMPAIGN.test(spec.operationId) && made.id)
    await world.deps.db('campaigns').where({ id: made.id }).update({ status: 'draft' });
  const reaching = await reachingRequest(spec, await makeGround(world, tenant, made));
  return {
    params: { ...made, ...reaching.params },
    reaching,
    own: (n) => ownCredential(world, spec, tenant, n),
    other: (n) => otherCredential(world, tenant, n),
  };
}

/**
 * Returns the path parameters of a route with ids of existing rows. Emailed links contain a secret; it is a random one
 * unless the request brings its own.
 */
async function createParams(spec: AnyRoute, world: World, tenant: Tenant): Promise<Record<string, string>> {
  const parameters = parametersOf(spec.path);
  const mailed = parameters.filter(({ prefix }) => !(prefix in ROWS));
  if (mailed.length === 0) return makeRows(spec.path, world, tenant);
  if (spec.scope !== 'public') throw new Error(`${mailed[0]!.prefix} has no factory in test/suites/foreign-ids.ts`);
  return Object.fromEntries(parameters.map(({ name }) => [name, newSecret()]));
}

/**
 * Returns a credential that a route accepts. If it accepts several: an API key, a session or an application's token,
 * depending on `n`.
 */
async function ownCredential(world: World, spec: AnyRoute, tenant: Tenant, n: number): Promise<string | undefined> {
  if (spec.scope === 'public') return undefined;
  if (spec.scope === 'session') return tenant.sessionToken;
  const kind = n % 3;
  if (kind === 0) return tenant.apiKey;
  return kind === 1 ? tenant.sessionToken : (await createAccessToken(world, tenant)).accessToken;
}

/**
 * Returns no credential, an invalid one, a key with few scopes, a key for another mailbox, or a session of a person
 * with few permissions.
 */
async function otherCredential({ deps }: World, tenant: Tenant, n: number): Promise<string | undefined> {
  const { organizationId, userId } = tenant;
  switch (n % 5) {
    case 0:
      return undefined;
    case 1:
      return 'ssk_nonsense';
    case 2:
      return (await createApiKey(deps, organizationId, userId, { permissions: maskOf(['READ_CONTACTS']) })).apiKey;
    case 3:
      return (await createApiKey(deps, organizationId, userId, { allowedMailboxes: [newId()] })).apiKey;
    default:
      return (await createMember(deps, tenant, 'Viewer')).sessionToken;
  }
}
