import test from 'ava';
import { newId } from '../../../lib/ids.ts';
import { createWritingDesk } from '../../../test/harness/direct-sends.ts';
import { createApiKey, createMailbox } from '../../../test/harness/factories.ts';
import { replyTo } from '../../../test/harness/inbound.ts';
import { openCampaignInbox } from '../../../test/harness/inbox-desk.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../../../test/harness/world.ts';

let world: World;
let clock: ManualClock;
test.before(async () => {
  clock = new ManualClock();
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

function idsOf({ body, text }: Answer): string[] {
  if (!body.data) throw new Error(text);
  return body.data.map(({ id }: { id: string }) => id);
}

test('the folder of sent emails has campaign emails and those of people, a conversation by its latest email', async (t) => {
  const { get, mailed, receive, tenant, mailboxId, email } = await openCampaignInbox(world);
  const { db } = world.deps;
  const lea = await mailed('lea@lead.test');
  clock.advance(60_000);
  const max = await mailed('max@lead.test');
  const list = (query = '', token?: string) => get(`?folder=sent${query}`, token);
  t.deepEqual(idsOf(await list()), [max.sendId, lea.sendId]);
  t.like((await list()).body.data[0], {
    email_id: mailboxId,
    from_addr: [email],
    to_addr: ['max@lead.test'],
    folder: 'sent',
    kind: null,
    seen: true,
    message_count: 0,
    awaiting_reply: true,
  });
  await receive(replyTo(lea.original, 'Words'));
  t.like((await list()).body.data[1], { message_count: 1, has_unread: true, awaiting_reply: false });
  const first = await list('&limit=1');
  t.deepEqual(idsOf(await list(`&limit=1&cursor=${encodeURIComponent(first.body.pagination.next_cursor)}`)), [
    lea.sendId,
  ]);

  // A later email of the same conversation replaces the first one in the list, even if it is uncertain that it was
  // sent.
  const before = await db('sends').where({ id: lea.sendId }).first();
  const again = newId();
  clock.advance(60_000);
  await db('sends').insert({
    ...before,
    id: again,
    step_id: newId(),
    message_id: '<again@ours.test>',
    state: 'uncertain',
    sent_at: null,
    claimed_at: clock.now(),
    conversation: JSON.stringify({ messageIds: [before.message_id, '<again@ours.test>'] }),
    error_detail: null,
    dimensions: null,
  });
  t.deepEqual(idsOf(await list()), [again, max.sendId]);
  await db('sends').where({ id: again }).update({ state: 'failed' });
  t.deepEqual(idsOf(await list()), [max.sendId, lea.sendId]);

  const other = await createMailbox(world.deps, tenant.organizationId, `${newId()}@ours.test`);
  const { apiKey } = await createApiKey(world.deps, tenant.organizationId, tenant.userId, {
    allowedMailboxes: [other],
  });
  t.deepEqual(idsOf(await list('', apiKey)), []);
  t.is((await list(`&email_id=${mailboxId}`, apiKey)).status, 403);
  t.deepEqual(idsOf(await list(`&email_id=${other}`)), []);
  t.deepEqual(idsOf(await list('&until=2001-01-01')), []);
  t.deepEqual(idsOf(await (await openCampaignInbox(world)).get('?folder=sent')), []);
  const refused = await list('&q=words&unseen=true');
  assertStatus(t, refused, 400);
  t.deepEqual(refused.body.problems.map(({ path }: { path: string }) => path).sort(), ['query.q', 'query.unseen']);
});

test('an answer of a person is the latest email of its conversation; drafts and sent emails are in the overview', async (t) => {
  const desk = await createWritingDesk({ world, clock });
  const fields = { email_account_id: desk.mailboxId, to: ['ann@else.test'], subject: 'Hello', body_plain: 'Hi' };
  const write = async (more: object) => {
    const { body, text } = await desk.post('/unibox/compose', { ...fields, ...more });
    if (!body.task_id) throw new Error(text);
    await desk.finish(body.task_id);
    clock.advance(60_000);
    return body.task_id as string;
  };
  const one = await write({});
  const two = await write({ subject: 'Second' });
  t.deepEqual(idsOf(await desk.get('/unibox?folder=sent')), [two, one]);
  t.like((await desk.get(`/unibox/${one}`)).body, { direction: 'sent', to: ['ann@else.test'], body_plain: 'Hi' });

  const draft = await desk.post('/unibox/drafts', { ...fields, subject: 'Later' });
  await desk.post('/unibox/drafts', { subject: 'Without a mailbox', body_plain: 'x' });
  const drafts = (await desk.get('/unibox?folder=drafts')).body.data;
  t.is(drafts.length, 2);
  t.like(
    drafts.find(({ id }: { id: string }) => id === draft.body.id),
    { folder: 'drafts', subject: 'Later', email_id: desk.mailboxId, thread_id: '', to_addr: ['ann@else.test'] },
  );
  const page = await desk.get('/unibox?folder=drafts&limit=1');
  t.is(
    (await desk.get(`/unibox?folder=drafts&limit=1&cursor=${encodeURIComponent(page.body.pagination.next_cursor)}`))
      .body.data.length,
    1,
  );
  const overview = (await desk.get('/unibox/overview')).body;
  t.like(overview.folders[1], { folder: 'sent', total: 2, unread: 0 });
  t.like(overview.folders[2], { folder: 'drafts', total: 2, unread: 0 });
});

test('sent conversations of a category, and snoozed ones, are listed by their latest email', async (t) => {
  const { get, mailed, receive, tenant, mailboxId } = await openCampaignInbox(world);
  const { db } = world.deps;
  const token = tenant.sessionToken;
  const lea = await mailed('lea@lead.test');
  clock.advance(60_000);
  const max = await mailed('max@lead.test');
  const category = await call(world, 'POST', '/v1/categories', { token, body: { title: 'Warm' } });
  const list = (query: string) => get(`?folder=sent&${query}`);
  const labelled = `category_ids=${category.body.id}`;
  t.deepEqual(idsOf(await list(labelled)), []);
  const threads = [];
  for (const { sendId, original } of [lea, max]) {
    await receive(replyTo(original, 'Words'));
    const { message_id: thread } = (await db('sends').where({ id: sendId }).first('message_id'))!;
    threads.push(thread);
    const body = { thread_id: thread, category_ids: [category.body.id] };
    assertStatus(t, await call(world, 'PUT', '/v1/unibox/thread/labels', { token, body }), 200);
  }
  t.deepEqual(idsOf(await list(labelled)), [max.sendId, lea.sendId]);
  const page = await list(`${labelled}&limit=1`);
  t.deepEqual(idsOf(page), [max.sendId]);
  const next = `${labelled}&limit=1&cursor=${encodeURIComponent(page.body.pagination.next_cursor)}`;
  t.deepEqual(idsOf(await list(next)), [lea.sendId]);
  t.deepEqual(idsOf(await list(`${labelled}&email_id=${mailboxId}`)), [max.sendId, lea.sendId]);
  t.deepEqual(idsOf(await list(`${labelled}&until=2001-01-01`)), []);

  const snooze = { thread_id: threads[0], snoozed_until: new Date(clock.now().getTime() + 3_600_000).toISOString() };
  assertStatus(t, await call(world, 'POST', '/v1/unibox/snooze', { token, body: snooze }), 200);
  t.deepEqual(idsOf(await list('snoozed=true')), [lea.sendId]);
  t.deepEqual(idsOf(await list(labelled)), [max.sendId]);

  // An email whose lead was deleted.
  await db('sends').where({ id: max.sendId }).update({ enrollment_id: null, step_id: null });
  t.deepEqual(idsOf(await list(labelled)), [max.sendId]);
});

test('a folder is marked as seen; the overview counts by the tags of mailboxes', async (t) => {
  const { get, mailed, receive, tenant, mailboxId } = await openCampaignInbox(world);
  const { db } = world.deps;
  const tag = {
    id: newId(),
    organization_id: tenant.organizationId,
    registry: 'tag',
    title: 'Team A',
    color: '#16a34a',
    position: 0,
    created_at: new Date(),
    updated_at: new Date(),
  };
  await db('labels').insert(tag);
  await db('mailbox_tags').insert({ organization_id: tenant.organizationId, mailbox_id: mailboxId, label_id: tag.id });
  const lea = await mailed('lea@lead.test');
  const max = await mailed('max@lead.test');
  await receive(replyTo(lea.original, 'First.'));
  const inTrash = await receive(replyTo(max.original, 'Second.'));
  const patch = (path: string, body: object) =>
    call(world, 'PATCH', `/v1/unibox${path}`, { token: tenant.sessionToken, body });
  await patch('/folder', { email_ids: [inTrash], folder: 'trash' });
  t.like((await get('/overview')).body, { tags: [{ id: tag.id, title: 'Team A', total: 1, unread: 1 }] });
  t.like((await patch('/seen', { folder: 'inbox' })).body, { folder: 'inbox', seen: true, changed: 1 });
  t.like((await get('/overview')).body, { tags: [{ id: tag.id, total: 1, unread: 0 }] });
  t.is((await db('inbound_messages').where({ id: inTrash }).first()).seen, false);
  t.is((await patch('/seen', { folder: 'sent' })).body.changed, 0);
  t.is((await patch('/seen', { folder: 'trash', seen: true })).body.changed, 1);
  t.is((await patch('/seen', {})).status, 400);
  t.is((await patch('/seen', { folder: 'inbox', email_ids: [inTrash] })).status, 400);
});
