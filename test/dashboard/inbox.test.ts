import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import type { Page } from 'playwright-core';
import { startRealtime } from '../../api/servers/realtime.ts';
import { startSync, type Sync } from '../../workers/sync.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { freePort } from '../../local/servers.ts';
import { browserTests, findChromium } from '../harness/browser.ts';
import { createDashboardWorld, type DashboardWorld } from '../harness/dashboard.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { createCampaign, createMailbox, type Tenant } from '../harness/factories.ts';
import { replyTo } from '../harness/inbound.ts';
import { startMailWorld, type MailWorld, type MailWorldMailbox } from '../harness/mail.ts';
import { createSentLead, type SentLead } from '../harness/standing-leads.ts';
import { call } from '../harness/world.ts';
import { htmlFrom } from '../screenshots/inbox.ts';

/** All tests of this file share one stack: dashboard, event stream, workflows, IMAP watch and mail servers. */
const browserTest = browserTests(test);
const OURS = 'sam@ours.test';
/** The smallest possible image. */
const PICTURE = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAA=', 'base64');
let world: DashboardWorld;
let gateway: Awaited<ReturnType<typeof startRealtime>>;
let mail: MailWorld;
let engine: Engine;
let sync: Sync;
let tenant: Tenant;
let box: MailWorldMailbox;
let mailboxId: string;
let campaign: { campaignId: string; stepIds: string[] };

test.before(async () => {
  if (!findChromium()) return;
  const port = await freePort();
  [world, mail] = await Promise.all([
    createDashboardWorld({ env: { IMAP_POLL_MS: '300', REALTIME_PUBLIC_URL: `http://127.0.0.1:${port}` } }),
    startMailWorld(),
  ]);
  gateway = await startRealtime(world.deps, createMetrics(), { port });
  engine = await startEngine(world);
  tenant = await world.tenant('Northwind');
  box = await mail.addMailbox({ email: OURS, password: 'secret' });
  mailboxId = await createMailbox(world.deps, tenant.organizationId, OURS, { smtp: box.smtp, imap: box.imap });
  campaign = await createCampaign(
    world.deps,
    tenant.organizationId,
    [{ name: 'Hello', subject: 'Hello', body_plain: 'Hi {{.FirstName}}' }],
    { name: 'Lights for shops' },
  );
  sync = await startSync(world.deps, { leaseMs: 5_000, sweepMs: 100, retryMs: 100 });
});
test.after.always(async () => {
  await sync?.stop();
  await engine?.stop();
  await gateway?.close();
  await mail?.stop();
  await world?.close();
});

/** Creates a recipient of the campaign's first email who can answer it. */
const mailed = (name: string): Promise<SentLead> =>
  createSentLead(world.deps, tenant.organizationId, {
    campaignId: campaign.campaignId,
    stepId: campaign.stepIds[0]!,
    mailbox: { id: mailboxId, email: OURS },
    email: `${name.toLowerCase()}@lead.test`,
    contact: { first_name: name },
  });
const rowOf = (page: Page, name: string) =>
  page
    .getByRole('list', { name: /Inbox|Snoozed/ })
    .getByRole('button')
    .filter({ hasText: `${name.toLowerCase()}@lead.test` });
const api = async (method: string, path: string, body?: unknown) => {
  const answer = await call(world, method, `/v1${path}`, { token: tenant.sessionToken, body });
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.body;
};

browserTest('a reply arrives by IMAP, is answered by keyboard from a template, and the answer leaves', async (t) => {
  await api('POST', '/templates', { name: 'Thanks', subject: '', body_plain: 'Thank you, {{.FirstName}}!' });
  const { page, context, faults } = await world.open(tenant, '/inbox', { viewport: { width: 1500, height: 900 } });
  await page.getByRole('heading', { name: 'Nothing to answer' }).waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  const ada = await mailed('Ada');
  box.deliver(replyTo(ada.original, 'Sounds great, let us talk on Monday!'));
  // Without a reload, the event updates the list and the unread count beside the navigation link.
  await rowOf(page, 'Ada').waitFor();
  await page.getByLabel('one unread message').waitFor();
  await page.keyboard.press('j');
  await page.getByRole('region', { name: 'Conversation' }).getByText('Sounds great, let us talk on Monday!').waitFor();
  await page
    .getByRole('complementary', { name: 'About the sender' })
    .getByRole('link', { name: 'Lights for shops' })
    .waitFor();
  await page.getByLabel('one unread message').waitFor({ state: 'detached' });
  await page.keyboard.press('r');
  await page.getByRole('textbox', { name: 'Reply to ada@lead.test' }).waitFor();
  await page.getByRole('button', { name: 'Insert a template' }).click();
  await page.getByRole('menuitem', { name: 'Thanks' }).click();
  const field = page.getByRole('textbox', { name: 'Reply to ada@lead.test' });
  await eventually(async () => (await field.inputValue()) === 'Thank you, Ada!');
  // The text is saved while it is typed.
  await eventually(async () => (await api('GET', '/unibox/drafts')).data.length === 1);
  await page.reload();
  await page.getByRole('button', { name: 'Continue draft' }).waitFor();
  await page.keyboard.press('r');
  await field.press('End');
  // Another person changes the same draft in the meantime: both texts are shown, and the person decides.
  const [draft] = (await api('GET', '/unibox/drafts')).data;
  await api('PUT', `/unibox/drafts/${draft.id}`, { thread_id: draft.thread_id, body_plain: 'Ask us anything.' });
  await field.pressSequentially(' Sam');
  await page.getByRole('alert').getByText('Ask us anything.').waitFor();
  t.is(await field.inputValue(), 'Thank you, Ada! Sam');
  t.is((await api('GET', '/unibox/drafts')).data[0].body_plain, 'Ask us anything.');
  await page.getByRole('button', { name: 'Keep mine and overwrite' }).click();
  await field.press('Control+Enter');
  const sent = await mail.waitFor(({ envelope }) => envelope.to.includes('ada@lead.test'), 60_000);
  const { text, inReplyTo } = await sent.parsed();
  t.regex(text!, /Thank you, Ada! Sam/);
  t.truthy(inReplyTo);
  await page.getByRole('region', { name: 'Conversation' }).getByText('Thank you, Ada! Sam').first().waitFor();
  await eventually(async () => (await api('GET', '/unibox/drafts')).data.length === 0);
  // The contact's page in the campaign shows the same reason for stopping.
  await page
    .getByRole('complementary', { name: 'About the sender' })
    .getByRole('link', { name: 'Lights for shops' })
    .click();
  await page.getByRole('heading', { name: 'Ada', level: 1 }).waitFor();
  const story = page.getByRole('list', { name: 'History' }).getByRole('listitem');
  await story
    .filter({ hasText: 'Reply from ada@lead.test' })
    .getByText('Sounds great, let us talk on Monday!')
    .waitFor();
  await story.filter({ hasText: 'Ended: Replied' }).waitFor();
  await story.filter({ hasText: 'Reply from' }).getByRole('link', { name: 'Open in inbox' }).click();
  await page.getByRole('region', { name: 'Conversation' }).getByText('Thank you, Ada! Sam').first().waitFor();
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('everybody who got a message is answered, as far as the person leaves them in', async (t) => {
  const nora = await mailed('Nora');
  box.deliver(
    replyTo(nora.original, 'My colleagues read along.', {
      headers: ['Cc: bob@lead.test, eve@lead.test', 'Reply-To: desk@lead.test'],
    }),
  );
  const { page, faults } = await world.open(tenant, '/inbox', { viewport: { width: 1500, height: 900 } });
  await rowOf(page, 'Nora').click();
  const thread = page.getByRole('region', { name: 'Conversation' });
  await thread.getByText('Cc bob@lead.test, eve@lead.test').waitFor();
  await thread.getByText('Reply-To desk@lead.test').waitFor();
  await page.getByRole('button', { name: 'Reply all' }).click();
  const field = page.getByRole('textbox', { name: 'Reply to desk@lead.test' });
  await field.fill('Thanks to all of you.');
  const cc = page.getByRole('combobox', { name: 'Cc' });
  await cc.press('Backspace');
  await field.press('Control+Enter');
  const sent = await mail.waitFor(({ envelope }) => envelope.to.includes('desk@lead.test'), 60_000);
  t.deepEqual([...sent.envelope.to].sort(), ['bob@lead.test', 'desk@lead.test']);
  t.deepEqual(faults, []);
});

browserTest('hostile HTML does nothing: no script, no request, no name of another page', async (t) => {
  const eve = await mailed('Eve');
  const fetched: string[] = [];
  const pictures = createServer((request, response) => {
    fetched.push(request.url!);
    response.end(PICTURE);
  }).listen(0, '127.0.0.1');
  await once(pictures, 'listening');
  t.teardown(() => pictures.close());
  const picture = `http://127.0.0.1:${(pictures.address() as AddressInfo).port}/shop.gif`;
  box.deliver(
    htmlFrom(
      eve.original,
      `<p>Look <a href="https://evil.test/x" onclick="top.document.title='owned'">here</a></p>
       <img src="${picture}" alt="Our shop"><img width="1" height="1" src="https://evil.test/pixel.gif" onerror="top.document.title='owned'"><script>top.document.title='owned'</script>
       <iframe src="https://evil.test/f"></iframe><style>@import "https://evil.test/c.css"</style>
       <form action="https://evil.test/p"><input name=password></form><svg onload="top.document.title='owned'"></svg>`,
    ),
  );
  const { page, context, faults } = await world.open(tenant, '/inbox');
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('evil.test')) asked.push(request.url());
  });
  await rowOf(page, 'Eve').click();
  const frame = page.locator('iframe[title="Message text"]');
  await frame.waitFor();
  const sandbox = (await frame.getAttribute('sandbox')) ?? '';
  t.false(/allow-scripts|allow-same-origin|allow-forms|allow-top-navigation/.test(sandbox), sandbox);
  const body = page.frameLocator('iframe[title="Message text"]');
  await body.getByRole('link', { name: 'here' }).waitFor();
  t.is(await body.getByRole('link', { name: 'here' }).getAttribute('target'), '_blank');
  for (const tag of ['script', 'img', 'iframe', 'form', 'input', 'svg']) t.is(await body.locator(tag).count(), 0, tag);
  await body.getByText('[Our shop]').waitFor();
  await page.waitForLoadState('networkidle');
  t.deepEqual(fetched, [], 'no image is loaded before it is asked for');
  await page.getByRole('button', { name: 'Show images' }).click();
  t.regex((await body.getByRole('img', { name: 'Our shop' }).getAttribute('src'))!, /^data:image\/gif;base64,/);
  t.deepEqual(fetched, ['/shop.gif']);
  t.regex(await page.title(), /Inbox · Heron$/);
  t.deepEqual([...asked, ...faults], []);
  await context.close();
});

browserTest('a conversation is archived and snoozed by keyboard, and undo brings it back', async (t) => {
  const [kim, lou] = [await mailed('Kim'), await mailed('Lou')];
  const { page, context, faults } = await world.open(tenant, '/inbox');
  box.deliver(replyTo(kim.original, 'Not now.'));
  await rowOf(page, 'Kim').waitFor();
  box.deliver(replyTo(lou.original, 'Yes!'));
  await rowOf(page, 'Lou').waitFor();
  await rowOf(page, 'Lou').click();
  await page.getByRole('region', { name: 'Conversation' }).getByText('Yes!').waitFor();
  await page.keyboard.press('e');
  // Undo is offered as long as the pointer is on the notification.
  await page.getByText('Archived', { exact: true }).hover();
  await rowOf(page, 'Lou').waitFor({ state: 'detached' });
  // The next conversation of the list is opened.
  await page.getByRole('region', { name: 'Conversation' }).getByText('Not now.').waitFor();
  const archived = async () => (await api('GET', '/unibox?folder=archive')).data.length as number;
  await eventually(async () => (await archived()) === 1);
  await page.keyboard.press('z');
  await rowOf(page, 'Lou').waitFor();
  await eventually(async () => (await archived()) === 0);
  await page.keyboard.press('s');
  await page.getByRole('menuitem', { name: 'Tomorrow morning' }).click();
  await rowOf(page, 'Kim').waitFor({ state: 'detached' });
  await eventually(async () => (await api('GET', '/unibox/snoozes')).data.length === 1);
  await page.getByRole('button', { name: 'Snoozed' }).click();
  await rowOf(page, 'Kim').click();
  await page.getByRole('button', { name: 'End snooze' }).click();
  await eventually(async () => (await api('GET', '/unibox/snoozes')).data.length === 0);
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Mark as unread').waitFor();
  t.deepEqual(faults, []);
  await context.close();
});

browserTest(
  'a doubtful opt-out is decided and a reading corrected by one key, and a named person is added',
  async (t) => {
    const [mia, ben] = [await mailed('Mia'), await mailed('Ben')];
    const { page, context, faults } = await world.open(tenant, '/inbox');
    box.deliver(replyTo(mia.original, 'We get a lot of these emails. What is it about?'));
    await rowOf(page, 'Mia').filter({ hasText: 'Possible opt-out' }).waitFor();
    await rowOf(page, 'Mia').click();
    const thread = page.getByRole('region', { name: 'Conversation' });
    await thread.getByRole('note').getByText('No email is sent to its address until you decide.').waitFor();
    await page.keyboard.press('6');
    await thread.getByRole('note').waitFor({ state: 'detached' });
    await thread.getByRole('button', { name: 'Opt-out', exact: true }).waitFor();
    await eventually(async () =>
      (await api('GET', '/suppressions')).data.some((one: { email: string }) => one.email === mia.email),
    );
    await page.keyboard.press('4');
    await thread.getByRole('button', { name: 'Question', exact: true }).waitFor();
    t.deepEqual((await api('GET', '/suppressions')).data, [], 'it was none');
    // A correction can itself be undone.
    await page.getByText('Classified as: Question').waitFor();
    await page.keyboard.press('z');
    await thread.getByRole('button', { name: 'Opt-out', exact: true }).waitFor();
    await page.keyboard.press('4');
    await thread.getByRole('button', { name: 'Question', exact: true }).waitFor();
    const log = await world.deps.db('audit_logs').where({ entity_type: 'inbound_message', action: 'update' });
    t.true(log.length >= 4, 'every correction, and the one that was undone');

    box.deliver(replyTo(ben.original, 'Please write to our buyer Maria Lopez, maria@firm.test, she decides this.'));
    await rowOf(page, 'Ben').click();
    await thread.locator('u').first().waitFor(); // a word that decided the classification
    await thread.getByRole('button', { name: 'Add Maria Lopez as a contact' }).click();
    await eventually(async () => (await api('GET', '/contacts?q=maria@firm.test')).data.length === 1);
    t.deepEqual(faults, []);
    await context.close();
  },
);
