import test from 'ava';
import type { Page } from 'playwright-core';
import { browserTests, findChromium } from '../harness/browser.ts';
import { createDashboardWorld, createSendingTenant, type DashboardWorld } from '../harness/dashboard.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { createContact, type Tenant } from '../harness/factories.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';

/** All tests of this file share one stack: dashboard, workflows and mail servers. */
const browserTest = browserTests(test);
const OURS = 'sam@ours.test';
const MAIL_MS = 60_000;
const ONLY_SENDER = 'The only available mailbox is selected. Save to keep it.';
let world: DashboardWorld;
let mail: MailWorld;
let engine: Engine;
let tenant: Tenant;
let api: Awaited<ReturnType<typeof createSendingTenant>>['api'];

test.before(async () => {
  if (!findChromium()) return;
  [world, mail] = await Promise.all([createDashboardWorld(), startMailWorld()]);
  engine = await startEngine(world);
  ({ tenant, api } = await createSendingTenant(world, mail, OURS));
});
test.after.always(async () => {
  await engine?.stop();
  await mail?.stop();
  await world?.close();
});

const lead = async (campaignId: string, email: string) =>
  api('POST', `/campaigns/${campaignId}/leads`, {
    contact_ids: [
      await createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId, { email, first_name: 'Ada' }),
    ],
  });
const stepOf = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(name) });
const tab = (page: Page, name: string) => page.getByRole('tab', { name }).click();
/** Types into an editor like a person. */
async function write(page: Page, label: string, text: string): Promise<void> {
  const editor = page.getByRole('textbox', { name: label, exact: true });
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}
const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click();
/** Waits until all changes are saved. */
const isSaved = (page: Page) =>
  page.locator('button[aria-disabled=true]:not([data-loading])', { hasText: /^Save$/ }).waitFor();

browserTest(
  'a campaign is built on the graph, checked, tried on oneself, and started; its emails are sent',
  async (t) => {
    const { page, context, faults } = await world.open(tenant, '/campaigns/new', {
      viewport: { width: 1440, height: 900 },
      timezoneId: 'Europe/Berlin',
    });
    await page.getByLabel('Name').fill('Lights');
    await page.getByRole('button', { name: 'Create' }).click();
    await stepOf(page, 'First email').click();
    await write(page, 'Subject', 'A question, {{.FirstName | default "you"}}');
    await write(page, 'Text', 'Hello {{.FirstName}}, {{.Nothing}}');
    await page.getByRole('region', { name: 'Preview' }).getByText('No value for: {{.Nothing}}').waitFor();
    await write(page, 'Text', 'Hello\n{{.FirstName | shout}}');
    await page
      .getByRole('note')
      .getByText(/^Line 2: .*shout/)
      .waitFor();
    await write(page, 'Text', 'Hello {{.Fir');
    await page.keyboard.press('Control+Space');
    await page.getByRole('option', { name: 'FirstName' }).click();
    // Typing braces after a completed variable does not insert them twice.
    await page.keyboard.type('}}');
    await page.keyboard.insertText(', who looks after the lights?');
    await page.getByRole('region', { name: 'Preview' }).getByText('Hello Alex, who looks after the lights?').waitFor();
    await save(page);
    await isSaved(page);
    // Nothing is left to save, and the pressed button keeps the focus.
    await page.locator(':focus', { hasText: /^Save$/ }).waitFor();
    const files = page.getByRole('region', { name: 'Attachments' });
    const attach = (name: string) =>
      files
        .locator('input[type=file]')
        .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from('An offer') });
    await files.getByText('The email has no attachments.').waitFor();
    await attach('run.exe');
    await files.getByText(/is a kind of file that mail servers refuse/).waitFor();
    await attach('old.txt');
    await files.getByText('old.txt, 1 KB').waitFor();
    await attach('offer.txt');
    await files.getByText('offer.txt, 1 KB').waitFor();
    await files.getByRole('button', { name: 'Remove old.txt' }).click();
    await files.getByText('old.txt, 1 KB').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Add a step' }).click();
    await page.getByRole('menuitem', { name: 'Wait', exact: true }).click();
    await page.getByRole('button', { name: 'Add step' }).click();
    await stepOf(page, 'one day').waitFor();
    await page.getByRole('button', { name: 'Add a step' }).click();
    await page.getByRole('menuitem', { name: 'Create a task' }).click();
    await page.getByLabel('Title').fill('Call {{.FirstName}}');
    await page.getByLabel('Due after (days)').fill('3');
    await page.getByRole('button', { name: 'Add step' }).click();
    await stepOf(page, 'Create a task').waitFor();
    await page.getByRole('button', { name: 'Close the step' }).click();

    const id = new URL(page.url()).pathname.split('/').at(-1)!;
    await lead(id, 'ada@lead.test');
    await tab(page, 'Senders');
    // The workspace's only mailbox is selected as sender from the start.
    await page.getByRole('tabpanel').getByText(OURS, { exact: true }).waitFor();
    await tab(page, 'Schedule');
    for (const day of ['Sat', 'Sun']) await page.getByRole('checkbox', { name: day }).check();
    for (const label of ['From', 'To']) await page.getByLabel(label, { exact: true }).fill('00:00');
    await page.getByText(/^One email on one day, done about/).waitFor();
    // The zone is the person's, and the calendar shows the plan.
    t.is(await page.getByRole('combobox', { name: 'Time zone' }).inputValue(), 'Europe/Berlin');
    await page
      .getByRole('img', { name: /^Sends from \d/ })
      .locator('[data-sends=true]')
      .first()
      .waitFor();
    await save(page);
    await isSaved(page);

    await tab(page, 'Check and test');
    await page.getByText('The campaign can start.').waitFor();
    await page.getByRole('button', { name: 'Run check' }).click();
    await page.getByText(/\d+ of 100/).waitFor();
    await page.getByLabel('Send to').fill('me@ours.test');
    await page.getByRole('button', { name: 'Start test' }).click();
    const trial = await mail.waitFor(({ envelope }) => envelope.to.includes('me@ours.test'), MAIL_MS);
    t.regex(trial.raw.toString(), /Subject: A question/);
    t.regex(trial.raw.toString(), /filename=offer\.txt/);
    const run = page.getByRole('article', { name: 'Test run to me@ours.test' });
    await run.getByText(/^done · sent/).waitFor();
    await run.getByText('Completed', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Start', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('One lead gets emails').waitFor();
    await dialog.getByText(`From ${OURS}`).waitFor();
    await dialog.getByRole('button', { name: /To ada@lead\.test/ }).click();
    await dialog.getByText('Hello Ada, who looks after the lights?').waitFor();
    await dialog.getByText('Attachment: offer.txt').waitFor();
    await page.getByRole('button', { name: 'Start sending' }).click();
    // The button that opened the dialog has a new label now, and regains the focus.
    await page.locator(':focus', { hasText: /^Pause$/ }).waitFor();
    const email = await mail.waitFor(({ envelope }) => envelope.to.includes('ada@lead.test'), MAIL_MS);
    t.regex(email.raw.toString(), /Hello Ada, who looks after the lights\?/);
    t.regex(email.raw.toString(), /filename=offer\.txt/);
    await tab(page, 'Leads');
    await page.getByRole('link', { name: 'Ada', exact: true }).waitFor();
    await page.getByRole('tabpanel').getByRole('button', { name: 'Actions for Ada', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Hold' }).click();
    await page.getByText('Held by a person').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Start', exact: true }).waitFor();

    // A draft older than the mailbox has no sender: the tab selects the only mailbox, which is stored on save.
    const { id: draft } = await api('POST', '/campaigns', { name: 'Bare', sender_strategy: 'explicit' });
    const senders = async () => (await api('GET', `/campaigns/${draft}/senders`)).data;
    await page.goto(`${world.url}/campaigns/${draft}?tab=senders`);
    await page.getByRole('tabpanel').getByText(ONLY_SENDER).waitFor();
    await page.getByRole('tabpanel').getByText(OURS, { exact: true }).waitFor();
    t.deepEqual(await senders(), []);
    await save(page);
    await isSaved(page);
    t.is((await senders())[0].weight, 1);
    await page.getByText(ONLY_SENDER).waitFor({ state: 'detached' });
    t.deepEqual(faults, []);
    await context.close();
  },
);

/** Creates a running campaign whose two emails are not due, so that none is sent during edits. */
async function running(): Promise<string> {
  const campaign = await api('POST', '/campaigns', {
    name: 'Running',
    start_date: new Date(Date.now() + 7 * 86_400_000).toISOString(),
    steps: [
      { name: 'Hello', subject: 'Hello', body_plain: 'Hi {{.FirstName}}' },
      { name: 'Again', body_plain: 'Have you had a moment?' },
    ],
  });
  await lead(campaign.id, `${campaign.id}@lead.test`);
  await api('POST', `/campaigns/${campaign.id}/start`, {});
  return campaign.id;
}

browserTest(
  'a running campaign is edited: what it means is said before, a new step stands where it was put',
  async (t) => {
    const id = await running();
    const { page, context, faults } = await world.open(tenant, `/campaigns/${id}?view=list`, {
      viewport: { width: 1440, height: 900 },
    });
    await stepOf(page, 'Again').click();
    await write(page, 'Text', '');
    await page.getByText('The campaign is sending').waitFor();
    await save(page);
    await page.getByText('must have a text while the campaign is active').waitFor();
    await write(page, 'Text', 'Have you had a look?');
    await save(page);
    await isSaved(page);
    await page.getByRole('button', { name: 'Add a step' }).click();
    await page.getByRole('menuitem', { name: 'Wait for an event' }).click();
    await page.getByLabel('Product event').fill('trial.started');
    await page.getByRole('combobox', { name: 'Position' }).click();
    await page.getByRole('option', { name: 'After Hello' }).click();
    await page.getByText('Leads that have not reached this position yet get the new step.').waitFor();
    await page.getByRole('button', { name: 'Add step' }).click();
    await page.getByText('The step is added').waitFor();
    const steps = await api('GET', `/campaigns/${id}/steps`);
    t.deepEqual(
      steps.map(
        ({ name, body_plain, action }: any) => action?.wait_event_name ?? (name === 'Again' ? body_plain : name),
      ),
      ['Hello', 'trial.started', 'Have you had a look?'],
    );
    t.is(steps[0].conditions.branches[0].to, steps[1].id);
    t.is(steps[1].conditions.branches[0].to, steps[2].id);
    // A new branch of a wait begins with the outcomes of the wait, and the graph labels every way.
    await stepOf(page, 'Wait for an event').click();
    await page.getByRole('button', { name: 'Add a branch' }).click();
    t.is(await page.getByRole('combobox', { name: 'Condition' }).inputValue(), 'Result of this step');
    t.is(await page.getByRole('combobox', { name: 'Value' }).inputValue(), 'event received');
    await save(page);
    await isSaved(page);
    await page.goto(`${world.url}/campaigns/${id}`);
    const graph = page.getByRole('group', { name: 'Graph of the sequence' });
    await graph.getByText(/event received/).waitFor();
    await graph.getByText(/^Otherwise/).waitFor();
    t.deepEqual(faults, []);
    await context.close();
  },
);

browserTest(
  'two people edit a step at once: other fields come together, the same one is decided, nothing is lost',
  async (t) => {
    const id = await running();
    const [step] = await api('GET', `/campaigns/${id}/steps`);
    const path = `/campaigns/${id}?view=list&step=${step.id}`;
    const options = { viewport: { width: 1440, height: 900 } };
    const first = await world.open(tenant, path, options);
    const second = await world.open(tenant, path, options);
    await write(second.page, 'Subject', 'Of the second');
    await write(first.page, 'Text', 'Text of the first');
    await save(first.page);
    await isSaved(first.page);
    await save(second.page);
    await isSaved(second.page);
    const now = async () => (await api('GET', `/campaigns/${id}/steps`))[0];
    t.like(await now(), { subject: 'Of the second', body_plain: 'Text of the first' });

    await write(second.page, 'Text', 'Also of the second');
    await write(first.page, 'Text', 'Again of the first');
    await save(first.page);
    await isSaved(first.page);
    await save(second.page);
    await second.page.getByText('Somebody else has changed the same data').waitFor();
    await second.page.getByText('Again of the first').waitFor();
    t.is((await now()).body_plain, 'Again of the first');
    t.is(
      (await second.page.getByRole('textbox', { name: 'Text', exact: true }).innerText()).trim(),
      'Also of the second',
    );
    await second.page.getByRole('button', { name: 'Keep mine' }).click();
    await save(second.page);
    await second.page.getByText('Somebody else has changed the same data').waitFor({ state: 'detached' });
    await isSaved(second.page);
    t.is((await now()).body_plain, 'Also of the second');
    t.deepEqual([...first.faults, ...second.faults], []);
    await first.context.close();
    await second.context.close();
  },
);
