import test from 'ava';
import { addMember, createMember } from '../../../test/harness/factories.ts';
import { approvalContent, createApproval, recordedSubject } from '../../../test/harness/approvals.ts';
import { browserTests, findChromium, launchBrowser, type TestBrowser } from '../../../test/harness/browser.ts';
import { assertBothLanguagesIn } from '../../../test/harness/both-languages.ts';
import { signInOn, tenantWithPassword } from '../../../test/harness/consent.ts';
import { startReceiver, type Receiver } from '../../../test/harness/receiver.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { orderContent } from '../../../domain/billing/mailbox-orders/content.ts';
import type { QuoteRow } from '../../../domain/billing/mailbox-orders/states.ts';
import { hashPassword } from '../../../lib/crypto.ts';
import { newId } from '../../../lib/ids.ts';
import { PASSWORD } from '../../../test/harness/people.ts';
import type { ApprovalRow } from '../../../domain/approvals/view.ts';
import { textsFor } from '../../pages/texts.ts';
import { contentView } from './content.ts';
import { emailPage } from './email.ts';
import { message } from '../../../messages/index.ts';

const en = textsFor('en');
const de = textsFor('de');
const eight = new Date('2026-03-02T08:00:00Z');
const AT_EIGHT = { en: en.moment(eight), de: de.moment(eight) };

const browserTest = browserTests(test);
const PHONE = { width: 360, height: 740 };

let world: World;
let chrome: TestBrowser;
/** Third-party server that must not receive any request. */
let elsewhere: Receiver;
test.before(async () => {
  world = await createWorld({ ownAddress: true, env: { AUTH_LOGIN_CODE: 'off' } });
  world.deps.families = [recordedSubject().family];
  elsewhere = await startReceiver();
  if (findChromium()) chrome = await launchBrowser();
});
test.after.always(async () => {
  await chrome?.close();
  await elsewhere?.stop();
  await world?.close();
});

const stateOf = async (id: string): Promise<string> => (await world.deps.db('approvals').where({ id }).first()).status;

browserTest(
  'the mailed link: sign in, see what would be sent, approve with a reason; on a phone, without a script',
  async (t) => {
    const tenant = await tenantWithPassword(world, 'Northwind');
    const content = approvalContent({
      title: message('action.launch', { name: 'Spring <b>' }),
      recipients: {
        count: 212,
        source: { kind: 'campaign', id: newId(), name: 'Spring' },
        fingerprint: 'f'.repeat(64),
      },
      schedule: { timezone: 'Europe/Budapest', days: 'Monday to Friday' },
      steps: [
        {
          name: 'hello',
          type: 'email',
          variants: [{ subject: 'Hi {{.FirstName}}', body_plain: 'Template text', body_html: '' }],
        },
        {
          name: 'follow-up',
          type: 'email',
          wait_after: 3,
          variants: [{ subject: '', body_plain: 'Again', body_html: '' }],
        },
      ],
      samples: [
        {
          to: 'ada@example.com',
          from: 'me@acme.example',
          subject: 'Hi Ada',
          text: 'Hello Ada in text',
          html: '<p style="color:#a00">Hello <b>Ada</b></p>',
        },
      ],
    });
    const preflight = {
      passed: true,
      score: 88,
      findings: [
        {
          check: 'sending_domains',
          severity: 'warning',
          code: 'finding.dmarc_missing',
          values: { domains: ['acme.example'] },
        },
      ],
    };
    const { id } = await createApproval(world.system(tenant.organizationId), tenant, { content, preflight });

    const { page } = await chrome.visit({ javaScriptEnabled: false, viewport: PHONE });
    await page.goto(`${world.url}/approvals/${id}`);
    t.is(await page.getByRole('heading', { level: 1 }).innerText(), 'Sign in');
    await signInOn(page, tenant.email);
    await page.getByRole('heading', { name: 'Launch "Spring <b>"' }).waitFor();
    const text = await page.getByRole('main').innerText();
    for (const words of [
      '212 people of Spring',
      'me@acme.example',
      'Europe/Budapest',
      'The credential has no policy',
      'score 88 of 100',
      'acme.example: no DMARC record',
      'Publish a TXT record',
      'Hi Ada',
      tenant.email,
    ])
      t.true(text.includes(words), words);
    t.regex(await page.frameLocator('iframe').locator('body').innerText(), /Hello Ada/);
    t.is(
      await page.frames()[1]!.evaluate(`getComputedStyle(document.querySelector('p')).color`),
      'rgb(170, 0, 0)',
      'with its own style',
    );
    await page.getByText('1. hello').click();
    await page.getByText('Template text').waitFor();
    t.true(
      await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'),
      'nothing is wider than the phone',
    );
    t.is(await stateOf(id), 'pending', 'looking at it decides nothing');
    const given = ['Europe/Budapest', 'Monday to Friday', 'acme.example', 'test', tenant.email];
    const written = ['1. hello', 'Hi {{.FirstName}}', 'Hi Ada', 'Me &lt;me@acme.example&gt;'];
    await assertBothLanguagesIn(t, world, page, [...given, ...written]);

    await page.getByLabel('Reason').fill('Good <list>');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Approved on').waitFor();
    t.regex(await page.getByRole('status').innerText(), /Good <list>/);
    t.is(await page.getByRole('button', { name: 'Approve' }).count(), 0);
    t.like(await world.deps.db('approvals').where({ id }).first(), {
      status: 'executed',
      decided_by: tenant.userId,
      reason: { code: 'words', values: { words: 'Good <list>' } },
    });
  },
);

test('a schedule says on which days and hours it sends, in words, and its moments as people read them', (t) => {
  const daily = { timezone: 'Europe/Berlin', start_time: '09:00', end_time: '17:30', schedule_windows: [] };
  const dates = { start_date: '2026-03-02T08:00:00.000Z', end_date: null };
  const morning = [{ start: 540, end: 720 }];
  const cases: [schedule: Record<string, unknown>, english: string[], german: string[]][] = [
    [
      { ...daily, ...dates, days: 0b0010111, daily_limit: 40 },
      ['sending hours', 'Monday–Wednesday 09:00–17:30', 'Friday 09:00–17:30', AT_EIGHT.en, '40'],
      ['Sendezeiten', 'Montag–Mittwoch 09:00–17:30', 'Freitag 09:00–17:30', AT_EIGHT.de, '40'],
    ],
    [
      {
        ...daily,
        days: 127,
        schedule_windows: [morning, [...morning, { start: 780, end: 1440 }], [], [], [], [], morning],
      },
      ['Monday 09:00–12:00, 13:00–24:00', 'Saturday–Sunday 09:00–12:00'],
      ['Montag 09:00–12:00, 13:00–24:00', 'Samstag–Sonntag 09:00–12:00'],
    ],
    [
      { ...daily, days: 127, start_time: '', end_time: '' },
      ['Monday–Sunday 00:00–24:00'],
      ['Montag–Sonntag 00:00–24:00'],
    ],
    [{ at: '2026-03-02T08:00:00.000Z' }, [AT_EIGHT.en], [AT_EIGHT.de]],
    [{ timezone: 'UTC', days: 'weekdays' }, ['weekdays'], ['weekdays']],
  ];
  for (const [schedule, english, german] of cases) {
    const row = { payload: approvalContent({ schedule }), preflight: null } as unknown as ApprovalRow;
    for (const [texts, expected] of [
      [en, english],
      [de, german],
    ] as const) {
      const { text } = contentView(texts, row, '/sample');
      for (const words of expected) t.true(text.includes(words), `${words}: ${text}`);
      t.notRegex(text, /T08:00|start time|windows|>127<|>23<|\b540\b/);
    }
  }
});

test('how emails offer to unsubscribe is said in words, and what is an empty list is left out', (t) => {
  const row = { payload: approvalContent({ details: { unsubscribe_mode: 'inherit', cc: [] } }), preflight: null };
  const shown = [en, de].map((texts) => contentView(texts, row as unknown as ApprovalRow, '/sample').text);
  t.true(shown[0]!.includes('as set for the workspace'), shown[0]);
  t.true(shown[1]!.includes('wie im Arbeitsbereich eingestellt'), shown[1]);
  for (const text of shown) t.false(/<dt>(cc|Kopie)<|<dd><\/dd>/.test(text), text);
});

test('a step that is no email says what it does, and its ways the steps that they lead to, as the page counts them', (t) => {
  const settings = {
    type: 'wait_for_event',
    wait_event_name: 'trial.started',
    timeout_minutes: 60,
    on_timeout: 'stop',
    links: [{ to: 2, when: [{ field: 'opened', operator: 'equals', value: true }] }, { to: null }],
  };
  const tag = { name: '', type: 'wait' as const, settings: { type: 'add_tag', links: [] } };
  const steps = [{ name: 'Trial', type: 'wait_for_event' as const, settings }, tag];
  const row = { payload: approvalContent({ steps }), preflight: null } as unknown as ApprovalRow;
  const [english, german] = [en, de].map((texts) => contentView(texts, row, '/sample').text) as [string, string];
  for (const words of ['wait for event', '2. add tag', 'to step 3 if: opened equals true', '<div>ends</div>', '>stop<'])
    t.true(english.includes(words), `${words}: ${english}`);
  for (const words of [
    'Auf ein Ereignis warten',
    '2. Schlagwort vergeben',
    'zu Schritt 3, wenn: ',
    '<div>endet</div>',
    '>aufhören<',
  ])
    t.true(german.includes(words), `${words}: ${german}`);
  for (const raw of ['wait_for_event', 'add_tag', 'timeout', 'Warten<'])
    t.false(german.includes(raw), `${raw}: ${german}`);
});

browserTest('an order of mailboxes: what is bought, for how much, and the addresses; it mails nobody', async (t) => {
  const tenant = await tenantWithPassword(world);
  const content = orderContent({
    id: newId(),
    provider: 'google',
    count: 2,
    currency: 'usd',
    total_monthly_cents: 700,
    total_due_today_cents: 1_900,
    warmup: true,
    domains: [{ domain: 'acme-mail.example', registration: true, price_cents: 1_200, mailboxes: 2 }],
    mailboxes: [{ email: 'ada@acme-mail.example' }, { email: 'bo@acme-mail.example' }],
    line_items: [
      {
        label: message('line.mailboxes', { provider: 'google' }),
        quantity: 2,
        unit_cents: 350,
        total_cents: 700,
        interval: 'month',
      },
    ],
  } as QuoteRow);
  const { id } = await createApproval(world.system(tenant.organizationId), tenant, { content });
  const { page } = await chrome.visit({ javaScriptEnabled: false, viewport: PHONE });
  await page.goto(`${world.url}/approvals/${id}`);
  await signInOn(page, tenant.email);
  await page.getByRole('heading', { name: 'Order 2 mailboxes for 7.00 USD a month' }).waitFor();
  const text = await page.getByRole('main').innerText();
  for (const words of [
    'acme-mail.example (new)',
    'bo@acme-mail.example',
    '2 × Mailboxes (google): 7.00 USD a month',
    '19.00 USD',
  ])
    t.true(text.includes(words), text);
  for (const words of ['Recipients', 'no mailbox', '{"']) t.false(text.includes(words), words);
  const given = ['google', 'ada@acme-mail.example', 'bo@acme-mail.example', '19.00 USD', 'test', tenant.email];
  await assertBothLanguagesIn(t, world, page, [...given, content.details!.quote_id as string]);
  t.true(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'));
});

browserTest('an email cannot run a script, load anything from elsewhere, or lead away', async (t) => {
  const tenant = await tenantWithPassword(world);
  const away = elsewhere.url;
  const body = `<script>top.location='${away}/script'; fetch('${away}/fetch')</script>
<meta http-equiv="refresh" content="0;url=${away}/refresh"><base href="${away}/base/"><link rel="stylesheet" href="${away}/style.css">
<link rel="preconnect" href="${away}"><img src="${away}/pixel.png" onerror="top.location='${away}/error'"><svg onload="fetch('${away}/svg')"></svg>
<div style="background:url(${away}/background.png)">Read me</div><style>@import url(${away}/import.css); @font-face{font-family:x;src:url(${away}/font)} p{font-family:x}</style>
<iframe src="${away}/frame"></iframe><object data="${away}/object"></object><video src="${away}/video" autoplay></video>
<me<meta>ta http-equiv="refresh" content="0;url=${away}/refresh"><li<link>nk rel="preconnect" href="${away}"><<base>base href="${away}/base/">
<form action="${away}/form"><button id="send">Send</button></form><p><a id="link" href="${away}/link">A link</a> <a id="top" target="_top" href="${away}/top">Another</a></p>`;
  const content = approvalContent({
    samples: [{ to: 'a@x.example', from: 'b@x.example', subject: 'Bad', text: '', html: body }],
  });
  const { id } = await createApproval(world.system(tenant.organizationId), tenant, { content });
  // Scripts are enabled in this browser, so the page itself must block them.
  const { page, context } = await chrome.visit();
  const address = `${world.url}/approvals/${id}`;
  await page.goto(address);
  await signInOn(page, tenant.email);
  const frame = page.frameLocator('iframe');
  await frame.getByText('Read me').waitFor();
  for (const name of ['#link', '#top', '#send']) {
    await page.reload();
    await frame.locator(name).click({ noWaitAfter: true });
  }
  await page.waitForTimeout(500);
  t.is(page.url(), address);

  // The page of the frame must also be safe when it is opened directly.
  const alone = await context.newPage();
  await alone.goto(`${address}/sample?n=0`);
  await alone.getByText('Read me').waitFor();
  await alone.waitForTimeout(300);
  t.is(await alone.locator('link, base, meta[http-equiv]').count(), 0, 'nor do the pieces around what was taken out');
  t.is(alone.url(), `${address}/sample?n=0`);
  t.deepEqual(
    elsewhere.requests.map(({ path }) => path),
    [],
  );
  t.is(await stateOf(id), 'pending');
});

test('an email of half a million spaces costs no more than its length', (t) => {
  t.is(typeof emailPage(`<${' '.repeat(499_999)}`).stream, 'string');
});

browserTest('deny; a decision that comes too late says so; other workspaces and other roles', async (t) => {
  const tenant = await tenantWithPassword(world, 'First');
  const second = await world.tenant('Second');
  await addMember(world.deps, second.organizationId, tenant.userId, 'Member');
  const { id } = await createApproval(world.system(second.organizationId), second);
  const { page, context } = await chrome.visit({ javaScriptEnabled: false });
  await page.goto(`${world.url}/approvals/${id}`);
  await signInOn(page, tenant.email);
  await page.getByRole('button', { name: 'Go to Second' }).click();
  await page.getByRole('heading', { name: 'Email "Hello Ada"' }).waitFor();
  const late = await context.newPage();
  await late.goto(`${world.url}/approvals/${id}`);
  await page.getByRole('button', { name: 'Deny' }).click();
  await page.getByText('Denied on').waitFor();
  await late.getByRole('button', { name: 'Approve' }).click();
  t.regex(await late.getByRole('alert').innerText(), /has been denied already/);
  t.is(await stateOf(id), 'denied');

  const foreign = await world.tenant();
  const stranger = await createApproval(world.system(foreign.organizationId), foreign);
  t.is((await page.goto(`${world.url}/approvals/${stranger.id}`))!.status(), 404);
  t.is((await page.goto(`${world.url}/approvals/${newId()}`))!.status(), 404);

  const viewer = await createMember(world.deps, tenant, 'Viewer');
  await world.deps
    .db('users')
    .where({ id: viewer.userId })
    .update({ password_hash: await hashPassword(PASSWORD) });
  const { email } = await world.deps.db('users').where({ id: viewer.userId }).first();
  const own = await createApproval(world.system(tenant.organizationId), tenant);
  const other = await chrome.visit({ javaScriptEnabled: false });
  await other.page.goto(`${world.url}/approvals/${own.id}`);
  await signInOn(other.page, email);
  t.regex(await other.page.getByRole('alert').innerText(), /whose role in First may send/);
});

test('a decision from elsewhere is refused', async (t) => {
  const tenant = await world.tenant();
  const { id } = await createApproval(world.system(tenant.organizationId), tenant);
  const forged = await call(world, 'POST', `/approvals/${id}`, {
    body: new URLSearchParams({ decision: 'approved', csrf: 'x' }),
    headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  });
  assertStatus(t, forged, 403);
  t.is(await stateOf(id), 'pending');
});
