import { externalText } from '../../domain/platform/external-text.ts';
import { json } from '../../db/connection.ts';
import { recordInbound } from '../../domain/sending/outcomes/record-inbound.ts';
import { ALL_CAMPAIGNS } from '../../domain/reporting/aggregates/prospects.ts';
import { DAY_MS } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import { createPolicy } from '../harness/approvals.ts';
import { createDirectSend } from '../harness/direct-sends.ts';
import { createApiKey, createCampaign, createMailbox } from '../harness/factories.ts';
import { createDelivery } from '../harness/webhook-rows.ts';
import { createEndpoint } from '../harness/webhooks.ts';
import { contact, insert, ROWS, stage, type Place } from './foreign-ids.ts';

type Factory = (place: Place) => Promise<unknown>;

const now = ({ world }: Place): Date => world.deps.clock.now();
const soon = (place: Place): Date => new Date(now(place).getTime() + DAY_MS);
/** Stores a row in a table that has no generated id. */
const store = ({ world, tenant }: Place, table: string, row: Record<string, unknown>) =>
  world.deps.db(table).insert({ organization_id: tenant.organizationId, ...row });

/** Creates a draft campaign of the tenant. */
const campaign = async ({ world, tenant }: Place, fields: Record<string, unknown> = {}): Promise<string> =>
  (await createCampaign(world.deps, tenant.organizationId, [{ subject: 'Hi' }], { status: 'draft', ...fields }))
    .campaignId;

/** Creates a message of a new sender in a new thread. */
async function message({ world, tenant }: Place): Promise<{ thread_id: string }> {
  const { deps } = world;
  const email = `${newId()}@ours.test`;
  const id = await createMailbox(deps, tenant.organizationId, email);
  const raw = Buffer.from(`From: ${newId()}@lead.test\r\nSubject: ${newId()}\r\nContent-Type: text/plain\r\n\r\nText`);
  const at = { folder: 'INBOX', uidValidity: 1, uid: 1, receivedAt: deps.clock.now() };
  await recordInbound(world.system(tenant.organizationId), { id, email }, raw, at);
  return deps.db('inbound_messages').where({ mailbox_id: id }).first('thread_id');
}

/** Creates an endpoint of the application in the path, in a new workspace. */
async function endpointOfApplication({ world, parents }: Place): Promise<{ organizationId: string; id: string }> {
  const { organizationId } = await world.tenant();
  const fields = { application_id: parents.id };
  return { organizationId, ...(await createEndpoint(world.deps, organizationId, 'http://127.0.0.1:1', fields)) };
}

/** Functions that create a row of a list without a path parameter, by operation. Add one for a new list. */
export const LISTS: Record<string, Factory> = {
  'organizations.list': async (place) => {
    const { db } = place.world.deps;
    const { organizationId: organization_id } = await place.world.tenant();
    const role = await db('roles').where({ organization_id }).first('id');
    await db('memberships').insert({
      organization_id,
      user_id: place.tenant.userId,
      role_id: role.id,
      created_at: now(place),
    });
  },
  'apiKeys.listLogs': (place) =>
    insert(
      place,
      'api_key_usage_logs',
      {
        api_key_id: place.parents.id,
        endpoint: '/v1/contacts',
        method: 'GET',
        ip_address: '127.0.0.1',
        user_agent: 'test',
        response_code: 200,
        response_time_ms: 1,
        request_id: newId(),
      },
      ['created_at'],
    ),
  'agentPolicies.list': async (place) => {
    const { world, tenant } = place;
    const { apiKeyId } = await createApiKey(world.deps, tenant.organizationId, tenant.userId);
    return createPolicy(world.deps, { organizationId: tenant.organizationId, apiKeyId });
  },
  'agentPolicies.listHolders': ({ world, tenant }) => createApiKey(world.deps, tenant.organizationId, tenant.userId),
  'auditLogs.list': (place) =>
    insert(place, 'audit_logs', { actor_kind: 'system', action: 'contact.created', entity_type: 'contact' }, [
      'created_at',
    ]),
  'campaigns.getOverview': async (place) => campaign(place, { folders: [await ROWS['/folders/:id']!(place)] }),
  'campaigns.listLogs': (place) =>
    insert(
      place,
      'campaign_logs',
      { campaign_id: place.parents.id, event_type: 'started', message: externalText('Started') },
      ['created_at'],
    ),
  'campaigns.listSteps': async (place) => {
    const { campaign_id, position } = await place.world.deps
      .db('campaign_steps')
      .where({ campaign_id: place.parents.id })
      .orderBy('position', 'desc')
      .first();
    return insert(place, 'campaign_steps', { campaign_id, position: position + 1 });
  },
  'campaigns.listSenders': async (place) => {
    const mailbox_id = await createMailbox(place.world.deps, place.tenant.organizationId);
    return store(place, 'campaign_senders', { campaign_id: place.parents.id, mailbox_id });
  },
  'contactImports.listProblems': async (place) => {
    const import_id = place.parents.id!;
    const { count } = (await place.world.deps.db('contact_import_problems').where({ import_id }).count().first())!;
    return store(place, 'contact_import_problems', { import_id, line: Number(count) + 1, reason: 'no email' });
  },
  'contacts.search': contact,
  'contacts.listDeals': async (place) =>
    insert(place, 'crm_deals', {
      ...(await stage(place)),
      contact_id: place.parents.id,
      name: 'Deal',
      currency: 'USD',
    }),
  'contacts.listActivities': (place) =>
    insert(place, 'crm_activities', { contact_id: place.parents.id, activity_type: 'note', metadata: json({}) }, [
      'created_at',
    ]),
  'contacts.listNotes': (place) => insert(place, 'contact_notes', { contact_id: place.parents.id, content: 'Note' }),
  'contacts.listEmails': async (place) =>
    store(place, 'sends', {
      id: newId(),
      contact_id: place.parents.id,
      state: 'sent',
      recipient: 'a@lead.test',
      slot_at: now(place),
      slot_day: now(place),
      sent_at: now(place),
      created_at: now(place),
      updated_at: now(place),
    }),
  'workspaceExports.list': (place) =>
    insert(place, 'workspace_exports', { status: 'completed', mail: 'sent' }, ['created_at']),
  'contacts.getTimeline': (place) => insert(place, 'contact_notes', { contact_id: place.parents.id, content: 'Note' }),
  'integrations.listFieldMappings': (place) =>
    insert(
      place,
      'integration_field_mappings',
      {
        connection_id: place.parents.id,
        direction: 'push',
        object_name: 'contact',
        source_field: 'company',
        external_field: newId(),
        transform: 'none',
        static_value: '',
        position: 1,
      },
      ['created_at'],
    ),
  'integrations.listRuns': (place) =>
    insert(
      place,
      'integration_runs',
      { connection_id: place.parents.id, kind: 'health', status: 'success', detail: null, records_processed: 0 },
      ['started_at'],
    ),
  'automations.listRuns': (place) =>
    insert(
      place,
      'automation_runs',
      {
        automation_id: place.parents.id,
        cause: newId(),
        trigger_event: 'email.replied',
        status: 'success',
        data: json({}),
        node_results: json([]),
        hops: 0,
      },
      ['started_at'],
    ),
  'acquisition.listProspects': async (place) => {
    const at = now(place);
    const facts = { sends: 1, first_sent_at: at, last_sent_at: at, activity_at: at };
    return store(place, 'prospect_facts', {
      ...facts,
      contact_id: await contact(place),
      campaign_id: ALL_CAMPAIGNS,
    });
  },
  'acquisition.getTimeline': (place) =>
    insert(place, 'product_events', { contact_id: place.parents.contactId, name: 'order.paid', data: json({}) }, [
      'occurred_at',
      'received_at',
    ]),
  'domainRenewals.list': async (place) => {
    const order_id = await ROWS['/mailbox-provisioning/:id']!(place);
    const expires_at = soon(place);
    const domain_id = await insert(
      place,
      'managed_domains',
      { domain: `${newId()}.example.com`, order_id, provider_ref: newId(), state: 'active', expires_at },
      ['registered_at'],
    );
    return insert(place, 'domain_renewals', { domain_id, expires_at, renew_at: expires_at });
  },
  'trackingDomains.list': (place) => campaign(place, { tracking_domain: `${newId()}.example.com` }),
  'unibox.list': message,
  'unibox.listSnoozes': async (place) => {
    const { thread_id } = await message(place);
    return insert(place, 'thread_snoozes', {
      owner_id: place.tenant.userId,
      thread_id,
      snoozed_until: soon(place),
    });
  },
  'unibox.listSent': async (place) => {
    const { world, tenant } = place;
    const email = `${newId()}@ours.test`;
    const id = await createMailbox(world.deps, tenant.organizationId, email);
    const at = now(place);
    const sent = { state: 'sent', finished_at: at };
    return createDirectSend(world.deps, tenant.organizationId, { id, email }, sent);
  },
  'webhooks.listEndpointDeliveries': ({ world, tenant, parents }) =>
    createDelivery(world.deps, tenant.organizationId, parents.id!),
  'webhooks.listAttempts': async (place) => {
    const delivery_id = place.parents.deliveryId!;
    const { count } = (await place.world.deps.db('webhook_attempts').where({ delivery_id }).count().first())!;
    return store(place, 'webhook_attempts', {
      delivery_id,
      attempt: Number(count) + 1,
      started_at: now(place),
      duration_ms: 1,
    });
  },
  'webhooks.listThrottleDrops': async (place) => {
    const { world, tenant } = place;
    const { id: endpoint_id } = await createEndpoint(world.deps, tenant.organizationId, 'http://127.0.0.1:1');
    return insert(place, 'webhook_throttle_drops', {
      endpoint_id,
      event_type: 'contact.created',
      reason: 'endpoint_rate',
      minute: now(place),
      dropped: 1,
      last_event_id: newId(),
    });
  },
  'oauth.listWebhookEndpoints': endpointOfApplication,
  'oauth.listWebhookDeliveries': async (place) => {
    const { organizationId, id } = await endpointOfApplication(place);
    return createDelivery(place.world.deps, organizationId, id, { application_id: place.parents.id });
  },
};

/**
 * Lists whose length does not depend on rows: parts of the build (types, providers, permissions), or sums that
 * subscribers maintain per dimension. Their statements are only compared with the table.
 */
export const NOT_ROWS: ReadonlySet<string> = new Set([
  'system.checkReadiness',
  'system.listTimezones',
  'auth.getIdentity',
  'mailboxes.getSync',
  'mailboxes.getIdentity',
  'organizations.getCurrent',
  'integrations.listProviders',
  'integrations.listBookings',
  'segments.listFields',
  'agentPolicies.getEffective',
  'unibox.getImages',
  'analytics.explainFigure',
  'acquisition.getBreakdown',
  'acquisition.explainFigure',
  'acquisition.getAttributionBreakdown',
]);
