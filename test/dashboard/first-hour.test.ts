import { once } from 'node:events';
import test from 'ava';
import type { Page } from 'playwright-core';
import { ensureDashboard } from '../../web/build.ts';
import { browserTests, launchBrowser } from '../harness/browser.ts';
import { watchFaults } from '../harness/dashboard.ts';
import { eventually } from '../harness/eventually.ts';
import { installation, terminal } from '../harness/installation.ts';
import { PASSWORD } from '../harness/people.ts';

/*
 * Tests the first hour of a newcomer with a browser, `npm start` and `npm run mailbox`: from the printed setup link to
 * the first reply in the inbox. PostgreSQL and Temporal are those of the tests; all other servers come from the two
 * commands.
 */

const browserTest = browserTests(test);
const OWNER = 'noor@example.com';

const roomOf = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Main navigation' }).getByRole('link', { name: new RegExp(`^${name}`) });
const tab = (page: Page, name: string) => page.getByRole('tab', { name }).click();
async function save(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.locator('button[aria-disabled=true]:not([data-loading])', { hasText: /^Save$/ }).waitFor();
}
/** Returns the completed steps of the checklist. */
const ticked = (page: Page) =>
  page
    .getByRole('main')
    .getByRole('listitem')
    .filter({ has: page.getByRole('img', { name: 'done' }) });

browserTest('the first hour: from the printed link to a reply in the inbox, without leaving the browser', async (t) => {
  await ensureDashboard();
  const { env, servers, ports, api } = await installation(t);
  const heron = terminal(t, 'npm start', { ...env, ...servers });
  const mailbox = terminal(t, 'npm run mailbox', env);
  const chrome = await launchBrowser();
  t.teardown(() => chrome.close());
  await Promise.all([heron.says('Heron is up.'), mailbox.says('The mailbox is up.')]);

  // Sets the installation up with the printed link.
  const { page, context } = await chrome.visit({ locale: 'en-GB', viewport: { width: 1440, height: 900 } });
  const faults = watchFaults(page);
  await page.goto(/Setup link\s+(\S+)/.exec(heron.said())![1]!);
  await page.getByLabel('Name').fill('Noor Haddad');
  await page.getByLabel('Email address').fill(OWNER);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByLabel('Workspace').fill('Northwind');
  await page.getByRole('button', { name: 'Set up' }).click();
  await page.getByRole('link', { name: 'Open the dashboard' }).click();
  await page.getByRole('heading', { name: 'Steps to the first reply' }).waitFor();
  await page.getByText('0 of 7 done').waitFor();

  // Signs in again, with the emailed code, which is printed because no mail server is configured.
  await page.getByRole('button', { name: 'Account of' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByLabel('Email address').fill(OWNER);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('the code of six digits is in the terminal').waitFor();
  const code = await eventually(async () => /^ {4}(\d{6})$/m.exec(heron.said())?.[1]);
  await page.getByLabel('Code').fill(code);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('0 of 7 done').waitFor();

  // Connects a mailbox: the servers are guessed from the address, with other ports in this test. A wrong password is
  // reported at once.
  await page.getByRole('link', { name: 'Connect', exact: true }).click();
  await page.getByLabel('Email address').fill('you@heron.test');
  await page.getByLabel('Sender name').fill('Noor');
  for (const [group, usual, port] of [
    ['Sending (SMTP)', '2525', ports.MAILBOX_SMTP_PORT],
    ['Receiving (IMAP)', '1143', ports.MAILBOX_IMAP_PORT],
  ] as const) {
    const fields = page.getByRole('group', { name: group });
    t.is(await fields.getByLabel('Server').inputValue(), '127.0.0.1');
    t.is(await fields.getByLabel('Port').inputValue(), usual);
    await fields.getByLabel('Port').fill(String(port));
  }
  const password = page.getByRole('textbox', { name: 'Password' });
  await password.fill('wrong');
  await page.getByRole('button', { name: 'Sign in and connect' }).click();
  await page.getByRole('alert').getByText('User name or password is wrong').waitFor();
  t.notRegex(await page.getByRole('alert').innerText(), /smtp\.|\bauth\b/, 'in words for people');
  await password.fill('heron');
  await page.getByRole('button', { name: 'Sign in and connect' }).click();
  await page.getByRole('heading', { name: 'you@heron.test' }).waitFor();

  // Creates a campaign with one email. The dialog lists what prevents the start, with links to the places of the fixes.
  await roomOf(page, 'Start').click();
  await page.getByRole('img', { name: 'done' }).waitFor();
  await page.getByRole('link', { name: 'Write campaign', exact: true }).click();
  await page.getByLabel('Name').fill('First campaign');
  await page.getByText('The campaign sends from you@heron.test, the only available mailbox.').waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Start this campaign?' });
  await dialog.getByText('An email step has no text').waitFor();
  await dialog.getByText('The campaign has never had a lead').waitFor();
  t.is(await dialog.getByText('no active mailbox').count(), 0, 'the only mailbox was chosen');
  t.notRegex(await dialog.innerText(), /\/v1\//, 'nobody is told to send requests');
  t.true(await dialog.getByRole('button', { name: 'Start sending' }).isDisabled());
  await dialog.getByRole('link', { name: 'Open the step' }).click();
  for (const [field, text] of [
    ['Subject', 'A question about {{.Company}}'],
    ['Text', 'Hello {{.FirstName}}, who looks after the lights?'],
  ] as const) {
    await page.getByRole('textbox', { name: field, exact: true }).click();
    await page.keyboard.insertText(text);
  }
  await save(page);
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await dialog.getByRole('link', { name: 'Add leads' }).click();
  await page.getByRole('button', { name: 'Add a lead' }).first().click();
  const adding = page.getByRole('dialog', { name: 'Add a lead' });
  await adding.getByLabel('Email address').fill('ada@example.com');
  await adding.getByLabel('First name').fill('Ada');
  await adding.getByLabel('Company').fill('Analytical Engines');
  await adding.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('link', { name: 'Ada' }).waitFor();

  // The sender is preselected. The default hours are office hours, so they are changed to the whole day here.
  await tab(page, 'Senders');
  await page.getByRole('tabpanel', { name: 'Senders' }).getByText('you@heron.test').waitFor();
  await tab(page, 'Schedule');
  for (const day of ['Sat', 'Sun']) await page.getByRole('checkbox', { name: day }).check();
  for (const label of ['From', 'To']) await page.getByLabel(label, { exact: true }).fill('00:00');
  await save(page);
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await dialog.getByRole('button', { name: 'Start sending' }).click();
  await page.getByRole('button', { name: 'Pause' }).waitFor();

  // The email arrives in the recipient's webmail, opened in another tab of the browser. The recipient answers there.
  const { page: mailboxPage } = { page: await context.newPage() };
  await eventually(
    async () => {
      await mailboxPage.goto(env.MAILBOX_URL!);
      return (await mailboxPage.getByRole('heading', { name: 'A question about Analytical Engines' }).count()) === 1;
    },
    60_000,
    500,
  );
  await mailboxPage.getByText('Hello Ada, who looks after the lights?').waitFor();
  await mailboxPage.getByLabel('Answer of ada@example.com').fill('I do. Call me on Thursday?');
  await mailboxPage.getByRole('button', { name: 'Reply' }).click();
  await mailboxPage.getByText('I do. Call me on Thursday?').waitFor();

  // The reply appears in the inbox, and the unread count on every page.
  await page.bringToFront();
  await page.getByLabel('one unread message').waitFor();
  await roomOf(page, 'Inbox').click();
  await page.getByRole('list', { name: 'Inbox' }).getByRole('button').filter({ hasText: 'ada@example.com' }).click();
  await page.getByRole('region', { name: 'Conversation' }).getByText('I do. Call me on Thursday?').waitFor();
  await roomOf(page, 'Start').click();
  await page.getByText('6 of 7 done').waitFor();
  t.is(await ticked(page).count(), 6, 'all but the DNS of a domain that is none');
  t.true(page.url().startsWith(api.url));
  t.deepEqual(faults, []);
  heron.child.kill('SIGTERM');
  if (heron.child.exitCode === null) await once(heron.child, 'exit');
  await heron.says('Stopped.');
});
