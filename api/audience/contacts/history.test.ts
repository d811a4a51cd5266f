import test from 'ava';
import { newId } from '../../../lib/ids.ts';
import { maskOf } from '../../../lib/permissions.ts';
import {
  createApiKey,
  createCampaign,
  createContact,
  createMailbox,
  createMember,
  enroll,
} from '../../../test/harness/factories.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const START = Date.parse('2026-03-02T08:00:00Z');
const after = (minutes: number): Date => new Date(START + minutes * 60_000);

/** Creates a contact in a campaign, with three emails of two mailboxes, and the reactions to them. */
async function scene() {
  const { db } = world.deps;
  const tenant = await world.tenant();
  const { organizationId: organization_id } = tenant;
  const mailboxes = await Promise.all([
    createMailbox(world.deps, organization_id, `${newId()}@ours.test`),
    createMailbox(world.deps, organization_id, `${newId()}@ours.test`),
  ]);
  const contactId = await createContact(db, after(0), organization_id, { email: `${newId()}@lead.test` });
  const { campaignId, stepIds } = await createCampaign(world.deps, organization_id, [
    { subject: 'Hello', body_plain: 'Hi' },
    { subject: 'Again', body_plain: 'Hi' },
  ]);
  const [enrollmentId] = await enroll(world.deps, organization_id, campaignId, [contactId]);
  await db('enrollments')
    .where({ id: enrollmentId })
    .update({ entered_at: after(1) });
  const send = (minutes: number, fields: Record<string, unknown>) => ({
    id: newId(),
    organization_id,
    campaign_id: campaignId,
    contact_id: contactId,
    mailbox_id: mailboxes[0],
    recipient: 'a@lead.test',
    state: 'sent',
    slot_at: after(minutes),
    slot_day: after(minutes),
    sent_at: after(minutes),
    created_at: after(minutes),
    updated_at: after(minutes),
    ...fields,
  });
  const sends = [
    send(10, { step_id: stepIds[0], subject: 'Hello', opened_at: after(11) }),
    send(20, { step_id: stepIds[1], subject: 'Again', mailbox_id: mailboxes[1] }),
    send(30, { state: 'failed', sent_at: null, subject: 'Never left' }),
    send(40, { state: 'reserved', sent_at: null, subject: 'Planned' }),
  ];
  await db('sends').insert(sends);
  const event = (minutes: number, type: string, fields: Record<string, unknown>) => ({
    id: newId(),
    organization_id,
    type,
    send_id: sends[0]!.id,
    campaign_id: campaignId,
    contact_id: contactId,
    mailbox_id: mailboxes[0],
    at: after(minutes),
    ...fields,
  });
  await db('engagement_events').insert([
    event(11, 'open', { machine: true, machine_reason: 'prefetch' }),
    event(12, 'reply', { detail: { intent: 'positive' } }),
    event(13, 'click', { announce_at: after(14) }),
  ]);
  const ask = (path: string, token = tenant.apiKey) =>
    call(world, 'GET', `/v1/contacts/${contactId}/${path}`, { token });
  return { tenant, mailboxes, contactId, campaignId, sends, ask };
}

test('the timeline merges what happened, latest first, in pages', async (t) => {
  const { tenant, contactId, campaignId, sends, ask } = await scene();
  await call(world, 'POST', `/v1/contacts/${contactId}/notes`, {
    token: tenant.sessionToken,
    body: { content: 'Nice' },
  });
  const whole = await ask('timeline?limit=50');
  assertStatus(t, whole, 200);
  const types = whole.body.data.map(({ type }: { type: string }) => type);
  t.deepEqual(types, [
    'note',
    'email_sent',
    'email_replied',
    'email_opened',
    'email_sent',
    'campaign_added',
    'contact_created',
  ]);
  t.like(whole.body.data[0], { content: 'Nice', user_id: tenant.userId });
  t.like(whole.body.data[2], { intent: 'positive', task_id: sends[0]!.id, subject: 'Hello', campaign_id: campaignId });
  t.like(whole.body.data[3], { machine: true, machine_reason: 'prefetch' });
  t.like(whole.body.data[4], { campaign_name: 'Spring', subject: 'Hello' });
  const paged: unknown[] = [];
  for (let cursor = ''; ;) {
    const { body } = await ask(`timeline?limit=2${cursor && `&cursor=${cursor}`}`);
    paged.push(...body.data);
    cursor = body.pagination.next_cursor;
    if (!cursor) break;
  }
  t.deepEqual(paged, whole.body.data);
});

test('the emails of a contact are those that left or were tried', async (t) => {
  const { sends, ask } = await scene();
  const first = await ask('emails?limit=2');
  assertStatus(t, first, 200);
  const ids = ({ body }: { body: { data: { task_id: string }[] } }) => body.data.map(({ task_id: id }) => id);
  t.deepEqual(ids(first), [sends[2]!.id, sends[1]!.id]);
  t.like(first.body.data[0], { status: 'failed', subject: 'Never left', message_id: '' });
  const { before_at: at, before_id: id } = first.body.pagination;
  const second = await ask(`emails?limit=2&before_at=${encodeURIComponent(at)}&before_id=${id}`);
  t.deepEqual(ids(second), [sends[0]!.id]);
  t.like(second.body, { pagination: { has_more: false, before_at: null, before_id: null } });
  t.like(second.body.data[0], { opened_at: after(11).toISOString(), campaign_name: 'Spring' });
  assertStatus(t, await ask(`emails?before_id=${id}`), 400);
});

test('a key for one mailbox sees the emails of that mailbox', async (t) => {
  const { tenant, mailboxes, sends, ask } = await scene();
  const { apiKey } = await createApiKey(world.deps, tenant.organizationId, tenant.userId, {
    permissions: maskOf(['READ_CONTACTS']),
    allowedMailboxes: [mailboxes[1]!],
  });
  const emails = await ask('emails', apiKey);
  t.deepEqual(
    emails.body.data.map(({ task_id: id }: { task_id: string }) => id),
    [sends[1]!.id],
  );
  const timeline = await ask('timeline', apiKey);
  t.deepEqual(
    timeline.body.data.map(({ type }: { type: string }) => type),
    ['email_sent', 'campaign_added', 'contact_created'],
  );
});

test('contacts are exported as CSV and JSON, all, by filters or by ids, with the columns that are asked for', async (t) => {
  const tenant = await world.tenant();
  const ids = [];
  for (const [index, custom_fields] of [{ plan: 'pro' }, {}, { plan: '=1+1' }].entries())
    ids.push(
      await createContact(world.deps.db, after(index), tenant.organizationId, {
        email: `c${index}@lead.test`,
        first_name: `N${index}`,
        custom_fields,
      }),
    );
  const ask = (body: object) => call(world, 'POST', '/v1/contacts/export', { token: tenant.apiKey, body });
  const all = await ask({ format: 'csv', scope: 'all', fields: ['email', 'custom:plan'], filename: 'My list' });
  assertStatus(t, all, 200);
  t.is(all.text, "email,custom:plan\r\nc2@lead.test,'=1+1\r\nc1@lead.test,\r\nc0@lead.test,pro\r\n");
  t.is(all.headers.get('x-total-rows'), '3');
  t.is(all.headers.get('content-disposition'), 'attachment; filename="My list.csv"');
  const some = await ask({ format: 'json', scope: 'filtered', filters: { query: 'c1@' } });
  t.deepEqual(
    some.body.map(({ email, first_name: name }: Record<string, unknown>) => [email, name]),
    [['c1@lead.test', 'N1']],
  );
  const chosen = await ask({ format: 'json', scope: 'selected', contact_ids: [ids[0], ids[2]], fields: ['email'] });
  t.deepEqual(chosen.body, [{ email: 'c2@lead.test' }, { email: 'c0@lead.test' }]);
  t.deepEqual((await ask({ format: 'json', scope: 'selected', contact_ids: [newId()] })).body, []);
  for (const body of [
    { format: 'csv', scope: 'selected' },
    { format: 'csv', scope: 'filtered' },
    { format: 'csv', scope: 'all', fields: ['password'] },
  ])
    assertStatus(t, await ask(body), 400);
  const audit = await world.deps.db('audit_logs').where({ organization_id: tenant.organizationId, action: 'export' });
  t.is(audit.length, 4);
});

test('everything about a contact is one file, for those who may read all of it', async (t) => {
  const tenant = await world.tenant();
  const contactId = await createContact(world.deps.db, after(0), tenant.organizationId, { email: 'ada@lead.test' });
  await createContact(world.deps.db, after(0), tenant.organizationId, { email: 'bob@lead.test' });
  await world.deps.db('contact_notes').insert({
    id: newId(),
    organization_id: tenant.organizationId,
    contact_id: contactId,
    content: 'Met in Berlin',
    created_at: after(1),
    updated_at: after(1),
  });
  const path = `/v1/contacts/${contactId}/data`;
  const file = await call(world, 'GET', path, { token: tenant.apiKey });
  assertStatus(t, file, 200);
  t.is(file.headers.get('content-disposition'), `attachment; filename="contact-${contactId}.json"`);
  t.like(file.body.contact[0], { id: contactId, email: 'ada@lead.test' });
  t.is(file.body.notes[0].content, 'Met in Berlin');
  t.deepEqual(file.body.replies, []);
  t.false(file.text.includes('bob@lead.test') || file.text.includes(tenant.organizationId));
  t.is((await call(world, 'GET', path, { token: tenant.sessionToken })).body.audit.length, 1, 'the first download');

  const stranger = await world.tenant();
  assertStatus(t, await call(world, 'GET', path, { token: stranger.apiKey }), 404);
  const { sessionToken: viewer } = await createMember(world.deps, tenant, 'Viewer');
  assertStatus(t, await call(world, 'GET', path, { token: viewer }), 403);
});
