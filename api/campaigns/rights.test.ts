import test from 'ava';
import { newId } from '../../lib/ids.ts';
import { ALL_PERMISSIONS, maskOf } from '../../lib/permissions.ts';
import { openDesk, type Desk } from '../../test/harness/campaign-desk.ts';
import { createPolicy } from '../../test/harness/approvals.ts';
import { createApiKey, createMember } from '../../test/harness/factories.ts';
import { createWorld, type World } from '../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const createKey = async (desk: Desk, options: { permissions?: number; allowedMailboxes?: string[] }): Promise<string> =>
  (await createApiKey(world.deps, desk.tenant.organizationId, desk.tenant.userId, options)).apiKey;

test('a key that is restricted to mailboxes sends from no others, by whatever pool takes them in', async (t) => {
  const desk = await openDesk(world);
  const [own, other] = [await desk.mailbox(), await desk.mailbox()];
  const key = await createKey(desk, { permissions: ALL_PERMISSIONS, allowedMailboxes: [own] });
  const status = async (method: string, path: string, body?: object) =>
    (await desk.call(method, path, body, key)).status;
  const senders = (id: string) => ({ senders: [{ email_account_id: id }] });
  const steps = [{ subject: 'Hello', body_plain: 'Hi' }];

  t.is(await status('POST', '/campaigns', { name: 'Default pool', steps }), 403, 'the default pool is every mailbox');
  t.is(await status('POST', '/campaigns', { name: 'Other', ...senders(other) }), 403);
  const { body: campaign } = await desk.call('POST', '/campaigns', { name: 'Own', steps, ...senders(own) }, key);
  const path = `/campaigns/${campaign.id}`;
  t.is(await status('PUT', `${path}/senders`, { senders: [] }), 403, 'without senders it would be the default pool');
  t.is(await status('PUT', `${path}/senders`, senders(own)), 200);

  const tag = await desk.label('tag');
  await world.deps.db('mailbox_tags').insert({
    organization_id: desk.tenant.organizationId,
    mailbox_id: other,
    label_id: tag,
  });
  t.is(await status('PATCH', path, { email_tags: [tag] }), 403);
  t.is(await status('PATCH', path, { name: 'Renamed' }), 200);
  const contact = await desk.contact();
  t.is(await status('POST', `${path}/leads`, { contact_ids: [contact] }), 200);

  // Another member widens the pool: after that the key can neither start the campaign nor add leads.
  await desk.call('PATCH', path, { email_tags: [tag] });
  t.is(await status('POST', `${path}/leads`, { contact_ids: [await desk.contact()] }), 403);
  t.is(await status('POST', '/contacts', [{ email: 'lea@lead.test', campaigns: [campaign.id] }]), 403);
  t.is(await status('POST', `${path}/start`), 403);
  t.is(await status('PATCH', path, { status: 'active' }), 403);
  t.is(await status('POST', `${path}/duplicate`), 403);
  t.is((await desk.row(campaign.id)).status, 'draft');
  await desk.call('PATCH', path, { email_tags: [] });
  t.is(await status('POST', `${path}/start`), 202, 'it may, and has no policy: a person decides');
});

test('a policy lends a key that is restricted to mailboxes none of the others', async (t) => {
  const desk = await openDesk(world);
  const [own, other] = [await desk.mailbox(), await desk.mailbox()];
  const { campaign } = await desk.ready(1, { senders: [{ email_account_id: own }, { email_account_id: other }] });
  await desk.call('POST', `/campaigns/${campaign.id}/start`);
  const { apiKey, apiKeyId } = await createApiKey(world.deps, desk.tenant.organizationId, desk.tenant.userId, {
    allowedMailboxes: [own],
  });
  await createPolicy(world.deps, { ...desk.tenant, apiKeyId }, { mailbox_ids: [own, other] });
  const step = await world.deps.db('campaign_steps').where({ campaign_id: campaign.id }).first('id');
  const edit = () =>
    desk.call('PATCH', `/campaigns/${campaign.id}/steps/${step.id}`, { subject: 'Words of another' }, apiKey);
  const refused = await edit();
  t.is(refused.status, 403);
  t.regex(refused.text, /does not allow one of the mailboxes/);
  await desk.call('PUT', `/campaigns/${campaign.id}/senders`, { senders: [{ email_account_id: own }] });
  const allowed = await edit();
  t.is(allowed.status, 200, allowed.text);
});

test('an edit that asks for a start parks nothing without the right to send', async (t) => {
  const desk = await openDesk(world);
  const { campaign, contacts } = await desk.ready();
  await world.deps.db('contacts').where({ id: contacts[0]! }).update({ verification_status: 'invalid' });
  const key = await createKey(desk, { permissions: maskOf(['READ_CAMPAIGNS', 'WRITE_CAMPAIGNS']) });
  const edit = (body: object, token?: string) => desk.call('PATCH', `/campaigns/${campaign.id}`, body, token);
  t.is((await edit({ status: 'active' }, key)).status, 403);
  t.is((await edit({}, key)).status, 200);
  t.is((await desk.row(campaign.id)).status, 'draft');
  t.is((await edit({ status: 'active' })).body.code, 'leads_undeliverable', 'who may send parks it');
  t.is((await desk.row(campaign.id)).status, 'paused_undeliverable');
});

test('a person whose role is for contacts alone has nobody mailed by a campaign that sends', async (t) => {
  const desk = await openDesk(world);
  const { campaign, contacts } = await desk.ready();
  const owner = desk.tenant.sessionToken;
  const role = { name: 'Contacts', permissions: ['view_contacts', 'manage_contacts'] };
  await desk.call('POST', '/organizations/current/roles', role, owner);
  const { sessionToken } = await createMember(world.deps, desk.tenant, 'Contacts');
  const leads = async () => (await world.deps.db('enrollments').where({ campaign_id: campaign.id })).length;
  const other = await desk.contact();
  const email = () => `${newId()}@lead.test`;
  const form = new FormData();
  form.set('file', new Blob([`email\n${email()}\n`]), 'leads.csv');
  form.set('options', JSON.stringify({ campaign_id: campaign.id }));
  const ways = (): [method: string, path: string, body: unknown][] => [
    ['POST', '/contacts', [{ email: email(), campaigns: [campaign.id] }]],
    ['PATCH', `/contacts/${other}`, { campaigns: [campaign.id] }],
    ['PATCH', '/contacts', { contacts: [other], add_campaigns: [campaign.id] }],
    ['POST', '/contacts/import', form],
  ];
  const asked = (token: string) =>
    ways().map(async ([method, path, body]) => {
      const { status, text } = await desk.call(method, path, body, token);
      return [path, status, status === 403 && /that sends/.test(text)];
    });
  for (const status of ['active', 'completed']) {
    await world.deps.db('campaigns').where({ id: campaign.id }).update({ status });
    t.deepEqual(
      await Promise.all(asked(sessionToken)),
      ways().map(([, path]) => [path, 403, true]),
      status,
    );
  }
  t.is(await leads(), contacts.length);
  t.is((await desk.call('PATCH', `/contacts/${other}`, { first_name: 'Lea' }, sessionToken)).status, 200);
  await world.deps.db('campaigns').where({ id: campaign.id }).update({ status: 'paused' });
  t.is((await desk.call('PATCH', `/contacts/${other}`, { campaigns: [campaign.id] }, sessionToken)).status, 200);
  await world.deps.db('campaigns').where({ id: campaign.id }).update({ status: 'active' });
  t.is((await desk.call('POST', '/contacts', ways()[0]![2], owner)).status, 200);
});
