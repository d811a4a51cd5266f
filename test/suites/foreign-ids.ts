import type { ImportOptions } from '../../db/json-columns.ts';
import { json } from '../../db/connection.ts';
import { externalText } from '../../domain/platform/external-text.ts';
import { recordInbound } from '../../domain/sending/outcomes/record-inbound.ts';
import { newSecret, sha256 } from '../../lib/crypto.ts';
import { newId } from '../../lib/ids.ts';
import {
  createApiKey,
  createCampaign,
  createContact,
  createMailbox,
  createMember,
  createSession,
  enroll,
  type Tenant,
} from '../harness/factories.ts';
import { createCustomer } from '../harness/acquisition.ts';
import { createApproval, createPolicy } from '../harness/approvals.ts';
import { createDelivery } from '../harness/webhook-rows.ts';
import { createEndpoint } from '../harness/webhooks.ts';
import { createDirectSend } from '../harness/direct-sends.ts';
import { createConnectionRow, createSubscriptionRow } from '../harness/integrations.ts';
import { createApplication } from '../harness/oauth.ts';
import type { World } from '../harness/world.ts';

/** Tenant of a row, and the ids of the path's earlier parameters. */
export interface Place {
  world: World;
  tenant: Tenant;
  parents: Record<string, string>;
}

const IMPORT_OPTIONS: ImportOptions = {
  format: 'csv',
  skip_rows: 0,
  encoding: 'utf-8',
  delimiter: ',',
  has_header: true,
  columns: ['email'],
  mapping: [{ index: 0, target: 'email' }],
  categories: [],
  campaign_id: null,
  update_existing: false,
  requested_by: null,
};

const RUN_INPUT = {
  senders: { mode: 'auto' },
  daily_limit: 50,
  schedule: { mode: 'auto' },
  stop_on_reply: true,
  opt_out_enabled: true,
  intent: 'draft',
};

const MESSAGE_WITH_FILE = Buffer.from(
  'From: lea@lead.test\r\nContent-Type: text/plain; name="a.txt"\r\nContent-Disposition: attachment; filename="a.txt"\r\n\r\nText',
);

type Factory = (place: Place) => Promise<string>;

/**
 * Functions that create the row behind each path parameter, by the path up to and including the parameter. A route with
 * a parameter that is missing here fails the suite.
 */
export const ROWS: Record<string, Factory> = {
  '/integrations/connections/:id': async ({ world, tenant }) => createConnectionRow(world, tenant),
  '/integrations/connections/:id/events/:eventId': async ({ world, tenant, parents }) =>
    createSubscriptionRow(world, tenant, parents.id!),
  '/integrations/inbound/:token': async ({ world, tenant }) => {
    const token = newSecret();
    const id = await createConnectionRow(world, tenant);
    await world.deps
      .db('integration_connections')
      .where({ id })
      .update({ inbound_hash: sha256(token) });
    return token;
  },
  '/acquisition/prospects/:contactId': async ({ world, tenant }) =>
    createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId),
  '/acquisition/campaign-spend/:campaignId': async ({ world, tenant }) =>
    (await createCampaign(world.deps, tenant.organizationId, [{ subject: 'Hello' }])).campaignId,
  '/acquisition/attributions/:personId': async ({ world, tenant }) => createCustomer(world, tenant.organizationId),
  '/ai/tools/:name': async () => 'list_mailboxes',
  '/auth/sessions/:id': async ({ world, tenant }) => {
    await createSession(world.deps, tenant.userId, tenant.organizationId);
    return (await world.deps.db('sessions').where('user_id', tenant.userId).orderBy('id', 'desc').first('id')).id;
  },
  '/organizations/:id': async ({ tenant }) => tenant.organizationId,
  '/organizations/current/members/:userId': async ({ world, tenant }) =>
    (await createMember(world.deps, tenant, 'Viewer')).userId,
  '/organizations/current/roles/:id': async (place) => insert(place, 'roles', { name: newId(), permissions: [] }),
  '/organizations/current/invitations/:id': async (place) => {
    const role = await place.world.deps
      .db('roles')
      .where({ organization_id: place.tenant.organizationId, name: 'Viewer' })
      .first('id');
    const expires_at = new Date(place.world.deps.clock.now().getTime() + 3600_000);
    return insert(
      place,
      'invitations',
      { email: `${newId()}@example.com`, role_id: role.id, token_hash: sha256(newSecret()), expires_at },
      ['created_at'],
    );
  },
  '/organizations/current/exports/:id': async (place) =>
    insert(
      place,
      'workspace_exports',
      { status: 'completed', mail: 'sent', blob_id: await insert(place, 'blobs', { size: 0 }, ['created_at']) },
      ['created_at'],
    ),
  '/api-keys/:id': async ({ world, tenant }) =>
    (await createApiKey(world.deps, tenant.organizationId, tenant.userId)).apiKeyId,
  '/oauth/applications/:id': async ({ world, tenant }) =>
    (await createApplication(world.deps, tenant.organizationId)).id,
  '/emails/:id': async ({ world, tenant }) => createMailbox(world.deps, tenant.organizationId),
  '/agent-policies/:id': async ({ world, tenant }) => {
    await world.deps.db('agent_policies').where({ api_key_id: tenant.apiKeyId }).delete();
    return createPolicy(world.deps, tenant);
  },
  '/lead-allowances/:id': async (place) => {
    const { world, tenant } = place;
    const { campaignId: campaign_id } = await createCampaign(world.deps, tenant.organizationId, [{ subject: 'Hi' }]);
    const credential = { api_key_id: tenant.apiKeyId, credential_name: 'test' };
    return insert(place, 'lead_allowances', { campaign_id, ...credential, leads_per_day: 10 });
  },
  '/contacts/bulk-edits/:id': async (place) =>
    insert(place, 'bulk_edits', { action: 'suppress', selected: 0, changed: 0 }, ['created_at', 'completed_at']),
  '/approvals/:id': async ({ world, tenant }) => (await createApproval(world.system(tenant.organizationId), tenant)).id,
  '/unibox/scheduled/:taskId': async ({ world, tenant }) => {
    const email = `${newId()}@example.com`;
    const id = await createMailbox(world.deps, tenant.organizationId, email);
    return createDirectSend(world.deps, tenant.organizationId, { id, email });
  },
  '/unibox/drafts/:id': async (place) => {
    const mailbox_id = await createMailbox(place.world.deps, place.tenant.organizationId);
    const to_emails = [`${newId()}@example.com`];
    const written = { to_emails, cc_emails: [], bcc_emails: [], subject: 'Later', body_plain: 'Text' };
    return insert(place, 'email_drafts', { mailbox_id, ...written });
  },
  '/unibox/:id': async ({ world, tenant }) => {
    const email = `${newId()}@example.com`;
    const id = await createMailbox(world.deps, tenant.organizationId, email);
    const at = { folder: 'INBOX', uidValidity: 1, uid: 1, receivedAt: world.deps.clock.now() };
    await recordInbound(world.system(tenant.organizationId), { id, email }, MESSAGE_WITH_FILE, at);
    const received = world.deps.db('inbound_messages').where({ mailbox_id: id });
    const person = { name: 'Maria Lopez', email: `${newId()}@example.com` };
    const answer = { kind: 'referral', confidence: 1, words: [], force: null, until: null, until_words: null, person };
    await received.clone().update({ answer: json(answer) });
    return (await received.first('id')).id;
  },
  '/unibox/:id/attachments/:fileId': async ({ world, parents }) =>
    (await world.deps.db('inbound_attachments').where({ message_id: parents.id }).first('id')).id,
  '/emails/onboarding/oauth/session/:session': async (place) => {
    const [session, id] = [newSecret(), newId()];
    await insert(
      place,
      'mailbox_consents',
      {
        id,
        provider: 'gmail',
        session_hash: sha256(session),
        state_hash: sha256(newSecret()),
        actor: json({ kind: 'system', userId: null, allowedMailboxes: null }),
        expires_at: new Date(place.world.deps.clock.now().getTime() + 900_000),
      },
      ['created_at'],
    );
    return session;
  },
  '/warmup/routing/:id': async (place) =>
    insert(place, 'warmup_rules', { name: 'Any', sender_match_type: 'any', recipient_match_type: 'any' }),
  '/app-connections/:id': async (place) => {
    const id = newId();
    const secret = place.world.deps.keyring.seal('ss_app_secret', `app_connections/${id}`);
    return insert(place, 'app_connections', { id, name: id, base_url: 'http://127.0.0.1:1', secret });
  },
  '/campaigns/:id': async ({ world, tenant }) =>
    (await createCampaign(world.deps, tenant.organizationId, [{ subject: 'Hi', body_plain: 'Hello' }])).campaignId,
  '/templates/:id': async (place) => insert(place, 'reply_templates', { name: 'Thanks', position: 1 }),
  '/analytics/campaigns/:id': async ({ world, tenant }) =>
    (await createCampaign(world.deps, tenant.organizationId, [{ subject: 'Hi', body_plain: 'Hello' }])).campaignId,
  '/analytics/accounts/:id': async ({ world, tenant }) => createMailbox(world.deps, tenant.organizationId),
  '/campaigns/:id/steps/:sid': async ({ world, parents }) =>
    (await world.deps.db('campaign_steps').where('campaign_id', parents.id).first('id')).id,
  '/contacts/:id/notes/:noteId': async (place) =>
    insert(place, 'contact_notes', { contact_id: place.parents.id, content: 'Note' }),
  '/campaigns/:id/ab-variants/:variantId': async (place) =>
    insert(place, 'campaign_variants', { campaign_id: place.parents.id, name: 'B', subject: 'Hi' }),
  '/campaigns/:id/attachments/:attachmentId': async (place) =>
    insert(
      place,
      'campaign_attachments',
      {
        campaign_id: place.parents.id,
        blob_id: await insert(place, 'blobs', { size: 1 }, ['created_at']),
        filename: 'a.txt',
        content_type: 'text/plain',
        size_bytes: 1,
        sha256: '',
      },
      ['created_at'],
    ),
  '/campaigns/:id/leads/:contactId': async (place) => (await lead(place)).contactId,
  '/campaigns/:id/step-runs/:runId': async (place) => {
    const { contactId, enrollmentId } = await lead(place);
    const step = await place.world.deps.db('campaign_steps').where('campaign_id', place.parents.id).first('id');
    return insert(
      place,
      'step_runs',
      {
        enrollment_id: enrollmentId,
        campaign_id: place.parents.id,
        contact_id: contactId,
        step_id: step.id,
        seq: 1,
        kind: 'action',
        state: 'blocked',
        error: json({ code: 'app_action_failed', message: 'no answer' }),
      },
      ['started_at'],
    );
  },
  '/runs/:id': async (place) =>
    insert(place, 'runs', {
      state: 'queued',
      intent: 'draft',
      input: json(RUN_INPUT),
      campaign_id: newId(),
      frozen_sender_ids: [],
      recipient_count: 0,
      action_count: 0,
      policy_decision: json({ decision: 'undecided' }),
      actor_kind: 'session',
    }),
  '/mailbox-provisioning/:id': async (place) =>
    insert(place, 'mailbox_orders', {
      quote_id: newId(),
      state: 'awaiting_payment',
      provider: 'google',
      count: 1,
      domains: json([{ domain: 'example.com', registration: true, price_cents: 1_200, mailboxes: 1 }]),
      warmup: false,
      currency: 'usd',
      total_monthly_cents: 350,
      total_due_today_cents: 1_550,
      line_items: json([]),
      pay_by: new Date(place.world.deps.clock.now().getTime() + 3600_000),
      actor_kind: 'session',
    }),
  '/campaigns/:id/test-runs/:runId': async (place) =>
    insert(place, 'test_runs', {
      campaign_id: place.parents.id,
      contact_id: await contact(place),
      prospect_email: `${newId()}@example.com`,
      state: 'running',
      ends_at: new Date(place.world.deps.clock.now().getTime() + 3600_000),
    }),
  '/events/:id': async (place) =>
    insert(place, 'product_events', { contact_id: await contact(place), name: 'order.paid', data: json({}) }, [
      'occurred_at',
      'received_at',
    ]),
  '/people/:id': async (place) => insert(place, 'people', {}, ['created_at']),
  '/identity-conflicts/:id': async (place) =>
    insert(
      place,
      'identity_conflicts',
      {
        person_id: await insert(place, 'people', {}, ['created_at']),
        other_person_id: await insert(place, 'people', {}, ['created_at']),
        kind: 'user_id',
        value: newId(),
        state: 'open',
      },
      ['created_at'],
    ),
  '/contacts/:id': async (place) => contact(place),
  '/contacts/imports/:id': async (place) =>
    insert(place, 'contact_imports', {
      status: 'queued',
      filename: 'leads.csv',
      options: json(IMPORT_OPTIONS),
    }),
  '/crm/pipelines/:id': async (place) => insert(place, 'crm_pipelines', { name: 'Sales', position: 1 }),
  '/crm/pipelines/:id/stages/:stageId': async (place) =>
    insert(place, 'crm_stages', { pipeline_id: place.parents.id, name: 'New', color: '#0ea5e9', position: 1 }),
  '/crm/deals/:id': async (place) =>
    insert(place, 'crm_deals', { ...(await stage(place)), name: 'Deal', currency: 'USD' }),
  '/crm/task-types/:id': async (place) => {
    const organization_id = place.tenant.organizationId;
    await place.world.deps
      .db('crm_seeds')
      .insert({ organization_id, created_at: place.world.deps.clock.now() })
      .onConflict()
      .ignore();
    return insert(place, 'crm_task_types', { name: newId(), color: '#0ea5e9', position: 1 });
  },
  '/crm/tasks/:id': async (place) => insert(place, 'crm_tasks', { title: 'Call', priority: 'medium', type: 'Call' }),
  '/teams/:id': async (place) => insert(place, 'teams', { name: 'Sales', color: '#94a3b8' }),
  '/teams/:id/members/:userId': async ({ world, tenant, parents }) => {
    const { userId } = await createMember(world.deps, tenant, 'Viewer');
    await world.deps.db('team_members').insert({
      organization_id: tenant.organizationId,
      team_id: parents.id,
      user_id: userId,
      added_at: world.deps.clock.now(),
    });
    return userId;
  },
  '/folders/:id': async (place) => label(place, 'folder'),
  '/tags/:id': async (place) => label(place, 'tag'),
  '/categories/:id': async (place) => label(place, 'category'),
  '/automations/:id': async (place) =>
    insert(place, 'automations', {
      name: newId(),
      enabled: false,
      trigger_event: 'email.replied',
      filter: '{}',
      graph: json({ nodes: [{ id: 'trigger', type: 'trigger', x: 0, y: 0 }], edges: [] }),
      author_rights: [],
    }),
  '/meetings/:id': async (place) =>
    insert(place, 'meetings', {
      source: 'manual',
      external_event_id: newId(),
      status: 'booked',
      invitee_email: 'ada@lead.test',
      invitee_name: 'Ada',
      event_name: 'Call',
      event_type: '',
      scheduled_for: place.world.deps.clock.now(),
      join_url: '',
      location: '',
      cancel_url: '',
      reschedule_url: '',
      canceled_reason: '',
      news_at: place.world.deps.clock.now(),
    }),
  '/goals/:id': async (place) => {
    const goalId = await insert(place, 'goals', { name: newId(), kind: 'signup', is_primary: false, revision: 1 });
    const definition = { event_name: 'signed.up', predicates: [], value_path: null, value_unit: 'minor' };
    await place.world.deps.db('goal_revisions').insert({
      organization_id: place.tenant.organizationId,
      goal_id: goalId,
      revision: 1,
      definition: json({ ...definition, currency_path: null, default_currency: null }),
      created_at: place.world.deps.clock.now(),
    });
    return goalId;
  },
  '/goals/:id/replays/:replayId': async (place) =>
    insert(place, 'goal_replays', { goal_id: place.parents.id, goal_revision: 1, state: 'completed' }, [
      'from_at',
      'to_at',
      'created_at',
    ]),
  '/segments/:id': async (place) => insert(place, 'segments', { name: newId() }),
  '/webhooks/:id': async ({ world, tenant }) =>
    (await createEndpoint(world.deps, tenant.organizationId, 'http://127.0.0.1:1')).id,
  '/webhooks/deliveries/:deliveryId': async ({ world, tenant }) => {
    const { id: endpointId } = await createEndpoint(world.deps, tenant.organizationId, 'http://127.0.0.1:1');
    return createDelivery(world.deps, tenant.organizationId, endpointId);
  },
  '/tasks/dlq/:id': async (place) =>
    insert(place, 'dead_letters', { task_id: newId(), task_type: 'enrollment', last_error: externalText('it failed') }),
  '/suppressions/:id': async (place) =>
    insert(place, 'suppressions', { email: `${newId()}@example.com`, kind: 'email', source: 'manual' }),
};

/** Parameters whose values are the same in every organization, because they name no row. */
export const SHARED: ReadonlySet<string> = new Set(['/ai/tools/:name']);

/** Creates the rows behind every parameter of a path for one tenant, outermost first. */
export async function makeRows(path: string, world: World, tenant: Tenant): Promise<Record<string, string>> {
  const parents: Record<string, string> = {};
  for (const { name, prefix } of parametersOf(path)) {
    const factory = ROWS[prefix];
    if (!factory) throw new Error(`${prefix} has no factory in test/suites/foreign-ids.ts`);
    parents[name] = await factory({ world, tenant, parents: { ...parents } });
  }
  return parents;
}

/** Returns the parameters of a path, outermost first, each with its path prefix. */
export function parametersOf(path: string): { name: string; prefix: string }[] {
  return [...path.matchAll(/:([A-Za-z]+)/g)].map((match) => ({
    name: match[1]!,
    prefix: path.slice(0, match.index + match[0].length),
  }));
}

/** Stores a row of the tenant with a new id and the current time. Returns the id. */
export async function insert(
  { world, tenant }: Place,
  table: string,
  row: Record<string, unknown>,
  times = ['created_at', 'updated_at'],
): Promise<string> {
  const now = world.deps.clock.now();
  const stamped = {
    id: newId(),
    organization_id: tenant.organizationId,
    ...Object.fromEntries(times.map((column) => [column, now])),
    ...row,
  };
  await world.deps.db(table).insert(stamped);
  return stamped.id;
}

/** Creates a contact of the tenant. Returns its id. */
export function contact({ world, tenant }: Place): Promise<string> {
  return createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId);
}

/** Creates a stage of a new pipeline, for a deal. */
export async function stage(place: Place): Promise<{ pipeline_id: string; stage_id: string }> {
  const pipeline_id = await insert(place, 'crm_pipelines', { name: 'Sales', position: 1 });
  return {
    pipeline_id,
    stage_id: await insert(place, 'crm_stages', { pipeline_id, name: 'New', color: '#0ea5e9', position: 1 }),
  };
}

/** Creates a lead of the campaign in the path. */
async function lead(place: Place): Promise<{ contactId: string; enrollmentId: string }> {
  const contactId = await contact(place);
  const [enrollmentId] = await enroll(place.world.deps, place.tenant.organizationId, place.parents.id!, [contactId]);
  return { contactId, enrollmentId: enrollmentId! };
}

function label(place: Place, registry: 'folder' | 'tag' | 'category'): Promise<string> {
  return insert(place, 'labels', { registry, title: newId(), color: '#94a3b8', position: 1 });
}
