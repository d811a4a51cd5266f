import test from 'ava';
import { isPermitted } from '../../api/http/authorize.ts';
import { isWrite } from '../../api/http/route.ts';
import { routes } from '../../api/routes.ts';
import { CAPABILITIES, type Capability } from '../../db/models/agent-policy.ts';
import { readAuthorizationRequest, approveAuthorization } from '../../domain/identity/oauth/authorize.ts';
import { systemActor, type Actor } from '../../domain/platform/kernel/actor.ts';
import { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import {
  ALL_PERMISSIONS,
  maskOf,
  ORG_PERMISSIONS,
  PERMISSIONS,
  type OrgPermission,
  type Permission,
} from '../../lib/permissions.ts';
import { createApproval, policyBody, recordedSubject } from '../harness/approvals.ts';
import { createApiKey, createCampaign, createMailbox, createMember, type Tenant } from '../harness/factories.ts';
import { CALLBACK, createApplication, personCtx, pkce } from '../harness/oauth.ts';
import { call, createWorld, type World } from '../harness/world.ts';

/*
 * Tests that nobody can grant more rights than they have. Each caller lacks one right; each request would grant a
 * right. The rights of a caller, a key, an application or a member are read from the registry of routes, not from the
 * code that checks them.
 */

/** Areas whose routes may grant rights. */
const AREAS = ['agent-policies', 'lead-allowances', 'api-keys', 'approvals', 'automations', 'oauth', 'organizations'];

/** Routes of these areas that grant no right, each with the reason. */
const GIVES_NOTHING: Record<string, string> = {
  'agentPolicies.delete': 'ends a policy',
  'apiKeys.delete': 'deletes a key that no longer works',
  'apiKeys.revoke': 'ends a key',
  'automations.delete': 'ends an automation',
  'automations.test': 'does nothing of what it shows',
  'invitations.accept': 'gives what the invitation names: see the test of inviters',
  'invitations.cancel': 'ends an invitation',
  'leadAllowances.revoke': 'ends an allowance',
  'oauth.deleteApplication': 'ends an application',
  'oauth.registerClient': 'gives no scope: a person grants them',
  'oauth.revokeToken': 'ends a token',
  'oauth.rotateWebhookSecret': 'its secret signs what Heron sends, and opens nothing of Heron',
  'oauth.issueToken': 'gives what a person granted',
  'organizations.create': 'makes a workspace of its own',
  'organizations.delete': 'ends a workspace',
  'organizations.restore': 'keeps a workspace as it was',
  'organizations.select': 'chooses among memberships',
  'organizations.update': 'changes a name, a logo, a language, and rules that only refuse',
};

/** Operation that performs the action of a capability directly. */
const DOES: Record<Capability, string> = {
  'campaign.launch': 'campaigns.start',
  'email.compose': 'unibox.compose',
  'inbox.reply': 'unibox.reply',
  'mailbox.provision': 'mailboxOrders.create',
};

/** Operation that performs the action of an automation or a step directly, with a configuration of that action. */
const ACTS: Record<string, { operation: string; config: (site: Site) => object }> = {
  add_tag: { operation: 'contacts.update', config: ({ categoryId }) => ({ category_id: categoryId }) },
  remove_tag: { operation: 'contacts.update', config: ({ categoryId }) => ({ category_id: categoryId }) },
  set_category: { operation: 'contacts.update', config: ({ categoryId }) => ({ category_id: categoryId }) },
  create_task: { operation: 'crm.createTask', config: () => ({ title: 'Call' }) },
  add_to_campaign: { operation: 'campaigns.addLeads', config: ({ campaignId }) => ({ campaign_id: campaignId }) },
  remove_from_campaign: {
    operation: 'campaigns.removeLead',
    config: ({ campaignId }) => ({ campaign_id: campaignId }),
  },
  suppress: { operation: 'suppressions.add', config: () => ({}) },
};

/** Workspace with objects through which a caller may try to grant rights. */
interface Site {
  tenant: Tenant;
  campaignId: string;
  categoryId: string;
  mailboxId: string;
}

/** Caller, and the operations that it may call. */
interface Caller {
  token: string;
  userId: string;
  power: ReadonlySet<string>;
  isCredential: boolean;
}

/** Result of a request, and the operations that a caller gained by it. */
interface Attempt {
  done: boolean;
  gives: Iterable<string>;
  what: string;
}

/** Time limit (ms) for a test of many requests. */
const MINUTES = 10 * 60_000;

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

/** Returns the operations that an actor with these rights may call. */
function powerOf(rights: Partial<Actor>): Set<string> {
  const actor: Actor = { ...systemActor(newId()), kind: 'session', ...rights };
  return new Set(routes.filter((spec) => isPermitted(spec, actor)).map(({ operationId }) => operationId));
}
const ofRole = (permissions: readonly string[], isOwner = false) =>
  powerOf({ orgPermissions: new Set(permissions as OrgPermission[]), isOwner });
const ofScopes = (permissions: number) => powerOf({ kind: 'api_key', permissions });

async function openSite(): Promise<Site> {
  const tenant = await world.tenant();
  const { campaignId } = await createCampaign(world.deps, tenant.organizationId, [{ subject: 'x' }], {
    status: 'draft',
  });
  const category = await ask(tenant.apiKey, 'POST', '/categories', { title: 'Fair' });
  const mailboxId = await createMailbox(world.deps, tenant.organizationId, `${newId()}@ours.test`);
  return { tenant, campaignId, categoryId: category.body.id, mailboxId };
}

const ask = (token: string, method: string, path: string, body?: unknown) =>
  call(world, method, `/v1${path}`, { token, ...(body === undefined ? {} : { body }) });

/** Stores a role of the workspace, and returns its id. */
async function role({ tenant }: Site, permissions: readonly string[]): Promise<{ id: string; name: string }> {
  const id = newId();
  const at = world.deps.clock.now();
  const name = `Role ${id}`;
  await world.deps.db('roles').insert({
    id,
    organization_id: tenant.organizationId,
    name,
    permissions: [...permissions],
    is_owner: false,
    is_system: false,
    created_at: at,
    updated_at: at,
  });
  return { id, name };
}

async function member(site: Site, permissions: readonly string[]) {
  const { id, name } = await role(site, permissions);
  return { ...(await createMember(world.deps, site.tenant, name)), roleId: id };
}

async function personWith(site: Site, permissions: readonly string[]): Promise<Caller> {
  const { sessionToken: token, userId } = await member(site, permissions);
  return { token, userId, power: ofRole(permissions), isCredential: false };
}

async function keyWith({ tenant }: Site, permissions: number): Promise<Caller> {
  const { apiKey } = await createApiKey(world.deps, tenant.organizationId, tenant.userId, { permissions });
  return { token: apiKey, userId: tenant.userId, power: ofScopes(permissions), isCredential: true };
}

/** Requests that would grant or remove a permission of a role, by operation. */
const ROLE_WAYS: Record<string, (site: Site, caller: Caller, permission: string) => Promise<Attempt[]>> = {
  'roles.create': async (_site, { token }, permission) => {
    const { status } = await ask(token, 'POST', '/organizations/current/roles', {
      name: newId(),
      permissions: [permission],
    });
    return [{ done: status < 300, gives: ofRole([permission]), what: `a role with ${permission}` }];
  },
  'roles.update': async (site, { token }, permission) => {
    const [empty, full] = [await role(site, []), await role(site, [permission])];
    const edit = (id: string, body: object) => ask(token, 'PATCH', `/organizations/current/roles/${id}`, body);
    const gives = ofRole([permission]);
    return [
      {
        done: (await edit(empty.id, { permissions: [permission] })).status < 300,
        gives,
        what: `${permission} for a role`,
      },
      { done: (await edit(full.id, { name: newId() })).status < 300, gives, what: `renames a role with ${permission}` },
      { done: (await edit(full.id, { permissions: [] })).status < 300, gives, what: `takes ${permission} from a role` },
    ];
  },
  'roles.delete': async (site, { token }, permission) => {
    const { id } = await role(site, [permission]);
    const { status } = await ask(token, 'DELETE', `/organizations/current/roles/${id}`);
    return [{ done: status < 300, gives: ofRole([permission]), what: `deletes a role with ${permission}` }];
  },
  'members.update': async (site, { token }, permission) => {
    const [weak, strong] = [await member(site, []), await member(site, [permission])];
    const move = (userId: string, roleId: string) =>
      ask(token, 'PATCH', `/organizations/current/members/${userId}`, { role_id: roleId });
    const gives = ofRole([permission]);
    return [
      { done: (await move(strong.userId, weak.roleId)).status < 300, gives, what: `takes ${permission} from a member` },
      { done: (await move(weak.userId, strong.roleId)).status < 300, gives, what: `gives ${permission} to a member` },
    ];
  },
  'members.remove': async (site, { token }, permission) => {
    const { userId } = await member(site, [permission]);
    const { status } = await ask(token, 'DELETE', `/organizations/current/members/${userId}`);
    return [{ done: status < 300, gives: ofRole([permission]), what: `removes a member with ${permission}` }];
  },
  'invitations.create': async (site, { token }, permission) => {
    const { id: role_id } = await role(site, [permission]);
    const email = `${newId()}@guest.test`;
    const { status } = await ask(token, 'POST', '/organizations/current/invitations', { email, role_id });
    return [{ done: status < 300, gives: ofRole([permission]), what: `invites to a role with ${permission}` }];
  },
};

/** Requests that would grant a scope, by operation. */
const SCOPE_WAYS: Record<string, (site: Site, caller: Caller, scope: Permission) => Promise<Attempt[]>> = {
  'apiKeys.create': async (_site, { token }, scope) => {
    const { status } = await ask(token, 'POST', '/api-keys', { name: 'k', permissions: maskOf([scope]) });
    return [{ done: status < 300, gives: ofScopes(maskOf([scope])), what: `a key with ${scope}` }];
  },
  'apiKeys.update': async ({ tenant }, { token }, scope) => {
    const make = (permissions: number, allowedIps: string[] = []) =>
      createApiKey(world.deps, tenant.organizationId, tenant.userId, { permissions, allowedIps, ratePerMinute: 1 });
    const [weak, bound] = [await make(0), await make(maskOf([scope]), ['192.0.2.1'])];
    const edit = (id: string, body: object) => ask(token, 'PATCH', `/api-keys/${id}`, body);
    const gives = ofScopes(maskOf([scope]));
    return [
      {
        done: (await edit(weak.apiKeyId, { permissions: maskOf([scope]) })).status < 300,
        gives,
        what: `${scope} for a key`,
      },
      {
        done: (await edit(bound.apiKeyId, { allowed_ips: [] })).status < 300,
        gives,
        what: `opens a key with ${scope} to every address`,
      },
    ];
  },
  'oauth.createApplication': async (_site, { token }, scope) => {
    const { status } = await ask(token, 'POST', '/oauth/applications', {
      name: 'App',
      redirect_uris: [CALLBACK],
      scopes: [scope.toLowerCase()],
    });
    return [{ done: status < 300, gives: ofScopes(maskOf([scope])), what: `an application with ${scope}` }];
  },
  'oauth.updateApplication': async ({ tenant }, { token }, scope) => {
    const make = (scopes: number) => createApplication(world.deps, tenant.organizationId, { scopes });
    const [weak, strong] = [await make(0), await make(maskOf([scope]))];
    const edit = (id: string, body: object) => ask(token, 'PATCH', `/oauth/applications/${id}`, body);
    const gives = ofScopes(maskOf([scope]));
    return [
      {
        done: (await edit(weak.id, { scopes: [scope.toLowerCase()] })).status < 300,
        gives,
        what: `${scope} for an app`,
      },
      {
        done: (await edit(strong.id, { redirect_uris: ['https://elsewhere.test/'] })).status < 300,
        gives,
        what: `gets the codes of an application with ${scope}`,
      },
    ];
  },
  'oauth.rotateSecret': async ({ tenant }, { token }, scope) => {
    const { id } = await createApplication(world.deps, tenant.organizationId, { scopes: maskOf([scope]) });
    const { status } = await ask(token, 'POST', `/oauth/applications/${id}/rotate-secret`);
    return [
      { done: status < 300, gives: ofScopes(maskOf([scope])), what: `the secret of an application with ${scope}` },
    ];
  },
};

/** Requests that would let a credential act without a person, by operation. */
const CAPABILITY_WAYS: Record<string, (site: Site, caller: Caller, capability: Capability) => Promise<Attempt[]>> = {
  'agentPolicies.create': async ({ tenant, mailboxId }, { token }, capability) => {
    const { apiKeyId } = await createApiKey(world.deps, tenant.organizationId, tenant.userId);
    const body = { ...policyBody(apiKeyId, mailboxId), capabilities: [capability] };
    const { status } = await ask(token, 'POST', '/agent-policies', body);
    return [{ done: status < 300, gives: [DOES[capability]], what: `a policy with ${capability}` }];
  },
  'agentPolicies.replace': async ({ tenant, mailboxId }, { token }, capability) => {
    const { apiKeyId } = await createApiKey(world.deps, tenant.organizationId, tenant.userId);
    const body = { ...policyBody(apiKeyId, mailboxId), capabilities: [capability] };
    const off = await ask(tenant.sessionToken, 'POST', '/agent-policies', { ...body, enabled: false });
    const { status } = await ask(token, 'PUT', `/agent-policies/${off.body.id}`, body);
    return [{ done: status < 300, gives: [DOES[capability]], what: `switches on a policy with ${capability}` }];
  },
  'approvals.decide': async ({ tenant }, { token }, capability) => {
    const { id } = await createApproval(world.system(tenant.organizationId), tenant, { capability });
    const { status } = await ask(token, 'POST', `/approvals/${id}/decision`, { decision: 'approved' });
    return [{ done: status < 300, gives: [DOES[capability]], what: `approves ${capability}` }];
  },
};

const graphOf = (action: string, config: object) => ({
  nodes: [
    { id: 'trigger', type: 'trigger', x: 0, y: 0 },
    { id: 'act', type: 'action', action: `sendsets.${action}`, config, x: 0, y: 0 },
  ],
  edges: [{ id: 'on', source: 'trigger', target: 'act', when: '' }],
});

/** Requests that would make Heron perform an action for the caller, by operation. */
const ACTION_WAYS: Record<string, (site: Site, caller: Caller, action: string) => Promise<Attempt[]>> = {
  'automations.create': async (site, { token, isCredential }, action) => {
    const { operation, config } = ACTS[action]!;
    const body = { name: 'A', trigger_event: 'email.replied', graph: graphOf(action, config(site)) };
    const { status } = await ask(token, 'POST', '/automations', body);
    return [{ done: status < 300, gives: doneBy(operation, isCredential), what: `an automation with ${action}` }];
  },
  'automations.replace': async (site, { token, isCredential }, action) => {
    const { operation, config } = ACTS[action]!;
    const body = { name: 'A', trigger_event: 'email.replied', graph: graphOf(action, config(site)) };
    const off = await ask(site.tenant.sessionToken, 'POST', '/automations', { ...body, enabled: false });
    const { status } = await ask(token, 'PATCH', `/automations/${off.body.automation.id}`, body);
    return [{ done: status < 300, gives: doneBy(operation, isCredential), what: `switches on ${action}` }];
  },
  'campaigns.createStep': async ({ campaignId }, { token }, action) => {
    if (action !== 'create_task') return [];
    const body = { kind: 'action', action: { type: action, title: 'Call' } };
    const { status } = await ask(token, 'POST', `/campaigns/${campaignId}/steps`, body);
    return [{ done: status < 300, gives: [ACTS[action]!.operation], what: `a step with ${action}` }];
  },
};

/**
 * A credential may add leads only within its policy, which an automation does not check. Therefore only people may save
 * an automation that adds leads.
 */
const doneBy = (operation: string, isCredential: boolean) =>
  isCredential && operation === 'campaigns.addLeads' ? ['by people only'] : [operation];

test('each route of these areas is driven, or hands out nothing', (t) => {
  const driven = new Set([ROLE_WAYS, SCOPE_WAYS, CAPABILITY_WAYS, ACTION_WAYS].flatMap((ways) => Object.keys(ways)));
  const open = routes
    .filter((spec) => AREAS.includes(spec.area) && isWrite(spec))
    .map(({ operationId }) => operationId);
  t.deepEqual(
    open.filter((id) => !driven.has(id) && !(id in GIVES_NOTHING)),
    [],
  );
  t.deepEqual(
    [...driven, ...Object.keys(GIVES_NOTHING)].filter((id) => !routes.some(({ operationId }) => operationId === id)),
    [],
  );
});

/** Makes each attempt, and reports rights granted beyond the caller's. Returns the number of successful attempts. */
async function faultsOf(caller: Caller, who: string, attempts: Attempt[], faults: string[]): Promise<number> {
  let done = 0;
  for (const attempt of attempts) {
    if (!attempt.done) continue;
    done += 1;
    const beyond = [...attempt.gives].filter((operation) => !caller.power.has(operation));
    if (beyond.length > 0) faults.push(`${who}: ${attempt.what}, ${beyond.join(' ')}`);
  }
  return done;
}

/** Right, with the requests that may grant it and the operations that it permits. */
interface Right {
  name: string;
  ways: Record<string, (site: Site, caller: Caller, right: never) => Promise<Attempt[]>>;
  opens: Iterable<string>;
}

const rightsOf = ({ isCredential }: Pick<Caller, 'isCredential'>): Right[] => [
  ...PERMISSIONS.map(({ name }) => ({ name, ways: SCOPE_WAYS, opens: ofScopes(maskOf([name])) })),
  ...Object.entries(ACTS).map(([name, { operation }]) => ({
    name,
    ways: ACTION_WAYS,
    opens: doneBy(operation, isCredential),
  })),
  ...(isCredential
    ? []
    : [
        ...ORG_PERMISSIONS.map((name) => ({ name, ways: ROLE_WAYS, opens: ofRole([name]) })),
        ...CAPABILITIES.map((name) => ({ name, ways: CAPABILITY_WAYS, opens: [DOES[name]] })),
      ]),
];

/**
 * Tries to grant each right through each route. For a restricted caller only the rights that it lacks are tried.
 * @returns operation and right of each refused attempt
 */
async function tryEach(site: Site, caller: Caller, lacking: string | null, faults: string[]): Promise<string[]> {
  const refused: string[] = [];
  for (const { name, ways, opens } of rightsOf(caller)) {
    const isBeyond = [...opens].some((operation) => !caller.power.has(operation)) || name === lacking;
    if (lacking && !isBeyond) continue;
    for (const [operation, way] of Object.entries(ways)) {
      const attempts = await way(site, caller, name as never);
      const done = await faultsOf(
        caller,
        `${operation}, ${lacking ? `without ${lacking}` : 'with all'}`,
        attempts,
        faults,
      );
      if (done < attempts.length) refused.push(`${operation} ${name}`);
    }
  }
  return refused;
}

test.serial(
  'a member who lacks a permission hands it to no role, member, key, application, policy or automation',
  async (t) => {
    t.timeout(MINUTES);
    const subject = recordedSubject();
    const { families } = world.deps;
    world.deps.families = [...families.filter(({ approval }) => approval?.type !== 'direct_send'), subject.family];
    t.teardown(() => (world.deps.families = families));
    const faults: string[] = [];
    for (const lacking of [null, ...ORG_PERMISSIONS]) {
      const site = await openSite();
      const caller = await personWith(
        site,
        ORG_PERMISSIONS.filter((one) => one !== lacking),
      );
      const refused = await tryEach(site, caller, lacking, faults);
      if (lacking) t.true(refused.length > 0, lacking);
      else t.deepEqual(refused, [], 'who holds everything may do all of it');
    }
    t.deepEqual(faults, []);
  },
);

test.serial('a key that lacks a scope hands it to no key, application, automation or step', async (t) => {
  t.timeout(MINUTES);
  const faults: string[] = [];
  for (const lacking of [null, ...PERMISSIONS.map(({ name }) => name)]) {
    const site = await openSite();
    const caller = await keyWith(site, lacking ? ALL_PERMISSIONS & ~maskOf([lacking]) : ALL_PERMISSIONS);
    const refused = await tryEach(site, caller, lacking, faults);
    if (lacking) t.true(refused.length > 0, lacking);
    else t.deepEqual(refused, ['automations.create add_to_campaign', 'automations.replace add_to_campaign']);
  }
  t.deepEqual(faults, []);
});

test.serial('what a key makes, and what that makes in turn, may do no more than the first', async (t) => {
  t.timeout(MINUTES);
  const site = await openSite();
  const held: Permission[] = ['API_KEYS', 'READ_CONTACTS', 'READ_CAMPAIGNS'];
  const root = await keyWith(site, maskOf(held));
  let token = root.token;
  for (let generation = 0; generation < 3; generation += 1) {
    for (const { name } of PERMISSIONS) {
      const { status } = await ask(token, 'POST', '/api-keys', { name, permissions: maskOf(['API_KEYS', name]) });
      t.is(status, held.includes(name) ? 201 : 403, `${generation} ${name}`);
    }
    const next = { name: 'next', permissions: maskOf(held), rate_limit_per_minute: 1000 };
    const made = await ask(token, 'POST', '/api-keys', next);
    t.is(made.status, 201, made.text);
    token = made.body.secret;
  }
});

test.serial('a person consents to no scope whose routes their role does not open', async (t) => {
  t.timeout(MINUTES);
  const site = await openSite();
  const { clientId } = await createApplication(world.deps, site.tenant.organizationId, { scopes: ALL_PERMISSIONS });
  const request = await readAuthorizationRequest(world.deps, {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: CALLBACK,
    code_challenge: pkce().challenge,
    code_challenge_method: 'S256',
  });
  if (request.kind !== 'request') throw new Error(JSON.stringify(request));
  const faults: string[] = [];
  let given = 0;
  for (const lacking of ORG_PERMISSIONS) {
    const { userId, power } = await personWith(
      site,
      ORG_PERMISSIONS.filter((one) => one !== lacking),
    );
    const ctx = personCtx(world.deps, { userId, organizationId: site.tenant.organizationId });
    for (const { name } of PERMISSIONS) {
      const done = await approveAuthorization(ctx, request, [name]).then(
        () => true,
        (error: unknown) => {
          if (error instanceof AppError && error.code === 'forbidden') return false;
          throw error;
        },
      );
      if (!done) continue;
      given += 1;
      const beyond = [...ofScopes(maskOf([name]))].filter((operation) => !power.has(operation));
      if (beyond.length > 0) faults.push(`without ${lacking}: ${name}, ${beyond.join(' ')}`);
    }
  }
  t.deepEqual(faults, []);
  t.true(given > PERMISSIONS.length);
});

test.serial('an invitation gives nothing that its inviter does not hold any more', async (t) => {
  const site = await openSite();
  const { db } = world.deps;
  const inviter = await member(site, ['manage_team', 'view_contacts']);
  const viewing = await role(site, ['view_contacts']);
  const invite = async () => {
    const guest = await createMember(world.deps, await world.tenant(), 'Viewer');
    const { email } = await db('users').where({ id: guest.userId }).first('email');
    const made = await ask(inviter.sessionToken, 'POST', '/organizations/current/invitations', {
      email,
      role_id: viewing.id,
    });
    t.is(made.status, 201, made.text);
    const [, token] = /invitations\/([\w-]+)/.exec(world.outgoing.at(-1)!.text)!;
    return () => ask(guest.sessionToken, 'POST', '/invitations/accept', { token });
  };
  const [early, late] = [await invite(), await invite()];
  t.is((await early()).status, 200);
  await ask(site.tenant.sessionToken, 'DELETE', `/organizations/current/members/${inviter.userId}`);
  t.is((await late()).body.code, 'invitation_invalid');
  const again = await member(site, ['manage_team']);
  await db('invitations').where({ role_id: viewing.id }).update({ invited_by: again.userId });
  t.is((await late()).body.code, 'invitation_invalid', 'a member who lacks what the role holds');
});
