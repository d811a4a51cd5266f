import test from 'ava';
import { newId } from '../../lib/ids.ts';
import { SHOWN } from '../harness/recorded-calls.ts';
import { call, createWorld, type World } from '../harness/world.ts';

/*
 * Calls made as examples for the API reference, with realistic requests. The routes' suites test rules instead. `npm
 * run record-examples` prefers these.
 */

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test('the calls that the reference shows succeed', async (t) => {
  const tenant = await world.tenant('Northlight');
  const show: Show = async (method, path, body) => {
    const answer = await call(world, method, path, {
      token: tenant.apiKey,
      headers: { ...SHOWN, ...(method === 'GET' ? {} : { 'idempotency-key': newId() }) },
      ...(body === undefined ? {} : { body }),
    });
    t.true(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };

  const folder = await show('POST', '/v1/folders', { title: 'Spring', color: '#1c5fb8' });
  const tag = await show('POST', '/v1/tags', { title: 'Sales team', color: '#17663a' });
  const category = await show('POST', '/v1/categories', { title: 'Customers', color: '#8a5200' });
  await show('PATCH', `/v1/folders/${folder.id}`, { title: 'Spring 2026', color: '#1c5fb8' });
  await show('PATCH', `/v1/tags/${tag.id}`, { title: 'Sales', color: '#17663a' });
  await show('PATCH', `/v1/categories/${category.id}`, { title: 'Customers', color: '#8a5200' });

  const [ada] = await show('POST', '/v1/contacts', [
    {
      email: 'ada@analytical.example',
      first_name: 'Ada',
      last_name: 'Lovelace',
      company: 'Analytical Engines',
      phone: '+44 20 7946 0000',
      custom_fields: { city: 'London', plan: 'pro' },
      categories: [category.id],
    },
  ]);
  await show('GET', `/v1/contacts/${ada.id}`);
  await show('GET', '/v1/contacts?limit=2');
  await show('PATCH', `/v1/contacts/${ada.id}`, { company: 'Analytical Engines Ltd', add_categories: [category.id] });
  await show('POST', '/v1/suppressions', {
    entries: [{ value: 'competitor.example' }, { value: 'no-thanks@example.com' }],
    reason: 'asked us not to write',
  });

  await show('GET', '/v1/segments/fields');
  const segment = await show('POST', '/v1/segments', {
    name: 'Londoners',
    match: 'all',
    conditions: [{ field: 'custom.city', operator: 'equal', values: ['London'] }],
  });
  await show('GET', `/v1/segments/${segment.id}`);
  await show('GET', '/v1/segments');

  const campaign = await show('POST', '/v1/campaigns', {
    name: 'Lamps for spring',
    folder_ids: [folder.id],
    timezone: 'Europe/London',
    daily_limit: 200,
    stop_on_reply: true,
    open_tracking: true,
    steps: [
      {
        name: 'hello',
        subject: 'A question about {{.Company}}',
        body_plain: 'Hello {{.FirstName}},\n\nwho looks after the lights at {{.Company}}?\n\nBest regards',
      },
      { name: 'follow-up', body_plain: 'Hello {{.FirstName}}, have you had a moment?', wait_after: 3 },
    ],
  });
  await show('GET', `/v1/campaigns/${campaign.id}`);
  await show('PATCH', `/v1/campaigns/${campaign.id}`, { daily_limit: 100 });
  await show('POST', `/v1/campaigns/${campaign.id}/leads`, { contact_ids: [ada.id] });
  await show('GET', `/v1/campaigns/${campaign.id}/leads`);
  await show('GET', `/v1/campaigns/${campaign.id}/steps`);

  await show('POST', '/v1/events', {
    name: 'order.paid',
    email: 'ada@analytical.example',
    data: { number: 'N-000000042', amount_cents: 4_900 },
  });
  await showCrm(show, ada.id);
  await showReports(show, campaign.id);

  await show('POST', '/v1/webhooks', {
    url: 'https://hooks.northlight.example/heron',
    event_types: ['campaign.reply_received', 'campaign.email_bounced'],
  });
});

type Show = (method: string, path: string, body?: unknown) => Promise<any>;

/** Shows deals, tasks, meetings and reply templates. */
async function showCrm(show: Show, contactId: string): Promise<void> {
  for (const registry of ['folders', 'tags', 'categories']) await show('GET', `/v1/${registry}`);
  const pipeline = await show('POST', '/v1/crm/pipelines', {
    name: 'New customers',
    stages: [
      { name: 'Interested', color: '#1c5fb8' },
      { name: 'Offer sent', color: '#8a5200' },
    ],
  });
  const [interested, offered] = pipeline.stages;
  const deal = await show('POST', '/v1/crm/deals', {
    pipeline_id: pipeline.id,
    stage_id: interested.id,
    contact_id: contactId,
    name: 'Lamps for Analytical Engines',
    value: 1200.5,
    currency: 'GBP',
  });
  await show('PATCH', `/v1/crm/deals/${deal.id}`, { stage_id: offered.id });
  await show('GET', `/v1/crm/deals?pipeline_id=${pipeline.id}&status=open&limit=20`);
  await show('POST', '/v1/crm/deals/search?limit=20', { statuses: ['open'], min_value: 1000, sort_by: 'value' });
  await show('POST', '/v1/crm/deals/summary', { pipeline_ids: [pipeline.id] });
  const tasks: string[] = [];
  for (const title of ['Call about the offer', 'Send the catalogue']) {
    const { id } = await show('POST', '/v1/crm/tasks', {
      title,
      contact_id: contactId,
      deal_id: deal.id,
      type: 'Call',
      priority: 'high',
      due_date: '2026-03-05T10:00:00Z',
    });
    tasks.push(id);
  }
  await show('GET', `/v1/crm/tasks?contact_id=${contactId}&status=pending`);
  await show('POST', '/v1/crm/tasks/search', { query: 'offer', statuses: ['pending'] });
  await show('PATCH', '/v1/crm/tasks', { tasks, status: 'completed' });
  await show('POST', '/v1/meetings', {
    contact_id: contactId,
    event_name: 'First call',
    scheduled_for: '2026-03-06T14:00:00+01:00',
    end_time: '2026-03-06T14:30:00+01:00',
  });
  const template = await show('POST', '/v1/templates', {
    name: 'Thanks, here is the catalogue',
    subject: 'Lamps for {{.Company}}',
    body_plain: 'Hello {{.FirstName}},\n\nthank you for your answer. Here is our catalogue.',
  });
  await show('POST', `/v1/templates/${template.id}/render`, {
    variables: { FirstName: 'Ada', Company: 'Analytical Engines' },
  });
}

/** Shows goals and reports. */
async function showReports(show: Show, campaignId: string): Promise<void> {
  const definition = {
    event_name: 'order.paid',
    predicates: [{ path: 'test', op: 'neq', value: true }],
    value_path: 'amount_cents',
    value_unit: 'minor',
    default_currency: 'EUR',
  };
  await show('POST', '/v1/goals/preview', { definition, days: 30 });
  await show('POST', '/v1/goals', { name: 'Paid an order', kind: 'paid', is_primary: true, definition });
  await show('GET', '/v1/analytics/dashboard?period=30d');
  await show('GET', `/v1/analytics/campaigns/compare?ids=${campaignId}&from=2026-03-01&to=2026-03-07`);
  await show('GET', `/v1/acquisition/summary?campaign_id=${campaignId}&window_days=30`);
  await show('GET', '/v1/audit-logs?entity_type=campaign&limit=10');
  await show('GET', '/v1/api-keys?limit=20');
  await show('POST', '/v1/lead-database/people', {
    conditions: [{ field: 'custom.city', operator: 'equal', values: ['London'] }],
    sort: 'name',
    limit: 20,
  });
}
