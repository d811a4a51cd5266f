import test from 'ava';
import { newId } from '../../../lib/ids.ts';
import { maskOf } from '../../../lib/permissions.ts';
import { createApiKey, createMailbox, type Tenant } from '../../../test/harness/factories.ts';
import { seeded } from '../../../test/faults/random.ts';
import { awayMessage, createSend, replyTo, storeSentContent, type Original } from '../../../test/harness/inbound.ts';
import { openCampaignInbox } from '../../../test/harness/inbox-desk.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const ids = (answer: Answer): string[] => answer.body.data.map(({ thread_id }: { thread_id: string }) => thread_id);
const stranger = (to: string, from = 'somebody@else.test'): Original => ({
  messageId: `<${newId()}@else.test>`,
  from: to,
  to: from,
});

test('a conversation is one row, shown by its newest arrival; unanswered emails are none', async (t) => {
  const { get, mailed, receive, mailboxId, campaignId, email } = await openCampaignInbox(world);
  const [lea, max] = [await mailed('lea@lead.test'), await mailed('max@lead.test')];
  await mailed('silent@lead.test');
  await receive(replyTo(lea.original, 'Sounds interesting, tell me more.'));
  await receive(awayMessage(max.original, 'I am away until Monday.'));
  await receive(replyTo(lea.original, 'And what does it cost?', { subject: 'Re: Hello again' }));
  const { status, body } = await get('');
  t.is(status, 200);
  t.is(body.data.length, 2);
  t.like(body.data[0], {
    email_id: mailboxId,
    thread_id: lea.original.messageId,
    from_addr: ['lea@lead.test'],
    to_addr: [email],
    subject: 'Re: Hello again',
    snippet: 'And what does it cost?',
    seen: false,
    has_unread: true,
    message_count: 2,
    kind: 'reply',
    contact_id: lea.contactId,
    campaign_id: campaignId,
  });
  t.like(body.data[1], { thread_id: max.original.messageId, kind: 'out_of_office', message_count: 1 });
  t.deepEqual(body.pagination, { total: null, next_cursor: null, has_more: false });
});

test('a conversation is read oldest first, with the text of both', async (t) => {
  const { get, mailed, receive, mailboxId, campaignId, stepIds, tenant, email } = await openCampaignInbox(world);
  const lea = await mailed('lea@lead.test');
  await receive(awayMessage(lea.original, 'Away.'));
  const later = new Date(world.deps.clock.now().getTime() + 60_000);
  const follow = await createSend(
    world.deps,
    tenant.organizationId,
    {
      campaignId,
      enrollmentId: lea.enrollmentId,
      stepId: stepIds[1]!,
      contactId: lea.contactId,
      mailboxId,
      recipient: 'lea@lead.test',
    },
    {
      sent_at: later,
      subject: 'Re: Hello',
      conversation: JSON.stringify({ subject: 'Hello', messageIds: [lea.original.messageId, '<follow@ours.test>'] }),
    },
  );
  const apart = await createSend(
    world.deps,
    tenant.organizationId,
    { campaignId, enrollmentId: lea.enrollmentId, contactId: lea.contactId, mailboxId, recipient: 'lea@lead.test' },
    { sent_at: later },
  );
  await createSend(
    world.deps,
    tenant.organizationId,
    { campaignId, enrollmentId: lea.enrollmentId, contactId: lea.contactId, mailboxId, recipient: 'lea@lead.test' },
    { state: 'reserved', conversation: JSON.stringify({ subject: 'Hello', messageIds: [lea.original.messageId] }) },
  );
  await receive(replyTo(lea.original, 'Now I am back.'), undefined, new Date(later.getTime() + 60_000));
  const store = (id: string, subject: string, text: string) =>
    storeSentContent(world.deps, tenant.organizationId, { id, from: email, to: 'lea@lead.test' }, { subject, text });
  await store(lea.sendId, 'Hello', 'Hi');
  await store(follow.id, 'Re: Hello', 'Again');
  const path = `/thread?thread_id=${encodeURIComponent(lea.original.messageId)}`;
  const { status, body } = await get(path);
  t.is(status, 200);
  t.deepEqual(
    body.data.map((message: Record<string, unknown>) => [
      message.direction,
      message.subject,
      (message.body_plain as string).trim(),
    ]),
    [
      ['sent', 'Hello', 'Hi'],
      ['received', 'Automatic reply: Hello', 'Away.'],
      ['sent', 'Re: Hello', 'Again'],
      ['received', 'Re: Hello', 'Now I am back.'],
    ],
  );
  t.like(body.data[0], {
    id: lea.sendId,
    email_id: mailboxId,
    from_addr: [email],
    to_addr: ['lea@lead.test'],
    step_id: stepIds[0],
    campaign_id: campaignId,
    kind: null,
    seen: true,
  });
  t.is(body.data[2].id, follow.id);
  t.like(body.data[3], {
    from_addr: ['lea@lead.test'],
    in_reply_to: [lea.original.messageId],
    kind: 'reply',
    contact_id: lea.contactId,
    thread_id: lea.original.messageId,
  });
  t.deepEqual((await get(`/thread?id=${encodeURIComponent(lea.original.messageId)}`)).body, body);
  // Another conversation with the same contact, without an answer so far, can be read too.
  t.deepEqual(
    (await get(`/thread?thread_id=${encodeURIComponent(apart.messageId)}`)).body.data.map(
      ({ id }: { id: string }) => id,
    ),
    [apart.id],
  );

  const walked: string[] = [];
  let cursor = '';
  do {
    const page = await get(`${path}&limit=1${cursor}`);
    walked.push(...page.body.data.map(({ id }: { id: string }) => id));
    cursor = page.body.pagination.next_cursor ? `&cursor=${page.body.pagination.next_cursor}` : '';
  } while (cursor);
  t.deepEqual(
    walked,
    body.data.map(({ id }: { id: string }) => id),
  );
});

test('a conversation stays readable when its campaign or mailbox is gone', async (t) => {
  const { get, mailed, receive, campaignId, mailboxId, tenant } = await openCampaignInbox(world);
  const lea = await mailed('lea@lead.test');
  await receive(replyTo(lea.original, 'Hello back'));
  const path = `/thread?thread_id=${encodeURIComponent(lea.original.messageId)}`;
  assertStatus(t, await call(world, 'DELETE', `/v1/campaigns/${campaignId}`, { token: tenant.apiKey }), 204);
  t.deepEqual(
    (await get(path)).body.data.map(({ direction }: { direction: string }) => direction),
    ['sent', 'received'],
  );
  assertStatus(t, await call(world, 'DELETE', `/v1/emails/${mailboxId}`, { token: tenant.apiKey }), 204);
  const left = (await get(path)).body.data;
  t.deepEqual(
    left.map(({ direction, email_id, from_addr }: Record<string, unknown>) => [direction, email_id, from_addr]),
    [['sent', null, []]],
  );
});

test('filters narrow, pages walk, and a cursor belongs to its filters', async (t) => {
  const { get, receive, email } = await openCampaignInbox(world);
  for (let i = 0; i < 5; i += 1)
    await receive(
      replyTo(stranger(email, `p${i}@else.test`), `Words ${i}`, { subject: i % 2 ? '100% odd_one' : 'Even' }),
    );
  t.is((await get('')).body.data.length, 5);
  t.deepEqual(
    (await get('?from=P3@ELSE')).body.data.map(({ from_addr }: { from_addr: string[] }) => from_addr[0]),
    ['p3@else.test'],
  );
  t.is((await get('?from=Lea%20Lead')).body.data.length, 5);
  t.is((await get(`?subject=${encodeURIComponent('0% odd_')}`)).body.data.length, 2);
  t.is((await get('?subject=0_odd')).body.data.length, 0);
  t.is((await get('?kind=other')).body.data.length, 5);
  t.is((await get('?kind=bounce')).body.data.length, 0);
  t.is((await get('?unseen=true')).body.data.length, 5);
  t.is((await get('?unseen=false')).body.data.length, 0);
  const today = world.deps.clock.now().toISOString().slice(0, 10);
  t.is((await get(`?since=${today}&until=${today}`)).body.data.length, 5);
  t.is((await get('?until=2020-01-01')).body.data.length, 0);
  t.is((await get('?since=2999-01-01')).body.data.length, 0);

  const walked: string[] = [];
  let cursor = '';
  do {
    const page = await get(`?limit=2${cursor}`);
    walked.push(...ids(page));
    cursor = page.body.pagination.next_cursor ? `&cursor=${page.body.pagination.next_cursor}` : '';
  } while (cursor);
  t.deepEqual(walked, ids(await get('')));
  const next = (await get('?limit=2')).body.pagination.next_cursor;
  assertStatus(t, await get(`?limit=2&kind=other&cursor=${next}`), 400);
  assertStatus(t, await get('?cursor=nonsense'), 400);
});

test('each mailbox by itself, several, and all', async (t) => {
  const { get, mailed, receive, mailboxId, tenant } = await openCampaignInbox(world);
  const second = {
    id: await createMailbox(world.deps, tenant.organizationId, 'second@ours.test'),
    email: 'second@ours.test',
  };
  const lea = await mailed('lea@lead.test');
  await receive(replyTo(lea.original, 'First'));
  await receive(replyTo(lea.original, 'From another address', { from: 'lea.private@lead.test' }), second);
  await receive(replyTo(stranger('second@ours.test'), 'Unrelated'), second);
  const thread = `/thread?thread_id=${encodeURIComponent(lea.original.messageId)}`;
  t.is((await get('')).body.data.length, 2);
  t.deepEqual(
    (await get(`?email_id=${mailboxId}`)).body.data.map(({ snippet, message_count }: Record<string, unknown>) => [
      snippet,
      message_count,
    ]),
    [['First', 1]],
  );
  t.is((await get(`?email_id=${second.id}`)).body.data.length, 2);
  t.is((await get(`?email_ids=${mailboxId},${second.id}`)).body.data.length, 2);
  t.is((await get(thread)).body.data.length, 3);
  t.is((await get(`${thread}&email_id=${second.id}`)).body.data.length, 1);
  t.is((await get(`${thread}&email=${mailboxId}`)).body.data.length, 2);

  const { apiKey } = await createApiKey(world.deps, tenant.organizationId, tenant.userId, {
    permissions: maskOf(['READ_UNIBOX']),
    allowedMailboxes: [mailboxId],
  });
  t.deepEqual(
    (await get('', apiKey)).body.data.map(({ snippet, message_count }: Record<string, unknown>) => [
      snippet,
      message_count,
    ]),
    [['First', 1]],
  );
  t.is((await get(thread, apiKey)).body.data.length, 2);
  assertStatus(t, await get(`?email_id=${second.id}`, apiKey), 403);
  assertStatus(t, await get(`${thread}&email_id=${second.id}`, apiKey), 403);
});

test("another workspace's conversations are not there", async (t) => {
  const [own, other] = [await openCampaignInbox(world), await openCampaignInbox(world)];
  const lea = await other.mailed('lea@lead.test');
  await other.receive(replyTo(lea.original, 'Secret'));
  t.deepEqual((await own.get('')).body.data, []);
  t.deepEqual((await own.get(`?email_id=${other.mailboxId}`)).body.data, []);
  for (const thread of [lea.original.messageId, '<nobody@nowhere>']) {
    const answer = await own.get(`/thread?thread_id=${encodeURIComponent(thread)}`);
    t.deepEqual([answer.status, answer.body.code], [404, 'not_found'], thread);
  }
});

test('bad queries: every fault is named', async (t) => {
  const tenant: Tenant = await world.tenant();
  const faults = async (path: string) => {
    const answer = await call(world, 'GET', `/v1/unibox${path}`, { token: tenant.apiKey });
    t.is(answer.status, 400, path);
    return answer.body.problems.map((problem: { path: string }) => problem.path).sort();
  };
  t.deepEqual(
    await faults('?limit=101&kind=nice&unseen=yes&since=yesterday&email_id=1&email_ids=1,2&from=%00&colour=red'),
    [
      'query.colour',
      'query.email_id',
      'query.email_ids.0',
      'query.email_ids.1',
      'query.from',
      'query.kind',
      'query.limit',
      'query.since',
      'query.unseen',
    ],
  );
  t.deepEqual(await faults('/thread'), ['query.thread_id']);
  t.deepEqual(await faults('/thread?thread_id=a&limit=0&email_id=x'), ['query.email_id', 'query.limit']);
});

test('search finds conversations by words of any message, in sender, subject and text; pages walk', async (t) => {
  const { get, mailed, receive, email } = await openCampaignInbox(world);
  const lea = await mailed('lea@lead.test');
  await receive(replyTo(lea.original, 'The zeppelin lands on Tuesday.'));
  await receive(replyTo(lea.original, 'Never mind.'));
  for (let i = 0; i < 5; i += 1)
    await receive(
      replyTo(stranger(email, `pilot${i}@sky.test`), `Balloon number ${i}`, {
        subject: 'Offer',
        from: `pilot${i}@sky.test`,
      }),
    );
  const found = async (q: string) => (await get(`?q=${encodeURIComponent(q)}`)).body.data;
  const [zeppelin] = await found('ZEPPELIN');
  t.like(zeppelin, { thread_id: lea.original.messageId, snippet: 'Never mind.', message_count: 2 });
  t.is((await found('balloon')).length, 5);
  t.is((await found('sky')).length, 5, 'a part of an address');
  t.is((await found('pilot3@sky.test')).length, 1);
  t.is((await found('"balloon number" -3')).length, 4);
  t.is((await found('zeppelin or balloon')).length, 6);
  t.is((await found('zeppelin balloon')).length, 0);
  t.is((await found("'); drop --")).length, 0);
  const walked: string[] = [];
  let cursor = '';
  do {
    const page = await get(`?q=balloon&limit=2${cursor}`);
    walked.push(...ids(page));
    cursor = page.body.pagination.next_cursor ? `&cursor=${page.body.pagination.next_cursor}` : '';
  } while (cursor);
  t.deepEqual(
    walked,
    (await found('balloon')).map(({ thread_id }: { thread_id: string }) => thread_id),
  );
  t.is(new Set(walked).size, 5);
  t.deepEqual(
    await (await openCampaignInbox(world)).get('?q=balloon').then(({ body }) => body.data),
    [],
    'not of another workspace',
  );
});

test('messages are marked, conversations filed and snoozed', async (t) => {
  const { get, mailed, receive, tenant, mailboxId } = await openCampaignInbox(world);
  const other = await openCampaignInbox(world);
  const token = tenant.sessionToken;
  const ask = (method: string, path: string, body?: unknown) => call(world, method, `/v1${path}`, { token, body });
  const lea = await mailed('lea@lead.test');
  const max = await mailed('max@lead.test');
  await receive(replyTo(lea.original, 'Yes.'));
  await receive(replyTo(max.original, 'No.'));
  const foreign = await other.mailed('kim@lead.test');
  await other.receive(replyTo(foreign.original, 'Mine.'));
  const [theirs] = (await other.get('')).body.data;
  const [second, first] = (await get('')).body.data;
  t.deepEqual((await get('/count')).body, { count: 2 });
  const marked = await ask('PATCH', '/unibox/seen', { email_ids: [first.id, theirs.id], seen: true });
  t.like(marked.body, { seen: true, changed: 1 });
  t.deepEqual((await get('/count')).body, { count: 1 });
  t.deepEqual((await get(`/count?email_id=${mailboxId}`)).body, { count: 1 });
  t.deepEqual((await other.get('/count')).body, { count: 1 });
  t.deepEqual(ids(await get('?unseen=true')), [second.thread_id]);
  t.is((await ask('PATCH', '/unibox/seen', { email_ids: [first.id], seen: false })).body.changed, 1);

  const label = (await ask('POST', '/categories', { title: 'Hot' })).body;
  const thread = encodeURIComponent(first.thread_id);
  const filed = await ask('PUT', '/unibox/thread/labels', { thread_id: first.thread_id, category_ids: [label.id] });
  t.deepEqual(filed.body.data, [{ id: label.id, title: 'Hot', color: label.color }]);
  t.deepEqual((await get(`/thread/labels?thread_id=${thread}`)).body, filed.body);
  t.deepEqual(ids(await get(`?category_ids=${label.id}`)), [first.thread_id]);
  t.deepEqual((await get('')).body.data[1].labels, filed.body.data);
  const unknown = await ask('PUT', '/unibox/thread/labels', { thread_id: first.thread_id, category_ids: [newId()] });
  t.deepEqual(
    unknown.body.problems.map(({ path }: { path: string }) => path),
    ['body.category_ids.0'],
  );
  t.deepEqual((await get(`/thread/labels?id=${thread}`)).body, filed.body, 'nothing was changed');
  assertStatus(t, await ask('PUT', '/unibox/thread/labels', { thread_id: theirs.thread_id }), 404);
  t.deepEqual((await ask('PUT', '/unibox/thread/labels', { thread_id: first.thread_id })).body.data, []);

  const until = new Date(world.deps.clock.now().getTime() + 3_600_000).toISOString();
  const put = await ask('POST', '/unibox/snooze', { thread_id: first.thread_id, snoozed_until: until });
  t.like(put.body, { thread_id: first.thread_id, snoozed_until: until, user_id: tenant.userId });
  const listed = (query: string) => call(world, 'GET', `/v1/unibox${query}`, { token });
  t.deepEqual(ids(await listed('')), [second.thread_id]);
  t.deepEqual(ids(await listed('?snoozed=true')), [first.thread_id]);
  t.deepEqual((await listed('/snoozes')).body.data, [put.body]);
  const past = await ask('POST', '/unibox/snooze', {
    thread_id: first.thread_id,
    snoozed_until: '2020-01-01T00:00:00Z',
  });
  assertStatus(t, past, 400);
  assertStatus(t, await ask('POST', '/unibox/snooze', { thread_id: theirs.thread_id, snoozed_until: until }), 404);
  for (let times = 0; times < 2; times += 1)
    assertStatus(t, await ask('DELETE', `/unibox/snooze?thread_id=${thread}`), 204);
  t.is(ids(await listed('')).length, 2);
});

test('conversations are filed; counts, lists and searches follow', async (t) => {
  const { get, mailed, receive, tenant, mailboxId } = await openCampaignInbox(world);
  const token = tenant.sessionToken;
  const ask = (method: string, path: string, body?: unknown) => call(world, method, `/v1${path}`, { token, body });
  const lea = await mailed('lea@lead.test');
  const max = await mailed('max@lead.test');
  await receive(replyTo(lea.original, 'First words.'));
  await receive(replyTo(lea.original, 'Second words.'));
  await receive(replyTo(max.original, 'Other words.'));
  const [other, first] = (await get('')).body.data;
  t.like(first, { folder: 'inbox', awaiting_reply: false, message_count: 2 });
  const messages = (await get(`/thread?thread_id=${encodeURIComponent(first.thread_id)}`)).body.data;
  const received = messages.filter(({ direction }: { direction: string }) => direction === 'received');
  const email_ids = received.map(({ id }: { id: string }) => id);
  t.like((await ask('PATCH', '/unibox/folder', { email_ids, folder: 'trash' })).body, { folder: 'trash', changed: 2 });
  t.is((await ask('PATCH', '/unibox/folder', { email_ids, folder: 'trash' })).body.changed, 0);
  assertStatus(t, await ask('PATCH', '/unibox/folder', { email_ids, folder: 'spam' }), 400);
  t.deepEqual(ids(await get('')), [other.thread_id]);
  t.deepEqual(ids(await get('?q=words')), [other.thread_id]);
  t.deepEqual(ids(await get('?folder=trash')), [first.thread_id]);
  t.deepEqual(ids(await get('?folder=trash&q=words')), [first.thread_id]);
  t.deepEqual((await get('/count')).body, { count: 1 });
  const overview = (await get('/overview')).body;
  t.like(overview, { total: 1, unread: 1, today: 1, week: 1, snoozed: 0, awaiting_reply: 0, scheduled_pending: 0 });
  t.deepEqual(overview.folders, [
    { folder: 'inbox', total: 1, unread: 1 },
    { folder: 'sent', total: 2, unread: 0 },
    { folder: 'drafts', total: 0, unread: 0 },
    { folder: 'archive', total: 0, unread: 0 },
    { folder: 'spam', total: 0, unread: 0 },
    { folder: 'trash', total: 1, unread: 1 },
  ]);
  t.like(overview.mailboxes[0], { id: mailboxId, total: 1, unread: 1 });
  await ask('PATCH', '/unibox/folder', { email_ids, folder: 'archive' });
  t.deepEqual(ids(await get('')), [other.thread_id, first.thread_id]);
  t.deepEqual((await get('/count')).body, { count: 3 });
  const stranger = await openCampaignInbox(world);
  t.is(
    (
      await call(world, 'PATCH', '/v1/unibox/folder', {
        token: stranger.tenant.sessionToken,
        body: { email_ids, folder: 'trash' },
      })
    ).body.changed,
    0,
  );
});

test('what is kept of conversations is what their messages say, whatever is done to them in whatever order', async (t) => {
  const { mailed, receive, tenant, mailboxId, email } = await openCampaignInbox(world);
  const { db } = world.deps;
  const organization = { organization_id: tenant.organizationId };
  const leads = await Promise.all(['a', 'b', 'c'].map((name) => mailed(`${name}@lead.test`)));
  const second = {
    id: await createMailbox(world.deps, tenant.organizationId, 'two@ours.test'),
    email: 'two@ours.test',
  };
  const random = seeded(20_261_122);
  const pick = (count: number) => Math.floor(random.between(0, count));
  for (let step = 0; step < 40; step += 1) {
    const rows: { id: string }[] = await db('inbound_messages').where(organization).select('id');
    const some = rows.filter(() => random.next() < 0.4).map(({ id }) => id);
    const act = pick(6);
    if (act < 3 || rows.length === 0)
      await receive(
        replyTo(leads[pick(3)]!.original, `Words ${step}`),
        pick(2) ? second : { id: mailboxId, email },
        new Date(1_700_000_000_000 + pick(50) * 1000),
      );
    else if (act === 3)
      await call(world, 'PATCH', '/v1/unibox/seen', {
        token: tenant.sessionToken,
        body: { email_ids: some.slice(0, 500).concat(newId()), seen: pick(2) === 0 },
      });
    else if (act === 4)
      await call(world, 'PATCH', '/v1/unibox/folder', {
        token: tenant.sessionToken,
        body: { email_ids: some.concat(newId()), folder: (['inbox', 'archive', 'trash'] as const)[pick(3)]! },
      });
    else await db('inbound_messages').whereIn('id', some.slice(0, 2)).delete();
    const { rows: wrong } = await db.raw(
      `with told as (
         select distinct on (thread_id, mailbox_id) thread_id, mailbox_id, id as newest_id, received_at as newest_at, seen, filed, kind,
           count(*) over whole as message_count, count(*) filter (where not seen and filed in ('inbox', 'archive')) over whole as unseen_count
         from inbound_messages where organization_id = :org window whole as (partition by thread_id, mailbox_id)
         order by thread_id, mailbox_id, received_at desc, id desc
       ), kept as (
         select thread_id, mailbox_id, newest_id, newest_at, seen, filed, kind, message_count, unseen_count from inbox_threads where organization_id = :org
       )
       (table told except table kept) union all (table kept except table told)`,
      { org: tenant.organizationId },
    );
    t.deepEqual(wrong, [], `step ${step}`);
  }
  assertStatus(t, await call(world, 'DELETE', `/v1/emails/${second.id}`, { token: tenant.apiKey }), 204);
  t.is((await db('inbox_threads').where({ mailbox_id: second.id })).length, 0);
});

test('a search goes through all messages, in runs, and misses none', async (t) => {
  const { get, receive, email, tenant } = await openCampaignInbox(world);
  const { db } = world.deps;
  await receive(replyTo(stranger(email), 'A walrus of old'));
  // Simulates half a million messages between the two.
  await db.raw(`select setval('message_words_number', nextval('message_words_number') + 500000)`);
  await receive(replyTo(stranger(email), 'A walrus of today'));
  const found = async (query: string) =>
    (await get(query)).body.data.map(({ snippet }: { snippet: string }) => snippet);
  t.deepEqual(await found('?q=walrus'), ['A walrus of today', 'A walrus of old']);
  t.deepEqual(await found('?q=-today'), ['A walrus of old']);
  t.deepEqual(await found('?q=-nothing'), ['A walrus of today', 'A walrus of old']);
  t.deepEqual(await found('?from=somebody'), ['A walrus of today', 'A walrus of old']);
  t.deepEqual(await found('?from=so'), ['A walrus of today'], 'short parts are looked for among the newest');
  t.deepEqual(await found('?q=-'), []);
  const [mailbox] = await db('mailboxes').where({ organization_id: tenant.organizationId });
  t.deepEqual(await found(`?q=walrus&email_id=${mailbox.id}`), ['A walrus of today', 'A walrus of old']);
  t.deepEqual(await found(`?q=walrus&email_id=${newId()}`), []);
  const first = await get('?q=walrus&limit=1');
  t.deepEqual(
    (await get(`?q=walrus&limit=1&cursor=${first.body.pagination.next_cursor}`)).body.data[0].snippet,
    'A walrus of old',
  );
});
