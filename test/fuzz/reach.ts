import type { AnyRoute } from '../../api/http/route.ts';
import { recordInbound } from '../../domain/sending/outcomes/record-inbound.ts';
import { hashPassword } from '../../lib/crypto.ts';
import { newId } from '../../lib/ids.ts';
import { createCampaign, enroll } from '../harness/factories.ts';
import { createSend, replyTo } from '../harness/inbound.ts';
import { catalogueIdOf } from '../harness/catalogue.ts';
import { policyBody } from '../harness/approvals.ts';
import { CALLBACK, createCode, createPublicClient, createAccessToken } from '../harness/oauth.ts';
import { mailedCode, mailedToken, freshEmail, PASSWORD, post } from '../harness/people.ts';
import { QUERIES, sampleBody } from '../suites/bodies.ts';
import { insert, ROWS, stage } from '../suites/foreign-ids.ts';
import type { Ground, Make, Reaching } from './ground.ts';
import { REACHING_INTEGRATIONS } from './reach-integrations.ts';
import { REACHING_ORDERS } from './reach-orders.ts';
import { invitationToken, REACHING_PAGES, setupToken } from './reach-pages.ts';

/** Person in the prospect catalogue. */
export const PROSPECT = { id: catalogueIdOf('p', 1), first_name: 'Ana', email: 'ana@prospect.example' };

const mail = (host = 'smtp.example.com') => ({ host, port: 587, username: 'u', password: 'p', security: 'starttls' });
const findRole = async ({ world, tenant }: Ground, name = 'Viewer') =>
  (await world.deps.db('roles').where({ organization_id: tenant.organizationId, name }).first('id')).id as string;

/** Requests that cannot be derived from the schema alone, by operation. */
const REACHING: Record<string, Make> = {
  ...REACHING_PAGES,
  ...REACHING_INTEGRATIONS,
  ...REACHING_ORDERS,
  'auth.setUpInstallation': async ({ world }) => ({
    body: {
      token: await setupToken(world),
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
  'auth.refreshTokens': async (ground) => ({ body: { refresh_token: (await signedIn(ground)).refresh_token } }),
  'auth.requestPasswordReset': () => ({ body: { email: freshEmail() } }),
  'auth.confirmPasswordReset': async (ground) => {
    const email = await registered(ground);
    await post(ground.world, '/v1/auth/reset-password', { email });
    return { body: { session: mailedToken(ground.world, email), password: PASSWORD } };
  },
  'auth.changePassword': async ({ world, tenant }) => {
    const password_hash = await hashPassword(PASSWORD);
    await world.deps.db('users').where({ id: tenant.userId }).update({ password_hash });
    return { body: { current_password: PASSWORD, new_password: 'another horse 43' } };
  },
  'invitations.create': async (ground) => ({ body: { email: freshEmail(), role_id: await findRole(ground) } }),
  'invitations.accept': async ({ world, tenant }) => ({
    body: { token: await invitationToken({ world, tenant: await world.tenant() }, tenant.email) },
  }),
  'organizations.getLogo': async ({ world, tenant }) => {
    const place = { world, tenant, parents: {} };
    const logo_blob_id = await insert(place, 'blobs', { size: 0 }, ['created_at']);
    await world.deps
      .db('organizations')
      .where({ id: tenant.organizationId })
      .update({ logo_blob_id, logo_type: 'image/png' });
    return {};
  },
  'members.update': async (ground) => ({ body: { role_id: await findRole(ground, 'Admin') } }),
  'roles.create': () => ({ body: { name: newId(), permissions: ['view_contacts'] } }),
  'apiKeys.create': () => ({ body: { name: 'Key', permissions: 1 } }),
  'apiKeys.delete': async ({ world, params }) => {
    await world.deps.db('api_keys').where({ id: params.id }).update({ status: 'revoked' });
    return {};
  },
  'oauth.issueToken': async ({ world, tenant }) => {
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
  'oauth.revokeToken': async ({ world, tenant }) => {
    const { accessToken, client } = await createAccessToken(world, tenant);
    return { body: { token: accessToken, client_id: client.clientId } };
  },
  'agentPolicies.create': ({ tenant, mailboxId }) => ({ body: policyBody(tenant.apiKeyId, mailboxId) }),
  'agentPolicies.replace': ({ tenant, mailboxId }) => ({ body: policyBody(tenant.apiKeyId, mailboxId) }),
  'identityConflicts.reopen': async ({ world, params }) => {
    await world.deps
      .db('identity_conflicts')
      .where({ id: params.id })
      .update({ state: 'dismissed', resolved_at: world.deps.clock.now() });
    return {};
  },
  'goals.cancelReplay': async ({ world, params }) => {
    await world.deps.db('goal_replays').where({ id: params.replayId }).update({ state: 'queued' });
    return {};
  },
  'appConnections.create': () => ({ body: { name: newId(), base_url: 'http://127.0.0.1:1' } }),
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
  'campaigns.uploadAttachment': async ({ world, params }) => {
    await world.deps.db('campaigns').where({ id: params.id }).update({ status: 'draft' });
    return {};
  },
  'campaigns.verifyTrackingDomain': async ({ world, params }) => {
    await world.deps.db('campaigns').where({ id: params.id }).update({ tracking_domain: 'track.localhost' });
    return {};
  },
  'campaigns.createStep': () => ({ body: { subject: 'Again', body_plain: 'Text' } }),
  'campaigns.test': () => ({ body: { prospect_email: freshEmail() } }),
  'campaigns.update': () => ({ body: { name: 'Other', days: 12, end_time: '17:00' } }),
  'campaigns.replaceSenders': ({ mailboxId }) => ({ body: { senders: [{ email_account_id: mailboxId, weight: 3 }] } }),
  'campaigns.addLeads': ({ contactId }) => ({ body: { contact_ids: [contactId] } }),
  'campaigns.previewTemplate': () => ({ body: { subject: 'Hi {{.FirstName}}', body_html: '<p>{{title "x"}}</p>' } }),
  'runs.create': ({ mailboxId, contactId }) => ({
    body: {
      name: 'Fuzz',
      senders: { mode: 'explicit', mailbox_ids: [mailboxId] },
      daily_limit: 10,
      schedule: { mode: 'explicit', timezone: 'UTC', days: 31, start_time: '09:00', end_time: '17:00' },
      stop_on_reply: true,
      opt_out_enabled: true,
      intent: 'launch',
      leads: [{ email: `${newId()}@example.com`, custom_fields: { plan: 'pro' } }],
      contact_ids: [contactId],
      steps: [
        {
          variants: [
            { subject: 'A', body_plain: 'a', weight: 1 },
            { subject: 'B', body_plain: 'b', weight: 1 },
          ],
        },
        { type: 'wait', wait: { minutes: 5 } },
        { type: 'wait_for_event', wait_for_event: { event: 'a.b', timeout_minutes: 5, on_timeout: 'stop' } },
      ],
    },
  }),
  'events.publish': async ({ world, contactId }) => {
    const { email } = await world.deps.db('contacts').where({ id: contactId }).first('email');
    return { body: { name: 'order.paid', email, data: { total: 3 } } };
  },
  'contacts.create': () => ({ body: [{ email: freshEmail(), first_name: 'A', custom_fields: { plan: 'pro' } }] }),
  'contacts.lookUp': async ({ world, contactId }) => ({
    query: { email: (await world.deps.db('contacts').where({ id: contactId }).first('email')).email },
  }),
  'templates.reorder': async ({ world, tenant }) => ({
    body: { ids: [await ROWS['/templates/:id']!({ world, tenant, parents: {} })] },
  }),
  'analytics.explainFigure': () => ({ query: QUERIES['analytics.explainFigure']! }),
  'acquisition.explainFigure': () => ({ query: QUERIES['acquisition.explainFigure']! }),
  'acquisition.correctAttribution': () => ({ body: { send_id: null, reason: 'They came by themselves' } }),
  'acquisition.getEventTrends': () => ({ body: { name: 'order.paid', interval: 'week' } }),
  'acquisition.getFunnel': () => ({
    body: { steps: [{ kind: 'confirmed_send' }, { kind: 'event', event_name: 'order.paid', predicates: [] }] },
  }),
  'acquisition.listEventTrendPeople': () => ({ body: { name: 'order.paid' } }),
  'acquisition.listFunnelPeople': () => ({
    body: { steps: [{ kind: 'confirmed_send' }, { kind: 'event', event_name: 'order.paid' }], step: 2 },
  }),
  'acquisition.setCampaignSpend': () => ({ body: { amount_minor: 120_000, currency: 'EUR' } }),
  'acquisition.updateAttributionSettings': () => ({ body: { window_days: 45 } }),
  'analytics.getWarmup': () => ({ query: QUERIES['analytics.getWarmup']! }),
  'analytics.getCampaignDaily': () => ({ query: QUERIES['analytics.getCampaignDaily']! }),
  'analytics.compareCampaigns': async ({ world, tenant }) => {
    const { campaignId } = await createCampaign(world.deps, tenant.organizationId, [{ subject: 'Hello' }]);
    return { query: { ids: campaignId, ...QUERIES['analytics.getWarmup'] } };
  },
  'crm.createPipeline': () => ({ body: { name: 'Sales', stages: [{ name: 'New', color: '#0ea5e9' }] } }),
  'crm.createStage': () => ({ body: { name: 'Won', color: '#16a34a' } }),
  'crm.updateStage': () => ({ body: { name: 'Won', color: '#16a34a', position: 1 } }),
  'crm.createDeal': async ({ world, tenant, contactId, mailboxId }) => ({
    body: {
      ...(await stage({ world, tenant, parents: {} })),
      name: 'Deal',
      value: 19.99,
      currency: 'EUR',
      contact_id: contactId,
      assigned_to: tenant.userId,
      source_mailbox_id: mailboxId,
    },
  }),
  'crm.updateDeal': ({ contactId }) => ({ body: { status: 'won', value: 5, contact_id: contactId } }),
  'crm.createTaskType': () => ({ body: { name: newId(), color: '#0ea5e9' } }),
  'crm.updateTaskType': () => ({ body: { name: newId(), color: '#16a34a', position: 1 } }),
  'crm.createTask': ({ tenant, contactId }) => ({
    body: { title: 'Call', contact_id: contactId, assigned_to: tenant.userId, type: 'Call', priority: 'high' },
  }),
  'crm.updateTask': () => ({ body: { status: 'completed', title: 'Called', type: 'Email' } }),
  'crm.updateTasks': async ({ world, tenant }) => ({
    body: { tasks: [await ROWS['/crm/tasks/:id']!({ world, tenant, parents: {} })], status: 'completed' },
  }),
  'crm.deleteTasks': async ({ world, tenant }) => ({
    body: { tasks: [await ROWS['/crm/tasks/:id']!({ world, tenant, parents: {} })] },
  }),
  'teams.create': () => ({ body: { name: 'Sales' } }),
  'teams.update': () => ({ body: { name: 'Support', color: '#16a34a' } }),
  'teams.addMember': ({ tenant }) => ({ body: { user_id: tenant.userId } }),
  'contacts.deleteMany': ({ contactId }) => ({ body: { contacts: [contactId] } }),
  'contacts.count': ({ contactId }) => ({ body: { contacts: [contactId] } }),
  'contacts.verify': ({ contactId }) => ({ body: { contacts: [contactId], action: 'mark_deliverable' } }),
  'contacts.createBulkEdit': ({ contactId }) => ({ body: { contacts: [contactId], action: { type: 'suppress' } } }),
  'contacts.updateMany': ({ contactId }) => ({
    body: { contacts: [contactId], fields: [{ type: 'ADD', key: 'plan', value: 'pro' }], subscribe: true },
  }),
  'folders.move': () => ({ body: { position: 0 } }),
  'tags.move': () => ({ body: { position: 0 } }),
  'categories.move': () => ({ body: { position: 0 } }),
  'segments.create': () => ({ body: { name: newId() } }),
  'suppressions.add': () => ({
    body: { entries: [{ value: freshEmail(), reason: 'asked to' }, { value: 'gone.example' }] },
  }),
  ...Object.fromEntries(
    (['warmup.start', 'warmup.pause', 'warmup.resume'] as const).map((operation): [string, Make] => [
      operation,
      async ({ world, params }) => {
        const warmup = operation === 'warmup.start' ? null : world.deps.clock.now();
        const { password: _, ...imap } = mail();
        await world.deps
          .db('mailboxes')
          .where({ id: params.id })
          .update({ warmup, imap: JSON.stringify(imap) });
        return {};
      },
    ]),
  ),
  'mailboxes.startConsent': () => ({ body: { provider: 'gmail' } }),
  'mailboxes.connectMany': () => ({
    body: {
      mailboxes: [
        {
          provider: 'smtp_imap',
          email: freshEmail(),
          name: 'Sam',
          smtp: mail(),
          imap: mail('imap.example.com'),
        },
      ],
    },
  }),
  'mailboxes.connect': () => ({
    body: {
      provider: 'smtp_imap',
      email: freshEmail(),
      name: 'Sam',
      smtp: mail(),
      imap: mail('imap.example.com'),
    },
  }),
  'emails.send': () => ({ body: written() }),
  'unibox.compose': ({ mailboxId }) => ({ body: { ...written(), email_account_id: mailboxId } }),
  'unibox.reply': async (ground) => ({ body: { thread_id: await answeredThread(ground), body_plain: 'Text' } }),
  'unibox.createDraft': () => ({ body: { subject: 'Later', body_plain: 'Text' } }),
  'unibox.replaceDraft': () => ({ body: { subject: 'Later', body_plain: 'Text' } }),
  'unibox.correctReading': () => ({ body: { intent: 'positive' } }),
  'unibox.moveToFolder': () => ({ body: { email_ids: [newId()], folder: 'archive' } }),
  'unibox.markSeen': () => ({ body: { folder: 'inbox' } }),
  'unibox.getLabels': async (ground) => ({ query: { thread_id: await answeredThread(ground) } }),
  'unibox.setLabels': async (ground) => ({ body: { thread_id: await answeredThread(ground), category_ids: [] } }),
  'unibox.snooze': async (ground) => ({
    body: {
      thread_id: await answeredThread(ground),
      snoozed_until: new Date(ground.world.deps.clock.now().getTime() + 3_600_000).toISOString(),
    },
  }),
  'unibox.unsnooze': async (ground) => ({ query: { thread_id: await answeredThread(ground) } }),
  'unibox.getThread': async (ground) => ({ query: { thread_id: await answeredThread(ground) } }),
  'unibox.list': async (ground) => {
    await answeredThread(ground);
    return {};
  },
  'deliverability.reportEvent': async ({ world, contactId }) => {
    const { email } = await world.deps.db('contacts').where({ id: contactId }).first('email');
    return {
      body: { event_type: 'bounce', recipient_email: email, contact_id: contactId, provider: 'ses', reason: '550' },
    };
  },
  'webhooks.create': () => ({ body: { url: 'http://127.0.0.1:1/hook', event_types: ['contact.created'] } }),
  'webhooks.update': () => ({ body: { url: 'http://127.0.0.1:1/hook' } }),
  'agentTools.call': () => ({ body: { arguments: {} } }),
  'mcp.message': () => ({ body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} } }),
  'mcp.messageV1': () => ({ body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} } }),
  'prospectCatalogue.importPeople': () => ({ body: { person_ids: [PROSPECT.id] } }),
  'outreachSettings.replace': () => ({ body: { settings: { preflight: { enabled: true } } } }),
};

/** Returns a request that the operation should complete. */
export async function reachingRequest(spec: AnyRoute, ground: Ground): Promise<Reaching> {
  const made = await REACHING[spec.operationId]?.(ground);
  if (made && (made.body !== undefined || !spec.body)) return made;
  const isObject = spec.body && (spec.consumes ?? 'json') !== 'raw' && spec.consumes !== 'multipart';
  return { ...made, ...(isObject ? { body: sampleBody(spec) } : {}) };
}

function written(): object {
  return { to: [freshEmail()], subject: 'Hi', body_plain: 'Text' };
}

/** Returns the id of a conversation of two messages: an email of a campaign, and its reply. */
async function answeredThread({ world, tenant, mailboxId, contactId }: Ground): Promise<string> {
  const { deps } = world;
  const { organizationId } = tenant;
  const { campaignId, stepIds } = await createCampaign(deps, organizationId, [{ subject: 'Hi', body_plain: 'Hello' }]);
  const [enrollmentId] = await enroll(deps, organizationId, campaignId, [contactId]);
  const { email: recipient } = await deps.db('contacts').where({ id: contactId }).first('email');
  const { email } = await deps.db('mailboxes').where({ id: mailboxId }).first('email');
  const { messageId } = await createSend(deps, organizationId, {
    campaignId,
    enrollmentId: enrollmentId!,
    stepId: stepIds[0]!,
    contactId,
    mailboxId,
    recipient,
  });
  const answer = replyTo({ messageId, from: email, to: recipient }, 'Yes, call me');
  await recordInbound(world.system(organizationId), { id: mailboxId, email }, answer, {
    folder: 'INBOX',
    uidValidity: 1,
    uid: 1,
    receivedAt: deps.clock.now(),
  });
  return messageId;
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
