import type { AnyRoute } from '../../api/http/route.ts';
import { ensureSetupLink } from '../../domain/auth/setup.ts';
import { newSecret, sha256 } from '../../lib/crypto.ts';
import { newId } from '../../lib/ids.ts';
import { createContact, createMailbox, type Tenant } from '../harness/factories.ts';
import { CALLBACK, createCode, createPublicClient, createAccessToken } from '../harness/oauth.ts';
import { mailedCode, mailedToken, freshEmail, PASSWORD, post } from '../harness/people.ts';
import type { World } from '../harness/world.ts';
import { sampleBody } from '../suites/bodies.ts';

/** The tenant a request is made for, with ids that its body may name. */
export interface Ground {
  world: World;
  tenant: Tenant;
  params: Record<string, string>;
  contactId: string;
  mailboxId: string;
}

/** Makes what the bodies of {@link reachingBody} name. */
export async function makeGround(world: World, tenant: Tenant, params: Record<string, string>): Promise<Ground> {
  const contactId = await createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId);
  const mailboxId = await createMailbox(world.deps, tenant.organizationId, `${newId()}@example.com`, {
    smtp: { host: '127.0.0.1', port: 1 },
  });
  return { world, tenant, params, contactId, mailboxId };
}

/** A request that gets inside an operation: its body and, where it needs one, its query. */
export interface Reaching {
  body?: unknown;
  query?: Record<string, string>;
}

type Make = (ground: Ground) => Promise<Reaching> | Reaching;

const mail = (host = 'smtp.example.com') => ({ host, port: 587, username: 'u', password: 'p', security: 'starttls' });
const findRole = async ({ world, tenant }: Ground, name = 'Viewer') =>
  (await world.deps.db('roles').where({ organization_id: tenant.organizationId, name }).first('id')).id as string;

/** Requests the schema alone does not lead to; by operation. */
const REACHING: Record<string, Make> = {
  'auth.setup': async ({ world }) => ({
    body: {
      token: (await ensureSetupLink(world.deps))?.url.split('/').at(-1) ?? 'gone',
      email: freshEmail(),
      password: PASSWORD,
      first_name: 'A',
      organization: 'First',
    },
  }),
  'auth.register': () => ({ body: { email: freshEmail(), password: PASSWORD, first_name: 'A', last_name: 'B' } }),
  'auth.confirmRegistration': async ({ world }) => {
    const email = freshEmail();
    const { body } = await post(world, '/v1/auth/register', { email, password: PASSWORD });
    return { body: { session: body.session, code: mailedCode(world, email) } };
  },
  'auth.login': async (ground) => ({ body: { email: await registered(ground), password: PASSWORD } }),
  'auth.confirmLogin': async (ground) => {
    const email = await registered(ground);
    const { body } = await post(ground.world, '/v1/auth/login', { email, password: PASSWORD });
    return { body: { session: body.session, code: mailedCode(ground.world, email) } };
  },
  'auth.refresh': async (ground) => ({ body: { refresh_token: (await signedIn(ground)).refresh_token } }),
  'auth.resetPassword': () => ({ body: { email: freshEmail() } }),
  'auth.confirmPasswordReset': async (ground) => {
    const email = await registered(ground);
    await post(ground.world, '/v1/auth/reset-password', { email });
    return { body: { session: mailedToken(ground.world, email), password: PASSWORD } };
  },
  'invitations.create': async (ground) => ({ body: { email: freshEmail(), role_id: await findRole(ground) } }),
  'invitations.accept': async (ground) => {
    const token = newSecret();
    const { deps } = ground.world;
    const host = await ground.world.tenant();
    const [user] = await deps.db('users').where({ id: ground.tenant.userId }).select('email');
    await deps.db('invitations').insert({
      id: newId(),
      organization_id: host.organizationId,
      email: user.email,
      role_id: await findRole({ ...ground, tenant: host }),
      token_hash: sha256(token),
      created_at: deps.clock.now(),
      expires_at: new Date(deps.clock.now().getTime() + 3600_000),
    });
    return { body: { token } };
  },
  'members.update': async (ground) => ({ body: { role_id: await findRole(ground, 'Admin') } }),
  'roles.create': () => ({ body: { name: newId(), permissions: ['view_contacts'] } }),
  'api-keys.create': () => ({ body: { name: 'Key', permissions: 1 } }),
  'oauth.token': async ({ world, tenant }) => {
    const client = await createPublicClient(world.deps);
    const { code, verifier } = await createCode(world.deps, tenant, client);
    return {
      body: {
        grant_type: 'authorization_code',
        code,
        code_verifier: verifier,
        redirect_uri: CALLBACK,
        client_id: client.clientId,
      },
    };
  },
  'oauth.revoke': async ({ world, tenant }) => {
    const { accessToken, client } = await createAccessToken(world, tenant);
    return { body: { token: accessToken, client_id: client.clientId } };
  },
  'oauth.authorize': async ({ world }) => {
    const client = await createPublicClient(world.deps);
    return {
      query: {
        response_type: 'code',
        client_id: client.clientId,
        redirect_uri: CALLBACK,
        code_challenge: 'a'.repeat(43),
        code_challenge_method: 'S256',
      },
    };
  },
  'app-connections.create': () => ({ body: { name: newId(), base_url: 'http://127.0.0.1:1' } }),
  'campaigns.create': ({ mailboxId }) => ({
    body: {
      name: 'Fuzz',
      description: 'd',
      timezone: 'Europe/Budapest',
      days: 31,
      start_time: '09:00',
      cc: ['cc@example.com'],
      sender_strategy: 'explicit',
      senders: [{ email_account_id: mailboxId }],
      steps: [
        { subject: 'Hi {{.FirstName}}', body_plain: 'Text', conditions: { branches: [{ to: 1 }] } },
        { kind: 'wait', action: { type: 'wait', wait_minutes: 5 } },
      ],
      variants: [{ name: 'B', subject: 'Hey', body_plain: 'Other' }],
    },
  }),
  'campaigns.start': async ({ world, tenant, params, contactId }) => {
    const campaign_id = params.id!;
    const now = world.deps.clock.now();
    await world.deps.db('campaigns').where({ id: campaign_id }).update({ status: 'draft' });
    await world.deps.db('enrollments').insert({
      id: newId(),
      organization_id: tenant.organizationId,
      campaign_id,
      contact_id: contactId,
      entered_at: now,
      last_activity_at: now,
    });
    return { body: {} };
  },
  'campaigns.update': () => ({ body: { name: 'Other', days: 12, end_time: '17:00' } }),
  'campaigns.replaceSenders': ({ mailboxId }) => ({ body: { senders: [{ email_account_id: mailboxId, weight: 3 }] } }),
  'campaigns.addLeads': ({ contactId }) => ({ body: { contact_ids: [contactId] } }),
  'campaigns.previewTemplate': () => ({ body: { subject: 'Hi {{.FirstName}}', body_html: '<p>{{title "x"}}</p>' } }),
  'events.publish': async ({ world, contactId }) => {
    const { email } = await world.deps.db('contacts').where({ id: contactId }).first('email');
    return { body: { name: 'order.paid', email, data: { total: 3 } } };
  },
  'contacts.create': () => ({ body: [{ email: freshEmail(), first_name: 'A', custom_fields: { plan: 'pro' } }] }),
  'contacts.lookup': async ({ world, contactId }) => ({
    query: { email: (await world.deps.db('contacts').where({ id: contactId }).first('email')).email },
  }),
  'contacts.bulkDelete': ({ contactId }) => ({ body: { contacts: [contactId] } }),
  'contacts.bulkUpdate': ({ contactId }) => ({ body: { contacts: [contactId], changes: { company: 'Acme' } } }),
  'segments.create': () => ({ body: { name: newId() } }),
  'suppressions.add': () => ({ body: { email: freshEmail() } }),
  'mailboxes.connect': () => ({ body: { email: freshEmail(), smtp: mail(), imap: mail('imap.example.com') } }),
  'webhooks.create': () => ({ body: { url: 'http://127.0.0.1:1/hook', event_types: ['contact.created'] } }),
  'webhooks.update': () => ({ body: { url: 'http://127.0.0.1:1/hook' } }),
  'agentTools.call': () => ({ body: { arguments: {} } }),
  'mcp.message': () => ({ body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} } }),
  'mcp.messageV1': () => ({ body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} } }),
  'outreachSettings.replace': () => ({ body: { settings: { preflight: { enabled: true } } } }),
};

/** A request that should get inside an operation. */
export async function reachingRequest(spec: AnyRoute, ground: Ground): Promise<Reaching> {
  const made = await REACHING[spec.operationId]?.(ground);
  if (made && (made.body !== undefined || !spec.body)) return made;
  const isObject = spec.body && (spec.consumes ?? 'json') !== 'raw' && spec.consumes !== 'multipart';
  return { ...made, ...(isObject ? { body: sampleBody(spec) } : {}) };
}

async function registered({ world }: Ground): Promise<string> {
  const email = freshEmail();
  const { body } = await post(world, '/v1/auth/register', { email, password: PASSWORD });
  await post(world, '/v1/auth/register/confirm', { session: body.session, code: mailedCode(world, email) });
  return email;
}

async function signedIn(ground: Ground): Promise<{ refresh_token: string }> {
  const email = await registered(ground);
  const begun = await post(ground.world, '/v1/auth/login', { email, password: PASSWORD });
  const code = mailedCode(ground.world, email);
  return (await post(ground.world, '/v1/auth/login/confirm', { session: begun.body.session, code })).body;
}
