import test from 'ava';
import { newId } from '../../lib/ids.ts';
import { SHOWN } from '../harness/recorded-calls.ts';
import { call, createWorld, type World } from '../harness/world.ts';

/*
 * Calls that were made to be shown in the API reference: what a person would really send, where the suites of the routes send what
 * tests a rule. `npm run record-examples` takes these first.
 */

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test('the calls that the reference shows succeed', async (t) => {
  const tenant = await world.tenant('Northlight');
  const show = async (method: string, path: string, body?: unknown) => {
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
  await show('POST', '/v1/webhooks', {
    url: 'https://hooks.northlight.example/heron',
    event_types: ['campaign.reply_received', 'campaign.email_bounced'],
  });
});
