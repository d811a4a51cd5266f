import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { announceClicks } from '../../../domain/campaigns/tracking/announce-clicks.ts';
import { trackingToken } from '../../../domain/mail/messages/tracking-token.ts';
import { clickUrl, openPixelUrl, unsubscribeUrl } from '../../../domain/mail/messages/tracking-urls.ts';
import { assertBothLanguages } from '../../../test/harness/both-languages.ts';
import { writeCountries } from '../../../test/harness/mmdb.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import type { Deps } from '../../../domain/platform/kernel/context.ts';
import { newId } from '../../../lib/ids.ts';
import { createMetrics } from '../../../lib/metrics.ts';
import { createCampaign, createContact, createMailbox, enroll, type Tenant } from '../../../test/harness/factories.ts';
import { createTrackingProcess, type TrackingProcess } from '../../../test/harness/tracking-login.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { listenHttp, type Listening } from '../../../lib/listen.ts';
import { startTracking } from '../../servers/tracking.ts';
import { createClickRecorder } from '../../../domain/campaigns/tracking/clicks.ts';
import { createOpenRecorder } from '../../../domain/campaigns/tracking/opens.ts';
import { createTrackingApp } from './app.ts';
import { eventually } from '../../../test/harness/eventually.ts';

const NOON = new Date('2026-03-02T12:00:00Z');
const BROWSER =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
const GMAIL_PROXY = 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)';

const INSTANCE = newId();
const clock = new ManualClock(NOON);
let world: World;
let visited: TrackingProcess;
let tracking: Listening;
test.before(async () => {
  world = await createWorld({ clock });
  visited = await createTrackingProcess(world);
  // Starts the app without startTracking and its timer, because these tests announce clicks themselves.
  tracking = await listenHttp(appOf(visited.deps).callback(), '127.0.0.1', 0);
});
test.after.always(async () => {
  await tracking?.close();
  await visited?.close();
  await world?.close();
});

interface Mail {
  tenant: Tenant;
  campaignId: string;
  contactId: string;
  enrollmentId: string;
  sendId: string;
  recipient: string;
  links: { id: string; url: string; label: string }[];
}

/** Creates a sent email with two tracked links. */
async function sentMail(fields: Record<string, unknown> = {}): Promise<Mail> {
  const tenant = await world.tenant('Acme <Labs>');
  const { organizationId } = tenant;
  const recipient = `ada-${randomBytes(4).toString('hex')}@example.org`;
  const { campaignId, stepIds } = await createCampaign(world.deps, organizationId, [
    { subject: 'Hi', body_plain: 'Hello' },
  ]);
  const contactId = await createContact(world.deps.db, clock.now(), organizationId, { email: recipient });
  const [enrollmentId] = await enroll(world.deps, organizationId, campaignId, [contactId]);
  const sendId = newId();
  await world.deps.db('sends').insert({
    id: sendId,
    organization_id: organizationId,
    campaign_id: campaignId,
    enrollment_id: enrollmentId,
    step_id: stepIds[0],
    contact_id: contactId,
    state: 'sent',
    recipient,
    message_id: `<${sendId}@example.com>`,
    slot_at: NOON,
    slot_day: '2026-03-02',
    sent_at: new Date(clock.now().getTime() - 3600_000),
    created_at: NOON,
    updated_at: NOON,
    ...fields,
  });
  const links = ['https://shop.example.com/a?x=1&y=%20#part', 'https://shop.example.com/b'].map((url, index) => ({
    id: newId(),
    url,
    label: `Link ${index}`,
  }));
  await world.deps.db('tracked_links').insert(
    links.map((link, index) => ({
      ...link,
      organization_id: organizationId,
      send_id: sendId,
      campaign_id: campaignId,
      step_id: stepIds[0],
      contact_id: contactId,
      position: index + 1,
      created_at: NOON,
    })),
  );
  return { tenant, campaignId, contactId, enrollmentId: enrollmentId!, sendId, recipient, links };
}

/** Creates the tracking service with other dependencies. */
const appOf = (deps: Deps) =>
  createTrackingApp(deps, createMetrics(), {
    instance: INSTANCE,
    opens: createOpenRecorder(deps),
    clicks: createClickRecorder(deps),
  });
const secret = () => world.deps.keyring.tracking.current;
const pixelOf = (mail: Mail) => openPixelUrl(tracking.url, trackingToken(secret(), 'open', mail.sendId));
const optOutOf = (mail: Mail) => unsubscribeUrl(tracking.url, trackingToken(secret(), 'unsubscribe', mail.sendId));
const visit = (url: string, options: RequestInit = {}, userAgent = BROWSER) =>
  fetch(url, {
    redirect: 'manual',
    ...options,
    headers: { 'user-agent': userAgent, ...(options.headers as Record<string, string>) },
  });
const sendRow = (mail: Mail) => world.deps.db('sends').where({ id: mail.sendId }).first();
const hits = (mail: Mail) => world.deps.db('engagement_events').where({ send_id: mail.sendId }).orderBy('id');
const events = (mail: Mail, type: string) =>
  world.deps
    .db('domain_events')
    .where({ organization_id: mail.tenant.organizationId, type })
    .orderBy('id')
    .pluck('data');
const announce = () => {
  clock.advance(2_500);
  return announceClicks(visited.deps, 'test');
};

/** Returns the redirect target of a link requested under another name of this server. */
async function locationAt(path: string, headers: Record<string, string>): Promise<string | undefined> {
  const request = get(tracking.url + path, { headers: { 'user-agent': BROWSER, ...headers } });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.headers.location;
}

test.serial('on the tracking domain of a workspace no link of another one leads anywhere', async (t) => {
  const [mine, theirs] = [await sentMail(), await sentMail()];
  const domain = `track-${newId()}.example.com`;
  await world.deps
    .db('tracking_domains')
    .insert({ domain, organization_id: mine.tenant.organizationId, created_at: NOON });
  const path = (mail: Mail) => `/c/${mail.links[0]!.id}`;
  for (const host of [domain, `${domain.toUpperCase()}.:443`]) {
    t.is(await locationAt(path(mine), { host }), mine.links[0]!.url, host);
    t.is(await locationAt(path(theirs), { host }), undefined, host);
    t.is(await locationAt(path(theirs), { 'x-forwarded-host': `${host}, proxy.internal` }), undefined, host);
  }
  t.is(await locationAt(path(theirs), { host: 'another.example.com' }), theirs.links[0]!.url);
  await announce();
});

test.serial('a person who reads a mail is one open, with its client, and an event', async (t) => {
  const mail = await sentMail();
  const answer = await visit(pixelOf(mail), {}, GMAIL_PROXY);
  t.is(answer.status, 200);
  t.is(answer.headers.get('content-type'), 'image/gif');
  t.is(answer.headers.get('cache-control'), 'no-store, private');
  t.is(
    Buffer.from(await answer.arrayBuffer())
      .subarray(0, 6)
      .toString(),
    'GIF89a',
  );
  const first = (await sendRow(mail)).opened_at;
  t.truthy(first);
  clock.advance(60_000);
  await visit(pixelOf(mail), {}, GMAIL_PROXY);
  t.deepEqual((await sendRow(mail)).opened_at, first, 'the first open counts');
  const rows = await hits(mail);
  t.deepEqual(
    rows.map((row) => [row.type, row.machine, row.client, row.contact_id]),
    [
      ['open', false, 'Gmail', mail.contactId],
      ['open', false, 'Gmail', mail.contactId],
    ],
  );
  t.false(
    Object.values(rows[0]).some((value) => /127\.0\.0\.1|::1/.test(String(value))),
    'no address is kept',
  );
  const [event] = await events(mail, 'campaign.email_opened');
  t.like(event, {
    campaign_id: mail.campaignId,
    contact_id: mail.contactId,
    contact_email: mail.recipient,
    task_id: mail.sendId,
  });
});

test.serial('opens of machines are rows with their reason, and nothing else', async (t) => {
  const mail = await sentMail();
  await visit(pixelOf(mail), {}, 'Mozilla/5.0');
  await visit(pixelOf(mail), { method: 'HEAD' });
  await visit(pixelOf(mail), { headers: { purpose: 'prefetch' } });
  const fresh = await sentMail({ sent_at: clock.now() });
  await visit(pixelOf(fresh), {}, GMAIL_PROXY);
  const early = await sentMail({ sent_at: null, state: 'sending' });
  await visit(pixelOf(early));
  t.deepEqual(
    (await hits(mail)).map((row) => row.machine_reason),
    ['prefetch', 'burst', 'prefetch'],
  );
  t.deepEqual(
    (await hits(fresh)).map((row) => row.machine_reason),
    ['instant'],
  );
  t.deepEqual(
    (await hits(early)).map((row) => row.machine_reason),
    ['instant'],
  );
  for (const one of [mail, fresh, early]) {
    t.like(await sendRow(one), { opened_at: null });
    t.truthy((await sendRow(one)).machine_opened_at);
    t.deepEqual(await events(one, 'campaign.email_opened'), []);
  }
});

test.serial('a foreign or changed pixel is a picture all the same, and leaves no trace', async (t) => {
  const mail = await sentMail();
  const unknown = trackingToken(secret(), 'open', newId());
  const wrongPurpose = trackingToken(secret(), 'unsubscribe', mail.sendId);
  for (const token of [unknown, wrongPurpose, mail.sendId, 'x'.repeat(3000)]) {
    const answer = await visit(openPixelUrl(tracking.url, token));
    t.is(answer.status, 200);
    t.is(answer.headers.get('content-type'), 'image/gif');
  }
  t.deepEqual(await hits(mail), []);
});

test.serial('a click goes to the stored address and is announced once it is no burst', async (t) => {
  const mail = await sentMail();
  const [link] = mail.links;
  const answer = await visit(`${clickUrl(tracking.url, link!.id)}?url=https://evil.example.com&to=//evil.example.com`);
  t.is(answer.status, 302);
  t.is(answer.headers.get('location'), link!.url, 'nothing of the request decides where it goes');
  t.is(await announceClicks(visited.deps, 'test'), 0, 'not yet');
  t.is((await sendRow(mail)).clicked_at, null);
  t.is(await announce(), 1);
  t.is(await announce(), 0, 'once');
  const send = await sendRow(mail);
  t.truthy(send.clicked_at);
  t.is(send.opened_at, null, 'a click is no open');
  const [event] = await events(mail, 'campaign.email_clicked');
  t.like(event, {
    url: link!.url,
    link_label: 'Link 0',
    campaign_id: mail.campaignId,
    contact_id: mail.contactId,
    client: 'Chrome',
    device_type: 'desktop',
  });
});

test.serial('a link leads on with what a mail program took along from the text behind it', async (t) => {
  const mail = await sentMail();
  const { id, url } = mail.links[0]!;
  for (const behind of [
    ')',
    '.',
    '>',
    '](new)',
    '。お願い',
    '%E3%80%82',
    '%',
    '/',
    ')/next',
    '_',
    '-',
    ',%20and',
    '?utm_source=x',
  ])
    t.is((await visit(`${tracking.url}/c/${id}${behind}`)).headers.get('location'), url, behind);
  t.is((await visit(`${tracking.url}/c/${id.slice(0, -1)}.`)).status, 404);
  for (const behind of [')', '.', '_', '/', '。'])
    t.is((await visit(`${optOutOf(mail)}${behind}`, { method: 'POST' })).status, 200, behind);
  t.like(await world.deps.db('contacts').where({ id: mail.contactId }).first(), { subscribed: false });
  await announce();
});

test.serial('several links in one moment are a burst: no click of a person, whichever came first', async (t) => {
  const mail = await sentMail();
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(mail.links.map((link) => visit(clickUrl(tracking.url, link.id))));
    t.is(await announce(), 0);
  }
  t.deepEqual(
    (await hits(mail)).map((row) => [row.machine, row.machine_reason]),
    Array.from({ length: 10 }, () => [true, 'burst']),
  );
  t.like(await sendRow(mail), { clicked_at: null });
  t.truthy((await sendRow(mail)).machine_clicked_at);
  t.deepEqual(await events(mail, 'campaign.email_clicked'), []);
  // The reader clicks a link later.
  await visit(clickUrl(tracking.url, mail.links[1]!.id));
  t.is(await announce(), 1);
});

test.serial('one link twice, and two links one after the other, are a person', async (t) => {
  const mail = await sentMail();
  const [first, second] = mail.links;
  await visit(clickUrl(tracking.url, first!.id));
  await visit(clickUrl(tracking.url, first!.id));
  t.is(await announce(), 2);
  await visit(clickUrl(tracking.url, second!.id));
  t.is(await announce(), 1);
  t.deepEqual(
    (await hits(mail)).map((row) => row.machine),
    [false, false, false],
  );
});

test.serial('link scanners get their redirect and count as machines', async (t) => {
  const mail = await sentMail();
  const fresh = await sentMail({ sent_at: clock.now() });
  const url = clickUrl(tracking.url, mail.links[0]!.id);
  t.is((await visit(url, { method: 'HEAD' })).status, 302);
  t.is((await visit(url, {}, 'curl/8.5.0')).headers.get('location'), mail.links[0]!.url);
  await visit(clickUrl(tracking.url, fresh.links[0]!.id));
  t.is(await announce(), 0);
  t.deepEqual(
    (await hits(mail)).map((row) => row.machine_reason),
    ['burst', 'prefetch'],
  );
  t.deepEqual(
    (await hits(fresh)).map((row) => row.machine_reason),
    ['instant'],
  );
});

test.serial('links keep working after the campaign, the contact and even the send are gone', async (t) => {
  const mail = await sentMail();
  await world.deps.db('campaigns').where({ id: mail.campaignId }).delete();
  await world.deps.db('contacts').where({ id: mail.contactId }).delete();
  const url = clickUrl(tracking.url, mail.links[1]!.id);
  t.is((await visit(url)).headers.get('location'), mail.links[1]!.url);
  t.is(await announce(), 1);
  t.deepEqual(await events(mail, 'campaign.email_clicked'), [], 'there is no campaign left to tell of');
  await world.deps.db('sends').where({ id: mail.sendId }).delete();
  t.is((await visit(url)).headers.get('location'), mail.links[1]!.url);
  t.is(await announce(), 1);
});

test.serial('an unknown ticket is a page, and a stored address that is no web address leads nowhere', async (t) => {
  const mail = await sentMail();
  await world.deps.db('tracked_links').where({ id: mail.links[0]!.id }).update({ url: 'javascript:alert(1)' });
  for (const id of [newId(), 'nonsense', mail.links[0]!.id]) {
    const answer = await visit(clickUrl(tracking.url, id));
    t.is(answer.status, 404);
    t.is(answer.headers.get('location'), null);
    t.regex(await answer.text(), /This link does not work/);
  }
});

test.serial('opening the unsubscribe page changes nothing; its button does', async (t) => {
  const mail = await sentMail();
  const page = await visit(optOutOf(mail));
  t.is(page.status, 200);
  const html = await page.text();
  t.regex(html, /Acme &lt;Labs&gt;/);
  t.false(html.includes(mail.recipient), 'a forwarded mail does not tell the whole address');
  t.regex(page.headers.get('content-security-policy')!, /frame-ancestors 'none'/);
  t.is((await visit(optOutOf(mail), { method: 'HEAD' })).status, 200);
  t.like(await sendRow(mail), { unsubscribed_at: null });

  const done = await visit(optOutOf(mail), { method: 'POST', body: new URLSearchParams({ confirm: 'yes' }) });
  t.is(done.status, 200);
  t.regex(await done.text(), /You are unsubscribed/);
  t.like(await world.deps.db('contacts').where({ id: mail.contactId }).first(), { subscribed: false });
  t.is((await world.deps.db('enrollments').where({ id: mail.enrollmentId }).first()).state, 'unsubscribed');
  t.like((await events(mail, 'campaign.unsubscribed'))[0], { source: 'link', contact_id: mail.contactId });
  t.regex(await (await visit(optOutOf(mail))).text(), /You are unsubscribed/, 'the page now says so at once');
});

test.serial('parameters that a mail gateway adds change no tracking link', async (t) => {
  const mail = await sentMail();
  const added = '?gateway=1&gateway=2';
  t.is((await visit(`${pixelOf(mail)}${added}`, {}, GMAIL_PROXY)).headers.get('content-type'), 'image/gif');
  t.truthy((await sendRow(mail)).opened_at);
  t.is((await visit(`${optOutOf(mail)}${added}`)).status, 200);
  const done = await visit(`${optOutOf(mail)}${added}`, {
    method: 'POST',
    body: new URLSearchParams({ confirm: 'yes' }),
  });
  t.is(done.status, 200);
  t.like(await world.deps.db('contacts').where({ id: mail.contactId }).first(), { subscribed: false });
});

test.serial('recipients read the pages in the language of their browser', async (t) => {
  const mail = await sentMail();
  const page = (url: string) =>
    assertBothLanguages(t, async (language) => {
      const answer = await visit(url, { headers: { 'accept-language': language } });
      return { text: await answer.text(), headers: answer.headers };
    });
  for (const path of ['/u/made-up', '/c/made-up', '/nowhere']) await page(`${tracking.url}${path}`);
  await page(optOutOf(mail));
  await visit(optOutOf(mail), { method: 'POST', body: new URLSearchParams({ confirm: 'yes' }) });
  await page(optOutOf(mail));
});

test.serial(
  'one click of a mail program unsubscribes, in both form encodings, and a replay changes nothing',
  async (t) => {
    const form = new FormData();
    form.set('List-Unsubscribe', 'One-Click');
    for (const body of [new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }), form]) {
      const mail = await sentMail();
      for (let n = 0; n < 3; n += 1)
        t.is((await visit(optOutOf(mail), { method: 'POST', body }, 'Google-Mail')).status, 200);
      t.like(await world.deps.db('contacts').where({ id: mail.contactId }).first(), { subscribed: false });
      t.deepEqual(
        (await events(mail, 'campaign.unsubscribed')).map((event) => event.source),
        ['one_click'],
      );
      t.deepEqual(
        (await hits(mail)).map((row) => [row.type, row.source]),
        [['unsubscribe', 'one_click']],
      );
      t.is(
        (
          await world.deps
            .db('suppressions')
            .where({ organization_id: mail.tenant.organizationId, email: mail.recipient })
        ).length,
        1,
      );
    }
  },
);

test.serial('an opt-out with an unreadable form is still an opt-out', async (t) => {
  for (const body of ['', 'x'.repeat(20_000), '--broken', `--other\r\n${'\r\n--'.repeat(5_000_000)}`]) {
    const mail = await sentMail();
    const type = body.startsWith('--') ? 'multipart/form-data; boundary=other' : 'application/x-www-form-urlencoded';
    t.is((await visit(optOutOf(mail), { method: 'POST', body, headers: { 'content-type': type } })).status, 200);
    t.truthy((await sendRow(mail)).unsubscribed_at);
  }
});

test.serial('a token for another purpose unsubscribes no contact', async (t) => {
  const mail = await sentMail();
  for (const token of [
    trackingToken(secret(), 'open', mail.sendId),
    mail.sendId,
    trackingToken('another secret', 'unsubscribe', mail.sendId),
  ]) {
    t.is(
      (
        await visit(unsubscribeUrl(tracking.url, token), {
          method: 'POST',
          body: new URLSearchParams({ confirm: 'yes' }),
        })
      ).status,
      404,
    );
  }
  t.like(await sendRow(mail), { unsubscribed_at: null });
});

test.serial('hits beyond the limit are answered but not recorded', async (t) => {
  const mail = await sentMail();
  const answers = await Promise.all(Array.from({ length: 70 }, () => visit(pixelOf(mail))));
  t.true(answers.every((answer) => answer.status === 200));
  await eventually(async () => (await hits(mail))[0].times >= 60);
  t.deepEqual(
    (await hits(mail)).map(({ times }) => times),
    [60],
  );
});

test.serial('the service answers health checks, hides metrics from strangers, and knows nothing else', async (t) => {
  t.deepEqual(await (await visit(`${tracking.url}/health`)).json(), { status: 'ok', instance: INSTANCE });
  t.is((await visit(`${tracking.url}/metrics`)).status, 200);
  t.is((await visit(`${tracking.url}/metrics`, { headers: { 'x-forwarded-for': '203.0.113.9' } })).status, 404);
  t.is((await visit(`${tracking.url}/v1/contacts`)).status, 404);
});

test.serial('the running service announces clicks by itself', async (t) => {
  const service = await startTracking(visited.deps, createMetrics(), { port: 0 });
  try {
    const mail = await sentMail();
    await visit(clickUrl(service.url, mail.links[0]!.id));
    clock.advance(2_500);
    await eventually(async () => (await events(mail, 'campaign.email_clicked')).length > 0);
    t.truthy((await sendRow(mail)).clicked_at);
  } finally {
    await service.close();
  }
});

test.serial(
  'where people open and click is kept as a country, of their own address alone, and nothing more of it',
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'heron-countries-'));
    const file = join(folder, 'countries.mmdb');
    await writeCountries(file, { '127.0.0.0/8': 'DE', '203.0.113.0/24': 'FR' });
    const config = { ...world.deps.config, GEOIP_DATABASE: file, TRUSTED_PROXIES: ['127.0.0.1'] };
    const located = await listenHttp(appOf({ ...visited.deps, config }).callback(), '127.0.0.1', 0);
    const mail = await sentMail();
    const open = async (userAgent: string, address?: string) => {
      const url = openPixelUrl(`http://127.0.0.1:${located.port}`, trackingToken(secret(), 'open', mail.sendId));
      const headers = { 'user-agent': userAgent, ...(address ? { 'x-forwarded-for': address } : {}) };
      await (await fetch(url, { headers })).arrayBuffer();
    };
    try {
      await open(BROWSER);
      await open(BROWSER, '203.0.113.9');
      await open(BROWSER, '198.51.100.1');
      await open(`${BROWSER} Edg/126.0.0.0`, '2001:db8::1');
      await open(GMAIL_PROXY, '203.0.113.9');
      const rows = await world.deps.db('engagement_events').where({ send_id: mail.sendId }).orderBy('id');
      t.deepEqual(
        rows.map((row) => row.country_code),
        ['DE', 'FR', null, null, null],
      );
      t.notRegex(JSON.stringify(rows), /203\.0\.113|198\.51\.100|2001:db8/);
    } finally {
      await located.close();
      await writeFile(file, 'no database');
      const broken = { ...world.deps.config, GEOIP_DATABASE: file };
      t.throws(() => appOf({ ...visited.deps, config: broken }), {
        message: /GEOIP_DATABASE cannot be read/,
      });
      await rm(folder, { recursive: true });
    }
  },
);

test.serial(
  'a proxy may get a certificate for a name that a workspace uses and that leads here, and for no other',
  async (t) => {
    const asked: string[] = [];
    const home = new URL(world.deps.config.TRACKING_DOMAIN).hostname;
    const dns = {
      ...world.deps.dns,
      cname: async (host: string) => {
        asked.push(host);
        return host.startsWith('here') ? [`${home}.`] : host.startsWith('silent') ? null : ['elsewhere.example.net'];
      },
    };
    const served = await listenHttp(appOf({ ...visited.deps, dns }).callback(), '127.0.0.1', 0);
    t.teardown(() => served.close());
    const { organizationId } = await world.tenant();
    const name = (kind: string) => `${kind}-${randomBytes(4).toString('hex')}.example.com`;
    const [here, away, silent, verified, mailbox] = ['here', 'away', 'silent', 'verified', 'here-mailbox'].map(name);
    const named = (domain: string, isVerified = false) =>
      createCampaign(world.deps, organizationId, [], { tracking_domain: domain, tracking_domain_verified: isVerified });
    for (const domain of [here, away, silent]) await named(domain!);
    await named(verified!, true);
    await createMailbox(world.deps, organizationId, undefined, undefined, { tracking_domain: mailbox });
    const ask = async (query: string) => {
      const answer = await fetch(`${served.url}/tls/ask${query}`);
      return [answer.status, await answer.text()];
    };
    for (const domain of [here!, `${here!.toUpperCase()}.`, verified!, mailbox!])
      t.deepEqual(await ask(`?domain=${domain}`), [200, ''], domain);
    for (const domain of [away!, silent!, name('here'), home, '%00', 'localhost', ''])
      t.deepEqual(await ask(`?domain=${domain}`), [404, ''], domain);
    t.deepEqual(await ask(''), [404, '']);
    t.deepEqual(await ask(`?domain=${here}&domain=${here}`), [404, '']);
    t.deepEqual(
      [...new Set(asked)].sort(),
      [here!, mailbox!, away!, silent!].sort(),
      'DNS is asked about registered names only',
    );

    asked.length = 0;
    for (let n = 0; n < 20; n += 1) await ask(`?domain=${away}`);
    t.is(asked.length, 9, 'ten queries a minute, one of them above');
    const answers = await Promise.all(Array.from({ length: 600 }, () => ask(`?domain=${name('unknown')}`)));
    t.true(answers.some(([status]) => status === 429));
    t.true(answers.some(([status]) => status === 404));
  },
);
