import test from 'ava';
import { createPolicy } from '../../test/harness/approvals.ts';
import { openDesk } from '../../test/harness/campaign-desk.ts';
import { createMailbox } from '../../test/harness/factories.ts';
import { createAccessToken } from '../../test/harness/oauth.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../../test/harness/world.ts';
import { newId } from '../../lib/ids.ts';
import { externalText } from '../../domain/platform/external-text.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

type Change = [method: string, path: string, body?: unknown];

/** Creates a started campaign, and one call for every route that changes its emails or recipients. */
async function openActive() {
  const desk = await openDesk(world);
  const { campaign } = await desk.ready(2);
  const person = (method: string, path: string, body?: unknown) =>
    desk.call(method, path, body, desk.tenant.sessionToken);
  const at = `/campaigns/${campaign.id}`;
  const [step] = (await person('GET', `${at}/steps`)).body.data ?? (await person('GET', `${at}/steps`)).body;
  const [first] = await world.deps.db('mailboxes').where({ organization_id: desk.tenant.organizationId });
  const { body: variant } = await person('POST', `${at}/ab-variants`, {
    name: 'B',
    subject: 'Other',
    body_plain: 'Hi you',
  });
  const started = await person('POST', `${at}/start`);
  if (started.status >= 300) throw new Error(started.text);
  const leads = async (): Promise<Change[]> => [
    ['POST', `${at}/leads`, { contact_ids: [await desk.contact()] }],
    ['POST', '/contacts', [{ email: `new-${newId()}@lead.test`, campaigns: [campaign.id] }]],
  ];
  const changes = async (): Promise<Change[]> => [
    ['PATCH', at, { daily_limit: 7 }],
    ['PATCH', at, { cc: ['boss@lead.test'] }],
    ['PATCH', `${at}/steps/${step.id}`, { body_plain: 'Buy now' }],
    ['POST', `${at}/steps`, { subject: 'Again', body_plain: 'Still there?' }],
    ['POST', `${at}/ab-variants`, { name: 'C', subject: 'Third', body_plain: 'Hi' }],
    ['PATCH', `${at}/ab-variants/${variant.id}`, { body_plain: 'Hi all' }],
    ['PUT', `${at}/senders`, { senders: [{ email_account_id: first.id }] }],
    ['PATCH', `/emails/${first.id}`, { signature_plain: `Call ${newId()}` }],
    ['PATCH', `/emails/${first.id}`, { reply_to: `other-${newId()}@lead.test` }],
    ['PATCH', '/outreach/settings', { settings: { unsubscribe: { text: `Buy more: ${newId()}` } } }],
  ];
  return { desk, campaign, at, person, leads, changes, mailboxId: first.id as string };
}

const as = (token: string, [method, path, body]: [string, string, unknown?]): Promise<Answer> =>
  call(world, method, `/v1${path}`, { token, ...(body === undefined ? {} : { body }) });
const contentOf = async (id: string) => {
  const { db } = world.deps;
  const rows = async (table: string) => (await db(table).where({ campaign_id: id }).orderBy('id')).length;
  const steps = await db('campaign_steps').where({ campaign_id: id }).orderBy('id').pluck('body_plain');
  const { daily_limit, cc, organization_id } = await db('campaigns').where({ id }).first();
  const written = await db('mailboxes').where({ organization_id }).select('signature_plain', 'reply_to');
  const settings = await db('outreach_settings').where({ organization_id }).pluck('settings');
  const own = { leads: await rows('enrollments'), variants: await rows('campaign_variants'), steps, daily_limit, cc };
  return { ...own, written, settings };
};

test('a key or application without a policy changes nothing of a campaign that sends; leads that it adds wait', async (t) => {
  const { desk, campaign, at, leads, changes, person, mailboxId } = await openActive();
  const before = await contentOf(campaign.id);
  const { accessToken } = await createAccessToken(world, desk.tenant);
  for (const token of [desk.tenant.apiKey, accessToken])
    for (const change of await changes()) {
      const answer = await as(token, change);
      t.is(answer.status, 403, `${change[0]} ${change[1]} ${answer.text}`);
      if (token === desk.tenant.apiKey) {
        t.regex(answer.body.message, /within its policy: The credential has no policy/);
        t.truthy(answer.body.fix);
      }
    }
  t.deepEqual(await contentOf(campaign.id), before);
  for (const lead of await leads()) {
    const held = await as(desk.tenant.apiKey, lead);
    assertStatus(t, held, 202);
    t.like(held.body, { result: 'awaiting_approval', reasons: [{ code: 'no_policy' }] });
  }
  const waiting = { campaign_id: campaign.id, hold_source: 'approval', state: 'pending' };
  t.is((await world.deps.db('enrollments').where(waiting)).length, 2);
  for (const [path, body] of [
    [at, { description: 'For the record' }],
    [`/emails/${mailboxId}`, { campaign_limit: 3 }],
    ['/outreach/settings', { settings: { dashboard: { show_dlq_stats: false } } }],
  ] as const)
    t.true((await as(desk.tenant.apiKey, ['PATCH', path, body])).status < 300, `${path}: not sent`);

  t.is((await person('POST', `${at}/stop`)).status < 300, true);
  for (const change of [...(await leads()), ...(await changes())])
    t.true((await as(desk.tenant.apiKey, change)).status < 300, change.slice(0, 2).join(' '));
  const held = await as(desk.tenant.apiKey, ['POST', `${at}/start`, {}]);
  t.is(held.status, 202, 'the next start waits for a person, with the changes');
});

test('within its policy a key changes it, and each change counts; people need none', async (t) => {
  const { desk, leads, changes, mailboxId, at, person } = await openActive();
  const all = [...(await leads()), ...(await changes())];
  await createPolicy(world.deps, desk.tenant, {
    mailbox_ids: [mailboxId],
    max_actions_per_day: all.length,
    max_recipients_per_run: 1,
  });
  const two = { contact_ids: [await desk.contact(), await desk.contact()] };
  t.regex((await as(desk.tenant.apiKey, ['POST', `${at}/leads`, two])).body.reasons[0].message, /2 recipients/);
  for (const change of all) {
    const answer = await as(desk.tenant.apiKey, change);
    t.true(answer.status < 300, `${change[0]} ${change[1]} ${answer.text}`);
  }
  const [used] = await world.deps.db('agent_policy_usage').where({ credential_id: desk.tenant.apiKeyId });
  t.like(used, { actions: all.length, recipients: 2 });
  const over = await as(desk.tenant.apiKey, ['PATCH', at, { daily_limit: 8 }]);
  assertStatus(t, over, 403);
  t.regex(over.body.message, /actions today/);
  for (const [method, path, body] of [...(await leads()), ...(await changes())])
    t.true((await person(method, path, body)).status < 300, path);
});

test('a held mailbox of the campaign is one that the policy has to allow: a hold comes and goes without a person', async (t) => {
  const { desk, at, person, mailboxId } = await openActive();
  await createPolicy(world.deps, desk.tenant, { mailbox_ids: [mailboxId] });
  const held = { hold_code: 'auth_failed', hold_reason: externalText('refused') };
  await createMailbox(
    world.deps,
    desk.tenant.organizationId,
    'held@ours.test',
    { smtp: { host: '127.0.0.1', port: 1 } },
    held,
  );
  const add = async () => as(desk.tenant.apiKey, ['POST', `${at}/leads`, { contact_ids: [await desk.contact()] }]);
  const refused = await add();
  assertStatus(t, refused, 202);
  t.regex(refused.body.reasons[0].message, /does not allow one of the mailboxes/);
  await person('PUT', `${at}/senders`, { senders: [{ email_account_id: mailboxId }] });
  assertStatus(t, await add(), 200);
});

test('leads start a completed campaign again, so they wait for a person too', async (t) => {
  const { desk, campaign, at } = await openActive();
  for (const status of ['active', 'completed']) {
    await world.deps.db('campaigns').where({ id: campaign.id }).update({ status });
    const lead = { contact_ids: [await desk.contact()] };
    t.is((await as(desk.tenant.apiKey, ['POST', `${at}/leads`, lead])).status, 202, status);
    t.is((await desk.row(campaign.id)).status, status, 'not before a person has approved them');
  }
});

test('a tag brings no mailbox into a campaign that sends where the policy would not', async (t) => {
  const desk = await openDesk(world);
  const tag = await desk.label('tag');
  const [first, spare] = [await desk.mailbox(), await desk.mailbox()];
  const put = (id: string, token: string) => as(token, ['PATCH', `/emails/${id}`, { tags: [tag] }]);
  t.is((await put(first, desk.tenant.apiKey)).status, 200, 'of no campaign that sends');
  const { campaign } = await desk.ready(1, { email_tag_ids: [tag] });
  await desk.call('POST', `/campaigns/${campaign.id}/start`, {}, desk.tenant.sessionToken);
  t.is((await desk.row(campaign.id)).status, 'active');
  assertStatus(t, await put(spare, desk.tenant.apiKey), 403);
  await createPolicy(world.deps, desk.tenant, { mailbox_ids: [first] });
  assertStatus(t, await put(spare, desk.tenant.apiKey), 403);
  t.deepEqual(await world.deps.db('mailbox_tags').where({ label_id: tag }).pluck('mailbox_id'), [first]);
  assertStatus(t, await put(spare, desk.tenant.sessionToken), 200);
});
