import test from 'ava';
import { MAX_AUTOMATIONS } from '../../domain/connect/automations/automations.ts';
import { MAX_STEPS } from '../../domain/campaigns/input.ts';
import { MAX_PIPELINES, MAX_STAGES } from '../../domain/crm/pipelines.ts';
import type { RawDb } from '../harness/database.ts';
import { createCampaign, type Tenant } from '../harness/factories.ts';
import { connect } from '../harness/integrations.ts';
import { createPipeline } from '../harness/crm.ts';
import { call, createWorld, type World } from '../harness/world.ts';

/*
 * Tests lists that the API returns in full and that therefore have a maximum length. Each list is filled to one below
 * its limit. Of two concurrent requests for the last place, one succeeds, and the other is refused with the name of the
 * list.
 */

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

interface FullList {
  /** Path of the request that adds an entry. */
  path: string;
  /** Returns a valid request body. Bodies with different names do not collide. */
  body: (name: string) => object;
  /** Table and condition of the list's rows. */
  table: string;
  rows?: Record<string, string>;
  /** Maximum number of entries, and the text of the refusal. */
  most: number;
  refusal: string;
}

const STAGE = { color: '#0ea5e9' };
const ANY_TO_ANY = { sender_match_type: 'any', recipient_match_type: 'any' };
const GRAPH = {
  nodes: [
    { id: 'trigger', type: 'trigger', x: 0, y: 0 },
    { id: 'tell', type: 'action', action: 'sendsets.notify', config: { message: 'An answer' }, x: 0, y: 100 },
  ],
  edges: [{ id: 'e1', source: 'trigger', target: 'tell' }],
};

/** Returns the limited lists of a workspace, and creates the rows to which some lists belong. */
async function lists(tenant: Tenant): Promise<FullList[]> {
  const { campaignId } = await createCampaign(world.deps, tenant.organizationId, [{ subject: 'Hi' }], {
    status: 'draft',
  });
  const { id: pipelineId } = await createPipeline(world, tenant);
  const { id: connectionId } = await connect(world, tenant, 'n8n', { webhook_url: 'http://127.0.0.1:9/webhook/none' });
  const label = (registry: string, plural: string): FullList => ({
    path: `/${plural}`,
    body: (title) => ({ title }),
    table: 'labels',
    rows: { registry },
    most: 100,
    refusal: `There can be at most 100 ${plural}`,
  });
  return [
    label('folder', 'folders'),
    label('tag', 'tags'),
    label('category', 'categories'),
    {
      path: '/organizations/current/roles',
      body: (name) => ({ name, permissions: [] }),
      table: 'roles',
      most: 100,
      refusal: 'There can be at most 100 roles',
    },
    {
      path: '/teams',
      body: (name) => ({ name }),
      table: 'teams',
      most: 200,
      refusal: 'There can be at most 200 teams',
    },
    {
      path: '/warmup/routing',
      body: (name) => ({ name, ...ANY_TO_ANY }),
      table: 'warmup_rules',
      most: 200,
      refusal: 'There can be at most 200 warmup rules',
    },
    {
      path: '/app-connections',
      body: (name) => ({ name, base_url: 'http://127.0.0.1:9' }),
      table: 'app_connections',
      most: 200,
      refusal: 'There can be at most 200 app connections',
    },
    {
      path: '/templates',
      body: (name) => ({ name, subject: 'Hi', body_plain: 'Hi' }),
      table: 'reply_templates',
      most: 1_000,
      refusal: 'There can be at most 1,000 templates',
    },
    {
      path: '/unibox/drafts',
      body: (subject) => ({ subject }),
      table: 'email_drafts',
      most: 1_000,
      refusal: 'There can be at most 1,000 drafts',
    },
    {
      path: '/automations',
      body: (name) => ({ name, trigger_event: 'email.replied', graph: GRAPH }),
      table: 'automations',
      most: MAX_AUTOMATIONS,
      refusal: `There can be at most ${MAX_AUTOMATIONS} automations`,
    },
    {
      path: '/crm/pipelines',
      body: (name) => ({ name }),
      table: 'crm_pipelines',
      most: MAX_PIPELINES,
      refusal: `There can be at most ${MAX_PIPELINES} pipelines`,
    },
    {
      path: `/crm/pipelines/${pipelineId}/stages`,
      body: (name) => ({ name, ...STAGE }),
      table: 'crm_stages',
      rows: { pipeline_id: pipelineId },
      most: MAX_STAGES,
      refusal: `There can be at most ${MAX_STAGES} stages in a pipeline`,
    },
    {
      path: '/crm/task-types',
      body: (name) => ({ name }),
      table: 'crm_task_types',
      most: 100,
      refusal: 'There can be at most 100 task types',
    },
    {
      path: `/campaigns/${campaignId}/steps`,
      body: (name) => ({ name, kind: 'email', subject: 'Hi', body_plain: 'Hi' }),
      table: 'campaign_steps',
      rows: { campaign_id: campaignId },
      most: MAX_STEPS,
      refusal: `There can be at most ${MAX_STEPS} steps in a campaign`,
    },
    {
      path: `/campaigns/${campaignId}/ab-variants`,
      body: (name) => ({ name, subject: 'Hi', body_plain: 'Hi' }),
      table: 'campaign_variants',
      rows: { campaign_id: campaignId },
      most: 200,
      refusal: 'There can be at most 200 variants of a campaign',
    },
    {
      path: `/integrations/connections/${connectionId}/events`,
      body: () => ({ event_type: 'contact.created', action: 'n8n.send_webhook' }),
      table: 'integration_subscriptions',
      rows: { connection_id: connectionId },
      most: 100,
      refusal: 'There can be at most 100 subscriptions of a connection',
    },
  ];
}

/** Copies the latest row of a list with new ids and names until there are `wanted`. */
async function fillTo(db: RawDb, table: string, rows: Record<string, string>, wanted: number): Promise<void> {
  const newest = await db(table).where(rows).orderBy('id', 'desc').first();
  const { count } = (await db(table).where(rows).count().first()) as { count: number };
  const generated = await db('information_schema.columns')
    .where({ table_name: table, is_generated: 'ALWAYS' })
    .pluck('column_name');
  const columns = Object.keys(newest).filter((column) => !generated.includes(column));
  const named = 'title' in newest ? 'title' : 'name';
  await db.raw(
    `insert into ${table} (${columns.join()}) select ${columns.map((column) => `copy.${column}`).join()}
     from ${table} r, generate_series(1, :more) n, jsonb_populate_record(r,
       jsonb_build_object('id', gen_random_uuid(), '${named}', 'copy ' || n, 'position', n + :count)) copy where r.id = :id`,
    { more: wanted - count, count, id: newest.id },
  );
}

test('a list that is full says how many there may be; the last place is given once', async (t) => {
  const tenant = await world.tenant();
  const { sessionToken: token, organizationId: organization_id } = tenant;
  for (const { path, body, table, rows = {}, most, refusal } of await lists(tenant)) {
    const add = (name: string) => call(world, 'POST', `/v1${path}`, { token, body: body(name) });
    const first = await add('first');
    t.true([200, 201].includes(first.status), `${path}: ${first.text}`);
    await fillTo(world.deps.db, table, { organization_id, ...rows }, most - 1);
    const answers = (await Promise.all([add('one'), add('other')])).toSorted((one, other) => one.status - other.status);
    t.is(answers[0]!.status, first.status, `${path}: ${answers[0]!.text}`);
    t.like(answers[1]!, { status: 400, body: { code: 'bad_request', message: refusal } }, path);
    t.like(answers[1]!.body.problems[0], { path: 'body', code: 'field.full', values: { most } }, path);
  }
});
