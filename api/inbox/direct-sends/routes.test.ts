import test from 'ava';
import { assertConcurrentChangeRefused } from '../../../test/harness/concurrent-change.ts';
import { createPolicy } from '../../../test/harness/approvals.ts';
import { createDirectSend, createWritingDesk } from '../../../test/harness/direct-sends.ts';
import { createApiKey, createMailbox } from '../../../test/harness/factories.ts';
import { replyTo } from '../../../test/harness/inbound.ts';
import { createMondayWorld } from '../../../test/harness/lead.ts';
import { simpleParser } from 'mailparser';
import { assertStatus, call } from '../../../test/harness/world.ts';
import { maskOf } from '../../../lib/permissions.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import { expireFiles } from '../../../domain/inbox/threads/retention.ts';

const stage = await createMondayWorld(test, { ORG_STORED_BYTES: '4000' });
const { world, clock } = stage;
const SHOWN = { 'x-heron-example': 'yes' };
const paths = (answer: { body: any }): string[] =>
  answer.body.problems.map(({ path }: { path: string }) => path).sort();
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Creates a conversation that a stranger has begun. */
async function asked(desk: Awaited<ReturnType<typeof createWritingDesk>>, from = 'lea@else.test') {
  const messageId = `<${newId()}@else.test>`;
  const first = { messageId: '<first@else.test>', from: desk.email, to: from };
  await desk.receive(replyTo(first, 'What does it cost?', { messageId, subject: 'Re: Your offer' }));
  return { threadId: '<first@else.test>', messageId };
}

test.serial('each of the three routes sends for a person at once', async (t) => {
  const desk = await createWritingDesk(stage);
  const { threadId, messageId } = await asked(desk);
  const sent = await desk.post(
    `/emails/${desk.mailboxId}/send`,
    {
      to: ['lea@else.test'],
      subject: 'The price',
      body_plain: 'Ten euros a month.',
      attachments: [{ filename: 'prices.csv', content_type: 'text/csv', content: base64('plan,price\nteam,10\n') }],
    },
    undefined,
    SHOWN,
  );
  assertStatus(t, sent, 200);
  t.like(sent.body, { result: 'executed', send_mode: 'instant', approval_id: null, left_out: [] });
  const composed = await desk.post(
    '/unibox/compose',
    {
      email_account_id: desk.mailboxId,
      to: ['max@else.test'],
      subject: 'Next week',
      body_plain: 'Shall we meet on Tuesday?',
      send_mode: 'scheduled',
      scheduled_at: '2026-03-03T09:00:00Z',
    },
    undefined,
    SHOWN,
  );
  t.like(composed.body, { result: 'executed', scheduled_at: '2026-03-03T09:00:00.000Z', send_mode: 'scheduled' });
  const replied = await desk.post(
    '/unibox/reply',
    { thread_id: threadId, body_plain: 'Ten euros a month, cancelled at any time.' },
    undefined,
    SHOWN,
  );
  t.like(replied.body, { result: 'executed', thread_id: threadId });
  t.like(await desk.read(replied.body.task_id), {
    to_emails: ['lea@else.test'],
    subject: 'Re: Your offer',
    in_reply_to: messageId,
    reference_ids: [threadId, messageId],
    mailbox_id: desk.mailboxId,
  });
  const listed = (await desk.get('/unibox/scheduled')).body.data;
  t.is(listed.length, 3);
  t.like(listed[2], {
    task_id: composed.body.task_id,
    account_email: desk.email,
    snippet: 'Shall we meet on Tuesday?',
  });
  t.deepEqual(
    (await desk.get(`/unibox/scheduled?thread_id=${encodeURIComponent(threadId)}`)).body.data.map(
      (one: { task_id: string }) => one.task_id,
    ),
    [replied.body.task_id],
  );
  const threaded = await desk.post(`/emails/${desk.mailboxId}/send`, {
    to: ['lea@else.test', 'kim@else.test'],
    subject: 'Re: Your offer',
    body_html: '<p>And a discount</p>',
    in_reply_to: ['<unknown@else.test>', messageId],
  });
  t.like(await desk.read(threaded.body.task_id), { thread_id: threadId, in_reply_to: messageId, kind: 'compose' });
});

test.serial('every fault is named, and nothing is stored', async (t) => {
  const desk = await createWritingDesk(stage);
  const { threadId } = await asked(desk);
  const other = await createWritingDesk(stage);
  const foreign = await asked(other);
  const off = await createMailbox(world.deps, desk.tenant.organizationId, 'off@ours.test');
  await world.deps.db('mailboxes').where({ id: off }).update({ status: 'inactive' });
  const bad = await desk.post('/unibox/compose', {
    email_account_id: off,
    to: ['nobody'],
    cc: ['a@b.test', 7],
    subject: ' ',
    send_mode: 'later',
    scheduled_at: 'tomorrow',
    attachments: [
      { filename: 'a/b.txt', content_type: 'text', content: base64('x') },
      { filename: 'run.exe', content_type: 'application/zip', content: '!' },
    ],
    colour: 'red',
  });
  assertStatus(t, bad, 400);
  t.deepEqual(paths(bad), [
    'body.attachments.0.content_type',
    'body.attachments.0.filename',
    'body.body_plain',
    'body.cc.1',
    'body.colour',
    'body.email_account_id',
    'body.scheduled_at',
    'body.send_mode',
    'body.subject',
    'body.to.0',
  ]);
  const valid = { email_account_id: desk.mailboxId, to: ['a@b.test'], subject: 'x', body_plain: 'y' };
  const faults = async (path: string, body: object) => {
    const answer = await desk.post(path, body);
    assertStatus(t, answer, 400);
    return paths(answer);
  };
  t.deepEqual(await faults('/unibox/compose', { ...valid, email_account_id: other.mailboxId }), [
    'body.email_account_id',
  ]);
  t.deepEqual(await faults('/unibox/compose', { ...valid, scheduled_at: '2026-03-03T09:00:00Z' }), [
    'body.scheduled_at',
  ]);
  t.deepEqual(await faults('/unibox/compose', { ...valid, send_mode: 'scheduled' }), ['body.scheduled_at']);
  for (const at of ['2026-03-02T07:00:00Z', '2028-03-02T07:00:00Z'])
    t.deepEqual(await faults('/unibox/compose', { ...valid, send_mode: 'scheduled', scheduled_at: at }), [
      'body.scheduled_at',
    ]);
  t.deepEqual(
    await faults('/unibox/compose', {
      ...valid,
      attachments: [
        { filename: 'run.exe', content_type: 'message/rfc822', content: 'no base64' },
        { filename: 'b.bin', content_type: 'application/octet-stream', content: 'A'.repeat(10 * 1024 * 1024) },
      ],
    }),
    [
      'body.attachments',
      'body.attachments.0.content',
      'body.attachments.0.content_type',
      'body.attachments.0.filename',
    ],
  );
  t.deepEqual(await faults('/unibox/reply', { body_plain: 'y' }), ['body.thread_id']);
  t.deepEqual(await faults('/unibox/reply', { body_plain: 'y', thread_id: foreign.threadId + 'x' }), [
    'body.thread_id',
  ]);
  t.deepEqual(await faults('/unibox/reply', { body_plain: 'y', in_reply_to: [foreign.messageId] }), [
    'body.in_reply_to',
  ]);
  t.deepEqual(await faults('/unibox/reply', { thread_id: threadId, body_plain: 'y', email_account_id: off }), [
    'body.email_account_id',
  ]);
  const second = await createMailbox(world.deps, desk.tenant.organizationId, 'second@ours.test');
  t.deepEqual(await faults('/unibox/reply', { thread_id: threadId, body_plain: 'y', email_account_id: second }), [
    'body.email_account_id',
  ]);
  const { email_account_id: _mailbox, ...fromPath } = valid;
  for (const id of [other.mailboxId, newId(), 'x'])
    t.is((await desk.post(`/emails/${id}/send`, fromPath)).status, 404, id);
  t.is((await world.deps.db('direct_sends').where({ organization_id: desk.tenant.organizationId })).length, 0);
});

test.serial('a key restricted to mailboxes sends from those alone, and sees no other conversation', async (t) => {
  const desk = await createWritingDesk(stage);
  const { threadId } = await asked(desk);
  const own = await createMailbox(world.deps, desk.tenant.organizationId, 'own@ours.test');
  const { apiKey } = await createApiKey(world.deps, desk.tenant.organizationId, desk.tenant.userId, {
    permissions: maskOf(['SEND_DIRECT_EMAIL', 'SEND_INBOX_REPLY', 'READ_UNIBOX', 'WRITE_UNIBOX']),
    allowedMailboxes: [own],
  });
  const body = { to: ['a@b.test'], subject: 'x', body_plain: 'y' };
  assertStatus(t, await desk.post(`/emails/${desk.mailboxId}/send`, body, apiKey), 403);
  assertStatus(t, await desk.post('/unibox/compose', { ...body, email_account_id: desk.mailboxId }, apiKey), 403);
  assertStatus(t, await desk.post('/unibox/compose', { ...body, email_account_id: own }, apiKey), 200);
  t.deepEqual(paths(await desk.post('/unibox/reply', { thread_id: threadId, body_plain: 'y' }, apiKey)), [
    'body.thread_id',
  ]);
  t.deepEqual(paths(await desk.post('/unibox/drafts', { subject: 'x' }, apiKey)), ['body.email_account_id']);
  assertStatus(t, await desk.post('/unibox/drafts', { subject: 'x', email_account_id: own }, apiKey), 201);
  const hidden = await createDirectSend(world.deps, desk.tenant.organizationId, {
    id: desk.mailboxId,
    email: desk.email,
  });
  t.is((await desk.get('/unibox/scheduled', apiKey)).body.data.length, 1);
  assertStatus(t, await desk.remove(`/unibox/scheduled/${hidden}`, apiKey), 403);
});

test.serial('a policy lets a key send within its limits; beyond them a person decides', async (t) => {
  const desk = await createWritingDesk(stage);
  const { organizationId, userId } = desk.tenant;
  const { apiKey, apiKeyId } = await createApiKey(world.deps, organizationId, userId, {
    permissions: maskOf(['SEND_DIRECT_EMAIL', 'SEND_INBOX_REPLY']),
  });
  await createPolicy(
    world.deps,
    { organizationId, apiKeyId },
    { capabilities: ['email.compose'], mailbox_ids: [desk.mailboxId], max_recipients_per_day: 3 },
  );
  const compose = (to: string[], headers = {}) =>
    desk.post(
      '/unibox/compose',
      { email_account_id: desk.mailboxId, to, subject: 'x', body_plain: 'y' },
      apiKey,
      headers,
    );
  const key = { 'Idempotency-Key': newId() };
  const first = await compose(['a@b.test', 'b@b.test'], key);
  t.like(first.body, { result: 'executed' });
  t.deepEqual((await compose(['a@b.test', 'b@b.test'], key)).body, first.body, 'repeated, not sent again');
  assertStatus(t, await compose(['c@b.test'], key), 409);
  t.like((await compose(['c@b.test', 'd@b.test'])).body, {
    result: 'awaiting_approval',
    reasons: [{ code: 'recipients_per_day_exceeded' }],
  });
  const { threadId } = await asked(desk);
  const reply = await desk.post('/unibox/reply', { thread_id: threadId, body_plain: 'y' }, apiKey);
  t.like(reply.body, { result: 'awaiting_approval', reasons: [{ code: 'capability_not_granted' }] });
  t.is((await world.deps.db('direct_sends').where({ organization_id: organizationId, state: 'queued' })).length, 1);
});

test.serial('files count against what the workspace may store', async (t) => {
  const desk = await createWritingDesk(stage);
  const post = (bytes: number) =>
    desk.post('/unibox/compose', {
      email_account_id: desk.mailboxId,
      to: ['a@b.test'],
      subject: 'x',
      body_plain: 'y',
      attachments: [{ filename: 'a.txt', content_type: 'text/plain', content: base64('x'.repeat(bytes)) }],
    });
  assertStatus(t, await post(3000), 200);
  const refused = await post(1001);
  t.deepEqual([refused.status, refused.body.code], [400, 'storage_limit_reached']);
  assertStatus(t, await post(1000), 200);
  t.is(clock.now().getTime(), Date.parse('2026-03-02T08:00:00Z'));
});

test.serial('a draft is kept, changed, sent once and then gone', async (t) => {
  const desk = await createWritingDesk(stage);
  const other = await createWritingDesk(stage);
  const { threadId } = await asked(desk);
  const put = async (id: string, body: unknown) =>
    call(world, 'PUT', `/v1/unibox/drafts/${id}`, { token: desk.tenant.apiKey, body });
  const empty = await desk.post('/unibox/drafts', {});
  assertStatus(t, empty, 201);
  t.deepEqual(paths(await desk.post(`/unibox/drafts/${empty.body.id}/send`, {})), [
    'draft.email_account_id',
    'draft.subject',
    'draft.to',
  ]);
  const written = {
    email_account_id: desk.mailboxId,
    to: ['lea@else.test'],
    subject: 'Prices',
    body_plain: 'Ten euros.',
  };
  t.like((await put(empty.body.id, written)).body, written);
  t.deepEqual(paths(await put(empty.body.id, { email_account_id: other.mailboxId })), ['body.email_account_id']);
  const reply = await desk.post('/unibox/drafts', { thread_id: threadId, body_plain: 'Eleven.' }, undefined, SHOWN);
  t.deepEqual(
    (await desk.get('/unibox/drafts')).body.data.map(({ id }: { id: string }) => id).sort(),
    [empty.body.id, reply.body.id].sort(),
  );
  const first = await desk.get('/unibox/drafts?limit=1');
  const second = await desk.get(`/unibox/drafts?limit=1&cursor=${first.body.pagination.next_cursor}`);
  t.not(first.body.data[0].id, second.body.data[0].id);
  t.deepEqual((await other.get('/unibox/drafts')).body.data, []);
  assertStatus(t, await other.get(`/unibox/drafts/${reply.body.id}`), 404);
  assertStatus(t, await other.post(`/unibox/drafts/${reply.body.id}/send`, {}), 404);
  assertStatus(t, await other.remove(`/unibox/drafts/${reply.body.id}`), 404);
  const sent = await Promise.all([1, 2, 3].map(() => desk.post(`/unibox/drafts/${empty.body.id}/send`, {})));
  t.deepEqual(sent.map(({ status }) => status).sort(), [200, 404, 404], 'once, however often it is asked for');
  const answered = await desk.post(
    `/unibox/drafts/${reply.body.id}/send`,
    { send_mode: 'scheduled', scheduled_at: '2026-03-03T09:00:00Z' },
    undefined,
    SHOWN,
  );
  t.like(answered.body, { result: 'executed', thread_id: threadId });
  t.like(await desk.read(answered.body.task_id), {
    kind: 'reply',
    subject: 'Re: Your offer',
    to_emails: ['lea@else.test'],
  });
  t.deepEqual((await desk.get('/unibox/drafts')).body.data, []);
  const last = await desk.post('/unibox/drafts', { subject: 'Never' });
  t.deepEqual((await desk.get(`/unibox/drafts/${last.body.id}`)).body, last.body);
  assertStatus(t, await desk.remove(`/unibox/drafts/${last.body.id}`), 204);
  assertStatus(t, await desk.get(`/unibox/drafts/${last.body.id}`), 404);
  const { apiKey } = await createApiKey(world.deps, desk.tenant.organizationId, desk.tenant.userId, {
    permissions: maskOf(['READ_UNIBOX', 'WRITE_UNIBOX', 'SEND_DIRECT_EMAIL', 'SEND_INBOX_REPLY']),
  });
  const kept = await desk.post('/unibox/drafts', written);
  t.like((await desk.post(`/unibox/drafts/${kept.body.id}/send`, {}, apiKey)).body, { result: 'awaiting_approval' });
});

test.serial('two who write one draft do not overwrite each other unseen', async (t) => {
  const desk = await createWritingDesk(stage);
  const { body: draft } = await desk.post('/unibox/drafts', { body_plain: 'Ten euros.' });
  await assertConcurrentChangeRefused(t, draft.updated_at, (more, attempt) => {
    clock.advance(1);
    const body = { body_plain: `Attempt ${attempt}`, ...more };
    return call(world, 'PUT', `/v1/unibox/drafts/${draft.id}`, { token: desk.tenant.apiKey, body });
  });
});

test.serial('files of a draft are kept with it, within the limits of an email, and leave with the email', async (t) => {
  const desk = await createWritingDesk(stage);
  const { organizationId } = desk.tenant;
  const { db } = world.deps;
  const blobs = async () => (await db('blobs').where({ organization_id: organizationId })).length;
  const put = async (id: string, body: unknown) =>
    call(world, 'PUT', `/v1/unibox/drafts/${id}`, { token: desk.tenant.apiKey, body });
  const file = (filename: string, text = filename) => ({ filename, content_type: 'text/plain', content: base64(text) });
  const written = { email_account_id: desk.mailboxId, to: ['lea@else.test'], subject: 'Prices', body_plain: 'See.' };
  const { body: draft } = await desk.post(
    '/unibox/drafts',
    { ...written, attachments: [file('a.txt'), file('b.txt')] },
    undefined,
    SHOWN,
  );
  t.deepEqual(
    draft.attachments.map(({ id: _id, ...rest }: { id: string }) => rest),
    ['a.txt', 'b.txt'].map((filename) => ({ filename, content_type: 'text/plain', size_bytes: 5 })),
  );
  t.deepEqual(paths(await desk.post('/unibox/drafts', { attachments: [file('run.exe')] })), [
    'body.attachments.0.filename',
  ]);
  const [a, b] = draft.attachments;
  t.deepEqual(paths(await put(draft.id, { ...written, kept_attachments: [newId()] })), ['body.kept_attachments']);
  const nine = Array.from({ length: 9 }, (_, n) => file(`${n}.txt`));
  t.deepEqual(paths(await put(draft.id, { ...written, kept_attachments: [a.id, b.id], attachments: nine })), [
    'body.attachments',
  ]);
  t.is(
    (await put(draft.id, { ...written, attachments: [file('large.txt', 'x'.repeat(5_000))] })).body.code,
    'storage_limit_reached',
  );
  t.deepEqual(
    (await desk.get(`/unibox/drafts/${draft.id}`)).body.attachments,
    draft.attachments,
    'a refusal deletes nothing',
  );
  const { body: changed } = await put(draft.id, { ...written, kept_attachments: [b.id], attachments: [file('c.txt')] });
  t.deepEqual(changed.attachments[0], b);
  t.is(await blobs(), 2);
  const sent = await desk.post(`/unibox/drafts/${draft.id}/send`, { attachments: [file('d.txt')] });
  assertStatus(t, sent, 200);
  const { attachments } = await desk.read(sent.body.task_id);
  t.deepEqual(
    attachments.map(({ filename }: { filename: string }) => filename),
    ['b.txt', 'c.txt', 'd.txt'],
  );
  t.is(attachments[0].blob_id, b.id);
  t.is(await blobs(), 3, 'they are not stored again');

  const { body: gone } = await desk.post('/unibox/drafts', { attachments: [file('e.txt')] });
  assertStatus(t, await desk.remove(`/unibox/drafts/${gone.id}`), 204);
  t.is(await blobs(), 3);
  const { body: old } = await desk.post('/unibox/drafts', { attachments: [file('f.txt')] });
  const { body: young } = await desk.post('/unibox/drafts', { attachments: [file('g.txt')] });
  await db('email_drafts')
    .where({ id: old.id })
    .update({ updated_at: new Date(clock.now().getTime() - 366 * DAY_MS) });
  t.is(await expireFiles(world.deps), 1);
  t.deepEqual((await desk.get(`/unibox/drafts/${old.id}`)).body.attachments, []);
  t.deepEqual((await desk.get(`/unibox/drafts/${young.id}`)).body.attachments, young.attachments);
  t.is(await blobs(), 4);
});

test.serial('no field of an email adds a line to its head or a part to its body', async (t) => {
  const desk = await createWritingDesk(stage);
  const line = '\r\nBcc: victim@else.test\r\nX-Added: yes\r\n\r\n<b>Body</b>';
  const compose = (fields: object) =>
    desk.post('/unibox/compose', {
      email_account_id: desk.mailboxId,
      to: ['lea@else.test'],
      subject: `Hello${line}`,
      body_plain: 'Text',
      ...fields,
    });
  const file = { filename: 'a.txt', content_type: 'text/plain', content: base64('x') };
  for (const fields of [
    { to: [`lea@else.test${line}`] },
    { cc: [`lea@else.test${line}`] },
    { attachments: [{ ...file, filename: `a.txt${line}` }] },
    { attachments: [{ ...file, content_type: `text/plain${line}` }] },
    { attachments: [{ ...file, content_type: 'text/plain; charset=x' }] },
  ])
    t.is((await compose(fields)).status, 400, JSON.stringify(fields));
  const taken = desk.smtp.taken.length;
  const sent = await compose({
    attachments: [
      { ...file, filename: 'a"; name="b.html' },
      { ...file, filename: 'Ünï=?x?=.txt' },
    ],
  });
  assertStatus(t, sent, 200);
  t.is(await desk.finish(sent.body.task_id), 'sent');
  const mail = desk.smtp.taken[taken]!;
  t.deepEqual(mail.to, ['lea@else.test']);
  const parsed = await simpleParser(mail.raw);
  t.is(parsed.bcc, undefined);
  t.false(parsed.headers.has('x-added'));
  t.is(parsed.text?.trim(), 'Text');
  t.deepEqual(
    parsed.attachments.map(({ filename, contentType }) => [filename, contentType]),
    [
      ['a"; name="b.html', 'text/plain'],
      ['Ünï=?x?=.txt', 'text/plain'],
    ],
  );
});
